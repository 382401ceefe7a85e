"""Rows divided into parts: in order of their part, so that all rows of one part are at hand at a time."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from manyveils.release.packing import Packing
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Number
from manyveils.streaming.tally import Counted, Tally, joined


@contextmanager
def divided(
    packing: Packing, batches: Iterable[Sequence[Number]], folder: Path, room: Room
) -> Iterator[Iterator[Counted]]:
    """The different rows of one part after another, with their counts; the first number of a row is that of its part.

    Claim: every part comes, one without rows too, and has its rows in their order.
    Why: rows are counted in the order of their numbers, the first of which weighs most.
    Tested by: tests/streaming/test_tally.py
    """
    tally = Tally(len(packing.groups), folder, room)
    try:
        for batch in batches:
            tally.add(packing.packed(batch))
        yield _parts(tally, packing)
    finally:
        tally.forget()


def _parts(tally: Tally, packing: Packing) -> Iterator[Counted]:
    part, waiting = 0, joined([], tally.n_keys)
    for block in tally:
        waiting = joined([waiting, block], tally.n_keys)
        last = int(packing.first([key[-1:] for key in waiting.keys])[0])
        # More rows of the last part may come.
        ends = np.searchsorted(packing.first(waiting.keys), np.arange(part, last), side="right").tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            yield waiting.between(start, end)
        part, waiting = last, waiting.between(ends[-1] if ends else 0, len(waiting))
    yield waiting
    for _ in range(part + 1, packing.sizes[0]):
        yield joined([], tally.n_keys)
