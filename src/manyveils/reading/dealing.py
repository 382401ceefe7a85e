"""In which bucket of a view each row may stand, worked out from the multisets of its columns.

Rows that one bucket only can hold are put there, until no more follow from it. Where others are left, nothing is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.reading.evidence import BUCKET, Evidence
from manyveils.reading.keys import Bools, Ids, numbered, ranges
from manyveils.release import View
from manyveils.table.order import in_order

MOST_CHOICES = 30_000_000
MOST_ROUNDS = 300


def in_buckets(evidence: Evidence, view: View, wanted: Sequence[Ids], values: Sequence[Ids]) -> Ids | None:
    """The published bucket of each row that seeks a value in each column; None where there is not just one way.

    `values` has the value of each line of each column.
    """
    published = evidence.coded(view.files[0], BUCKET).values
    if not published.dtype.is_integer() or published.null_count():
        return None
    lines = [evidence.buckets_of(view, file) for file in view.files]
    n_buckets = lines[0][1]
    cells = [_Cells.of(own * n_buckets + buckets) for own, (buckets, _) in zip(values, lines, strict=True)]
    kinds, firsts = numbered(wanted)
    choices = _choices([own[firsts] for own in wanted], cells, n_buckets)
    if choices is None:
        return None
    stands = _Dealing(kinds, choices, cells, n_buckets).dealt()
    return None if stands is None else published.to_numpy().astype(np.int64)[stands]


@dataclass(frozen=True, repr=False)
class _Cells:
    """The values of one column in each bucket (value · n_buckets + bucket), in order, and their lines."""

    keys: Ids
    lines: Ids

    @classmethod
    def of(cls, keys: Ids) -> "_Cells":
        """The cells of the lines of a column."""
        numbers, lines = np.unique(keys, return_counts=True)
        return cls(numbers, lines.astype(np.int64))

    def places(self, keys: Ids) -> Ids:
        """Where keys stand among the cells, -1 where there is no such cell."""
        if not self.keys.size:
            return np.full(keys.size, -1, dtype=np.int64)
        nearest = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[nearest] == keys, nearest, -1)


@dataclass(frozen=True, repr=False)
class _Choices:
    """The buckets that can hold rows of each kind, kind by kind, and the cell that they would fill in each column."""

    kind: Ids
    bucket: Ids
    cells: tuple[Ids, ...]


def _choices(wanted: Sequence[Ids], cells: Sequence[_Cells], n_buckets: int) -> _Choices | None:
    """Buckets with what kinds of rows seek in every column; None where these are too many."""
    n_kinds = wanted[0].size
    starts = [np.searchsorted(own.keys, want * n_buckets) for own, want in zip(cells, wanted, strict=True)]
    stops = [
        np.searchsorted(own.keys, (want + 1) * n_buckets) for own, want in zip(cells, wanted, strict=True)
    ]
    lengths = np.stack([stop - start for start, stop in zip(starts, stops, strict=True)])
    fewest = lengths.argmin(axis=0)
    if int(lengths.min(axis=0).sum()) > MOST_CHOICES:
        return None
    kinds, buckets = [], []
    for index, own in enumerate(cells):
        chosen = np.flatnonzero(fewest == index)
        kinds.append(np.repeat(chosen, lengths[index][chosen]))
        buckets.append(own.keys[ranges(starts[index][chosen], lengths[index][chosen])] % n_buckets)
    kind, bucket = np.concatenate(kinds), np.concatenate(buckets)
    order = np.argsort(kind, kind="stable")
    kind, bucket = kind[order], bucket[order]
    places = [own.places(want[kind] * n_buckets + bucket) for own, want in zip(cells, wanted, strict=True)]
    fits = np.flatnonzero(np.min(places, axis=0) >= 0)
    assert n_kinds > int(kind.max(initial=-1))
    return _Choices(kind[fits], bucket[fits], tuple(own[fits] for own in places))


class _Dealing:
    """Rows on their way into buckets: the bucket of each, -1 where it waits, and the lines that are left of each cell."""

    def __init__(self, kinds: Ids, choices: _Choices, cells: Sequence[_Cells], n_buckets: int) -> None:
        self.kinds, self.choices, self.n_buckets = kinds, choices, n_buckets
        self.left = [own.lines.copy() for own in cells]
        self.stands = np.full(kinds.size, -1, dtype=np.int64)

    def dealt(self) -> Ids | None:
        """The bucket of every row; None where some row is left that no bucket can hold, or several can."""
        for _ in range(MOST_ROUNDS):
            waiting = np.flatnonzero(self.stands < 0)
            if not waiting.size:
                return self.stands
            choices = self._open(waiting)
            n_choices = np.bincount(choices.kind, minlength=int(self.kinds.max()) + 1)
            if (n_choices[self.kinds[waiting]] == 0).any():
                return None
            forced = waiting[n_choices[self.kinds[waiting]] == 1]
            if not forced.size:
                # What is left could be dealt in several ways, and they may differ in what groups tell of persons.
                return None
            first = np.searchsorted(choices.kind, self.kinds[forced])
            if not self._put(forced, choices, first).all():
                return None
        return None

    def _open(self, waiting: Ids) -> _Choices:
        """The choices of waiting kinds whose cells have lines left."""
        is_open = np.bincount(self.kinds[waiting], minlength=int(self.kinds.max()) + 1)[self.choices.kind] > 0
        for left, cells in zip(self.left, self.choices.cells, strict=True):
            is_open &= left[cells] > 0
        kept = np.flatnonzero(is_open)
        own = self.choices
        self.choices = _Choices(own.kind[kept], own.bucket[kept], tuple(cells[kept] for cells in own.cells))
        return self.choices

    def _put(self, rows: Ids, choices: _Choices, chosen: Ids) -> Bools:
        """Put rows where they were chosen to be, as many as there are lines; which of them were."""
        fits = np.ones(rows.size, dtype=bool)
        for left, cells in zip(self.left, choices.cells, strict=True):
            own = cells[chosen]
            order = in_order(own)
            counts = np.bincount(own, minlength=left.size)
            rank = ranges(np.zeros(counts.size, dtype=np.int64), counts)
            fits[order[rank >= left[own[order]]]] = False
        put = np.flatnonzero(fits)
        self.stands[rows[put]] = choices.bucket[chosen[put]]
        for left, cells in zip(self.left, choices.cells, strict=True):
            left -= np.bincount(cells[chosen[put]], minlength=left.size)
        return fits
