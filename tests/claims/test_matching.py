"""Which rows a tuple may be: the same whether pairs are looked at or bits, and as a plain look at every label says."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.reading import columns, matching
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.cover import cover_of_lists
from manyveils.reading.matching import matches_of

N_ORIGINALS = 4
SETS = st.lists(st.sets(st.integers(0, N_ORIGINALS - 1), min_size=1), min_size=1, max_size=4)
PLAIN = [{0}, {1, 2}, {3}]


def cover(sets):
    """Labels that stand for sets of originals."""
    return cover_of_lists([sorted(codes) for codes in sets], N_ORIGINALS)


@st.composite
def cases(draw):
    """A column of two attributes, whose labels may overlap in one and perhaps in the other, and tuples to look for."""
    sets, others = draw(SETS), draw(st.just(PLAIN) | SETS)
    pairs = st.tuples(st.integers(0, len(sets) - 1), st.integers(0, len(others) - 1))
    rows = draw(st.lists(pairs, min_size=1, max_size=12, unique=True))
    codes = st.integers(0, N_ORIGINALS - 1)
    tuples = draw(st.lists(st.tuples(codes, codes), min_size=1, max_size=6))
    counts = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    return sets, others, rows, counts, tuples


@pytest.mark.parametrize(
    "limits",
    [
        {"FEW_PAIRS": 2**28},
        {"LARGEST": 1},
        {"FEW_PAIRS": 1},
        {"MOST_REMEMBERED": 0},
        {"MOST_PAIRS": 0},
    ],
    ids=["bits", "no keys", "halves", "forgetful", "large groups"],
)
@given(case=cases())
def test_matches(limits, case):
    """A row matches a tuple if both of its labels cover it, and takes an even share of what they cover."""
    sets, others, rows, counts, tuples = case
    labels = {name: np.array([row[place] for row in rows], np.int32) for place, name in enumerate("ab")}
    part = PublishedColumn(
        ("a", "b"),
        np.zeros(len(rows), dtype=np.int64),
        labels,
        np.array(counts, dtype=np.int64),
        {"a": cover(sets), "b": cover(others)},
    )
    asked = {name: np.array([each[place] for each in tuples]) for place, name in enumerate("ab")}
    largest = limits.get("LARGEST", columns.LARGEST)
    with patch.multiple(matching, FEWEST=2, **limits), patch.object(columns, "LARGEST", largest):
        # Less was asked of some of them before, and is remembered.
        matches_of(part, {"a": asked["a"][: len(tuples) // 2]}, {})
        matches_of(part, {name: codes[: len(tuples) // 2] for name, codes in asked.items()}, {})
        found = matches_of(part, asked, {})
    got = {
        (place, int(row)): weight
        for place, combination in enumerate(found.combination_of)
        for row, weight in zip(
            found.rows[found.combinations == combination],
            found.weights[found.combinations == combination],
            strict=True,
        )
    }
    expected = {
        (place, number): counts[number] / len(sets[a]) / len(others[b])
        for place, (x, y) in enumerate(tuples)
        for number, (a, b) in enumerate(rows)
        if x in sets[a] and y in others[b]
    }
    assert got == pytest.approx(expected)
