"""Where a missing cell may be any value, the judge counts what a look at every pair of rows counts."""

from collections import Counter

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.policy.guarantees import Closeness, DistinctDiversity, FrequencyDiversity, exact
from tests.kit.oracles import verdict

QUASI = ("age", "sex", "zip")
CELLS = st.tuples(
    st.sampled_from(["1", "2", None]),
    st.sampled_from(["f", None]),
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["x", "y", "z"]),
    st.sampled_from(["p", "q"]),
)
TABLES = st.lists(CELLS, min_size=2, max_size=12).filter(
    lambda rows: any(None in row[:3] for row in rows) and len({row[3] for row in rows}) > 1
)


def agree(first, second):
    """Whether two rows may be alike: equal in every quasi-identifier, or lacking it."""
    return all(one == other or None in (one, other) for one, other in zip(first[:3], second[:3], strict=True))


def audited(rows, **guarantee):
    """What is promised of a table with missing cells."""
    frame = pl.DataFrame(rows, schema=[*QUASI, "illness", "income"], orient="row")
    policy = {
        "data": {"missing": "any", "person": "row"},
        "attributes": {
            **{name: {"role": "quasi"} for name in QUASI},
            "illness": {"role": "sensitive"},
            "income": {"role": "sensitive"},
        },
        "guarantee": guarantee,
    }
    return [finding for finding in mv.check(frame, policy).findings if finding.promised]


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_sizes_are_counts_of_pairs(rows):
    """The smallest group is the smallest number of rows that agree with one row, sdcMicro's fk."""
    fk = [sum(agree(row, other) for other in rows) for row in rows]
    [k] = [finding for finding in audited(rows, k=3) if finding.promise == "k-anonymity"]
    assert (k.measured, k.kept) == (min(fk), min(fk) >= 3)
    assert k.rows_short == sum(count < 3 for count in fk)
    assert k.terms == "missing = any"


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_values_are_those_of_all_who_agree(rows):
    """Diversity and closeness are judged on all rows that agree with one row."""
    for column, name in ((3, "illness"), (4, "income")):
        everybody = [row[column] for row in rows]
        for keys, guarantee in (
            ({"l": 2}, DistinctDiversity(2)),
            ({"l": 2, "l_kind": "frequency"}, FrequencyDiversity(2)),
            ({"t": 0.3}, Closeness(exact(0.3), "equal")),
        ):
            verdicts = [
                verdict(guarantee, [other[column] for other in rows if agree(row, other)], everybody)
                for row in rows
            ]
            [finding] = [own for own in audited(rows, **keys) if own.attribute == name]
            assert finding.kept == all(own.kept for own in verdicts)
            assert finding.rows_short == sum(not own.kept for own in verdicts)
            worst = max if "t" in keys else min
            assert abs(finding.measured - worst(own.measure for own in verdicts)) < 1e-9


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_other_sensitive_values_are_known_exactly(rows):
    """With conditional, candidates are those who agree and have the same other sensitive value."""
    [finding] = [
        own
        for own in audited(rows, l=2, conditional=True)
        if (own.attribute, own.reading) == ("illness", "conditional")
    ]
    different = [
        len({other[3] for other in rows if agree(row, other) and other[4] == row[4]}) for row in rows
    ]
    assert finding.measured == min(different)
    assert finding.rows_short == sum(count < 2 for count in different)


def test_the_own_reading_stands_beside():
    """What holds where missing is a value of its own is shown, unpromised."""
    rows = [("1", "f", "a", "x", "p"), (None, "f", "a", "y", "q"), ("1", "f", "a", "z", "p")]
    frame = pl.DataFrame(rows, schema=[*QUASI, "illness", "income"], orient="row")
    policy = {
        "data": {"missing": "any"},
        "attributes": {
            "age": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "zip": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "income": {"role": "sensitive"},
        },
        "guarantee": {"k": 3},
    }
    told = Counter(
        (finding.promised, finding.terms, finding.measured) for finding in mv.check(frame, policy).findings
    )
    assert told == {(True, "missing = any", 3): 1, (False, "", 1): 1}
