"""Messages count one thing as one."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.wording import counted, ordinal


def test_ordinals():
    """First, second, third and the teens."""
    told = [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
    assert told == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]


def test_one_is_not_several():
    """One row is no rows, and one person no persons."""
    assert counted(1, "row") == "1 row"
    data = pl.DataFrame({"age": [1], "ill": ["flu"]})
    roles = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    policy = mv.Policy(attributes=roles, guarantee={"k": 2}, publish={"method": "separate"})
    with pytest.raises(mv.PolicyError, match="k = 2 but there is 1 row"):
        mv.publish(data, policy)


def test_recursive_diversity_of_one():
    """The rarer ones begin with the 1st if no diversity is asked for."""
    data = pl.DataFrame({"age": [1, 2], "ill": ["flu", "flu"]})
    roles = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    asked = {"l": 1, "l_kind": "recursive", "c": 0.5}
    policy = mv.Policy(attributes=roles, guarantee=asked, publish={"method": "separate"})
    with pytest.raises(mv.InfeasibleError, match="the 1st and rarer ones 2 together"):
        mv.publish(data, policy)
