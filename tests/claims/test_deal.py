"""Dealing spreads equal values evenly."""

from collections import Counter

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods.anatomize import excess
from manyveils.release.dealing import Deal, DealtView
from manyveils.release.ranked import shown_columns
from manyveils.release.seal import without_absent
from manyveils.table import hold


def dealt(codes, n_buckets):
    """The bucket of every row of a sorted list."""
    stops = np.cumsum(np.bincount(codes))
    deal = Deal(np.append(0, stops[:-1]), stops, n_buckets)
    return deal.bucket_of(np.arange(codes.size))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 12))
def test_equal_values_are_spread(values, n_buckets):
    """Every bucket gets a value as often as any other, give or take one, and all rows are dealt evenly."""
    codes = np.sort(np.array(values))
    buckets = dealt(codes, n_buckets)
    assert np.ptp(np.bincount(buckets, minlength=n_buckets)) <= 1
    for value in np.unique(codes):
        assert np.ptp(np.bincount(buckets[codes == value], minlength=n_buckets)) <= 1


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 5))
def test_all_values_differ_when_eligible(values, l):
    """With no value above one l-th of the rows, every bucket has l rows or more, all different; one row more breaks it."""
    codes = np.sort(np.array(values))
    n_buckets = codes.size // l
    if n_buckets == 0:
        return
    buckets = dealt(codes, n_buckets)
    different = all(len(set(codes[buckets == b])) == (buckets == b).sum() >= l for b in range(n_buckets))
    assert different == (np.bincount(codes).max() <= n_buckets)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(1, 40), st.integers(1, 4), st.data())
def test_counts_are_those_of_dealt_rows(sizes, n_dealt, times, data):
    """What buckets are said to hold is what dealing the rows one by one puts there, by value and then by bucket."""
    stops = np.cumsum(sizes)
    deal = Deal(stops - sizes, stops, n_dealt, times)
    asked = np.array(sorted(data.draw(st.sets(st.integers(0, deal.n_buckets - 1), min_size=1))))
    values, buckets = np.repeat(np.arange(len(sizes)), sizes), deal.bucket_of(np.arange(stops[-1]))
    held = Counter(zip(values.tolist(), buckets.tolist(), strict=True))
    owners, dealt_values, counts = deal.counts(asked)
    told = list(zip(dealt_values.tolist(), asked[owners].tolist(), counts.tolist(), strict=True))
    assert told == sorted((*pair, n) for pair, n in held.items() if pair[1] in asked)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(1, 5))
def test_excess_is_least(counts, l):
    """What is left after removing the excess is eligible, and keeping one row more of a cut value is not."""
    held = np.array(counts)
    left = held - excess(held, l)
    assert (left >= 0).all()
    assert left.sum() == 0 or left.max() * l <= left.sum()
    for value in np.flatnonzero(left < held):
        more = left.copy()
        more[value] += 1
        assert more.max() * l > more.sum()


def test_names_of_suppressed_values_are_not_shown():
    """Where a bucket is left out, no engine shows the derived attribute of a value that only its rows have."""
    frame = pl.DataFrame({"age": [1, 2, 3], "drugs": ["b", "b", "a"]})
    roles = {"age": {"role": "quasi"}, "drugs": {"role": "sensitive", "multivalued": "|"}}
    table, _ = hold(frame, mv.Policy(attributes=roles))
    by = table.expand(("drugs",))
    values = np.array([[0, 1], [1, 0]])
    deal = Deal(np.array([0, 2]), np.array([2, 3]), 3)
    for left_out, shown in (([], by), ([2], ("drugs=b",))):
        view = DealtView(
            "main", (("age",), by), by, values, deal, np.zeros(2, dtype=int), np.array(left_out, dtype=int)
        )
        assert shown_columns(view, table) == (("age",), shown)
        draft = without_absent(view.draft(table, np.arange(3)), table)
        assert draft.columns == (("age",), shown)
