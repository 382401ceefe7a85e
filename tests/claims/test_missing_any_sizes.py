"""Where a missing cell may be any value, every promise and measure about sizes counts candidates."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.reading import candidates

CELL = st.sampled_from(["1", "2", "3", None])
SIZED = {
    "k-anonymity": {"k": 3},
    "prosecutor-risk": {"prosecutor_risk": 0.2},
    "marketer-risk": {"marketer_risk": 0.2},
}


def policy_of(quasi, guarantee=None, **more):
    """A policy that knows some attributes, and takes a missing cell for any value."""
    roles = {name: {"role": "quasi"} for name in quasi}
    return {
        "data": {"missing": "any", "person": "row"},
        "attributes": {**roles, "s": {"role": "sensitive"}},
        "guarantee": guarantee or {},
        **more,
    }


def table_of(rows, quasi):
    """The rows with a sensitive value for each."""
    frame = pl.DataFrame(rows, schema=dict.fromkeys(quasi, pl.String), orient="row")
    return frame.with_columns(s=pl.Series(["x", "y", "z"] * frame.height).head(frame.height))


def agree(first, second):
    """Whether two rows may be alike."""
    return all(one == other or None in (one, other) for one, other in zip(first, second, strict=True))


def promised(audit):
    """What is measured of each promise."""
    return {finding.promise: finding.measured for finding in audit.findings if finding.promised}


@given(st.lists(CELL, min_size=2, max_size=9).filter(lambda cells: None in cells))
@settings(deadline=None, max_examples=40)
def test_one_known_attribute_is_judged_as_several_are(cells):
    """A promise about sizes is measured where somebody knows a single attribute."""
    frame = table_of([(cell,) for cell in cells], ("q",))
    guarantee = {key: value for keys in SIZED.values() for key, value in keys.items()}
    audit = mv.check(frame, policy_of(("q",), guarantee, keys=[{"attributes": ["q"], "k": 3}]))
    fk = [sum(agree((cell,), (other,)) for other in cells) for cell in cells]
    told = promised(audit)
    assert told["k-anonymity"] == told["key-k-anonymity"] == min(fk)
    assert told["prosecutor-risk"] == pytest.approx(1 / min(fk))
    assert told["marketer-risk"] == pytest.approx(sum(1 / size for size in fk) / len(fk))
    assert {finding.promise for finding in audit.broken} == {
        promise
        for promise, is_kept in {
            "k-anonymity": min(fk) >= 3,
            "key-k-anonymity": min(fk) >= 3,
            "prosecutor-risk": min(fk) >= 5,
            "marketer-risk": 5 * sum(1 / size for size in fk) <= len(fk) + 1e-9,
        }.items()
        if not is_kept
    }


def test_a_key_of_one_attribute_is_judged():
    """A key of one attribute has candidates though the table has several quasi-identifiers."""
    frame = table_of([("a", "1"), ("b", "1"), (None, "1"), (None, "1")], ("q", "r"))
    for k, is_kept in ((3, True), (4, False)):
        audit = mv.check(frame, policy_of(("q", "r"), keys=[{"attributes": ["q"], "k": k}]))
        assert (promised(audit), audit.kept) == ({"key-k-anonymity": 3}, is_kept)


@pytest.mark.parametrize("missing", ["any", "category"])
@pytest.mark.parametrize(("k", "is_kept"), [(2, True), (3, False)])
def test_a_table_of_one_column_is_judged(missing, k, is_kept):
    """A bare table that shows one attribute of people is the rows of people."""
    policy = policy_of(("q",), {"k": k}) | {"data": {"missing": missing, "person": "row"}}
    audit = mv.check(pl.DataFrame({"q": ["a", "a", "b", "b"]}), policy)
    assert (promised(audit)["k-anonymity"], audit.kept) == (2, is_kept)


@given(st.lists(st.tuples(CELL, CELL), min_size=2, max_size=9), st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_levels_and_rows_are_of_the_same_reading(rows, level):
    """Another level is looked at among candidates, and the rows told are their number."""
    frame, quasi = table_of(rows, ("q", "r")), ("q", "r")
    audit = mv.check(frame, policy_of(quasi, {"k": 2}), levels={"k": level}, rows=True)
    fk = [sum(agree(row, other) for other in rows) for row in rows]
    assert audit.rows["rows_in_group"].to_list() == fk
    if any(None in row for row in rows):
        [finding] = [
            own
            for own in audit.findings
            if not own.promised and own.required == level and own.terms == "missing = any"
        ]
        assert (finding.measured, finding.kept) == (min(fk), min(fk) >= level)
        assert finding.rows_short == sum(size < level for size in fk)


@given(
    st.lists(st.tuples(CELL, CELL), min_size=2, max_size=8).filter(
        lambda rows: any(None in row for row in rows)
    ),
    st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("123")), min_size=1, max_size=8),
)
@settings(deadline=None, max_examples=40)
def test_a_missing_cell_is_any_value_of_the_population(tmp_path_factory, rows, others):
    """A row with a missing cell looks like all of the population who agree with it in the others."""
    folder = tmp_path_factory.mktemp("population")
    everybody = [*((q or "1", r or "2") for q, r in rows), *others]
    pl.DataFrame(everybody, schema=["q", "r"], orient="row").write_csv(folder / "people.csv")
    frame = table_of(rows, ("q", "r"))
    policy = policy_of(
        ("q", "r"),
        {"k_map": 3, "journalist_risk": 0.5},
        population={"source": str(folder / "people.csv")},
    )
    alike = min(sum(agree(row, other) for other in everybody) for row in rows)
    told = promised(mv.check(frame, policy))
    assert told["k-map"] == alike
    assert told["journalist-risk"] == pytest.approx(1 / alike)
    assert mv.measure(frame, frame, policy)["journalist_risk"]["highest"] == pytest.approx(1 / alike)


@given(
    st.lists(st.tuples(CELL, CELL), min_size=2, max_size=9).filter(
        lambda rows: any(None in row for row in rows)
    )
)
@settings(deadline=None, max_examples=30)
def test_measures_of_risk_count_candidates(rows):
    """The chances that are measured are those of the reading that is promised."""
    frame = table_of(rows, ("q", "r"))
    measured = mv.measure(frame, frame, policy_of(("q", "r"), {"k": 2}))
    fk = [sum(agree(row, other) for other in rows) for row in rows]
    assert measured["prosecutor_risk"]["highest"] == pytest.approx(1 / min(fk))
    assert measured["prosecutor_risk"]["at_risk"] == pytest.approx(sum(size < 5 for size in fk) / len(fk))
    assert measured["marketer_risk"] == pytest.approx(sum(1 / size for size in fk) / len(fk))
    assert measured["sample_uniques"] == pytest.approx(sum(size == 1 for size in fk) / len(fk))


@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=2, max_size=9).filter(
        lambda rows: any(None in row for row in rows)
    ),
    st.sampled_from([0, 10**6]),
)
@settings(deadline=None, max_examples=40)
def test_both_ways_to_find_candidates_agree_with_a_look_at_pairs(rows, cost):
    """Whether patterns of missing cells are compared or rows, a few at once, is told by speed alone."""
    frame, quasi = table_of(rows, ("q", "r", "p")), ("q", "r", "p")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "ROWS_PER_JOIN", cost)
        patch.setattr(candidates, "PAIRS_AT_ONCE", 5)
        audit = mv.check(frame, policy_of(quasi, {"k": 2, "l": 2}), rows=True)
    alike = [[place for place, other in enumerate(rows) if agree(row, other)] for row in rows]
    values = frame["s"].to_list()
    assert audit.rows["rows_in_group"].to_list() == [len(group) for group in alike]
    few = [len({values[place] for place in group}) < 2 for group in alike]
    assert audit.rows["distinct-l-diversity of s"].to_list() == few


def test_many_patterns_are_no_many_joins():
    """Where nearly every row lacks other cells, rows are compared; what is too much is refused with its size."""
    quasi = tuple(f"q{number}" for number in range(70))
    rows = [tuple(None if number == row else "1" for number in range(70)) for row in range(70)]
    frame = table_of(rows, quasi)
    assert promised(mv.check(frame, policy_of(quasi, {"k": 70}))) == {"k-anonymity": 70}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "MOST_PAIRS", 69**2)
        with pytest.raises(mv.PolicyError, match=r"70 different rows with 70 sets .* at most 69 rows"):
            mv.check(frame, policy_of(quasi, {"k": 70}))


def test_more_attributes_than_bits_are_compared_by_pattern():
    """Only attributes that some row lacks tell patterns apart, however many are known."""
    quasi = tuple(f"q{number}" for number in range(70))
    frame = table_of([("1",) * 70, ("1",) * 69 + (None,), ("2",) * 70], quasi)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "ROWS_PER_JOIN", 0)
        audit = mv.check(frame, policy_of(quasi, {"k": 1}), rows=True)
    assert audit.rows["rows_in_group"].to_list() == [2, 2, 1]


@pytest.mark.parametrize("level", ["x", None, True, float("nan"), float("inf"), 2.5, 0])
def test_a_level_that_is_no_number_is_refused(level):
    """What is no whole number is refused in words, whatever its type."""
    frame = table_of([("a",), ("a",)], ("q",))
    with pytest.raises(mv.InputError, match=r"levels\.k: must be a whole number"):
        mv.check(frame, policy_of(("q",), {"k": 2}), levels={"k": level})
