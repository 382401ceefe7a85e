"""Persons have one signature exactly where they are seen in the same groups."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyveils.audits import signatures
from manyveils.audits.signatures import paired, signatures_in

pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), max_size=30)


def checked(listed):
    persons, groups = (np.array([pair[place] for pair in listed], dtype=np.int64) for place in (0, 1))
    told = signatures_in(paired(persons, groups), 9)
    sets = {person: frozenset(group for own, group in listed if own == person) for person in range(9)}
    for person, own in sets.items():
        number = told.of_person[person]
        assert (number < 0) == (not own)
        if own:
            assert told.groups[told.starts[number] : told.starts[number + 1]].tolist() == sorted(own)
            assert told.persons[number] == sum(other == own for other in sets.values())
    assert told.persons.size == len({own for own in sets.values() if own})


@given(pairs)
def test_sets(listed):
    """Sets of groups are told apart, and those that are equal are one."""
    checked(listed)


@given(pairs)
def test_sums_that_meet(listed):
    """Where sums of different sets are equal, groups are compared one after the other."""
    with patch.object(signatures, "scrambled", lambda numbers: numbers.astype(np.uint64)):
        checked(listed)
