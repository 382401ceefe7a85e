"""A glance decides no group otherwise than counting all its persons does."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.errors import PolicyError
from manyveils.kernels import persons, segments, sightings
from manyveils.policy import Policy
from manyveils.promises import headcounts
from manyveils.promises.crowds import persons_of
from manyveils.promises.headcounts import headcount
from manyveils.promises.keeping import all_kept, count_for, watch
from tests.kit.people import work_for

GUARANTEES: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 3, "l": 3},
    {"l": 2},
    {"l": 2, "conditional": True},
    {"l": 2, "l_kind": "frequency"},
    {"k": 2, "t": 0.5},
]
in_both_forms = pytest.mark.parametrize("form", ["compiled", "few"])


@st.composite
def rows(draw: st.DrawFn) -> tuple[pl.DataFrame, list[int], list[int]]:
    """Rows of a few persons, whose each row is, and a group for every row."""
    n = draw(st.integers(2, 30))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    frame = pl.DataFrame(
        {"ill": column(["flu", "ulcer", "colic", "asthma"]), "job": column(["clerk", "miner"])}
    )
    raw = column(list(range(8)))
    numbers = {person: number for number, person in enumerate(dict.fromkeys(raw))}
    return frame, [numbers[person] for person in raw], column([-1, 0, 0, 1, 2])


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@given(drawn=rows(), asked=st.lists(st.booleans(), min_size=3, max_size=3), some=st.booleans())
def test_a_glance_decides_as_counting_does(
    guarantee: dict[str, Any],
    drawn: tuple[pl.DataFrame, list[int], list[int]],
    asked: list[bool],
    some: bool,
) -> None:
    """Of all rows or of those that are in some group, the owners that are asked about are decided as if all were counted."""
    frame, whose, groups = drawn
    policy = Policy(attributes={name: {"role": "sensitive"} for name in frame.columns}, guarantee=guarantee)
    try:
        work = work_for(policy, frame, whose)
    except PolicyError:
        return
    if work is None or work.table.persons is None:
        return
    watches, whole = watch(work.promises, work.table, work.sensitive), persons_of(work.table)
    assert whole is not None
    counted = headcount(whole, watches)
    owners = np.array(groups)[whole.order]
    if some:
        counted, owners = counted.among(owners >= 0), owners[owners >= 0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(headcounts, "FEW_ROWS", 0)
        fine = counted.kept(owners, 3, np.array(asked))
    expected = all_kept(watches, count_for(watches, np.array(groups), 3), np.zeros(3, dtype=np.int64))
    assert fine.tolist() == [bool(own) or not asks for own, asks in zip(expected, asked, strict=True)]


listed = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3)), min_size=1, max_size=30).map(sorted)
flags = st.lists(st.booleans(), min_size=4, max_size=4).map(np.array)


@in_both_forms
@given(listed=listed, asked=flags, wanted=st.integers(1, 3))
def test_owners_of_so_many_persons(
    form: str, listed: list[tuple[int, int]], asked: np.ndarray, wanted: int
) -> None:
    """An owner has so many persons if so many different ones have rows in it."""
    numbers, owners = np.array(listed).T
    starts = np.searchsorted(numbers, np.arange(6))
    fine = getattr(persons.have_persons, form)(starts, owners, asked, wanted)
    of_owner = [len({person for person, own in listed if own == owner}) for owner in range(4)]
    assert fine.tolist() == [
        bool(asks) and n >= wanted for n, asks in zip(of_owner, asked.tolist(), strict=True)
    ]


@in_both_forms
@given(listed=listed, failing=flags)
def test_persons_leave_with_all_their_rows(
    form: str, listed: list[tuple[int, int]], failing: np.ndarray
) -> None:
    """Whoever has a row in a failing owner is nowhere afterwards, and the owners she leaves are touched."""
    numbers, owners = np.array(listed).T.copy()
    touched, starts = np.zeros(4, dtype=bool), np.searchsorted(numbers, np.arange(6))
    leaving = {person for person, owner in listed if owner >= 0 and failing[owner]}
    assert getattr(persons.leave, form)(starts, owners, failing, touched) == len(leaving)
    assert owners.tolist() == [-1 if person in leaving else owner for person, owner in listed]
    left = {owner for person, owner in listed if person in leaving and owner >= 0}
    assert set(np.flatnonzero(touched).tolist()) == left


@in_both_forms
@pytest.mark.parametrize("n_times", [1, 20])
@given(listed=listed)
def test_groups_of_every_person(form: str, n_times: int, listed: list[tuple[int, int]]) -> None:
    """The groups of a person are listed once each, in order, however many rows she has in them."""
    listed = sorted(listed * n_times)
    numbers, owners = np.array(listed).T
    begins, groups = getattr(sightings.groups_of_persons, form)(
        np.searchsorted(numbers, np.arange(6)), owners
    )
    for person in range(5):
        own = sorted({owner for number, owner in listed if number == person and owner >= 0})
        assert groups[begins[person] : begins[person + 1]].tolist() == own


@in_both_forms
def test_parts_after_cuts_are_undone(form: str) -> None:
    """A part belongs to the topmost one above it whose cut is undone, or else to itself."""
    parents, undone = np.array([-1, 0, 0, 1, 1, 2, 2]), np.zeros(7, dtype=bool)
    undone[1] = True
    assert getattr(segments.parts_left, form)(parents, undone).tolist() == [0, 1, 2, 1, 1, 5, 6]
    undone[0] = True
    assert getattr(segments.parts_left, form)(parents, undone).tolist() == [0] * 7
