"""What one release adds to a chain of earlier ones: the groups that it shows of an attribute, and those it lets derive."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from manyveils.audits.combining import Gains, gains_of, remaining
from manyveils.audits.derived import Derived, derived
from manyveils.audits.signatures import Pairs, joined, paired, signatures_in
from manyveils.reading.keys import Bools, Floats, Ids, ranges
from manyveils.table.earlier import Earlier, Held

# Counts are of persons; where labels hide whose a value is, they are sums of shares.
ROUNDING = 1e-6
# So many beliefs are added up together.
MOST_BELIEFS = 8_000_000


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
    """What earlier releases tell of one attribute: who was seen in which of their groups, and what these have."""

    pairs: Pairs
    gains: Gains
    held: Held
    # Groups of the last release, as it shows them, and how many persons each has, also such as nobody knows by name.
    is_last: Bools
    sizes: Floats

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.is_last.size


def before_of(earlier: Earlier, held: Held, n_values: int, *, is_constant: bool) -> Before:
    """What earlier releases tell of an attribute; of one that may change, only what they show."""
    holds = np.zeros(earlier.n_groups, dtype=bool)
    holds[held.groups] = True
    if not is_constant:
        holds &= earlier.is_shown
    last = int(earlier.release_of.max(initial=-1))
    is_last = holds & earlier.is_shown & (earlier.release_of == last)
    kept = holds[held.groups] & (held.weights > 0)
    # The sizes of the two shares are the same, so their quotient is that of the weights.
    logs = np.log(held.weights[kept]) - np.log(np.maximum(held.expected[kept], np.finfo(float).tiny))
    gains = gains_of(held.groups[kept] * n_values + held.codes[kept], logs, n_values)
    sizes = np.bincount(held.groups, weights=held.weights, minlength=earlier.n_groups)
    pairs = Pairs(earlier.persons, earlier.groups).within(holds)
    return Before(pairs, gains, held, is_last, sizes.astype(np.float64))


def derived_after(before: Before, shown: Pairs, n_shown: int) -> Derived:
    """How the groups that a release shows go on from those of the last one."""
    return derived(before.pairs.within(before.is_last), shown, before.n_groups, n_shown)


def added(before: Before, steps: Derived, shown: Pairs, cells: Cells, own: Ids, prior: Floats) -> Added:
    """The groups that a release adds to what is known of an attribute that does not change.

    `own` is the value of each person of the table, and `prior` how often values are in it.

    Claim: who left has what the cluster had but for those who are still in the group; who joined and who stayed have
    their own; and where both are, the group tells nothing beyond them.
    Why: each of them is a difference of published counts, or a part of one that is known from these.
    Tested by: tests/claims/test_chain_judged.py
    """
    n_values, n_shown = prior.size, steps.is_split.size
    number = np.full((3, n_shown), -1, dtype=np.int64)
    number[0, steps.left.groups] = 0
    number[1:, steps.is_split] = 0
    number[number == 0] = n_shown + np.arange((number == 0).sum())
    n_groups = n_shown + int((number >= 0).sum())
    of_left, of_joined, of_stayed = number
    left = Pairs(steps.left.persons, of_left[steps.left.groups])
    part = np.where(steps.is_in_cluster, of_stayed[shown.groups], of_joined[shown.groups])
    split = part >= 0
    parts = Pairs(shown.persons[split], part[split])
    left_cells = _left_cells(before, steps, of_left, own, n_values)
    of_parts = _summed(parts.groups * n_values + own[parts.persons], np.ones(parts.groups.size), n_values)
    every = [cells, left_cells, of_parts]
    told = _in_order(
        Cells(
            *(
                np.concatenate([getattr(one, name) for one in every])
                for name in ("groups", "values", "weights")
            )
        ),
        n_values,
    )
    anonymous = _anonymous(before, steps, of_left)
    targets = [
        (shown.persons, shown.groups, np.ones(shown.groups.size)),
        (left.persons, left.groups, np.ones(left.groups.size)),
        (parts.persons, parts.groups, np.ones(parts.groups.size)),
    ]
    expected = expected_in(told, n_groups, targets, anonymous, before, prior)
    is_parted = (told.groups < n_shown) & steps.is_split[np.minimum(told.groups, n_shown - 1)]
    expected = np.where(is_parted, told.weights, expected)
    pairs = joined([shown, paired(left.persons, left.groups), paired(parts.persons, parts.groups)])
    return Added(pairs, told, expected, n_shown, n_groups)


def added_shown(shown: Pairs, cells: Cells, n_shown: int, sizes: Floats, prior: Floats) -> Added:
    """The groups that a release shows, where nothing was known before, or what was known may have changed."""
    expected = sizes[cells.groups] * prior[cells.values]
    return Added(shown, cells, expected, n_shown, n_shown)


def _in_order(cells: Cells, n_values: int) -> Cells:
    order = np.argsort(cells.keys(n_values), kind="stable")
    return Cells(cells.groups[order], cells.values[order], cells.weights[order])


def _summed(keys: Ids, weights: Floats, n_values: int) -> Cells:
    """Weights added up by group and value."""
    found, numbers = np.unique(keys, return_inverse=True)
    summed = np.bincount(numbers, weights=weights, minlength=found.size)
    return Cells(*np.divmod(found, n_values), summed.astype(np.float64))


def _left_cells(before: Before, steps: Derived, of_left: Ids, own: Ids, n_values: int) -> Cells:
    """What those who left have: what the cluster had, but for those who stayed."""
    held, last = before.held, before.pairs.within(before.is_last)
    target = np.where(before.is_last & (steps.successor >= 0), steps.successor, -1)
    target = np.where(target >= 0, of_left[target], -1)
    had = target[held.groups] >= 0
    stays = steps.stays & (target[last.groups] >= 0)
    keys = np.concatenate(
        [
            target[held.groups[had]] * n_values + held.codes[had],
            target[last.groups[stays]] * n_values + own[last.persons[stays]],
        ]
    )
    weights = np.concatenate([held.weights[had], np.full(int(stays.sum()), -1.0)])
    summed = _summed(keys, weights, n_values)
    kept = summed.weights > ROUNDING
    return Cells(summed.groups[kept], summed.values[kept], summed.weights[kept])


def _anonymous(before: Before, steps: Derived, of_left: Ids) -> tuple[Ids, Ids, Floats]:
    """Groups of the last release with those who left, and how many of their persons have no name in the ledger."""
    last = before.pairs.within(before.is_last)
    named = np.bincount(last.groups, minlength=before.n_groups)
    groups = np.flatnonzero(before.is_last & (steps.successor >= 0) & (before.sizes - named > 0.5))
    targets = of_left[steps.successor[groups]]
    there = targets >= 0
    groups, targets = groups[there], targets[there]
    return groups, targets, np.rint(before.sizes - named)[groups]


def expected_in(
    cells: Cells,
    n_groups: int,
    targets: Sequence[tuple[Ids, Ids, Floats]],
    anonymous: tuple[Ids, Ids, Floats],
    before: Before,
    prior: Floats,
) -> Floats:
    """How many persons of each group someone who has the releases before would expect to have each value.

    `targets` are persons, the groups they are in, and how often. Of `anonymous` ones their group of the last release is
    known alone.
    """
    sources, own_targets, own_times = anonymous
    persons = np.concatenate([who for who, _, _ in targets])
    n_persons = 1 + max(int(persons.max(initial=-1)), int(before.pairs.persons.max(initial=-1)))
    # Whoever has no name is somebody who was seen in one group.
    somebody = n_persons + np.arange(sources.size)
    asked = np.zeros(n_persons + sources.size, dtype=bool)
    asked[persons] = True
    known = before.pairs.among(asked)
    pairs = Pairs(np.append(known.persons, somebody), np.append(known.groups, sources))
    signatures = signatures_in(pairs, asked.size)
    told = list(remaining(signatures, before.gains, prior))
    numbers = np.concatenate([own for own, _, _ in told]) if told else np.zeros(0, dtype=np.int64)
    values = np.concatenate([own for _, own, _ in told]) if told else numbers
    shares = np.concatenate([own for _, _, own in told]) if told else numbers.astype(float)
    starts = np.searchsorted(numbers, np.arange(signatures.persons.size + 1))
    persons = np.append(persons, somebody)
    groups = np.concatenate([*(where for _, where, _ in targets), own_targets])
    times = np.concatenate([*(often for _, _, often in targets), own_times])
    signature = signatures.of_person[persons]
    signature = np.where(np.append(np.diff(starts), 0)[signature] > 0, signature, -1)
    is_new = signature < 0
    n_new = np.bincount(groups[is_new], weights=times[is_new], minlength=n_groups)
    expected = n_new[cells.groups] * prior[cells.values]
    n_values = prior.size
    keys = cells.keys(n_values)
    pairs_of = groups[~is_new] * max(signatures.persons.size, 1) + signature[~is_new]
    found, inverse = np.unique(pairs_of, return_inverse=True)
    times = np.bincount(inverse, weights=times[~is_new], minlength=found.size)
    groups, signature = np.divmod(found, max(signatures.persons.size, 1))
    lengths = np.diff(starts)[signature]
    parts = np.cumsum(lengths) // MOST_BELIEFS
    cuts = [*np.flatnonzero(np.diff(parts, prepend=-1)).tolist(), found.size]
    for start, stop in pairwise(cuts):
        places = ranges(starts[signature[start:stop]], lengths[start:stop])
        wanted = np.repeat(groups[start:stop], lengths[start:stop]) * n_values + values[places]
        weights = np.repeat(times[start:stop], lengths[start:stop]) * shares[places]
        nearest = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        is_there = keys[nearest] == wanted
        expected += np.bincount(nearest[is_there], weights=weights[is_there], minlength=keys.size)
    return expected
