"""Special uniques: minimal sets of attributes that single somebody out, as SUDA2 finds them."""

import sys
from itertools import combinations
from math import factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.utility.special_uniques import Keys, dis_scores, special_uniques_of


def special(rows):
    """What is found of a table of texts, and the different row of each row."""
    frame = pl.DataFrame(rows, orient="row", schema=[f"a{place}" for place in range(len(rows[0]))])
    distinct = frame.group_by(frame.columns, maintain_order=True).len("n")
    labels = {
        name: np.unique(distinct[name].to_numpy(), return_inverse=True)[1].astype(np.int64)
        for name in frame.columns
    }
    missing = {name: (distinct[name] == "").to_numpy() for name in frame.columns}
    counts = distinct["n"].to_numpy().astype(np.int64)
    keys = Keys(labels, missing, counts, np.arange(counts.size), counts, int(counts.sum()))
    found = special_uniques_of(keys)
    numbered = distinct.with_row_index("row")
    return found, frame.join(numbered, on=frame.columns, how="left", maintain_order="left")["row"].to_numpy()


def minimal_sets(rows, row):
    """The sets of attributes by which a row is the only one, and none of their parts; a missing value makes nobody unique."""
    m = len(row)
    found = []
    for size in range(1, m + 1):
        for some in combinations(range(m), size):
            if "" in [row[place] for place in some] or any(set(less) <= set(some) for less in found):
                continue
            if sum(all(other[place] == row[place] for place in some) for other in rows) == 1:
                found.append(some)
    return found


TABLES = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.tuples(*[st.sampled_from(["", "x", "y", "z"])] * m), min_size=1, max_size=14)
)


@settings(max_examples=200, deadline=None)
@given(rows=TABLES)
def test_minimal_sets_are_those_of_the_definition(rows):
    """Counts by size, scores and contributions of every row are those of its minimal sets, found one by one."""
    found, of_row = special(rows)
    m = len(rows[0])
    for row, number in zip(rows, of_row, strict=True):
        sets = minimal_sets(rows, row)
        assert [own[number] for own in found.found] == [
            sum(len(one) == size for one in sets) for size in range(1, m + 1)
        ]
        assert found.scores[number] == sum(factorial(m - len(one)) for one in sets)
        for place in range(m):
            expected = sum(factorial(m - len(one)) for one in sets if place in one)
            assert found.contributions[f"a{place}"][number] == expected


BOOK = [
    *[("20s", "male", "50k+", "highschool")] * 2,
    *[("20s", "male", "50k-", "highschool")] * 2,
    ("20s", "female", "50k-", "university"),
    ("20s", "female", "50k-", "highschool"),
    ("20s", "female", "50k-", "middleschool"),
    ("60s", "male", "50k-", "university"),
]
GUIDELINE = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]


@pytest.mark.parametrize(
    ("rows", "scores"),
    [
        (BOOK, [0, 0, 0, 0, 4, 2, 6, 8]),
        (GUIDELINE, [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]),
    ],
    ids=["book", "guideline"],
)
def test_scores_are_those_that_sdcmicro_documents(rows, scores):
    """The scores of sdcMicro's documented examples (its tests "book example" and "sdc guideline")."""
    found, of_row = special(rows)
    assert found.scores[of_row].tolist() == scores


def test_contributions_are_those_that_sdcmicro_documents():
    """The share of all scores that each attribute has a part in: sdcMicro's "simple example"."""
    found, _ = special([("2", "0", "0"), ("1", "3", "6"), ("1", "0", "0")])
    assert list(found.by_attribute.values()) == [0.5, 0.375, 0.375]


def test_chances_follow_the_formula():
    """DIS-SUDA by its formula: three uniques, one pair, and a tenth sampled."""
    scores, counts = np.array([6.0, 2.0, 1.0, 0.0]), np.array([1, 1, 1, 2])
    dis = 3 * 0.1 / (3 * 0.1 + 2 * 0.9)
    q = 1 + (8 - 4) / 20
    adjusted = sum(1 / score**q for score in scores[:3])
    expected = [1 / (1 + (3 / dis - 3) / (score**q * adjusted)) for score in scores[:3]]
    assert dis_scores(scores, counts, 0.1, 4) == pytest.approx([*expected, 0.0])


def test_wide_tables_are_looked_at_as_far_as_there_is_time(monkeypatch):
    """Of sixty attributes, sets are looked at up to a size that fits, and the measure says which."""
    monkeypatch.setattr(sys.modules[special_uniques_of.__module__], "MOST_READ", 10_000_000)
    rng = np.random.default_rng(1)
    labels = {f"q{number}": rng.integers(0, 3, 400) for number in range(60)}
    missing = {name: np.zeros(400, dtype=bool) for name in labels}
    ones = np.ones(400, dtype=np.int64)
    found = special_uniques_of(Keys(labels, missing, ones, np.arange(400), ones, 400))
    assert found.most == 2
    assert found.found.shape == (2, 400)


def test_the_measure_names_the_attributes():
    """In a release, the attribute that tells one person apart carries the risk; groups of two carry none."""
    frame = pl.DataFrame({"age": [1, 1, 1, 1, 9], "sex": list("ffmmm"), "ill": ["flu", "cold"] * 2 + ["flu"]})
    roles = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    policy = mv.Policy(attributes=roles, population={"size": 50})
    measured = mv.measure(mv.publish(frame, policy, seed=1), frame, policy)
    told = measured["special_uniques"]
    assert (told["people"], told["highest_score"], told["attributes_looked_at"]) == (0.2, 1.0, 2.0)
    assert told["highest_chance"] == pytest.approx(
        dis_scores(np.array([1.0, 0, 0]), np.array([1, 2, 2]), 0.1, 2)[0]
    )
    assert measured["special_uniques_by_attribute"] == {"age": 1.0, "sex": 0.0}


@settings(max_examples=100, deadline=None)
@given(rows=TABLES, data=st.data())
def test_persons_are_unique_by_values_that_nobody_else_has(rows, data):
    """Where persons have several rows, a set is unique if all rows with its values are hers, as seen in a release."""
    whose = data.draw(st.lists(st.integers(0, len(rows)), min_size=len(rows), max_size=len(rows)))
    assume(len(set(whose)) > 1)
    names = [f"a{place}" for place in range(len(rows[0]))]
    frame = pl.DataFrame(rows, orient="row", schema=names).with_columns(
        who=pl.Series(whose), ill=pl.lit("flu")
    )
    roles = {name: {"role": "quasi", "kind": "categorical"} for name in names}
    roles |= {"who": {"role": "identifier"}, "ill": {"role": "sensitive"}}
    policy = mv.Policy(data={"person": "who"}, attributes=roles)
    measured = mv.measure(mv.publish(frame, policy, seed=1), frame, policy)
    scores = {}
    for row, who in zip(rows, whose, strict=True):
        others = [other for other, one in zip(rows, whose, strict=True) if one != who]
        sets = minimal_sets([row, *others], row)
        scores[who] = max(scores.get(who, 0), sum(factorial(len(names) - len(one)) for one in sets))
    special = sum(score > 0 for score in scores.values()) / len(scores)
    assert measured["special_uniques"]["people"] == pytest.approx(special)
    assert measured["special_uniques"]["highest_score"] == max(scores.values())
