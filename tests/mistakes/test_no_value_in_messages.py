"""Whatever is refused, no message shows a value: not of a cell, nor inside the name of a derived attribute."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.audits import Audit, Finding

# Every value has this in it, numbers too, so that a message that shows one is found out.
MARK, DIGITS = "Zq7", "71324"
METHODS = {
    "generalize": ({}, {"recoding": "mondrian"}),
    "anatomize": ({}, {"link": [["ill", "drugs"]]}, {"link": [["nothing"]]}),
    "slice": (
        {},
        {"columns": [["age", "tongue"], ["job"], ["ill"], ["drugs"], ["pay"]]},
        {"columns": [["age", "tongue", "nothing"], ["ill", "drugs"]]},
        {"columns": 2, "overlap": ["tongue"], "column_k": 4},
        {"columns": 3, "overlap": ["drugs"]},
        {"columns": 40},
        {"partition": "random", "bucket": 4},
        {"partition": "membership", "bucket": 4, "columns": 4},
    ),
    "codip": (
        {"alpha": 0.001, "beta": 0.1},
        {"alpha": 0.001, "search": "patient", "beta": 0.6},
        {"alpha": 0.001, "search": "optimal", "beta": 0.6},
        {"discernibility": 20},
        {"anonymizer": "mondrian", "discernibility": 20},
        {"plan": [["ill", "drugs"], ["pay"]], "beta": 0.1},
        {"plan": [["ill"], ["drugs"], ["pay"]]},
        {"plan": [["ill"], ["drugs", "ill"]]},
        {"plan": [["ill", "drugs", "pay", "nothing"]]},
    ),
    "guardian": ({}, {"anonymizer": "slice"}),
    "alpha-beta-k": ({}, {"k": 30}, {"repair": "rule", "climb": "cover"}),
    "grade": ({}, {"then": "anatomize"}),
    "multi-sa": ({}, {"suppression": 0.2}),
    "separate": ({},),
}
GUARANTEES = (
    {"k": 3, "l": 2},
    {"k": 25},
    {"l": 3, "l_kind": "frequency"},
    {"l": 3, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 0.5},
    {"l": 2, "joint": [["ill", "drugs"]]},
    {"l": 4, "l_kind": "frequency", "joint": [["drugs", "pay"]]},
    {"k": 2, "l": 2, "conditional": True},
    {"t": 0.05},
    {"alpha": 0.2},
    {"beta": 0.01, "joint": [["ill", "drugs", "pay"]]},
    {"eliminations": 2},
)


def frame(n=36):
    """Rows with a multi-valued sensitive attribute among others, and numbers."""
    rng = np.random.default_rng(4)

    def some(word, n_values):
        return [
            "|".join(sorted({f"{MARK}{word}{i}" for i in rng.integers(0, n_values, 2)})) for _ in range(n)
        ]

    return pl.DataFrame(
        {
            "age": [float(f"{DIGITS}{i}") for i in rng.integers(10, 40, n)],
            "tongue": [f"{MARK}tongue{i}" for i in rng.integers(0, 4, n)],
            "job": [f"{MARK}job{i}" for i in rng.integers(0, 6, n)],
            "ill": [f"{MARK}ill{i}" for i in np.minimum(rng.integers(0, 7, n), 4)],
            "drugs": some("drug", 4),
            "pay": [float(f"{DIGITS}{i}") for i in rng.integers(10, 20, n)],
        }
    )


ROLES = {
    "age": {"role": "quasi", "kind": "numeric"},
    "tongue": {"role": "quasi"},
    "job": {"role": "quasi"},
    "ill": {"role": "sensitive", "insensitive": [f"{MARK}ill1"]},
    "drugs": {"role": "sensitive", "multivalued": "|", "insensitive": [f"{MARK}drug1"]},
    "pay": {"role": "sensitive", "kind": "numeric"},
}


def refusals(method, **sections):
    """Publish in every way there is, and list what is refused."""
    messages = []
    for options, guarantee in product(METHODS[method], GUARANTEES):
        publish = {"method": method, **options}
        try:
            mv.publish(
                frame(), {"attributes": ROLES, "guarantee": guarantee, "publish": publish, **sections}, seed=1
            )
        except mv.ManyveilsError as error:
            messages.append(str(error))
    return messages


@pytest.mark.parametrize("method", METHODS)
def test_no_value_in_messages(method):
    """Refusals of every method, of tables with multi-valued attributes and promises of combinations, show no value."""
    messages = refusals(method)
    # Grading refuses every multi-valued attribute.
    assert len(set(messages)) >= (1 if method == "grade" else 3)
    for message in messages:
        assert MARK not in message
        assert DIGITS not in message


@pytest.mark.parametrize("method", ["guardian", "multi-sa", "separate"])
def test_no_value_in_messages_about_rules(method):
    """Nor do refusals of rules and known dependencies about a multi-valued attribute."""
    rules = [{"given": ["age", "job"], "protect": "drugs", "l": 9}]
    dependencies = [{"from": ["ill"], "to": "drugs"}]
    messages = refusals(method, rules=rules) + refusals(method, dependencies=dependencies)
    assert messages
    assert not any(MARK in message or DIGITS in message for message in messages)


def test_slice_names_the_attributes_that_stand_apart():
    """Attributes that are protected as one but listed in different columns are named as the policy names them."""
    columns = [["age", "tongue"], ["job"], ["ill"], ["drugs"], ["pay"]]
    policy = {
        "attributes": ROLES,
        "guarantee": {"beta": 9, "joint": [["ill", "drugs"]]},
        "publish": {"method": "slice", "columns": columns},
    }
    with pytest.raises(
        mv.PolicyError, match="ill and drugs are protected as one but stand in different columns"
    ):
        mv.publish(frame(), policy, seed=1)


@pytest.mark.parametrize(
    ("subject", "named"),
    [("drugs=Flu", "drugs"), ("ill+drugs=Flu+shot", "ill+drugs"), ("ill", "ill"), ("job=Flu", "job=Flu")],
)
def test_broken_promises_name_the_multivalued_attribute(subject, named):
    """A broken promise about one value of a multi-valued attribute is told of the attribute, without the value."""
    finding = Finding("l-diversity", subject, "T", "marginal", True, 3, 2, kept=False)
    with pytest.raises(mv.BrokenPromise) as refused:
        Audit((finding,), {"drugs": ("drugs=Flu", "drugs=Flu+shot")}).refuse_broken()
    assert refused.value.problems[0].where == f"T: l-diversity of {named}"
