"""What one release adds to a chain of earlier ones: the groups that it shows of an attribute, and those it lets derive."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from manyveils.audits.combining import SMALLEST, Gains, gains_of, remaining
from manyveils.audits.derived import Derived, derived
from manyveils.audits.signatures import Pairs, Signatures, joined, paired, signatures_in
from manyveils.reading.keys import Bools, Floats, Ids, ranges
from manyveils.table.earlier import Earlier, Held

# Counts are of persons; where labels hide whose a value is, they are sums of shares.
ROUNDING = 1e-6
# So many beliefs are added up together, and so many places of groups and values at most are added up in a table.
MOST_BELIEFS, LARGEST_SUMS = 8_000_000, 20_000_000


@dataclass(frozen=True, repr=False)
class Cells:
    """How many persons of each group have each value, in order of group and value; groups without any are not listed."""

    groups: Ids
    values: Ids
    weights: Floats

    def keys(self, n_values: int) -> Ids:
        """A number for each cell, in order."""
        return self.groups * n_values + self.values


@dataclass(frozen=True, repr=False)
class Added:
    """The groups that a release adds: the first `n_shown` are those that it shows.

    `expected` is what `cells.weights` would have been for someone who has the releases before.
    """

    pairs: Pairs
    cells: Cells
    expected: Floats
    n_shown: int
    n_groups: int


@dataclass(frozen=True, repr=False)
class Before:
    """The groups of earlier releases that tell of an attribute, and who was seen in them.

    `last` are the pairs of the last release, in the groups that it shows, and `nameless` says how many more persons each
    of these has whom nobody knows by name.
    """

    pairs: Pairs
    last: Pairs
    is_last: Bools
    nameless: Floats

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.is_last.size


def before_of(earlier: Earlier, held: Held, *, is_constant: bool) -> Before:
    """The groups of earlier releases that tell of an attribute; of one that may change, only those that are shown."""
    holds = holding(earlier, held, is_constant=is_constant)
    newest = int(earlier.release_of.max(initial=-1))
    is_last = holds & earlier.is_shown & (earlier.release_of == newest)
    pairs = Pairs(earlier.persons, earlier.groups).within(holds)
    last = pairs.within(is_last)
    sizes = np.bincount(held.groups, weights=held.weights, minlength=earlier.n_groups)
    named = np.bincount(last.groups, minlength=earlier.n_groups)
    nameless = np.where(is_last, np.maximum(np.rint(sizes - named), 0.0), 0.0)
    return Before(pairs, last, is_last, nameless)


def holding(earlier: Earlier, held: Held, *, is_constant: bool) -> Bools:
    """Which groups of earlier releases tell of an attribute."""
    holds = np.zeros(earlier.n_groups, dtype=bool)
    holds[held.groups] = True
    return holds if is_constant else holds & earlier.is_shown


def gains_before(before: Before, held: Held, n_values: int) -> Gains:
    """What the groups of earlier releases gain on each value."""
    tells = np.zeros(before.n_groups, dtype=bool)
    tells[before.pairs.groups] = True
    kept = tells[held.groups] & (held.weights > 0)
    # Both shares have one size, so their quotient is that of the weights.
    logs = np.log(held.weights[kept]) - np.log(np.maximum(held.expected[kept], SMALLEST))
    return gains_of(held.groups[kept] * n_values + held.codes[kept], logs, n_values)


@dataclass(frozen=True, repr=False)
class Told:
    """The groups that a release adds, and who is in them: first those it shows, then those that can be derived.

    `of_left` says which group has those who left the cluster of each group; -1 where nobody did. `parts` are pairs of
    those who joined, and of those who stayed.
    `persons`, `groups` and `times` say who counts how often where, and `signature` where she was seen before: the number
    among `signatures`, -1 for nowhere.
    """

    steps: Derived
    of_left: Ids
    parts: Pairs
    pairs: Pairs
    n_groups: int
    groups: Ids
    times: Floats
    signature: Ids
    signatures: Signatures

    @property
    def n_shown(self) -> int:
        """How many groups the release shows."""
        return self.of_left.size


def told_after(before: Before, shown: Pairs, n_shown: int) -> Told:
    """The groups that a release adds to earlier ones.

    Who has no name in the last release is somebody who was seen in one group.
    """
    steps = derived(before.last, shown, before.n_groups, n_shown)
    number = np.zeros((3, n_shown), dtype=bool)
    number[0, steps.left.groups] = True
    number[1:] = steps.is_split
    of_left, of_joined, of_stayed = np.where(number, n_shown - 1 + np.cumsum(number).reshape(3, -1), -1)
    left = Pairs(steps.left.persons, of_left[steps.left.groups])
    part = np.where(steps.is_in_cluster, of_stayed[shown.groups], of_joined[shown.groups])
    parts = Pairs(shown.persons[part >= 0], part[part >= 0])
    pairs = joined([shown, paired(left.persons, left.groups), paired(parts.persons, parts.groups)])
    sources = np.flatnonzero((before.nameless > 0) & (steps.successor >= 0))
    sources = sources[of_left[steps.successor[sources]] >= 0]
    n_persons = 1 + max(int(pairs.persons.max(initial=-1)), int(before.pairs.persons.max(initial=-1)))
    somebody = n_persons + np.arange(sources.size)
    asked = np.zeros(n_persons + sources.size, dtype=bool)
    asked[pairs.persons] = True
    known = before.pairs.among(asked)
    known = Pairs(np.append(known.persons, somebody), np.append(known.groups, sources))
    signatures = signatures_in(known, asked.size)
    persons = np.concatenate([shown.persons, left.persons, parts.persons, somebody])
    return Told(
        steps,
        of_left,
        parts,
        pairs,
        n_shown + int(number.sum()),
        np.concatenate([shown.groups, left.groups, parts.groups, of_left[steps.successor[sources]]]),
        np.append(np.ones(persons.size - sources.size), before.nameless[sources]),
        signatures.of_person[persons],
        signatures,
    )


def added(before: Before, told: Told, held: Held, cells: Cells, own: Ids, prior: Floats) -> Added:
    """What the groups have that a release adds, of an attribute that does not change, and what was to be expected.

    `own` is the value of each person of the table, and `prior` how often values are in it.

    Claim: who left has what the cluster had but for those who are still in the group; who joined and who stayed have
    their own; and where both are, the group tells nothing beyond them.
    Why: each of them is a difference of published counts, or a part of one that is known from these.
    Tested by: tests/claims/test_chain_judged.py
    """
    n_values, parts = prior.size, told.parts
    of_parts = _summed(parts.groups * n_values + own[parts.persons], np.ones(parts.groups.size), n_values)
    listed = (cells, _left_cells(before, told, held, own, n_values), of_parts)
    # Cells of groups that are shown, that somebody left, and of parts come in this order.
    every = Cells(
        np.concatenate([one.groups for one in listed]),
        np.concatenate([one.values for one in listed]),
        np.concatenate([one.weights for one in listed]),
    )
    expected = _expected(every, told, gains_before(before, held, n_values), prior)
    is_split = np.append(told.steps.is_split, np.zeros(told.n_groups - told.n_shown, dtype=bool))
    expected = np.where(is_split[every.groups], every.weights, expected)
    return Added(told.pairs, every, expected, told.n_shown, told.n_groups)


def added_shown(shown: Pairs, cells: Cells, sizes: Floats, prior: Floats) -> Added:
    """The groups that a release shows, where nothing was known before, or what was known may have changed."""
    return Added(shown, cells, sizes[cells.groups] * prior[cells.values], sizes.size, sizes.size)


def _summed(keys: Ids, weights: Floats, n_values: int) -> Cells:
    """Weights added up by group and value."""
    found, summed = _added_up(keys, weights)
    return Cells(*np.divmod(found, n_values), summed)


def _added_up(keys: Ids, weights: Floats) -> tuple[Ids, Floats]:
    """The different keys in order, and the sum of the weights of each."""
    order = np.argsort(keys)
    listed = keys[order]
    starts = np.flatnonzero(np.diff(listed, prepend=-1))
    if not starts.size:
        return listed, np.zeros(0)
    return listed[starts], np.add.reduceat(weights[order].astype(np.float64), starts)


def _left_cells(before: Before, told: Told, held: Held, own: Ids, n_values: int) -> Cells:
    """What those who left have: what the cluster had, but for those who stayed."""
    successor, last, stays = told.steps.successor, before.last, told.steps.stays
    target = np.where(before.is_last & (successor >= 0), told.of_left[successor], -1)
    had = target[held.groups] >= 0
    stays = stays & (target[last.groups] >= 0)
    keys = np.append(
        target[held.groups[had]] * n_values + held.codes[had],
        target[last.groups[stays]] * n_values + own[last.persons[stays]],
    )
    summed = _summed(keys, np.append(held.weights[had], np.full(int(stays.sum()), -1.0)), n_values)
    kept = summed.weights > ROUNDING
    return Cells(summed.groups[kept], summed.values[kept], summed.weights[kept])


def _expected(cells: Cells, told: Told, gains: Gains, prior: Floats) -> Floats:
    """How many persons of each group someone who has the releases before would expect to have each value."""
    if not cells.groups.size:
        return cells.weights
    numbers, values, shares = _believed(told.signatures, gains, prior)
    lengths = np.bincount(numbers, minlength=told.signatures.persons.size)
    # Of whom nothing is known, or nothing consistent, everybody's values are expected.
    is_known = np.append(lengths, 0)[told.signature] > 0
    others = np.bincount(told.groups[~is_known], weights=told.times[~is_known], minlength=told.n_groups)
    expected: Floats = others[cells.groups] * prior[cells.values]
    span = max(lengths.size, 1)
    found, times = _added_up(told.groups[is_known] * span + told.signature[is_known], told.times[is_known])
    groups, signature = np.divmod(found, span)
    starts = np.cumsum(lengths) - lengths
    parts = np.cumsum(lengths[signature]) // MOST_BELIEFS
    cuts = [*np.flatnonzero(np.diff(parts, prepend=-1)).tolist(), found.size]
    for start, stop in pairwise(cuts):
        which = signature[start:stop]
        places, n_places = ranges(starts[which], lengths[which]), lengths[which]
        wanted = np.repeat(groups[start:stop], n_places) * prior.size + values[places]
        expected += _matched(
            cells, wanted, np.repeat(times[start:stop], n_places) * shares[places], told.n_groups, prior.size
        )
    return expected


def _believed(signatures: Signatures, gains: Gains, prior: Floats) -> tuple[Ids, Ids, Floats]:
    """What is believed of all signatures: their number, a value, and how far; in order."""
    listed = list(remaining(signatures, gains, prior))
    if not listed:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing.astype(np.float64)
    numbers, values, shares = zip(*listed, strict=True)
    return np.concatenate(numbers), np.concatenate(values), np.concatenate(shares)


def _matched(cells: Cells, keys: Ids, weights: Floats, n_groups: int, n_values: int) -> Floats:
    """The sum of weights for each cell; what has no cell is nobody's."""
    own = cells.keys(n_values)
    if n_groups * n_values <= LARGEST_SUMS:
        return np.bincount(keys, weights=weights, minlength=n_groups * n_values)[own].astype(np.float64)
    nearest = np.minimum(np.searchsorted(own, keys), own.size - 1)
    is_there = own[nearest] == keys
    summed = np.bincount(nearest[is_there], weights=weights[is_there], minlength=own.size)
    return summed.astype(np.float64)
