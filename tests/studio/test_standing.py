"""Who stands out, against the definitions in plain Python."""

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils import Policy
from manyveils.studio.standing import (
    People,
    bounds_of,
    certain_by,
    crowds_of,
    most_telling,
    n_certain,
    singling_shares,
)
from manyveils.table import encode

CELLS = st.sampled_from(["a", "b", "c", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, st.integers(0, 5)), min_size=1, max_size=30)
NAMES = ("age", "town", "illness")


def people_of(rows, *, by_person):
    """The rows as columns; a person per row, or by the number at the end of each."""
    frame = pl.DataFrame([row[:3] for row in rows], schema=dict.fromkeys(NAMES, pl.String), orient="row")
    policy = Policy(attributes={name: {"role": "neutral"} for name in NAMES})
    persons = None
    if by_person:
        persons = np.unique([row[3] for row in rows], return_inverse=True)[1].astype(np.int64)
    return People(dict(encode(frame, policy).attributes), persons, len(rows))


def told(rows, *, by_person):
    """The rows by person."""
    return [(row[3] if by_person else number, row) for number, row in enumerate(rows)]


@given(ROWS, st.booleans())
def test_crowds_are_the_people_who_look_alike(rows, by_person):
    """Each person counts with the fewest people whom any of her rows could belong to."""
    alike = defaultdict(set)
    for person, row in told(rows, by_person=by_person):
        alike[row[:2]].add(person)
    least = {}
    for person, row in told(rows, by_person=by_person):
        least[person] = min(least.get(person, len(rows)), len(alike[row[:2]]))
    crowds = crowds_of(people_of(rows, by_person=by_person), NAMES[:2])
    assert crowds.sizes.tolist() == sorted(least.values())
    assert crowds.alone == sum(size == 1 for size in least.values())
    for k in range(1, 8):
        assert crowds.below(k) == sum(size < k for size in least.values())


@given(ROWS, st.booleans())
def test_certain_is_who_stands_where_there_is_one_value(rows, by_person):
    """A value is certain of a person if everybody who looks like her has that one."""
    values = defaultdict(set)
    for _, row in told(rows, by_person=by_person):
        values[row[:2]].add(row[2])
    certain = {person for person, row in told(rows, by_person=by_person) if len(values[row[:2]]) == 1}
    assert n_certain(people_of(rows, by_person=by_person), NAMES[:2], "illness") == len(certain)


@given(ROWS)
def test_nobody_knows_less_for_knowing_more(rows):
    """Whoever knows another sensitive value is certain of no fewer people."""
    for own in certain_by(people_of(rows, by_person=False), NAMES[:1], NAMES[1:]):
        assert own.n_knowing >= own.n_persons


@given(ROWS, st.booleans())
def test_no_method_could_do_better_than_the_bounds(rows, by_person):
    """There are no more different values than there are, and a value of n persons fills one of all persons over n."""
    whose = told(rows, by_person=by_person)
    holders = Counter(value for value, _ in {(row[2], person) for person, row in whose})
    (bound,) = bounds_of(people_of(rows, by_person=by_person), ["illness"])
    assert bound.distinct == len(holders)
    assert bound.frequency == len({person for person, _ in whose}) // max(holders.values())


def test_what_tells_most_comes_first():
    """Single columns stand before pairs, those by which more people are alone first."""
    rows = [("a", "b", "x", 0), ("b", "b", "x", 1), ("c", "b", "x", 2), ("c", "a", "x", 3)]
    telling = most_telling(people_of(rows, by_person=False), NAMES[:2])
    assert [(set(own.names), own.alone) for own in telling] == [
        ({"age"}, 2),
        ({"town"}, 1),
        ({"age", "town"}, 4),
    ]


def test_who_is_singled_out_by_one_attribute_counts_for_it():
    """An attribute in which one person has a value of her own has all special uniques; a constant has none."""
    rows = [("a", "b", "x", 0), ("b", "b", "x", 1), ("b", "b", "x", 2)]
    shares = singling_shares(people_of(rows, by_person=False), NAMES[:2])
    assert shares == {"age": 1.0, "town": 0.0}
    assert singling_shares(people_of(rows[1:], by_person=False), NAMES[:2]) == {}


@pytest.mark.parametrize("by_person", [False, True])
def test_knowing_nothing_hides_everybody(by_person):
    """Without anything known nobody is alone, unless there is nobody else."""
    rows = [("a", "b", "x", 0), ("b", "b", "x", 1), ("b", "b", "y", 1)]
    people = people_of(rows, by_person=by_person)
    assert crowds_of(people, ()).sizes.tolist() == [people.n_persons] * people.n_persons
    assert singling_shares(people, ()) == {}


def test_persons_with_a_missing_cell_are_not_special():
    """A missing cell singles nobody out."""
    rows = [(None, "b", "x", 0), ("b", "b", "x", 1), ("b", "b", "x", 2)]
    assert singling_shares(people_of(rows, by_person=False), NAMES[:2]) == {}
