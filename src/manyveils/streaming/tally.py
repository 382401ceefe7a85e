"""Rows counted: the different ones in order, with how often each is there, in memory or in sorted runs on disk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.release.packing import Keys

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
    """A multiset of rows, to which batches are added; `most` rows are held in memory at once, the others on disk.

    Claim: what comes out is every row that was added, in the order of its keys, with how often it was added.
    Why: runs are sorted, every row of a run falls into one range of keys, and ranges are added up one after another.
    Tested by: tests/streaming/test_tally.py
    """

    def __init__(self, n_keys: int, folder: Path, most: int) -> None:
        self.n_keys, self.n_rows = n_keys, 0
        self._folder, self._most = folder, most
        self._waiting: list[Counted] = []
        self._runs: list[Run] = []

    def add(self, keys: Sequence[Keys], *, times: int = 1) -> None:
        """Add rows, in any order, each so many times; a negative number takes them away."""
        n_rows = len(keys[0]) if self.n_keys else 0
        if n_rows:
            counted = _in_order(tuple(keys), None)
            self._take(counted if times == 1 else Counted(counted.keys, counted.times * times))
            self.n_rows += times * n_rows

    def _take(self, counted: Counted) -> None:
        self._waiting.append(counted)
        # Runs of like length are added up, so that no row is looked at more often than there are such lengths.
        while len(self._waiting) > 1 and len(self._waiting[-2]) <= 2 * len(self._waiting[-1]):
            last, before = self._waiting.pop(), self._waiting.pop()
            self._waiting.append(_added([before, last]))
        if sum(map(len, self._waiting)) > self._most:
            self._spill()

    def _spill(self) -> None:
        run = _added(self._waiting)
        self._waiting = []
        self._folder.mkdir(exist_ok=True)
        columns = (*run.keys, run.times)
        paths = tuple(self._folder / f"run{len(self._runs)}.{place}" for place in range(len(columns)))
        for path, column in zip(paths, columns, strict=True):
            column.tofile(path)
        self._runs.append(Run(paths, len(run)))

    @property
    def n_least(self) -> int:
        """How many different rows there are at least, as far as is known without adding up."""
        return max([*map(len, self._waiting), *map(len, self._runs)], default=0)

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
        """The different rows in order, some at a time."""
        if self._waiting:
            self._waiting = [_added(self._waiting)]
        if not self._runs:
            yield from self._waiting
            return
        if self._waiting:
            self._spill()
        for starts, stops in _ranges(self._runs, self._most):
            ends = zip(self._runs, starts.tolist(), stops.tolist(), strict=True)
            yield _added([run.read(start, stop) for run, start, stop in ends])

    def forget(self) -> None:
        """Remove what is on disk."""
        self._waiting, self._runs = [], []
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


def _added(blocks: Sequence[Counted]) -> Counted:
    """Several sorted runs as one."""
    filled = [block for block in blocks if len(block)]
    if len(filled) < 2:
        return (filled or list(blocks))[0]
    together = joined(filled, len(filled[0].keys))
    return _in_order(together.keys, together.times)


def _in_order(keys: tuple[Keys, ...], times: Keys | None) -> Counted:
    """Rows in the order of their keys, equal ones as one; without `times`, each is there once."""
    if len(keys) == 1 and times is None:
        # Without anything beside them, numbers are sorted by themselves, which is several times as fast.
        ordered: tuple[Keys, ...] = (np.sort(keys[0]),)
    else:
        order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
        ordered = tuple(key[order] for key in keys)
        times = None if times is None else times[order]
    is_new = np.ones(ordered[0].size, dtype=bool)
    is_new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in ordered])
    firsts = np.flatnonzero(is_new)
    if times is None:
        counts = np.diff(np.append(firsts, ordered[0].size))
    else:
        counts = np.add.reduceat(times, firsts) if firsts.size else times
    return Counted(tuple(key[firsts] for key in ordered), counts)


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
