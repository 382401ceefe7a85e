"""What those have in common who are left out is judged as what a group has."""

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy import Policy
from manyveils.policy.guarantees import Closeness, DistinctDiversity, FrequencyDiversity, Linkability
from tests.kit import verdict
from tests.kit.persons import matched

ILLS = ["flu", "cold", "gout", None]
PROMISES = {
    "distinct": ({"l": 2}, DistinctDiversity(2)),
    "frequency": ({"l": 2, "l_kind": "frequency"}, FrequencyDiversity(2)),
    "closeness": ({"t": 0.3}, Closeness(Fraction(3, 10), "equal")),
    "linkability": ({"epsilon_link": 0.6}, Linkability(Fraction(3, 5))),
}


def policy(guarantee, person="row", method="generalize"):
    """Who is in too small a group may be left out."""
    return Policy(
        data={"person": person},
        attributes={
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "kind": "categorical"},
            "ill": {"role": "sensitive"},
        },
        guarantee={"k": 2, **guarantee},
        publish={"method": method, "suppression": 0.5},
    )


def absent(frame, wanted):
    """The release, and its findings about those who are left out; nothing where none can be made."""
    try:
        release = mv.publish(frame, wanted, 1)
    except (InfeasibleError, PolicyError):
        return None, []
    return release, [own for own in mv.audit(release, frame, wanted).findings if own.reading == "absent"]


@pytest.mark.parametrize("name", PROMISES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(ILLS)), min_size=2, max_size=12))
def test_measures_are_those_of_a_group(name, rows):
    """Measures and verdict are the oracle's for the values that the original has more often than the release."""
    guarantee, plain = PROMISES[name]
    frame = pl.DataFrame(rows, schema={"age": str, "ill": str}, orient="row").with_columns(
        name=pl.int_range(pl.len()).cast(pl.String)
    )
    release, findings = absent(frame, policy(guarantee))
    if release is None:
        return
    everybody = [ill or "" for _, ill in rows]
    published = [ill or "" for ill in release.frames["main"]["ill"].to_list()]
    left = list((Counter(everybody) - Counter(published)).elements())
    assert bool(findings) == bool(left)
    for finding in findings:
        told = verdict(plain, left, everybody)
        assert not finding.promised
        assert finding.kept == told.kept
        assert finding.worst_group_size == len(left)
        assert finding.measured == pytest.approx(told.measure)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(ILLS[:3]), st.integers(0, 5)),
        min_size=2,
        max_size=14,
    )
)
def test_of_persons_with_several_rows(rows):
    """Of persons as many different values count as different persons have."""
    frame = pl.DataFrame(rows, schema={"age": str, "ill": str, "name": pl.Int64}, orient="row")
    frame = frame.with_columns(pl.col("name").cast(pl.String))
    release, findings = absent(frame, policy({"l": 2}, "name", "anatomize"))
    if release is None or not release.placements:
        return
    [placement] = release.placements.values()
    left = [(whose, ill) for (_, ill, whose), place in zip(rows, placement, strict=True) if place < 0]
    assert bool(findings) == bool(left)
    for finding in findings:
        assert finding.measured == matched(left)
        assert finding.worst_group_size == len({whose for whose, _ in left})


def test_all_who_are_left_out_have_one_value():
    """Seven of ten have flu, and all who are left out have it: it is told, and said in words."""
    frame = pl.DataFrame({"age": ["a"] * 2 + ["b"] * 2 + ["c"] * 2 + list("defg")}).with_columns(
        ill=pl.Series(["flu", "cold", "flu", "gout", "flu", "cough", *["flu"] * 4]),
        name=pl.int_range(10).cast(pl.String),
    )
    wanted = policy({"l": 2, "l_kind": "frequency"})
    release, findings = absent(frame, wanted)
    assert release.suppressed == 4
    [finding] = findings
    assert not finding.kept
    assert finding.rows_short == 4
    audit = mv.audit(release, frame, wanted)
    assert audit.kept
    [told] = [own for own in audit.not_promised if own.reading == "absent"]
    assert told.what.startswith(
        "Someone who knows how common each ill is among all, and that a person was left out,"
    )
    assert "suppression = 0" in told.remedy


@pytest.mark.parametrize(("share", "kept"), [(0.7, True), (0.6, False)])
def test_absence_binds_where_it_is_promised(share, kept):
    """With `absent`, a release is refused if those who are left out are too alike, and appears if they are not."""
    rows = [
        ("a", "flu"),
        ("a", "cold"),
        ("b", "flu"),
        ("b", "cold"),
        ("c", "flu"),
        ("d", "flu"),
        ("e", "cold"),
    ]
    frame = pl.DataFrame(rows, schema={"age": str, "ill": str}, orient="row").with_columns(
        name=pl.int_range(pl.len()).cast(pl.String)
    )
    promised = policy({"epsilon_link": share, "absent": True})
    if kept:
        findings = list(mv.audit(mv.publish(frame, promised, 1), frame, promised).findings)
        assert [own.promised for own in findings if own.reading == "absent"] == [True]
    else:
        with pytest.raises(
            mv.BrokenPromise, match=r"of those whom the release leaves out.*Allow less suppression"
        ):
            mv.publish(frame, promised, 1)


def test_absence_that_cannot_be_told_is_not_kept():
    """Of several values in a cell nobody can tell what those have who are left out, so nothing is promised of them."""
    cells = {"age": list("aabbc"), "ill": ["x|y", "z", "x", "z", "y"], "name": list("12345")}
    asked = policy({"epsilon_link": 0.9})
    sections = {"ill": {"role": "sensitive", "multivalued": "|"}}
    several = asked.replaced(attributes={**asked.model_dump(exclude_unset=True)["attributes"], **sections})
    assert mv.publish(pl.DataFrame(cells), several, 1).suppressed
    promised = several.replaced(guarantee={"k": 2, "epsilon_link": 0.9, "absent": True})
    with pytest.raises(mv.BrokenPromise, match="nothing in the release shows that it is kept"):
        mv.publish(pl.DataFrame(cells), promised, 1)
