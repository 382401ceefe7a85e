"""Risks, keys and k-map of tables that something else published, alone and beside their original."""

import polars as pl
import pytest

import manyveils as mv
from tests.claims.test_population import described

KINDS = ("prosecutor-risk", "marketer-risk", "k-map", "journalist-risk", "key-k-anonymity")


@pytest.fixture
def people():
    """A table of ten people, and a list of thirty that has them."""
    data = pl.DataFrame(
        {
            "age": [20, 21, 22, 23, 26] * 2,
            "job": ["clerk", "lawyer", "farmer", "miner", "clerk"] * 2,
            "zip": ["100", "101"] * 5,
            "sex": ["f", "m"] * 5,
            "ill": ["flu", "cold"] * 5,
        }
    )
    return data, pl.concat([data.drop("ill")] * 3)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_bare_table_is_judged_as_the_release_is(people, tmp_path, is_alone):
    """What the audit finds of a release it finds of its table by itself, with the original or without."""
    data, everybody = people
    everybody.write_csv(tmp_path / "people.csv")
    policy = mv.Policy(
        attributes=described(),
        population={"source": str(tmp_path / "people.csv")},
        guarantee={"prosecutor_risk": 0.5, "marketer_risk": 0.3, "k_map": 6, "journalist_risk": 0.2},
        keys=[{"attributes": ["age"], "k": 4}, {"attributes": ["job", "sex"], "k": 3}],
    )
    release = mv.publish(data, policy, seed=1)
    [table] = release.tables.values()
    whole = mv.audit(release, data, policy)
    bare = mv.check(table, policy, data=None if is_alone else data)

    def found(verdict):
        return [
            (one.promise, one.attribute, one.measured, one.kept)
            for one in verdict.findings
            if one.promise in KINDS
        ]

    assert found(bare) == found(whole)
    assert len(found(bare)) == 6


def test_keys_that_a_table_does_not_show_are_left_out(people):
    """Of a table without an attribute, keys with it say nothing."""
    data, _ = people
    policy = mv.Policy(
        attributes=described(), keys=[{"attributes": ["age"], "k": 2}, {"attributes": ["sex"], "k": 5}]
    )
    verdict = mv.check(data.drop("age"), policy)
    assert [one.attribute for one in verdict.findings if one.promise == "key-k-anonymity"] == ["sex"]
