"""A plan carried out on rows on disk, batch by batch: what is published is counted, and written in order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
import polars as pl

from manyveils.promises.work import Work, of_rows
from manyveils.release.packing import Keys, Numbers, Packing
from manyveils.release.plan import LeveledView
from manyveils.release.ranked import outlined, ranked
from manyveils.release.seal import OutgoingColumn, OutgoingView
from manyveils.release.writing import Streamed, write_batches
from manyveils.streaming.held import Held
from manyveils.streaming.rows import Number
from manyveils.streaming.tally import Counted, Tally

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Unsorted:
    """The rows of one published column, not yet counted: numbers of all fields, batch by batch, and what they mean."""

    packing: Packing
    schema: Mapping[str, pl.DataType]
    batches: Callable[[], Iterator[Sequence[Number]]]
    shown: Callable[[list[Numbers]], list[pl.Series]]


def leveled(held: Held, work: Work, view: LeveledView) -> OutgoingView:
    """A table whose attributes stand at levels."""
    return outlined(view, held, work.counts, lambda shown: _column(held, shown))


def _column(held: Held, view: LeveledView) -> OutgoingColumn:
    told = ranked(held, view)

    def batches() -> Iterator[Sequence[Number]]:
        return map(told.numbers, held.rows.batches(told.fields))

    schema = {name: values.dtype for name, values in told.values.items()}
    return OutgoingColumn(view.attributes, told.types, Unsorted(told.packing, schema, batches, told.shown))


def write_column(
    held: Held,
    view: OutgoingView,
    column: OutgoingColumn,
    target: Path,
    format: str,  # noqa: A002
    progress: Progress,
) -> None:
    """Write the rows of a column in the order of their values.

    Claim: the file is the one that is written of the same table in memory.
    Why: rows that are equal are one key with a count, and keys have the order of rows.
    Tested by: tests/streaming/test_same_release.py
    """
    unsorted: Unsorted = column.rows
    tally = Tally(len(unsorted.packing.groups), held.folder / "written", held.room)
    try:
        for number, batch in enumerate(unsorted.batches(), start=1):
            tally.add(unsorted.packing.packed(batch))
            progress(of_rows("sorting", held.rows.n_rows), number / held.rows.n_batches)
        if tally.n_rows != view.n_rows:
            raise AssertionError(
                f"{target.stem}: {view.n_rows:,} rows were to be written, and another number was"
            )
        shown = lambda sizes: _shown(tally, unsorted, view.n_rows, sizes, progress)  # noqa: E731
        write_batches(Streamed(unsorted.schema, view.n_rows, shown), target, format=format)
    finally:
        tally.forget()


def _shown(
    tally: Tally, unsorted: Unsorted, n_rows: int, sizes: int | Sequence[int], progress: Progress
) -> Iterator[pl.DataFrame]:
    n_shown = 0
    for keys in repeated(iter(tally), repeat(sizes) if isinstance(sizes, int) else iter(sizes)):
        n_shown += keys[0].size
        yield pl.DataFrame(unsorted.shown(unsorted.packing.unpacked(keys)))
        progress(of_rows("writing", n_rows), n_shown / n_rows)


def repeated(blocks: Iterator[Counted], sizes: Iterator[int]) -> Iterator[list[Keys]]:
    """All rows of counted ones, as often as they are there, so many at a time.

    >>> block = Counted((np.array([3, 5]),), np.array([2, 3]))
    >>> [keys[0].tolist() for keys in repeated(iter([block]), iter([2, 2, 2]))]
    [[3, 3], [5, 5], [5]]
    """
    parts: list[list[Keys]] = []
    size, n_held = next(sizes, 0), 0
    for block in blocks:
        ends = np.cumsum(block.times)
        start, total = 0, int(ends[-1]) if ends.size else 0
        while start < total:
            stop = min(start + size - n_held, total)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
            stops = np.append(ends[first:last], stop)
            times = stops - np.append(start, stops[:-1])
            parts.append([np.repeat(key[first : last + 1], times) for key in block.keys])
            n_held, start = n_held + stop - start, stop
            if n_held == size:
                yield _in_one(parts)
                parts, n_held, size = [], 0, next(sizes, 0)
    if parts:
        yield _in_one(parts)


def _in_one(parts: Sequence[list[Keys]]) -> list[Keys]:
    return [np.concatenate(keys) for keys in zip(*parts, strict=True)]
