"""What remains possible of a person who is seen in several groups, for someone who takes an attribute not to change.

A value stays possible if every group she is seen in has it, and beliefs combine: b(v) in proportion to
p(v) · Π p_G(v) / p(v). Persons who are seen in the same groups are judged once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from manyveils.audits.groups import Together, with_reference
from manyveils.audits.measures import MEASURES
from manyveils.audits.members import Members, members_of
from manyveils.audits.persons import (
    Placed,
    original_weights,
    placed_in,
    rows_of_persons,
    spread_over_originals,
)
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids, combined, dense, ranges
from manyveils.reading.labels import Labels, unrecoded
from manyveils.reading.sight import Sight

# So many values of signatures are looked at together.
MOST_CANDIDATES = 4_000_000
# Of so few values, tables of all groups and values are quicker, if they are small enough.
FEW_VALUES, LARGEST_TABLE = 100, 20_000_000
# Of a value that nobody of the original has.
SMALLEST = 1e-300
# The logarithm of a weight that no value has.
MOST_UNLIKELY = -1e300


@dataclass(frozen=True, repr=False)
class Signatures:
    """The different sets of groups in which persons are seen several times.

    Groups are numbered through all columns; those of signature i are `groups[starts[i] : starts[i + 1]]`. `persons` and
    `rows` say how many persons have each signature, and how many rows they have.
    """

    groups: Ids
    starts: Ids
    persons: Ids
    rows: Ids

    @property
    def lengths(self) -> Ids:
        """How many groups each signature has."""
        return np.diff(self.starts)


def signatures_of(evidence: Evidence, sights: Sequence[Sight]) -> Signatures | None:
    """Who is seen in which groups of some columns; None where nobody can tell."""
    asked = tuple(f"{sight.file.table}\\0{sight.key!r}" for sight in sights)
    return evidence.remembered(("signatures", "", asked, ()), lambda: _signatures(evidence, sights))


def _signatures(evidence: Evidence, sights: Sequence[Sight]) -> Signatures | None:
    told = [members_of(evidence, sight.view, sight.file, sight.key) for sight in sights]
    members = [own for own in told if own is not None]
    if len(members) < len(told):
        return None
    persons, groups = _pairs(members)
    n_groups = np.bincount(persons, minlength=evidence.table.n_persons)
    several = np.flatnonzero(n_groups[persons] > 1)
    persons, groups = persons[several], groups[several]
    numbers, of_person = _numbered_sets(persons, groups, evidence.table.n_persons)
    seen = np.flatnonzero(of_person >= 0)
    counts = np.bincount(of_person[seen], minlength=numbers)
    assert evidence.table.persons is not None
    n_rows = np.bincount(evidence.table.persons)
    rows = np.bincount(of_person[seen], weights=n_rows[seen], minlength=numbers).astype(np.int64)
    shown = np.zeros(numbers, dtype=np.int64)
    shown[of_person[seen]] = seen
    first = np.searchsorted(persons, shown)
    lengths = n_groups[shown]
    return Signatures(groups[ranges(first, lengths)], np.append(0, np.cumsum(lengths)), counts, rows)


def _pairs(members: Sequence[Members]) -> tuple[Ids, Ids]:
    """Every person with every group she is in, in this order; groups are numbered through."""
    persons = np.concatenate([own.pairs[0] for own in members])
    offsets = np.cumsum([0, *(own.sizes.size for own in members)])
    groups = np.concatenate([own.pairs[1] + start for own, start in zip(members, offsets, strict=False)])
    order = np.argsort(persons * int(offsets[-1]) + groups, kind="stable")
    return persons[order], groups[order]


def _numbered_sets(persons: Ids, groups: Ids, n_persons: int) -> tuple[int, Ids]:
    """How many different sets of groups persons have, and the number of each person's; -1 where there is none.

    Sets are compared group by group: persons with equal ones so far are told apart by the next.
    """
    of_person = np.full(n_persons, -1, dtype=np.int64)
    lengths = np.bincount(persons, minlength=n_persons)
    starts = np.cumsum(lengths) - lengths
    waiting = np.flatnonzero(lengths)
    number, n_sets = np.zeros(waiting.size, dtype=np.int64), 0
    for place in range(int(lengths.max(initial=0))):
        is_done = lengths[waiting] == place
        number, n_sets = _done(of_person, waiting, number, is_done, n_sets)
        waiting = waiting[~is_done]
        number = dense(combined([number, groups[starts[waiting] + place]]))
    return _done(of_person, waiting, number, np.ones(waiting.size, dtype=bool), n_sets)[1], of_person


def _done(of_person: Ids, waiting: Ids, number: Ids, is_done: Ids, n_sets: int) -> tuple[Ids, int]:
    """Give the sets that are complete numbers of their own; the numbers of the others."""
    complete = number[is_done]
    if complete.size:
        of_person[waiting[is_done]] = n_sets + dense(complete)
        n_sets = int(of_person.max()) + 1
    return number[~is_done], n_sets


@dataclass(frozen=True, repr=False)
class _Beliefs:
    """How much of its persons each group has on each original (group · n_values + value), where there is any, in order."""

    keys: Ids
    shares: Floats
    n_values: int

    def of(self, groups: Ids, values: Ids) -> Floats:
        """The share of originals in groups, 0 where they have none."""
        wanted = groups * self.n_values + values
        nearest = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[nearest] == wanted, self.shares[nearest], 0.0)


def measure_sightings(evidence: Evidence, promise: Promise, sights: Sequence[Sight]) -> pl.DataFrame | None:
    """What a promise about one attribute comes to for those seen several times; None where nobody can tell.

    The columns are those of `_worst`: value, rows (persons), measure, kept, times, all_rows. It has no line where nobody
    is seen several times.
    """
    signatures = signatures_of(evidence, sights)
    if signatures is None or not signatures.persons.size:
        return None if signatures is None else pl.DataFrame()
    told = _beliefs(evidence, sights)
    if told is None:
        return None
    labels, beliefs = told
    values = pl.DataFrame({"part_0": np.arange(beliefs.n_values), "value": np.arange(beliefs.n_values)})
    prior = original_weights(evidence, [labels], values, None).to_numpy() / evidence.table.n_persons
    measured = []
    for cells in _remaining(signatures, beliefs, prior):
        if not cells.height:
            continue
        sizes = pl.Series(signatures.persons[cells["group"].to_numpy()])
        cells = cells.with_columns(pl.col("group").set_sorted(), rows=sizes, size=pl.lit(1.0))
        groups = with_reference(evidence, promise, cells, [labels])
        groups = replace(groups, together=Together(groups.cells, None))
        measured.append(
            MEASURES[type(promise.guarantee)](promise.guarantee, groups).select("group", "measure", "kept")
        )
    if not measured:
        return pl.DataFrame()
    found = pl.concat(measured, how="vertical_relaxed")
    number = found["group"].to_numpy()
    return found.select(
        "measure",
        "kept",
        value=pl.lit(0, dtype=pl.Int64),
        times=pl.lit(1, dtype=pl.Int64),
        rows=pl.Series(signatures.persons[number]),
        all_rows=pl.Series(signatures.rows[number]),
    )


def _beliefs(evidence: Evidence, sights: Sequence[Sight]) -> tuple[Labels, _Beliefs] | None:
    """What each group of all columns has of each original of the attribute they show; None where nobody can tell."""
    attribute = unrecoded(evidence.original(sights[0].shows[0]))
    if rows_of_persons(evidence, [attribute]) is None:
        return None
    keys, shares, n_groups, n_values = [], [], 0, len(attribute.texts)
    for sight in sights:
        told = placed_in(evidence, sight)
        if told is None:
            return None
        [labels], placed = told
        cells = _of_originals(labels, placed)
        groups, values = cells["group"].to_numpy() + n_groups, cells["part_0"].to_numpy()
        keys.append(groups * n_values + values)
        shares.append((cells["count"] / cells["size"]).to_numpy())
        n_groups += placed.sizes.size
    every_key, every_share = np.concatenate(keys), np.concatenate(shares)
    order = np.argsort(every_key, kind="stable")
    return attribute, _Beliefs(every_key[order], every_share[order], n_values)


def _of_originals(labels: Labels, placed: Placed) -> pl.DataFrame:
    """How much of persons is spread on each original, also of those that a label hides: group, part_0, count, size."""
    if labels.cover.is_coarse or (labels.cover.sizes == 0).any():
        return spread_over_originals(labels, placed).weighed(None, "part_0")
    cells = placed.weighed(None, "part_0")
    return cells.with_columns(part_0=pl.Series(labels.cover.firsts).gather(cells["part_0"]))


def _remaining(signatures: Signatures, beliefs: _Beliefs, prior: Floats) -> Iterator[pl.DataFrame]:
    """What is believed of the persons of some signatures at a time: group (their number), part_0, count.

    Where no value is possible, the attribute changed, and nothing is believed.
    """
    n_groups = int(signatures.groups.max()) + 1
    is_dense = beliefs.n_values <= FEW_VALUES and n_groups * beliefs.n_values <= LARGEST_TABLE
    combined = _in_tables if is_dense else _among_fewest
    for number, value, share in combined(signatures, beliefs, np.log(np.maximum(prior, SMALLEST))):
        yield pl.DataFrame({"group": number, "part_0": value, "count": share})


def _in_tables(signatures: Signatures, beliefs: _Beliefs, known: Floats) -> Iterator[tuple[Ids, Ids, Floats]]:
    """The values that remain for each signature, and what is believed of them, from a table of all groups and values."""
    n_values = beliefs.n_values
    gains = np.full((int(signatures.groups.max()) + 1) * n_values, -np.inf)
    seen = beliefs.keys < gains.size
    # As logarithms: of many groups, a product would leave the range of floats.
    gains[beliefs.keys[seen]] = np.log(beliefs.shares[seen]) - known[beliefs.keys[seen] % n_values]
    table, lengths = gains.reshape(-1, n_values), signatures.lengths
    step = max(MOST_CANDIDATES // n_values, 1)
    for start in range(0, lengths.size, step):
        own = np.arange(start, min(start + step, lengths.size))
        weights = np.repeat(known[np.newaxis], own.size, axis=0)
        for place in range(int(lengths[own].max())):
            longer = np.flatnonzero(lengths[own] > place)
            weights[longer] += table[signatures.groups[signatures.starts[own[longer]] + place]]
        weights = np.exp(weights - np.maximum(weights.max(axis=1), MOST_UNLIKELY)[:, np.newaxis])
        totals = weights.sum(axis=1)
        number, value = np.nonzero(weights)
        yield own[number], value, weights[number, value] / totals[number]


def _among_fewest(
    signatures: Signatures, beliefs: _Beliefs, known: Floats
) -> Iterator[tuple[Ids, Ids, Floats]]:
    """The same for many values: of each signature, only values of the group with the fewest are looked at."""
    n_groups = int(signatures.groups.max()) + 1
    first = np.searchsorted(beliefs.keys, np.arange(n_groups) * beliefs.n_values)
    n_present = np.searchsorted(beliefs.keys, (np.arange(n_groups) + 1) * beliefs.n_values) - first
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
        value = beliefs.keys[ranges(first[smallest[numbers]], fewest[numbers])] % beliefs.n_values
        lengths = signatures.lengths[number]
        if not number.size:
            continue
        groups = signatures.groups[ranges(signatures.starts[number], lengths)]
        shares = beliefs.of(groups, np.repeat(value, lengths))
        gains = np.log(np.where(shares > 0, shares, 1.0)) - np.repeat(known[value], lengths)
        starts = np.cumsum(lengths) - lengths
        remain = np.flatnonzero(np.minimum.reduceat(shares, starts) > 0)
        weight = (np.add.reduceat(gains, starts) + known[value])[remain]
        number, value = number[remain], value[remain]
        largest = np.full(signatures.persons.size, MOST_UNLIKELY)
        np.maximum.at(largest, number, weight)
        weight = np.exp(weight - largest[number])
        yield number, value, weight / np.bincount(number, weights=weight)[number]
