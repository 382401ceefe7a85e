"""What is believed of somebody who is seen in several groups: b(v) in proportion to p(v) · Π of what groups gain on v."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manyveils.audits.signatures import Signatures
from manyveils.compiling import kernel
from manyveils.reading.keys import Floats, Ids, ranges

# So many values of signatures are looked at together.
MOST_CANDIDATES = 4_000_000
# Of so few values, tables of all groups and values are quicker, if they are small enough and not too empty.
FEW_VALUES, LARGEST_TABLE, EMPTIEST = 100, 20_000_000, 8
# Of a value that nobody of the original has.
SMALLEST = 1e-300
# The logarithm of a weight that no value has.
MOST_UNLIKELY = -1e300


@dataclass(frozen=True, repr=False)
class Gains:
    """How much likelier each value is once a person is known to be in a group, for the values that the group has.

    `keys` are group · n_values + value, in order; `logs` are logarithms: of many groups, a product would leave the range
    of floats.
    """

    keys: Ids
    logs: Floats
    n_values: int

    def of(self, groups: Ids, values: Ids) -> Floats:
        """The gains of values in groups, as logarithms; -inf where a group does not have the value."""
        wanted = groups * self.n_values + values
        nearest = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[nearest] == wanted, self.logs[nearest], -np.inf)


def gains_of(keys: Ids, logs: Floats, n_values: int) -> Gains:
    """Gains in the order of their keys."""
    if (np.diff(keys) >= 0).all():
        return Gains(keys, logs, n_values)
    order = np.argsort(keys, kind="stable")
    return Gains(keys[order], logs[order], n_values)


def remaining(signatures: Signatures, gains: Gains, prior: Floats) -> Iterator[tuple[Ids, Ids, Floats]]:
    """What is believed of the persons of some signatures at a time: their number, a value, and how far; in order.

    Where no value is possible, the attribute changed, and nothing is believed.
    """
    if not signatures.persons.size or not gains.keys.size:
        return iter(())
    n_groups = int(signatures.groups.max()) + 1
    is_small = n_groups * gains.n_values <= min(LARGEST_TABLE, EMPTIEST * gains.keys.size)
    is_dense = gains.n_values <= FEW_VALUES and is_small
    combined = _in_tables if is_dense else _among_fewest
    return combined(signatures, gains, np.log(np.maximum(prior, SMALLEST)))


def _in_tables(signatures: Signatures, gains: Gains, known: Floats) -> Iterator[tuple[Ids, Ids, Floats]]:
    """The values that remain for each signature, and what is believed of them, from a table of all groups and values."""
    n_values = gains.n_values
    flat = np.full((int(signatures.groups.max()) + 1) * n_values, -np.inf)
    seen = gains.keys < flat.size
    flat[gains.keys[seen]] = gains.logs[seen]
    step = max(MOST_CANDIDATES // n_values, 1)
    for start in range(0, signatures.persons.size, step):
        starts = signatures.starts[start : start + step + 1]
        weights = multiplied(flat.reshape(-1, n_values), starts, signatures.groups, known)
        number, value = np.nonzero(weights)
        yield start + number, value, weights[number, value]


@kernel
def multiplied(table: Floats, starts: Ids, groups: Ids, known: Floats) -> Floats:
    """What is believed of those seen in the groups from `starts[i]` to `starts[i + 1]`: shares, from logarithms of gains."""
    weights = np.empty((starts.size - 1, known.size))
    for own in range(starts.size - 1):
        weights[own] = known
        for place in range(starts[own], starts[own + 1]):
            weights[own] += table[groups[place]]
        likeliest = max(weights[own].max(), MOST_UNLIKELY)
        total = 0.0
        for value in range(known.size):
            # Of what is impossible nothing need be computed.
            weight = weights[own, value]
            weights[own, value] = 0.0 if weight == -np.inf else np.exp(weight - likeliest)
            total += weights[own, value]
        if total > 0.0:
            weights[own] /= total
    return weights


@multiplied.of_few
def _place_by_place(table: Floats, starts: Ids, groups: Ids, known: Floats) -> Floats:
    lengths = np.diff(starts)
    weights = np.repeat(known[np.newaxis], lengths.size, axis=0)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        weights[longer] += table[groups[starts[longer] + place]]
    weights = np.exp(weights - np.maximum(weights.max(axis=1), MOST_UNLIKELY)[:, np.newaxis])
    shares: Floats = weights / np.maximum(weights.sum(axis=1), SMALLEST)[:, np.newaxis]
    return shares


def _among_fewest(signatures: Signatures, gains: Gains, known: Floats) -> Iterator[tuple[Ids, Ids, Floats]]:
    """The same for many values: of each signature, only values of the group with the fewest are looked at."""
    n_groups = int(signatures.groups.max()) + 1
    first = np.searchsorted(gains.keys, np.arange(n_groups) * gains.n_values)
    n_present = np.searchsorted(gains.keys, (np.arange(n_groups) + 1) * gains.n_values) - first
    fewest = np.minimum.reduceat(n_present[signatures.groups], signatures.starts[:-1])
    owners = np.repeat(np.arange(signatures.persons.size), signatures.lengths)
    smallest = np.full(signatures.persons.size, -1, dtype=np.int64)
    is_smallest = n_present[signatures.groups] == fewest[owners]
    smallest[owners[is_smallest]] = signatures.groups[is_smallest]
    parts = np.cumsum(fewest * signatures.lengths) // MOST_CANDIDATES
    cuts = np.flatnonzero(np.diff(parts, prepend=-1))
    for start, stop in zip(cuts.tolist(), [*cuts[1:].tolist(), fewest.size], strict=True):
        numbers = np.arange(start, stop)
        number = np.repeat(numbers, fewest[numbers])
        value = gains.keys[ranges(first[smallest[numbers]], fewest[numbers])] % gains.n_values
        lengths = signatures.lengths[number]
        if not number.size:
            continue
        groups = signatures.groups[ranges(signatures.starts[number], lengths)]
        logs = gains.of(groups, np.repeat(value, lengths))
        weight = np.add.reduceat(logs, np.cumsum(lengths) - lengths) + known[value]
        remain = np.flatnonzero(weight > -np.inf)
        number, value, weight = number[remain], value[remain], weight[remain]
        largest = np.full(signatures.persons.size, MOST_UNLIKELY)
        np.maximum.at(largest, number, weight)
        weight = np.exp(weight - largest[number])
        yield number, value, weight / np.bincount(number, weights=weight)[number]
