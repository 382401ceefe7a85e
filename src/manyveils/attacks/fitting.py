"""How many people fit all rows of a target: those with rows in every group that she has rows in."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from manyveils.attacks.all_rows import in_the_same
from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Bools, Floats, Ids, People
from manyveils.attacks.scene import Bound, Scene
from manyveils.reading.keys import numbered, ranges
from manyveils.reading.views import PublishedView

MOST_LOOKED_AT = 5_000_000


def fitting_risk(scene: Scene, views: Sequence[PublishedView], risk: Floats) -> Floats:
    """One over the people whose rows fit all rows of a target, or as much as one of her rows tells, for each row."""
    people = scene.people
    assert people.persons is not None
    highest = people.greatest(risk)
    several = people.summed(np.ones(people.n)) > 1
    for view in views:
        for groups, persons in _standing(scene, view):
            n = fitting(groups, persons, people, several)
            highest = np.maximum(highest, np.divide(1.0, n, out=np.zeros(n.size), where=n > 0))
    return highest[people.persons]


def _standing(scene: Scene, view: PublishedView) -> Iterator[tuple[Ids, Ids]]:
    """The group and the person of every row of the data, in each column that shows something sensitive."""
    known = scene.reader.readable_in(view, scene.quasi)
    hidden = hidden_in(scene, view)
    for placing in scene.reader.placed.get(view.name, ()):
        if {*placing.column.attributes} & hidden:
            yield placing.groups(known)[1], placing.persons


def fitting(groups: Ids, persons: Ids, people: People, wanted: Bools) -> Floats:
    """How many people have rows in all groups of each of the wanted ones; 0 for others, and for who is in no group.

    `groups` and `persons` are of all rows of the data, -1 for no group.
    """
    assert people.persons is not None
    assert people.rows is not None
    inside = np.flatnonzero(groups >= 0)
    _, firsts = numbered([groups[inside], persons[inside]])
    group_of, member_of = groups[inside][firsts], persons[inside][firsts]
    sizes = np.bincount(group_of, minlength=1)
    starts, span = np.cumsum(sizes) - sizes, int(persons.max(initial=0)) + 1
    keys = group_of * span + member_of
    own, whose = groups[people.rows], people.persons
    chosen = np.flatnonzero((own >= 0) & wanted[whose])
    if not chosen.size:
        return np.zeros(people.n_persons)
    # The smallest group of each comes first, since nobody fits who is not in it.
    rank = np.argsort(np.argsort(sizes, kind="stable"), kind="stable")
    pairs = chosen[numbered([whose[chosen], rank[own[chosen]]])[1]]
    lengths = np.bincount(whose[pairs], minlength=people.n_persons)
    alike_of, kinds = in_the_same(rank[own[pairs]], lengths)
    first = np.cumsum(lengths) - lengths
    n = np.zeros(kinds.size)
    for some in _in_parts(
        np.flatnonzero(lengths[kinds] > 0), sizes[own[pairs[first[kinds] * (lengths[kinds] > 0)]]]
    ):
        n[some] = _n_in_all(own[pairs], first[kinds[some]], lengths[kinds[some]], starts, sizes, keys, span)
    return n[alike_of]


def _in_parts(kinds: Ids, sizes: Ids) -> Iterator[Ids]:
    """Some kinds of people at a time, so that no more than so many have to be looked at."""
    parts = np.cumsum(sizes[kinds]) // MOST_LOOKED_AT
    yield from np.split(kinds, np.flatnonzero(np.diff(parts)) + 1)


def _n_in_all(groups: Ids, first: Ids, lengths: Ids, starts: Ids, sizes: Ids, keys: Ids, span: int) -> Ids:
    """For each kind of people how many are in all their groups; `keys` are of group and person, in order."""
    smallest = groups[first]
    case = np.repeat(np.arange(first.size), sizes[smallest])
    persons = keys[ranges(starts[smallest], sizes[smallest])] % span
    for step in range(1, int(lengths.max(initial=1))):
        asked = lengths[case] > step
        wanted = groups[np.where(asked, first[case] + step, first[case])] * span + persons
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        fits = keys[place] == wanted
        case, persons = case[fits], persons[fits]
    return np.bincount(case, minlength=first.size)


def bound_of_all_rows(scene: Scene, bound: Bound, risk: Floats) -> Bound:
    """The same bound, promised of people with rows in one group: nobody promises how many others share several.

    Of whoever is beyond it by one row it is promised as well.
    """
    people = scene.people
    assert people.persons is not None
    in_one = np.ones(people.n_persons, dtype=bool)
    for view in scene.reader.views:
        for groups, _ in _standing(scene, view):
            own = groups[people.rows]
            least, most = np.full(people.n_persons, groups.size), np.full(people.n_persons, -1)
            np.minimum.at(least, people.persons[own >= 0], own[own >= 0])
            np.maximum.at(most, people.persons, own)
            in_one &= least >= most
    alone = people.summed(np.ones(people.n)) == 1
    by_one = people.anyone(risk > bound.cap + TOLERANCE)
    promised = bound.promised & (in_one & bool(scene.reader.placed) | alone | by_one)[people.persons]
    return replace(bound, promised=promised, words=f"{bound.words}, for whoever is seen in one group")


def hidden_in(scene: Scene, view: PublishedView) -> set[str]:
    """What a view shows of sensitive attributes, or of anything that is not known."""
    return {*scene.sensitive} & {*view.attributes} or {*view.attributes} - {*scene.quasi}
