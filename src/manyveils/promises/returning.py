"""What a release tells together with the releases before it, about attributes that do not change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.kernels.grouping import number
from manyveils.kernels.sightings import beliefs
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Disclosure, DistinctDiversity, Likeness
from manyveils.promises.crowds import Floats
from manyveils.promises.entries import Ids, distinct, subject_of
from manyveils.promises.keeping import Watch, watch_each
from manyveils.promises.parting import LEFT, SHOWN, Parting, parting
from manyveils.promises.sightings import (
    SMALLEST,
    about_constants,
    alike_lists,
    are_believed,
    listed_of,
    normal,
    remaining_kept,
)
from manyveils.table import Table
from manyveils.table.earlier import Earlier, Held
from manyveils.table.widen import widened

Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class _Past:
    """What is believed of persons before a release, by where they were seen: of each history, its values.

    `before` are the last groups' values and how many persons have each, `group · n_values + value`.
    """

    watches: list[Watch]
    value_of: Ids
    n_values: int
    base: Floats
    owners: Ids
    values: Ids
    believed: Floats
    before: tuple[Ids, Floats]


@dataclass(frozen=True, repr=False)
class Verdict:
    """For whom promises are broken, and which groups cannot be told apart as they would be."""

    unsafe: Bools
    broken: Bools


@dataclass(frozen=True, repr=False)
class Returning:
    """Promises about attributes that do not change, to persons who may have been seen in earlier releases.

    Claim: whoever is said to be safe keeps every promise on what remains of all groups she is seen in.
    Why: a value remains if every group has it, those of earlier releases, those of this one, and those that can be told
    by subtracting them: who left a group, and who came into it. It is believed in proportion to what was believed
    before, times what it gains in each group over what was expected there.
    Tested by: tests/claims/test_chain_judged.py
    """

    earlier: Earlier
    n_persons: int
    pasts: tuple[_Past, ...]
    # The history of each person: equal for those who were seen in the same groups; -1 for who was in none.
    histories: Ids
    n_histories: int
    last: tuple[Ids, Ids]
    n_last: int

    def parted(self, persons: Ids, groups: Ids, n_groups: int) -> Parting:
        """How persons are sorted now; each pair of a person and a group once, by person."""
        return parting(self.last, self.n_last, (persons, groups), n_groups, self.earlier.n_persons)

    def judged(self, sorted_: Parting) -> Verdict:
        """For whom some promise is broken where persons are sorted so."""
        unsafe = np.zeros(self.earlier.n_persons, dtype=bool)
        broken = np.zeros(4 * sorted_.n_groups, dtype=bool)
        if not self.pasts:
            return Verdict(unsafe, broken[: sorted_.n_groups])
        begins, groups, n_single = self._lists(sorted_)
        several = np.flatnonzero(np.diff(begins))
        fine = np.ones(begins.size - 1, dtype=bool)
        if several.size:
            lists, firsts = alike_lists(begins, groups, several)
            fine[several] = self._fine(listed_of(begins, groups, several[firsts]), sorted_)[lists]
        broken[groups[:n_single]] = ~fine[:n_single]
        unsafe[:] = ~fine[n_single:]
        return Verdict(unsafe, self._blamed(sorted_, broken.reshape(-1, 4), unsafe))

    def _lists(self, sorted_: Parting) -> tuple[Ids, Ids, int]:
        """What each person is seen in, with her history as one; before them, alone, what can be told of every group."""
        persons, seen = sorted_.members
        alone = distinct(seen)
        alone = alone[alone % 4 != SHOWN]
        n_seen = 4 * sorted_.n_groups
        here = np.zeros(self.earlier.n_persons, dtype=bool)
        here[persons] = True
        with_past = np.flatnonzero(here & (self.histories >= 0))
        span = n_seen + self.n_histories
        keys = np.concatenate([persons * span + seen, with_past * span + n_seen + self.histories[with_past]])
        of_person, listed = np.divmod(distinct(keys), span)
        begins = np.searchsorted(of_person, np.arange(self.earlier.n_persons + 1)) + alone.size
        return np.append(np.arange(alone.size), begins), np.append(alone, listed), alone.size

    def _fine(self, lists: tuple[Ids, Ids], sorted_: Parting) -> Bools:
        """For which lists every promise is kept."""
        fine = np.ones(lists[0].size - 1, dtype=bool)
        nobody = np.zeros(fine.size, dtype=np.int64)
        for past in self.pasts:
            keys, gains = self._known(past, sorted_, is_believed=are_believed(past.watches))
            fine &= self._kept(past, lists, sorted_, keys, gains, nobody)
        return fine

    def _kept(
        self,
        past: _Past,
        lists: tuple[Ids, Ids],
        sorted_: Parting,
        keys: Ids,
        gains: Floats,
        nobody: Ids,
    ) -> Bools:
        """For which lists promises about one attribute are kept."""
        span = 4 * sorted_.n_groups + self.n_histories
        starts = np.searchsorted(keys, np.arange(span + 1) * past.n_values)
        known = starts, keys % past.n_values
        return remaining_kept(lists, known, gains, past.base, past.watches, nobody, 1)

    def _known(self, past: _Past, sorted_: Parting, *, is_believed: bool) -> tuple[Ids, Floats]:
        """The values of everything that is seen, `group · n_values + value` in order, and what each gains.

        Histories come after the groups.
        """
        counted, counts = self.counted(past, sorted_)
        n_seen, v = 4 * sorted_.n_groups, past.n_values
        before = (n_seen + past.owners) * v + past.values
        keys = np.append(counted, before)
        if not is_believed:
            return keys, np.zeros(keys.size)
        expected = self._expected(past, sorted_, counted)
        gains = np.log(counts / expected)
        # What is known of both parts says all that the whole group does.
        whole = counted // v
        gains[(whole % 4 == SHOWN) & sorted_.is_split[whole // 4]] = 0.0
        return keys, np.append(gains, np.log(past.believed) - past.base[past.values])

    def counted(self, past: _Past, sorted_: Parting) -> tuple[Ids, Floats]:
        """How many persons have each value in everything that is seen: `group · n_values + value`, in order."""
        persons, seen = sorted_.members
        here = seen % 4 != LEFT
        own = seen[here] * past.n_values + past.value_of[persons[here]]
        after = self._followed(past, sorted_)
        who, before = sorted_.stays
        stayed = (4 * sorted_.successors[before] + LEFT) * past.n_values + past.value_of[who]
        keys = np.concatenate([own, after[0], stayed])
        weights = np.concatenate([np.ones(own.size), after[1], -np.ones(stayed.size)])
        numbers, firsts = number(keys)
        counts = np.bincount(numbers, weights, minlength=firsts.size)
        order = np.argsort(keys[firsts])
        order = order[np.rint(counts[order]) > 0]
        return keys[firsts][order], np.rint(counts[order])

    def _followed(self, past: _Past, sorted_: Parting) -> tuple[Ids, Floats]:
        """What the last groups had, as what is left of them in those that follow; only where somebody left."""
        keys, weights = past.before
        groups, values = np.divmod(keys, past.n_values)
        into = sorted_.successors[groups]
        was_left = np.zeros(sorted_.n_groups + 1, dtype=bool)
        was_left[sorted_.left[1]] = True
        which = was_left[into] & (into >= 0)
        return (4 * into[which] + LEFT) * past.n_values + values[which], weights[which]

    def _expected(self, past: _Past, sorted_: Parting, counted: Ids) -> Floats:
        """How many persons with each value were expected in everything that is seen, before it was."""
        persons, seen = sorted_.members
        history = self.histories[persons]
        v, old = past.n_values, history >= 0
        prior = np.exp(past.base)
        strangers = np.bincount(seen[~old], minlength=4 * sorted_.n_groups)
        expected = strangers[counted // v] * prior[counted % v]
        if old.any():
            pairs, counts = _counted_pairs(seen[old] * self.n_histories + history[old])
            groups, which = np.divmod(pairs, self.n_histories)
            begins = np.searchsorted(past.owners, np.arange(self.n_histories + 1))
            lengths = np.diff(begins)[which]
            places = np.arange(int(lengths.sum())) + np.repeat(
                begins[which] - np.cumsum(lengths) + lengths, lengths
            )
            keys = np.repeat(groups, lengths) * v + past.values[places]
            weights = np.repeat(counts, lengths) * past.believed[places]
            there = np.minimum(np.searchsorted(counted, keys), counted.size - 1)
            met = counted[there] == keys
            expected = expected + np.bincount(there[met], weights[met], minlength=counted.size)
        return np.maximum(expected, SMALLEST)

    def _blamed(self, sorted_: Parting, parts: Bools, unsafe: Bools) -> Bools:
        """The groups to be changed: whose parts tell too much, or else those of whom it is broken for."""
        broken: Bools = np.asarray(parts.any(axis=1))
        persons, groups = sorted_.persons, sorted_.groups
        explained = np.zeros(unsafe.size, dtype=bool)
        explained[persons[broken[groups]]] = True
        explained[sorted_.left[0][broken[sorted_.left[1]]]] = True
        here = np.zeros(unsafe.size, dtype=bool)
        here[persons] = True
        wanted = unsafe & ~explained
        broken[groups[wanted[persons]]] = True
        who, left = sorted_.left
        broken[left[(wanted & ~here)[who]]] = True
        return broken


def share_promises(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> tuple[Promise, ...]:
    """The promises about attributes that do not change that ask for more than how many values remain possible."""
    return tuple(
        promise
        for promise in about_constants(policy, table.of_persons(), promises)
        # Of combinations, sightings tell nothing that is judged.
        if len(promise.protects) == 1
        and (
            not isinstance(promise.guarantee, DistinctDiversity)
            or promise.guarantee.level
            or promise.guarantee.singled_out
            or promise.insensitive
        )
    )


def returning_of(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> Returning | None:
    """What is promised of attributes that do not change beside earlier releases; nothing where there are none."""
    earlier = table.earlier
    if earlier is None:
        return None
    of_persons = table.of_persons()
    judged = about_constants(policy, of_persons, promises)
    _refuse_gone(policy, table, earlier, judged)
    # Other attributes may be shown in groups of their own.
    tells = earlier.telling({promise.protects[0] for promise in judged})
    persons, groups = (own[tells[earlier.groups]] for own in (earlier.persons, earlier.groups))
    begins = np.searchsorted(persons, np.arange(earlier.n_persons + 1))
    seen = np.flatnonzero(np.diff(begins))
    histories, firsts = np.full(earlier.n_persons, -1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if seen.size:
        histories[seen], firsts = alike_lists(begins, groups, seen)
    lists = listed_of(begins, groups, seen[firsts])
    numbers = np.full(earlier.n_groups, -1, dtype=np.int64)
    ids = np.flatnonzero(tells & earlier.is_shown & (earlier.release_of == earlier.n_releases - 1))
    numbers[ids] = np.arange(ids.size)
    is_last = numbers[groups] >= 0
    last = persons[is_last], numbers[groups[is_last]]
    names = dict.fromkeys(promise.protects for promise in judged)
    pasts = tuple(
        _past_of([one for one in judged if one.protects == protects], of_persons, policy, lists, numbers)
        for protects in names
    )
    return Returning(earlier, of_persons.n_persons, pasts, histories, firsts.size, last, ids.size)


def _refuse_gone(policy: Policy, table: Table, earlier: Earlier, judged: tuple[Promise, ...]) -> None:
    """Refuse to compare with a table what it has no more of: nothing is as much as any multiple of nothing."""
    problems = []
    for promise in judged:
        [name] = promise.protects
        n_gone = earlier.held[name].n_values - table[name].n_values
        if isinstance(promise.guarantee, (Likeness, Disclosure)) and n_gone > 0:
            what = f"{n_gone:,} values of earlier releases are gone, and {promise.guarantee.kind} compares with this table."
            remedy = "Promise l or t instead, or publish when somebody has them again."
            problems.append(Problem(f"{policy.name}: attributes.{name}", what, remedy))
    InfeasibleError.refuse(dict.fromkeys(problems))


def _past_of(
    promises: Sequence[Promise], table: Table, policy: Policy, lists: tuple[Ids, Ids], last: Ids
) -> _Past:
    """What was believed of persons about one attribute before this release."""
    [name] = promises[0].protects
    earlier = table.earlier
    assert earlier is not None
    table, held = _wide(table, name, earlier.held[name], policy)
    subject = subject_of((name,), table)
    watches = [watched for promise in promises for watched in watch_each((promise,), table, ())]
    # What nobody of the table has any more is taken to be as rare as can be.
    prior = subject.expected / subject.expected.sum()
    prior = np.where(prior > 0, prior, 1 / table.n_persons)
    base = np.log(prior / prior.sum())
    known = np.searchsorted(held.groups, np.arange(earlier.n_groups + 1)), held.codes
    gains = np.log(held.weights / np.maximum(held.expected, SMALLEST))
    owners, values, logs = beliefs(*lists, *known, gains, base)
    believed = np.maximum(normal(owners, logs, lists[0].size - 1), SMALLEST)
    value_of = np.zeros(table.n_persons, dtype=np.int64)
    value_of[table.persons] = table[name].codes
    of_last = last[held.groups] >= 0
    before = last[held.groups[of_last]] * held.n_values + held.codes[of_last], held.weights[of_last]
    return _Past(watches, value_of, held.n_values, base, owners, values, believed, before)


def _wide(table: Table, name: str, held: Held, policy: Policy) -> tuple[Table, Held]:
    """The table with all values that groups have of an attribute in its dictionary, and what groups have by its codes."""
    if not held.more:
        return table, held
    wide, codes = widened(table[name], held.more, policy)
    order = np.lexsort((codes[held.codes], held.groups))
    held = replace(
        held, codes=codes[held.codes][order], weights=held.weights[order], expected=held.expected[order]
    )
    return replace(table, attributes={**table.attributes, name: wide}), held


def _counted_pairs(keys: Ids) -> tuple[Ids, Ids]:
    numbers, firsts = number(keys)
    return keys[firsts], np.bincount(numbers, minlength=firsts.size)
