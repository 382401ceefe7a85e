"""The compiled kernels do what their plain-Python twins do."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.compiling import BEARABLE, FEW, Effort
from manyveils.kernels import grouping, tallies
from tests.kit import twins

quick = settings(max_examples=150, deadline=None)
small = st.integers(0, 5)
in_both_forms = pytest.mark.parametrize("form", ["compiled", "few"])


def as_entries(table):
    """Counts per (owner, value) as entries in order of value."""
    return sorted(((o, v, c) for (o, v), c in table.items()), key=lambda entry: entry[1])


entries = st.dictionaries(st.tuples(small, small), st.integers(1, 9), max_size=20).map(as_entries)


def arrays(rows):
    return tuple(np.array([row[i] for row in rows], dtype=np.int64) for i in range(3))


@in_both_forms
@quick
@given(st.lists(st.integers(-(2**62), 2**62) | small, max_size=60))
def test_number(form, keys):
    """Equal keys get equal numbers, in order of appearance."""
    ids, firsts = getattr(grouping.number, form)(np.array(keys, dtype=np.int64))
    assert (ids.tolist(), firsts.tolist()) == twins.number(keys)


@in_both_forms
@quick
@given(st.data())
def test_roll_up(form, data):
    """Classes become coarser classes with the right labels and sizes."""
    n = data.draw(st.integers(1, 20))
    maps = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=3))
    codes = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in maps]
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    starts = np.arange(len(maps)) * 4
    radices = np.full(len(maps), 3)
    got = getattr(grouping.roll_up, form)(
        np.array(codes, dtype=np.int32),
        np.array(maps, dtype=np.int32).ravel(),
        starts,
        radices,
        np.array(sizes),
    )
    ids, labels, totals = twins.roll_up(codes, maps, sizes)
    assert got[0].tolist() == ids
    assert [tuple(row) for row in got[1].T.tolist()] == labels
    assert got[2].tolist() == totals


@in_both_forms
@quick
@given(st.data())
def test_roll_up_some(form, data):
    """An attribute whose map begins nowhere keeps its labels, and one with a single label is that label."""
    n = data.draw(st.integers(1, 20))
    codes = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(3)]
    step = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    got = getattr(grouping.roll_up, form)(
        np.array(codes, dtype=np.int32),
        np.array([*step, 0, 0, 0, 0], dtype=np.int32),
        np.array([0, -1, 4]),
        np.array([3, data.draw(st.sampled_from([4, 10**6])), 1]),
        np.ones(n, dtype=np.int64),
    )
    ids, labels, totals = twins.roll_up(codes, [step, [0, 1, 2, 3], [0, 0, 0, 0]], [1] * n)
    assert got[0].tolist() == ids
    assert [tuple(row) for row in got[1].T.tolist()] == labels
    assert got[2].tolist() == totals


@quick
@given(st.lists(st.integers(0, 50), max_size=60), st.integers(51, 80))
def test_number_below(keys, span):
    """Equal keys get the same numbers with a place for each of them as without."""
    ids, firsts = grouping.number_below(np.array(keys, dtype=np.int64), span)
    assert (ids.tolist(), firsts.tolist()) == twins.number(keys)


@in_both_forms
@quick
@given(st.lists(st.tuples(small, small, small), max_size=9), st.tuples(small, small))
def test_smallest_below(form, tables, node):
    """The smallest table of a node that is nowhere above another is found, the first of those that are as small."""
    nodes = np.array([table[:2] for table in tables], dtype=np.int16).reshape(-1, 2)
    sizes = np.array([table[2] for table in tables], dtype=np.int64)
    below = [(size, place) for place, (a, b, size) in enumerate(tables) if a <= node[0] and b <= node[1]]
    got = getattr(grouping.smallest_below, form)(nodes, sizes, np.array(node, dtype=np.int16))
    assert got == (min(below)[1] if below else -1)


@in_both_forms
@quick
@given(entries, st.lists(st.integers(-1, 3), min_size=6, max_size=6))
def test_merge_entries(form, rows, owner_of):
    """Entries of owners that became one are added up, stay in order of code, and stand once each."""
    owners, codes, counts = getattr(grouping.merge_entries, form)(np.array(owner_of), *arrays(rows), 4)
    merged = {(int(o), int(v)): int(c) for o, v, c in zip(owners, codes, counts, strict=True)}
    assert merged == dict(twins.merge_entries(owner_of, rows))
    assert len(merged) == owners.size
    assert (np.diff(codes) >= 0).all()


@in_both_forms
@quick
@given(entries, st.integers(1, 4))
def test_largest(form, rows, depth):
    """The largest counts of each owner come largest first."""
    owners, _, counts = arrays(rows)
    assert getattr(tallies.largest, form)(owners, counts, 6, depth).tolist() == twins.largest(rows, 6, depth)


@quick
@given(entries, st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_ordered_distance(rows, reference):
    """Cumulative differences are summed over all values, also between those that occur."""
    sizes = [sum(c for o, _, c in rows if o == owner) for owner in range(6)]
    cumulative = np.cumsum(np.array(reference) + 1)
    got = tallies.ordered_distance(*arrays(rows), np.array(sizes), cumulative)
    assert got.tolist() == twins.ordered_distance(rows, sizes, cumulative.tolist())


@quick
@given(entries, st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_differences(rows, reference):
    """Differences are summed over all values, also those that do not occur."""
    sizes = [sum(c for o, _, c in rows if o == owner) for owner in range(6)]
    got = tallies.differences(*arrays(rows), np.array(sizes), np.array(reference))
    assert got.tolist() == twins.differences(rows, sizes, reference)


@quick
@given(
    st.lists(st.dictionaries(st.integers(0, 20), st.integers(1, 5), max_size=6), min_size=1, max_size=4),
    st.integers(0, 6),
)
def test_most_alike(groups, reach):
    """The most rows near any number are found by a window that slides over the sorted numbers."""
    lists = [sorted((float(x), c) for x, c in group.items()) for group in groups]
    starts = np.cumsum([0, *(len(group) for group in lists)])
    numbers = np.array([x for group in lists for x, _ in group])
    counts = np.array([c for group in lists for _, c in group], dtype=np.int64)
    got = tallies.most_alike(starts, numbers, counts, np.ones(len(numbers), dtype=bool), float(reach))
    assert got.tolist() == twins.most_alike(lists, reach)


def calls():
    """One call of every kernel that has a form for few numbers, with an owner that is dropped."""
    owners, codes, counts = (
        np.array([0, 2, 1, 1, 2]),
        np.array([0, 0, 3, 2**60, 2**60]),
        np.array([1, 2, 3, 4, 5]),
    )
    yield grouping.number, (np.array([7, 3, 7, -1]),)
    classes = np.array([[0, 1, 1], [2, 2, 0]], dtype=np.int32)
    maps = np.array([0, 0, 0, 1, 1, 0], dtype=np.int32)
    yield grouping.roll_up, (classes, maps, np.array([0, 3]), np.array([2, 2]), np.array([4, 5, 6]))
    yield grouping.merge_entries, (np.array([1, -1, 1]), owners, codes, counts, 2)
    yield tallies.largest, (owners, counts, 4, 2)


@pytest.mark.parametrize(
    ("kernel", "arguments"), list(calls()), ids=lambda entry: getattr(entry, "__name__", "")
)
def test_few_numbers_have_the_same_result(kernel, arguments):
    """The form for few numbers gives the compiled one's numbers, types and layout."""

    def listed(result):
        arrays = result if isinstance(result, tuple) else (result,)
        return [(array.tolist(), array.dtype, array.flags.c_contiguous) for array in arrays]

    assert listed(kernel.few(*arguments)) == listed(kernel.compiled(*arguments))


def test_much_is_compiled():
    """Few numbers are left to NumPy until the compiler is worth its time; one long array is worth it at once."""
    effort, few = Effort(), (np.zeros(FEW), 3)
    n_calls = sum(effort.bears(few) for _ in range(BEARABLE // FEW))
    assert 10 < n_calls < BEARABLE // FEW
    assert not effort.bears(few)
    assert not Effort().bears((np.zeros(FEW + 1),))


def test_kernels_travel_by_name():
    """Another process that is sent a kernel gets its own."""
    assert pickle.loads(pickle.dumps(grouping.number)) is grouping.number
