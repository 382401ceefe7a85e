"""What persons may have who are seen in groups of which it is known how many have each value.

Of an attribute that does not change, a world gives everybody one value, so that every group has its numbers of values;
all worlds weigh the same. Persons who are seen in the same groups are alike, so a kind is a set of groups and a value.
Persons whose groups share nobody with other groups are a block of their own.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.attacks.all_rows import in_the_same
from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.sparse_rows import Rows
from manyveils.attacks.worlds import solvers
from manyveils.attacks.worlds.blocks import CELL, Block, Effort, divided
from manyveils.attacks.worlds.combine import ORDER, How, Limits
from manyveils.attacks.worlds.kinds import Kinds, TooMany
from manyveils.reading.keys import numbered, ranges

ROUNDING = 1e-6
UNENDING = 2**53
EXACT, BOUNDS, ESTIMATE = range(3)


@dataclass(frozen=True, repr=False)
class Sighted:
    """Who is seen in which groups, and how many persons of each group have which value.

    Each pair of `persons` and `groups` is a person in a group; `of`, `values` and `counts` say what groups hold, in any
    order. A group that holds nothing tells nothing. Whom a group counts beyond those who are seen in it is in no other.
    `release_of` says which release each group is of; most persons are in one group of a release.
    """

    persons: Ids
    groups: Ids
    n_persons: int
    of: Ids
    values: Ids
    counts: Floats
    n_values: int
    release_of: Ids

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.release_of.size

    @cached_property
    def sizes(self) -> Floats:
        """How many persons each group counts."""
        return np.bincount(self.of, weights=self.counts, minlength=self.n_groups).astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[Ids, Ids]:
        """Every person with every group she is in that holds anything, once and in this order."""
        telling = np.flatnonzero(self.sizes[self.groups] > ROUNDING)
        persons, groups = self.persons[telling], self.groups[telling]
        firsts = numbered([persons, groups])[1] if telling.size else telling
        return persons[firsts], groups[firsts]

    @cached_property
    def lacking(self) -> Ids:
        """How many more persons each group counts than are seen in it."""
        counted: Ids = np.rint(self.sizes).astype(np.int64)
        return counted - np.bincount(self.pairs[1], minlength=self.n_groups)

    @cached_property
    def column_of(self) -> Ids:
        """A number for each group, which differs for groups that share a person: that of its release, where that will do."""
        persons, groups = self.pairs
        column_of = self.release_of.copy()
        columns = column_of[groups]
        order = np.lexsort((groups, columns, persons))
        again = (np.diff(persons[order]) == 0) & (np.diff(columns[order]) == 0)
        if not again.any():
            return column_of
        by_group = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[by_group], np.arange(self.n_groups + 1))
        firsts = np.searchsorted(persons, np.arange(self.n_persons + 1))
        for group in np.unique(groups[order[1:][again]]).tolist():
            members = persons[by_group[starts[group] : starts[group + 1]]]
            near = groups[ranges(firsts[members], firsts[members + 1] - firsts[members])]
            taken = np.unique(column_of[near[near != group]])
            # The first number that is not taken.
            column_of[group] = np.flatnonzero(np.append(taken, -1) != np.arange(taken.size + 1))[0]
        return column_of

    @cached_property
    def is_whole(self) -> bool:
        """Whether groups count whole persons, and no fewer than are seen in them."""
        return bool(
            (np.abs(self.counts - np.rint(self.counts)) < ROUNDING).all() and (self.lacking >= 0).all()
        )


@dataclass(frozen=True, repr=False)
class Shared:
    """What is believed of persons by all worlds: a row of beliefs for each set of groups that somebody is seen in.

    `set_of` is the set of each person, -1 for who is seen in no group. `is_counted` says of which sets beliefs are shares
    of worlds that were counted. A row of nothing says that no world agrees with all groups. `beliefs` and `certainty`
    say how beliefs, and what is possible, were worked out where that was done worst.
    """

    rows: Rows
    set_of: Ids
    is_counted: Bools
    beliefs: How
    certainty: How


def shared(sighted: Sighted, limits: Limits) -> Shared:
    """Work out what is believed of everybody by all worlds.

    Claim: a value is certain of a person, or impossible, only if it is so in every world; where it says `exact`, also if.
    Why: sets of groups, with values that all groups of the set hold, are all kinds there can be; whom a group counts
    beyond those seen in it is of a kind too; and solvers only exclude numbers that miss the count of some group.
    Tested by: tests/attacks/test_chain_worlds.py
    """
    sets = _sets(sighted)
    kinds, set_of, values = _kinds(sighted, sets, limits.kinds)
    expected, ways = _solved(kinds, limits) if sighted.is_whole else _fitted(kinds, Effort(limits.effort))
    rows = Rows.from_cells(set_of, values, expected, (sets.n, sighted.n_values)).shares()
    is_counted = np.bincount(set_of[ways[0] != EXACT], minlength=sets.n) == 0
    beliefs, certainty = (ORDER[int(way.max(initial=EXACT))] for way in ways)
    return Shared(rows, sets.of_person, is_counted, beliefs, certainty)


@dataclass(frozen=True, repr=False)
class _Sets:
    """The different sets of groups: those of set i are `groups[starts[i] : starts[i] + lengths[i]]`, for so many persons."""

    groups: Ids
    starts: Ids
    lengths: Ids
    n_persons: Ids
    of_person: Ids

    @property
    def n(self) -> int:
        return self.lengths.size


def _sets(sighted: Sighted) -> _Sets:
    """The sets of groups that persons are in, with those whom groups count beyond who is seen."""
    persons, groups = sighted.pairs
    lacking = np.maximum(sighted.lacking, 0)
    n = sighted.n_persons + int(lacking.sum())
    persons = np.concatenate([persons, np.arange(sighted.n_persons, n)])
    groups = np.concatenate([groups, np.repeat(np.arange(sighted.n_groups), lacking)])
    lengths = np.bincount(persons, minlength=n)
    alike, firsts = in_the_same(groups, lengths)
    starts = np.cumsum(lengths) - lengths
    seen = np.flatnonzero(lengths[firsts] > 0)
    number = np.full(firsts.size, -1, dtype=np.int64)
    number[seen] = np.arange(seen.size)
    n_persons = np.bincount(alike, minlength=firsts.size)[seen]
    of_person = number[alike][: sighted.n_persons]
    return _Sets(groups, starts[firsts[seen]], lengths[firsts[seen]], n_persons, of_person)


def _kinds(sighted: Sighted, sets: _Sets, limit: int) -> tuple[Kinds, Ids, Ids]:
    """Every set with every value that all its groups hold, and which these are; `TooMany` if there are more than the limit.

    The first column has a row for each set, further ones have one for each value of each group.
    """
    keys, counts = _cells(sighted)
    n_values = sighted.n_values
    first = np.searchsorted(keys, np.arange(sighted.n_groups) * n_values)
    n_held = np.searchsorted(keys, (np.arange(sighted.n_groups) + 1) * n_values) - first
    fewest, fewest_group = _fewest(sets, n_held)
    if fewest.sum() > limit:
        raise TooMany
    set_of = np.repeat(np.arange(sets.n), fewest)
    values = keys[ranges(first[fewest_group], fewest)] % n_values
    column_of = sighted.column_of
    rows = np.full((2 + int(column_of.max(initial=-1)), set_of.size), -1, dtype=np.int64)
    rows[0] = set_of
    for place in range(int(sets.lengths.max(initial=0))):
        kinds = np.flatnonzero(sets.lengths[rows[0]] > place)
        groups = sets.groups[sets.starts[rows[0, kinds]] + place]
        wanted = groups * n_values + values[kinds]
        cells = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        rows[1 + column_of[groups], kinds] = sets.n + cells
        is_held = np.ones(values.size, dtype=bool)
        is_held[kinds] = keys[cells] == wanted
        rows, values = rows[:, is_held], values[is_held]
    totals = np.concatenate(
        [sets.n_persons, np.rint(counts).astype(np.int64) if sighted.is_whole else counts]
    )
    return Kinds(tuple(rows), totals, {}, np.ones(values.size)), rows[0], values


def _cells(sighted: Sighted) -> tuple[Ids, Floats]:
    """Which values groups hold, as group · n_values + value in order, and how often."""
    keys, place = np.unique(sighted.of * sighted.n_values + sighted.values, return_inverse=True)
    counts: Floats = np.bincount(place, weights=sighted.counts, minlength=keys.size).astype(np.float64)
    return keys[counts > ROUNDING].astype(np.int64), counts[counts > ROUNDING]


def _fewest(sets: _Sets, n_held: Ids) -> tuple[Ids, Ids]:
    """The least number of values that a group of each set holds, and such a group."""
    if not sets.n:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    groups, owners = (
        sets.groups[ranges(sets.starts, sets.lengths)],
        np.repeat(np.arange(sets.n), sets.lengths),
    )
    order = np.lexsort((n_held[groups], owners))
    fewest_group = groups[order[np.cumsum(sets.lengths) - sets.lengths]]
    return n_held[fewest_group], fewest_group


def _fitted(kinds: Kinds, effort: Effort) -> tuple[Floats, tuple[Ids, Ids]]:
    """An estimate where groups count parts of persons."""
    low, high = np.zeros(kinds.size, dtype=np.int64), np.full(kinds.size, UNENDING)
    block = Block(np.arange(kinds.size), np.stack(kinds.rows), kinds.totals, low, high, kinds.ways)
    estimate = np.full(kinds.size, ESTIMATE)
    return solvers.fitted_people(block, effort), (estimate, estimate)


def _solved(kinds: Kinds, limits: Limits) -> tuple[Floats, tuple[Ids, Ids]]:
    """The mean number of persons of each kind, 0 where there can be none, and how this was worked out.

    Blocks are counted, small ones first, with half of the effort; the others are fitted all at once, and what is possible
    in them is looked for one by one.
    """
    (blocks, settled), effort = divided(kinds), Effort(limits.effort)
    expected = np.maximum(settled, 0).astype(np.float64)
    beliefs, certainty = np.full((2, kinds.size), EXACT)
    blocks.sort(key=lambda block: block.size)
    with effort.share(1 / 2) as counting:
        waiting = _uncounted(blocks, expected, limits, counting)
    if waiting:
        whole = _together(waiting)
        with effort.share(1 / 2) as fitting:
            expected[whole.kinds] = solvers.fitted_people(whole, fitting)
        beliefs[whole.kinds] = ESTIMATE
    for number, block in enumerate(waiting):
        with effort.share(min(2 / (len(waiting) - number), 1)) as own:
            possible, certainty[block.kinds] = _possible(block, limits, own)
        expected[block.kinds] *= possible
    return expected, (beliefs, certainty)


def _uncounted(blocks: Sequence[Block], expected: Floats, limits: Limits, effort: Effort) -> list[Block]:
    """The blocks whose worlds are too many to count; what is expected in the others is written down.

    Blocks that look the same are counted once.
    """
    waiting, known = [], dict[tuple[bytes, ...], Floats | None]()
    for number, block in enumerate(blocks):
        if block.size > limits.counted:
            waiting.append(block)
            continue
        looks = tuple(own.tobytes() for own in (block.rows, block.totals, block.low, block.high))
        if looks not in known:
            with effort.share(min(2 / (len(blocks) - number), 1)) as own:
                known[looks] = _counted(block, limits, own)
        means = known[looks]
        if means is None:
            waiting.append(block)
        else:
            expected[block.kinds] = means
    return waiting


def _counted(block: Block, limits: Limits, effort: Effort) -> Floats | None:
    # Putting kinds in order is work too.
    effort.spend(CELL * block.rows.size)
    if not effort.is_spent:
        with suppress(solvers.Undecided):
            return solvers.mean_people(block, limits.states, effort)
    return None


def _together(blocks: Sequence[Block]) -> Block:
    """Several blocks as one."""
    starts = np.cumsum([0, *(block.totals.size for block in blocks)])
    rows = [
        np.where(block.rows >= 0, block.rows + start, -1)
        for block, start in zip(blocks, starts, strict=False)
    ]
    parts = (
        [getattr(block, name) for block in blocks] for name in ("kinds", "totals", "low", "high", "ways")
    )
    kinds, totals, low, high, ways = (np.concatenate(part) for part in parts)
    return Block(kinds, np.concatenate(rows, axis=1), totals, low, high, ways)


def _possible(block: Block, limits: Limits, effort: Effort) -> tuple[Bools, int]:
    """Of which kinds somebody may be, and how this is known."""
    if block.size <= limits.exact and not effort.is_spent:
        with suppress(solvers.Undecided), effort.share(1 / 2) as half:
            return solvers.possible_exactly(block, half), EXACT
    if block.size <= limits.linear and not effort.is_spent:
        return solvers.possible_at_most(block, effort), BOUNDS
    return np.ones(block.size, dtype=bool), ESTIMATE
