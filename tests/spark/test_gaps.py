"""What Spark does not do is declared here, with the reason it gives; everything else is done."""

from typing import Literal, get_args, get_origin

import polars as pl
import pytest

import manyveils as mv
from manyveils.methods import METHODS, load, method_of, plan_of_counts, work_of
from manyveils.methods.grade import FOLLOWING
from manyveils.release.plan import FromRows
from manyveils.table import Streams, hold

# Every method and variant that is not there; a new one must be made to work or be listed.
NOT_THERE = {
    ("codip", "anonymizer", "mondrian"),
    ("guardian", "anonymizer", "slice"),
    ("grade", "then", "slice"),
    ("grade", "then", "generalize, mondrian"),
    ("grade", "then", "codip, mondrian"),
    ("angelize", "", ""),
    ("multi-sa", "", ""),
    ("alpha-beta-k", "roles", "no quasi-identifier"),
}
MONDRIAN = {
    "generalize, mondrian": {"method": "generalize", "recoding": "mondrian"},
    "codip, mondrian": {"method": "codip", "anonymizer": "mondrian"},
}
THEN = {**{name: {"method": name} for name in FOLLOWING}, **MONDRIAN}
FRAME = pl.DataFrame(
    {
        "age": [20 + place % 4 for place in range(24)],
        "sex": ["f", "m"] * 12,
        "ill": [f"ill{place % 5}" for place in range(24)],
        "pay": [f"pay{place % 7}" for place in range(24)],
    }
)


def sections(publish, roles=("quasi", "quasi")):
    """A policy for the small table that promises next to nothing."""
    attributes = {name: {"role": role} for name, role in zip(("age", "sex"), roles, strict=True)}
    attributes |= {name: {"role": "sensitive", "kind": "categorical"} for name in ("ill", "pay")}
    guarantee = {} if publish["method"] == "grade" and "then" not in publish else {"k": 2}
    accepted = ["no-quasi: k"]
    return {"accept": accepted, "attributes": attributes, "guarantee": guarantee, "publish": publish}


def variants():
    """Every method by itself, with every value of every choice it offers, and after grading."""
    for method in METHODS:
        yield (method, "", ""), sections({"method": method})
        options = method_of(mv.Policy(**sections({"method": method}))).options
        for key, field in options.model_fields.items():
            for choice in get_args(field.annotation) if get_origin(field.annotation) is Literal else ():
                yield (method, key, choice), sections({"method": method, key: choice})
    for name, then in THEN.items():
        yield ("grade", "then", name), sections({"method": "grade", "then": then})
    yield (
        ("alpha-beta-k", "roles", "no quasi-identifier"),
        sections({"method": "alpha-beta-k"}, ("neutral", "neutral")),
    )


VARIANTS = {
    # What none of the choices of a method changes is listed once.
    variant: asked
    for variant, asked in variants()
    if variant[0] not in ("angelize", "multi-sa") or not variant[1]
}


def is_there(policy):
    """Whether a method can be decided from counts, or made part by part."""
    table, _ = hold(FRAME, policy)
    work = work_of(policy, table, Streams(1))
    plan = method_of(policy).plan(work)
    return plan_of_counts(work, plan) is not None or (isinstance(plan, FromRows) and plan.parts is not None)


def test_every_gap_is_declared():
    """Of all methods and their choices, those that Spark lacks are the ones listed above, and each has a reason."""
    missing = {variant for variant, asked in VARIANTS.items() if not is_there(mv.Policy(**asked))}
    assert missing == NOT_THERE
    assert {method for method, _, _ in NOT_THERE} == {name for name in METHODS if load(name).gap}


@pytest.mark.parametrize("variant", sorted(NOT_THERE), ids=" ".join)
def test_gaps_say_why(publish, variant):
    """What is not there is refused with the reason and another way."""
    there = publish(FRAME, mv.Policy(**VARIANTS[variant]), 1)
    assert there.refused.startswith("InfeasibleError: ")
    assert f"publish.method: {variant[0]!r} is not on Spark: {load(variant[0]).gap.reason}." in there.refused
    assert "the local engine." in there.refused


# Spellings of three persons, and rows that are nobody's.
OWNERS = ["1", "1.0", " 1 ", "a", "a", "?", "?", "", None, *[f"b{place}" for place in range(15)]]


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (
            {"person": "owner"},
            "InfeasibleError: policy: data.person: 20 rows are of 17 persons, and persons with several rows are not on Spark",
        ),
        (
            {},
            "PolicyError: policy: data.person: is not set, and the identifier 'owner' repeats: 20 rows have 17 different",
        ),
        ({"person": "row"}, ""),
        ({"person": "visit"}, ""),
        ({"person": ["owner", "visit"]}, ""),
    ],
)
def test_persons_with_several_rows(publish, data, refused):
    """Rows of which some are one person's are refused with the reason, and with both remedies where nothing is said."""
    asked = sections({"method": "generalize"})
    attributes = {**asked["attributes"], **{name: {"role": "identifier"} for name in ("owner", "visit")}}
    policy = mv.Policy(**asked | {"attributes": attributes, "data": {"missing_markers": ["?"], **data}})
    frame = FRAME.with_columns(owner=pl.Series(OWNERS), visit=pl.Series(range(24)))
    there = publish(frame, policy, 1)
    assert there.refused.startswith(refused) if refused else not there.refused
