"""Labels that could be mistaken for values or for other labels are `*` instead."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv

TREE = {"b": ["a", "c"], "group": ["b", "{a, b}"], "a": ["a, b", "[a, b]"]}
VALUES = [value for values in TREE.values() for value in values]


def policy(labels, method="generalize"):
    """Groups of two, whose labels are written in one of the styles."""
    keys = {"recoding": "mondrian"} if method == "generalize" else {"group_k": 2}
    ordinal = {"kind": "ordinal", "order": sorted(VALUES)} if labels == "ranges" else {}
    return mv.Policy(
        attributes={
            "town": {"role": "quasi", **ordinal, **({"hierarchy": {"tree": TREE}} if not ordinal else {})},
            "ill": {"role": "sensitive"},
        },
        guarantee={"k": 2},
        publish={"method": method, "labels": labels, **keys},
    )


@pytest.mark.parametrize("method", ["generalize", "angelize"])
@pytest.mark.parametrize("labels", ["hierarchy", "sets", "ranges"])
@settings(max_examples=15)
@given(towns=st.lists(st.sampled_from(VALUES), min_size=2, max_size=14))
def test_no_label_is_mistaken(labels, method, towns):
    """The audit finds that every label means what its recoding says, whatever values are called."""
    data = pl.DataFrame({"town": towns, "ill": [f"ill {n % 3}" for n in range(len(towns))]})
    release = mv.publish(data, policy(labels, method), seed=1)
    assert mv.audit(release, data, policy(labels, method)).kept


def test_only_what_is_mistaken_is_starred():
    """A label that reads like a value elsewhere is `*`; the value stays, and so do other labels."""
    towns = ["a", "c", "b", "b", "[a, b]", "[a, b]"]
    data = pl.DataFrame({"town": towns, "ill": list("xyxyxy")})
    told = mv.publish(data, policy("hierarchy"), seed=1).tables["main"]["town"].to_list()
    assert told == ["*", "*", "[a, b]", "[a, b]", "b", "b"]
    fewer = mv.publish(data[[0, 1, 4, 5]], policy("hierarchy"), seed=1).tables["main"]["town"].to_list()
    assert fewer == ["[a, b]", "[a, b]", "b", "b"]
