"""Rows are counted in order, in memory and on disk."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.release.packing import Packing
from manyveils.streaming.carrying import repeated
from manyveils.streaming.divided import divided
from manyveils.streaming.tally import Counted, Tally


def room_for(most):
    """Room for so many rows at once."""
    return SimpleNamespace(rows_counted=lambda _: most)


@settings(deadline=None)
@given(
    n_keys=st.integers(1, 3),
    most=st.integers(1, 12),
    batches=st.lists(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=8), max_size=8),
)
def test_what_comes_out(n_keys, most, batches):
    """Every row comes out once, in order, as often as it was added, however few are held in memory."""
    expected = Counter(row[:n_keys] for batch in batches for row in batch)
    with TemporaryDirectory() as folder:
        tally = Tally(n_keys, Path(folder) / "tally", room_for(most))
        for batch in batches:
            columns = np.array([row[:n_keys] for row in batch], dtype=np.int64).reshape(-1, n_keys)
            tally.add(list(columns.T.copy()))
        blocks = list(tally)
        found = [
            (tuple(int(key[place]) for key in block.keys), int(block.times[place]))
            for block in blocks
            for place in range(len(block))
        ]
        assert found == sorted(expected.items())
        tally.forget()
        assert not list(Path(folder).rglob("run*"))


def test_taken_away(tmp_path):
    """What is taken away as often as it was added is there no more often than never."""
    tally = Tally(1, tmp_path / "tally", room_for(2))
    tally.add([np.array([5, 5, 7, 9])])
    tally.add([np.array([5, 9, 9])], times=-1)
    blocks = list(tally)
    assert np.concatenate([block.keys[0] for block in blocks]).tolist() == [5, 7, 9]
    assert np.concatenate([block.times for block in blocks]).tolist() == [1, 1, -1]


@settings(deadline=None)
@given(
    n_parts=st.integers(1, 6),
    most=st.integers(1, 12),
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30),
)
def test_divided(n_parts, most, rows):
    """Every part comes in its turn with its own rows, those without any too."""
    rows = [(part % n_parts, value) for part, value in rows]
    batches = [np.array(rows[start : start + 7]).T for start in range(0, len(rows), 7)]
    with TemporaryDirectory() as folder:
        packing = Packing((n_parts, 4))
        with divided(packing, batches, Path(folder) / "rows", room_for(most)) as parts:
            found = [
                np.repeat(packing.unpacked(part.keys)[1], part.times).tolist() if len(part) else []
                for part in parts
            ]
        assert found == [sorted(value for own, value in rows if own == part) for part in range(n_parts)]
        assert not list(Path(folder).rglob("run*"))


@given(times=st.lists(st.integers(1, 6), max_size=6), size=st.integers(1, 7))
def test_repeated(times, size):
    """Counted rows are all there again, so many at a time."""
    keys = np.arange(len(times))
    block = Counted((keys,), np.array(times, dtype=np.int64))
    parts = [part[0] for part in repeated(iter([block]), iter([size] * 50))]
    assert np.array_equal(np.concatenate([keys[:0], *parts]), np.repeat(keys, block.times))
    assert all(len(part) == size for part in parts[:-1])
