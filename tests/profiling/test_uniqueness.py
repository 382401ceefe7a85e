"""How rows stand out, against counting in plain Python."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from manyveils.profiling.uniqueness import SAMPLE, share_alone, uniqueness_of
from manyveils.table.attributes import Attribute
from manyveils.table.levels import Levels

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=30)
)


def alone(rows):
    """The share of rows that are the only one of their kind."""
    counts = Counter(rows)
    return sum(counts[row] == 1 for row in rows) / len(rows)


def columns_of(rows):
    return [
        Attribute(
            f"c{place}",
            "categorical",
            np.array(cells, dtype=np.int32),
            pl.Series(range(max(cells) + 1)),
            Levels(()),
        )
        for place, cells in enumerate(zip(*rows, strict=True))
    ]


def some_of(rows, names):
    places = [int(name[1:]) for name in names]
    return [tuple(row[place] for place in places) for row in rows]


@given(tables)
def test_share_alone(rows):
    """The share of rows that stand alone is what counting equal rows gives."""
    codes = [np.array(cells, dtype=np.int64) for cells in zip(*rows, strict=True)]
    assert share_alone(codes) == alone(rows)


@given(tables)
def test_growing(rows):
    """Each step adds one column, its share is right, and together the steps part all rows that columns can part."""
    found = uniqueness_of(columns_of(rows), len(rows))
    for number, step in enumerate(found.growing, start=1):
        assert len(set(step.names)) == number
        assert step.alone == alone(some_of(rows, step.names))
    assert found.together == (alone(rows) if found.growing else 0.0)
    assert not found.is_sample


@given(tables)
def test_without(rows):
    """The share without a column is what counting rows without it gives."""
    width = len(rows[0])
    found = uniqueness_of(columns_of(rows), len(rows)).without
    expected = {f"c{n}": alone([row[:n] + row[n + 1 :] for row in rows]) for n in range(width)}
    assert found == (expected if width > 1 else {})


@given(tables)
def test_pairs_and_threes(rows):
    """The first pair is the most telling one of all, and every share of a pair or three is right."""
    found = uniqueness_of(columns_of(rows), len(rows))
    shares = [alone(some_of(rows, [f"c{a}", f"c{b}"])) for a, b in combinations(range(len(rows[0])), 2)]
    assert [each.alone for each in found.pairs[:1]] == ([max(shares)] if shares else [])
    assert all(each.alone == alone(some_of(rows, each.names)) for each in (*found.pairs, *found.threes))
    assert all(len(each.names) == 3 for each in found.threes)


def test_a_sample_is_said():
    """A table above the limit is looked at in a sample of that size, which is the same every time."""
    rng = np.random.default_rng(1)
    rows = list(map(tuple, rng.integers(0, 300, (SAMPLE + 1, 2)).tolist()))
    first, second = (uniqueness_of(columns_of(rows), len(rows)) for _ in range(2))
    assert (first.n_rows, first.is_sample) == (SAMPLE, True)
    assert first == second
