"""What is promised to persons who are seen in several groups, about attributes that do not change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number
from manyveils.kernels.sightings import beliefs, groups_of_persons, keep_values
from manyveils.policy import Policy, Promise
from manyveils.policy import guarantees as kinds
from manyveils.promises.crowds import Crowd, Floats, Persons, persons_of
from manyveils.promises.decisions import DECISIONS
from manyveils.promises.entries import Ids, Kept, Subject, Tally, dense, distinct, examples, subject_of
from manyveils.promises.keeping import Watch, known_beside, watch_each
from manyveils.table import Table
from manyveils.table.order import in_order

# Beliefs are fractions: what is as near as this to its bound is refused.
TOLERANCE = 1e-9
# Of a value that nobody has.
SMALLEST = 1e-300
# Beliefs are compared as whole numbers of so many parts.
WHOLE = 1 << 32
# So many values at most are believed at once, unless the groups of one person have more.
TOGETHER = 1 << 19
# Decided on beliefs as they are; all others on whole numbers.
ON_WEIGHTS = (kinds.EntropyDiversity, kinds.RecursiveDiversity, kinds.Closeness, kinds.Disclosure)
# These speak of no values, or of rows with others ruled out: what several groups tell together is no matter of theirs.
NOT_JUDGED = kinds.ABOUT_ROWS


def about_constants(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> tuple[Promise, ...]:
    """The promises that must hold on what several groups of a person tell together; nothing where nobody has several rows."""
    if table.persons is None:
        return ()
    judged = (
        promise
        for promise in promises
        if promise.protects
        and not isinstance(promise.guarantee, NOT_JUDGED)
        and all(policy.attributes[table.home(name)].constant for name in promise.protects)
    )
    return tuple(dict.fromkeys(judged))


@dataclass(frozen=True, repr=False)
class Believed:
    """Beliefs in place of the persons of a group: what each value weighs in each unit, all together 1."""

    persons: Persons
    owners: Ids
    values: Ids
    weights: Floats
    sizes: Ids


@dataclass(frozen=True, repr=False)
class Sightings:
    """Promises about attributes that do not change, to persons who are seen in several groups.

    Claim: whoever is said to be safe keeps every promise on what remains of all her groups together.
    Why: a value remains if every group holds it, and is believed in proportion to its share in the table times what it
    gains over it in each group; whoever has the same groups as another is believed the same.
    Tested by: tests/claims/test_sightings.py
    """

    persons: Persons
    watches: tuple[tuple[Watch, Subject], ...]
    # What is known of every row beyond its group, person after person.
    known: Ids | None = None

    def unsafe(self, owners: Ids, n_owners: int, room: int | None = None) -> NDArray[np.bool_]:
        """The persons for whom some promise is broken; owners of rows are listed person after person, a negative one is nowhere.

        With `room` for so many of them, the others are not looked for once there are more.
        """
        if self.known is not None:
            owners, n_owners = _parts(owners, self.known)
        begins, groups = groups_of_persons(self.persons.starts, owners)
        several = np.flatnonzero(np.diff(begins) > 1)
        unsafe = np.zeros(self.persons.n, dtype=bool)
        if several.size:
            lists, firsts = alike_lists(begins, groups, several)
            starts, listed = listed_of(begins, groups, several[firsts])
            room = several.size if room is None else room
            unsafe[several] = ~self._fine(starts, listed, owners, n_owners, np.bincount(lists), room)[lists]
        return unsafe

    def _fine(self, starts: Ids, groups: Ids, owners: Ids, n_owners: int, n_persons: Ids, room: int) -> Kept:
        """For which lists of groups every promise is kept, until those of too many persons are found not to."""
        fine = np.ones(starts.size - 1, dtype=bool)
        for subject, watches in self._by_subject:
            crowd = subject.crowd_in_order(owners, n_owners)
            order = in_order(crowd.owners)
            known = np.searchsorted(crowd.owners[order], np.arange(n_owners + 1)), crowd.values[order]
            gains = _gains(subject, crowd, order) if are_believed(watches) else np.zeros(0)
            fine &= remaining_kept(
                (starts, groups), known, gains, prior_of(subject), watches, np.where(fine, n_persons, 0), room
            )
            room -= int(n_persons[~fine].sum())
        return fine

    @cached_property
    def _by_subject(self) -> list[tuple[Subject, list[Watch]]]:
        subjects: dict[int, tuple[Subject, list[Watch]]] = {}
        for watched, subject in self.watches:
            subjects.setdefault(id(subject), (subject, []))[1].append(watched)
        return list(subjects.values())


class Told(Protocol):
    """What several groups of a person may not tell together, of one release or of several."""

    def going(self, owners: Ids, n_owners: int, room: int | None = None) -> NDArray[np.bool_]:
        """Persons to be left out next; owners of rows are listed person after person, a negative one is nowhere.

        With `room` for so many of them, the others are not looked for once there are more.
        """
        ...


@dataclass(frozen=True, repr=False)
class AllSightings:
    """The same for promises that take different things as known."""

    each: tuple[Sightings, ...]

    def unsafe(self, owners: Ids, n_owners: int, room: int | None = None) -> NDArray[np.bool_]:
        """The persons for whom some promise is broken, as `Sightings.unsafe` says."""
        unsafe = self.each[0].unsafe(owners, n_owners, room)
        for sightings in self.each[1:]:
            unsafe = unsafe | sightings.unsafe(owners, n_owners, room)
        return unsafe

    def going(self, owners: Ids, n_owners: int, room: int | None = None) -> NDArray[np.bool_]:
        """Everybody with a row in a group that is unfit."""
        persons, unfit = self.each[0].persons, self.unfit(owners, n_owners, room)
        going = np.zeros(persons.n, dtype=bool)
        going[persons.numbers[persons.order][(owners >= 0) & unfit[owners]]] = True
        return going

    def unfit(self, owners: Ids, n_owners: int, room: int | None = None) -> Kept:
        """A group of everybody for whom some promise is broken: the one with the fewest rows of all she is seen in."""
        unsafe = self.unsafe(owners, n_owners, room)
        return smallest_groups(self.each[0].persons, unsafe, owners, n_owners)


def smallest_groups(persons: Persons, which: NDArray[np.bool_], owners: Ids, n_owners: int) -> Kept:
    """The groups of some persons that have the fewest rows of all they are seen in, one for each of them."""
    smallest = np.zeros(n_owners, dtype=bool)
    if which.any():
        whose = persons.numbers[persons.order]
        rows = np.flatnonzero(which[whose] & (owners >= 0))
        sizes = np.bincount(owners[owners >= 0], minlength=n_owners)
        order = np.lexsort((owners[rows], sizes[owners[rows]], whose[rows]))
        is_first = np.diff(whose[rows][order], prepend=-1) != 0
        smallest[owners[rows][order[is_first]]] = True
    return smallest


def sightings_of(
    promises: tuple[Promise, ...], table: Table, sensitive: tuple[str, ...]
) -> AllSightings | None:
    """What is promised about attributes that do not change, of a table; nothing if nothing is.

    `sensitive` are the columns published together, which conditional promises take as known: someone then knows the
    part of her group that each row of a person stands in.
    """
    persons = persons_of(table)
    if persons is None or not promises:
        return None
    # Of labels the values under them are believed, and added up.
    subjects = {names: subject_of(names, table) for names in {promise.protects for promise in promises}}
    each = []
    for promise in promises:
        [watched] = watch_each((replace(promise, conditional=False),), table, ())
        known = known_beside(promise, table, sensitive)
        parts = None if known is None else known[0][persons.order]
        each.append(Sightings(persons, ((watched, subjects[promise.protects]),), parts))
    plain = tuple(pair for one in each if one.known is None for pair in one.watches)
    together = (Sightings(persons, plain),) if plain else ()
    return AllSightings((*together, *(one for one in each if one.known is not None)))


def _parts(owners: Ids, known: Ids) -> tuple[Ids, int]:
    """A number for each part of an owner that is told apart by what is known; negative owners are nowhere."""
    there, parts = owners >= 0, np.full(owners.size, -1)
    parts[there], firsts = number(owners[there] * (int(known.max(initial=0)) + 1) + known[there])
    return parts, firsts.size


def alike_lists(begins: Ids, groups: Ids, several: Ids) -> tuple[Ids, Ids]:
    """A number for each of some persons, the same for those with the same groups, and the first person of every number."""
    lengths, span = np.diff(begins)[several], int(groups.max()) + 1
    numbers, top = groups[begins[several]], span
    has = np.flatnonzero(lengths > 1)
    for step in range(1, int(lengths.max())):
        # Whoever has no more groups keeps a number that no one else can get.
        has = has[lengths[has] > step]
        more, firsts = number(numbers[has] * span + groups[begins[several[has]] + step])
        numbers[has] = top + more
        top += firsts.size
    numbers, n_numbers = dense((numbers,), (top,), numbers.size)
    return numbers, several.size - 1 - examples(numbers[::-1], n_numbers)


def listed_of(begins: Ids, groups: Ids, which: Ids) -> tuple[Ids, Ids]:
    """The groups of some persons, list after list."""
    lengths = np.diff(begins)[which]
    starts = np.append(0, np.cumsum(lengths))
    places = np.repeat(begins[which] - starts[:-1], lengths) + np.arange(starts[-1])
    return starts, groups[places]


def are_believed(watches: list[Watch]) -> bool:
    """Whether some promise asks for more than how many values remain possible."""
    return any(not _wanted(watched) for watched in watches)


def prior_of(subject: Subject) -> Floats:
    """The log of the share of every value in the table."""
    prior: Floats = np.log(np.maximum(subject.expected, SMALLEST) / subject.expected.sum())
    return prior


def remaining_kept(
    lists: tuple[Ids, Ids],
    known: tuple[Ids, Ids],
    gains: Floats,
    base: Floats,
    watches: list[Watch],
    n_persons: Ids,
    room: int,
) -> Kept:
    """For which lists of groups promises about one subject are kept, until those of too many persons are found not to.

    `known` says which values each group has, as the kernel `beliefs` wants it; of each, `gains` has the log of what its
    share gains over what was expected, and `base` the log of what is believed without any group.
    """
    starts, groups = lists
    fine = np.ones(starts.size - 1, dtype=bool)
    on_values = max((_wanted(watched) for watched in watches), default=0)
    believed = [watched for watched in watches if not _wanted(watched)]
    for first, stop in _chunks(starts, np.diff(known[0])[groups]):
        if int(n_persons[~fine].sum()) > room:
            return fine
        of_chunk = starts[first : stop + 1] - starts[first], groups[starts[first] : starts[stop]]
        fine[first:stop] &= keep_values(*of_chunk, *known, on_values)
        if believed:
            units, values, logs = beliefs(*of_chunk, *known, gains, base)
            weights = normal(units, logs, stop - first)
            for watched in believed:
                fine[first:stop] &= _kept(watched, values, units, weights, stop - first)
    return fine


def _wanted(watched: Watch) -> int:
    """How many values must remain possible, where that is all that is asked; 0 where more is."""
    guarantee = watched.promise.guarantee
    is_plain = isinstance(guarantee, kinds.DistinctDiversity) and not guarantee.level
    is_plain = is_plain and not guarantee.singled_out and bool(watched.is_sensitive.all())
    return guarantee.variety if is_plain else 0


def _gains(subject: Subject, crowd: Crowd, order: Ids) -> Floats:
    """The log of what the share of every value in its group gains over that in the table, in an order."""
    shares = crowd.weights[order] / crowd.sizes[crowd.owners[order]]
    expected = subject.expected / subject.expected.sum()
    gains: Floats = np.log(shares / expected[crowd.values[order]])
    return gains


def _chunks(starts: Ids, n_values: Ids) -> Iterator[tuple[int, int]]:
    """Runs of lists whose values together are not too many; of a list no more remain than its smallest group has."""
    before = np.append(0, np.cumsum(np.minimum.reduceat(n_values, starts[:-1])))
    first, last = 0, starts.size - 1
    while first < last:
        stop = int(np.searchsorted(before, before[first] + TOGETHER, side="right")) - 1
        stop = min(max(stop, first + 1), last)
        yield first, stop
        first = stop


def normal(units: Ids, logs: Floats, n_units: int) -> Floats:
    """Beliefs of every unit that sum up to 1; units are in order."""
    largest = np.full(n_units, -np.inf)
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if starts.size:
        largest[units[starts]] = np.maximum.reduceat(logs, starts)
    raw = np.exp(logs - largest[units])
    believed: Floats = raw / np.bincount(units, raw, minlength=n_units)[units]
    return believed


def _kept(watched: Watch, values: Ids, units: Ids, believed: Floats, n_units: int) -> Kept:
    """For which units a promise is kept; where nothing remains possible it is not."""
    values, units, believed = _labelled(watched, values, units, believed, n_units)
    guarantee, subject = watched.promise.guarantee, watched.subject
    assert subject is not None
    n_values = np.bincount(units, minlength=n_units)
    if isinstance(guarantee, kinds.SupersetCloseness):
        guarantee = kinds.Closeness(guarantee.t, guarantee.ground)
    about = subject.reference, watched.is_sensitive, watched.columns
    if isinstance(guarantee, ON_WEIGHTS):
        ones = np.ones(n_units, dtype=np.int64)
        assert subject.persons is not None
        crowd = Believed(subject.persons, units, values, believed, ones)
        tally = Tally(units, values, np.ones_like(values), ones, *about, crowd=crowd, subject=subject)  # type: ignore[arg-type]
    else:
        counts, sizes = _as_whole(units, believed, n_values)
        tally = Tally(units, values, counts, sizes, *about)
    fine: Kept = DECISIONS[type(guarantee)](guarantee, tally)
    return fine & (n_values > 0)


def _labelled(
    watched: Watch, values: Ids, units: Ids, believed: Floats, n_units: int
) -> tuple[Ids, Ids, Floats]:
    """The same in order of value, with labels in place of values where the promise counts these."""
    level = watched.promise.guarantee.level
    if not level:
        order = in_order(values)
        return values[order], units[order], believed[order]
    column = watched.table[watched.promise.protects[0]]
    labels = column.levels[min(level, column.levels.highest)].label_of[values].astype(np.int64)
    keys = labels * n_units + units
    listed = distinct(keys)
    believed = np.bincount(np.searchsorted(listed, keys), believed, minlength=listed.size).astype(np.float64)
    labels, units = np.divmod(listed, max(n_units, 1))
    return labels, units, believed


def _as_whole(units: Ids, believed: Floats, n_values: Ids) -> tuple[Ids, Ids]:
    """Beliefs as parts of a whole, rounded up; values that are believed alike have one part each."""
    low, high = np.full(n_values.size, np.inf), np.full(n_values.size, -np.inf)
    np.minimum.at(low, units, believed)
    np.maximum.at(high, units, believed)
    is_even = high - low <= TOLERANCE * TOLERANCE + 1e-12 * high
    parts = np.ceil((believed + TOLERANCE) * WHOLE).astype(np.int64)
    sizes = np.where(is_even & (n_values > 0), n_values, WHOLE)
    return np.where(is_even[units], 1, parts), sizes
