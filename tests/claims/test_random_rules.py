"""Random rules: as many as asked for, of the form asked for, none following from another."""

from math import comb

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.random_rules import protectable, random_rules
from manyveils.datasets import discharges, versatile_patients
from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.policy.rules import PrivacyRule, irreducible

NAMES = ["sex", "age", "job", "town", "pay"]


def as_rules(drawn: list[dict[str, object]]) -> list[PrivacyRule]:
    """Rules as the policy's own kind."""
    return [PrivacyRule(frozenset(rule["given"]), rule["protect"]) for rule in drawn]


@settings(max_examples=200)
@given(
    names=st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=7),
    c=st.integers(0, 12),
    lhs=st.integers(1, 4),
    seed=st.integers(0, 99),
    allowed=st.none() | st.lists(st.sampled_from("abcdefgh"), max_size=5),
)
def test_rules_are_as_asked(names, c, lhs, seed, allowed):
    """There are c irreducible rules of the right form, or so many do not exist and that is said."""
    distinct = set(names)
    rights = distinct if allowed is None else distinct & set(allowed)
    exist = len(rights) * comb(len(distinct) - 1, lhs)
    if c > exist:
        with pytest.raises(InputError, match=f"there are only {exist} rules"):
            random_rules(names, c, lhs, seed, allowed)
        return
    drawn = random_rules(names, c, lhs, seed, allowed)
    assert len(drawn) == c
    assert len(irreducible(as_rules(drawn))[0]) == c
    for rule in drawn:
        assert len(set(rule["given"])) == len(rule["given"]) == lhs
        assert set(rule["given"]) <= distinct - {rule["protect"]}
        assert rule["protect"] in rights


def test_every_rule_can_be_drawn():
    """Asked for all rules that exist, it gives each of them; one more is refused."""
    assert len(random_rules(NAMES, 5 * comb(4, 2), 2, seed=1)) == 30
    with pytest.raises(InputError, match=r"c is 31, .* there are only 30 rules"):
        random_rules(NAMES, 31, 2, seed=1)


def test_no_rule_is_preferred():
    """Over many seeds, each of the 20 rules with one attribute on the left comes about as often as any other."""
    drawn = [str(as_rules(random_rules(NAMES, 1, 1, seed))[0]) for seed in range(2000)]
    counts = [drawn.count(rule) for rule in set(drawn)]
    assert len(counts) == 20
    assert 60 < min(counts) <= max(counts) < 145


def test_the_seed_decides():
    """The same seed gives the same rules, another gives others."""
    assert random_rules(NAMES, 6, 2, seed=3) == random_rules(NAMES, 6, 2, seed=3)
    assert random_rules(NAMES, 6, 2, seed=3) != random_rules(NAMES, 6, 2, seed=4)


def test_a_policy_takes_them():
    """Rules drawn for a table are rules of a policy for it."""
    names = versatile_patients().columns
    rules = random_rules(names, 4, 2, seed=1, allowed=protectable(versatile_patients(), 2))
    columns = {name: {"role": "neutral"} for name in names}
    policy = Policy(attributes=columns, rules=rules, publish={"method": "guardian"})
    assert [{"given": rule.given, "protect": rule.protect} for rule in policy.rules] == rules


@pytest.mark.parametrize(("c", "lhs"), [(-1, 2), (1, 0)])
def test_rules_that_make_no_sense(c, lhs):
    """Fewer than no rules, or rules with nothing on the left, are refused."""
    with pytest.raises(InputError, match="cannot be drawn"):
        random_rules(NAMES, c, lhs, seed=1)


def test_protectable_stands_on_the_bound():
    """A value in exactly one row in l is rare enough; one row more is not; missing cells count as a value."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "z"], "b": ["x", "x", "x", "y"], "c": [None, None, None, "y"]})
    assert protectable(frame, 2) == ["a"]
    assert protectable(frame, 1) == ["a", "b", "c"]
    assert protectable(frame, 3) == []
    with pytest.raises(InputError, match="at least 1"):
        protectable(frame, 0)


def test_protectable_discharges():
    """With l = 10, what has more than ten values can be protected, and nothing else."""
    few = {"gender", "race", "rsk_mor"}
    frame = discharges(5000)
    assert protectable(frame, 10) == [name for name in frame.columns if name not in few]
    assert set(frame.columns) - set(protectable(frame, 2)) == {"gender"}
