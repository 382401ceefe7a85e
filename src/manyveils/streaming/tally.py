"""Rows counted: the different ones in order, with how often each is there, in memory or in sorted runs on disk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.merging import counted, merged
from manyveils.release.packing import Keys
from manyveils.streaming.room import Room

# So many bytes of a run are looked at to see where others may be cut.
SAMPLES = 4096


@dataclass(frozen=True, repr=False)
class Counted:
    """Different rows in order, one array for each key, and how often each is there."""

    keys: tuple[Keys, ...]
    times: Keys

    def __len__(self) -> int:
        return self.times.size

    def between(self, start: int, stop: int) -> "Counted":
        """Some of the rows."""
        return Counted(tuple(key[start:stop] for key in self.keys), self.times[start:stop])

    def after(self, row: Sequence[int]) -> int:
        """How many rows come before those that are above a row in their first keys."""
        return place_of(self.keys[: len(row)], row, side="right")


@dataclass(frozen=True, repr=False)
class Run:
    """Different rows in order that were written: a file for each key, and one for the counts."""

    paths: tuple[Path, ...]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def read(self, start: int, stop: int) -> Counted:
        """Some of the rows."""
        columns = [
            np.fromfile(path, dtype=np.int64, count=stop - start, offset=8 * start) for path in self.paths
        ]
        if any(column.size != stop - start for column in columns):
            raise OSError("a file of counts is shorter than it was written")
        return Counted(tuple(columns[:-1]), columns[-1])

    def mapped(self) -> Iterator[Keys]:
        """The keys, mapped: few places of them are looked at, and what is mapped is let go with them."""
        return (np.memmap(path, dtype=np.int64, mode="r") for path in self.paths[:-1])


class Tally:
    """A multiset of rows, to which batches are added; as many as there is room for are in memory, the others on disk.

    Claim: what comes out is every row that was added, in the order of its keys, with how often it was added.
    Why: runs are sorted, every row of a run falls into one range of keys, and ranges are added up one after another.
    Tested by: tests/streaming/test_tally.py
    """

    def __init__(self, n_keys: int, folder: Path, room: Room) -> None:
        self.n_keys, self.n_rows = n_keys, 0
        self._folder, self._most = folder, room.rows_counted(n_keys)
        # Rows as they came, of which so many are there, and each so many times.
        self._fresh: NDArray[np.int64] | None = None
        self._n_fresh, self._times = 0, 1
        self._counted = joined([], n_keys)
        self._runs: list[Run] = []

    def add(self, keys: Sequence[Keys], *, times: int = 1) -> None:
        """Add rows, in any order, each so many times; a negative number takes them away."""
        if times != self._times:
            self._count()
            self._times = times
        n_rows, n_taken = len(keys[0]) if self.n_keys else 0, 0
        while n_taken < n_rows:
            if self._fresh is None:
                # What is not written to takes no memory.
                self._fresh = np.empty((self.n_keys, max(self._most // 2, 1)), dtype=np.int64)
            stop = min(n_rows, n_taken + self._fresh.shape[1] - self._n_fresh)
            n_fresh = self._n_fresh + stop - n_taken
            for own, key in zip(self._fresh, keys, strict=True):
                own[self._n_fresh : n_fresh] = key[n_taken:stop]
            self._n_fresh, n_taken = n_fresh, stop
            if n_fresh == self._fresh.shape[1]:
                self._count()
        self.n_rows += times * n_rows

    def _count(self) -> None:
        """Add the rows as they came to those that are counted, which go to disk where they are many."""
        if self._n_fresh:
            assert self._fresh is not None
            keys = _in_order(tuple(self._fresh[:, : self._n_fresh]))
            firsts, times = counted(keys, np.array([self._times]))
            self._n_fresh = 0
            self._counted = _added(self._counted, Counted(tuple(key[firsts] for key in keys), times))
        if len(self._counted) > self._most // 2:
            self._spill()

    def _spill(self) -> None:
        run, self._counted = self._counted, joined([], self.n_keys)
        self._folder.mkdir(exist_ok=True)
        columns = (*run.keys, run.times)
        paths = tuple(self._folder / f"run{len(self._runs)}.{place}" for place in range(len(columns)))
        for path, column in zip(paths, columns, strict=True):
            column.tofile(path)
        self._runs.append(Run(paths, len(run)))

    @property
    def n_least(self) -> int:
        """How many different rows there are at least, as far as is known without adding up."""
        return max([len(self._counted), *map(len, self._runs)])

    def different(self, most: int) -> Counted | None:
        """All different rows at once; nothing if there are more than `most`."""
        blocks, n_different = [], 0
        for block in self:
            n_different += len(block)
            if n_different > most:
                return None
            blocks.append(block)
        return joined(blocks, self.n_keys)

    def __iter__(self) -> Iterator[Counted]:
        """The different rows in order, some at a time; none can be added any more."""
        self._count()
        self._fresh = None
        if not self._runs:
            if len(self._counted):
                yield self._counted
            return
        if len(self._counted):
            self._spill()
        for starts, stops in _ranges(self._runs, self._most):
            ends = zip(self._runs, starts.tolist(), stops.tolist(), strict=True)
            block = _in_one([run.read(start, stop) for run, start, stop in ends])
            if len(block):
                yield block

    def forget(self) -> None:
        """Remove what is on disk."""
        self._fresh, self._counted, self._runs = None, joined([], self.n_keys), []
        for path in self._folder.glob("run*"):
            path.unlink()


def joined(blocks: Sequence[Counted], n_keys: int) -> Counted:
    """Runs that follow one another, as one."""
    if not blocks:
        return Counted((np.zeros(0, dtype=np.int64),) * n_keys, np.zeros(0, dtype=np.int64))
    if len(blocks) == 1:
        return blocks[0]
    keys = tuple(np.concatenate([block.keys[place] for block in blocks]) for place in range(n_keys))
    return Counted(keys, np.concatenate([block.times for block in blocks]))


def _in_one(runs: Sequence[Counted]) -> Counted:
    """Several sorted runs as one: two by two, so that few rows are looked at often."""
    while len(runs) > 1:
        paired = [_added(*runs[place : place + 2]) for place in range(0, len(runs) - 1, 2)]
        runs = [*paired, *runs[2 * len(paired) :]]
    return runs[0]


def _added(one: Counted, other: Counted) -> Counted:
    """Two sorted runs as one."""
    if not len(one) or not len(other):
        return one if len(one) else other
    keys = tuple(np.empty(len(one) + len(other), dtype=np.int64) for _ in one.keys)
    times = np.empty(len(one) + len(other), dtype=np.int64)
    n_rows = merged(one.keys, one.times, other.keys, other.times, keys, times)
    return Counted(keys, times).between(0, n_rows)


def _in_order(keys: tuple[Keys, ...]) -> tuple[Keys, ...]:
    """Rows in the order of their keys; a single key is sorted where it is."""
    if len(keys) == 1:
        keys[0].sort()
        return keys
    # Numbers are sorted several times as fast by themselves, and few rows have one first key.
    order = np.argsort(keys[0])
    first = keys[0][order]
    is_same = np.append(first[1:] == first[:-1], False)
    tied = np.flatnonzero(is_same | np.append(False, is_same[:-1]))
    rows = order[tied]
    order[tied] = rows[np.lexsort([*(key[rows] for key in keys[:0:-1]), first[tied]])]
    return first, *(key[order] for key in keys[1:])


def _ranges(runs: Sequence[Run], most: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Places in all runs between which rows belong together; some `most` rows at a time."""
    n_rows = sum(map(len, runs))
    n_parts = max(-(-n_rows // max(most // 2, 1)), 1)
    starts = np.zeros(len(runs), dtype=np.int64)
    for cut in _cuts(runs, n_parts):
        stops = np.array([place_of(run.mapped(), cut) for run in runs])
        yield starts, stops
        starts = stops
    yield starts, np.array(list(map(len, runs)))


def _cuts(runs: Sequence[Run], n_parts: int) -> list[tuple[int, ...]]:
    """Rows that cut all of them into parts of like size, as far as samples tell."""
    samples: list[tuple[tuple[int, ...], float]] = []
    for run in runs:
        places = np.unique(np.linspace(0, len(run) - 1, min(SAMPLES, len(run))).astype(np.int64))
        columns = [np.array(key[places]).tolist() for key in run.mapped()]
        samples += [(row, len(run) / places.size) for row in zip(*columns, strict=True)]
    samples.sort()
    weights = np.cumsum([weight for _, weight in samples])
    wanted = weights[-1] * np.arange(1, n_parts) / n_parts
    places = np.unique(np.searchsorted(weights, wanted))
    return sorted({samples[place][0] for place in places.tolist()})


def place_of(keys: Iterable[Keys], row: Sequence[int], *, side: Literal["left", "right"] = "left") -> int:
    """How many rows, which are in order, come before a row, or before what is above it."""
    columns = list(keys)
    start, stop = 0, len(columns[0])
    for key, value in zip(columns, row, strict=True):
        low, high = start, stop
        start = low + int(np.searchsorted(key[low:high], value))
        stop = low + int(np.searchsorted(key[low:high], value, side="right"))
    return start if side == "left" else stop
