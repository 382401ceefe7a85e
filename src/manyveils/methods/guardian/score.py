"""How far the estimate from a set of tables is from the original, table by table, so that little is counted twice."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from manyveils.kernels.grouping import number
from manyveils.methods.entries import Ids, dense
from manyveils.methods.guardian.pieces import Piece
from manyveils.table import Table

Buckets = Callable[[Piece], Ids | None]
Names = frozenset[str]


class Divergence:
    """The cross entropy of tables: the divergence from the original, up to the original's own entropy.

    The estimate is a product over tables of P(new columns | columns of earlier tables), as in `estimate`.
    Each factor needs one table only, so a change of one table leaves the others' numbers as they are.
    """

    def __init__(self, table: Table, buckets: Buckets) -> None:
        self._table = table
        self._buckets = buckets
        self._term = cache(self._term_fresh)
        self._entropy = cache(self._entropy_fresh)

    def __call__(self, pieces: Sequence[Piece]) -> float:
        """The cross entropy, in nats."""
        seen: set[str] = set()
        left = list(pieces)
        total = 0.0
        while left:
            piece = max(left, key=lambda each: (len(seen & each.columns), len(each.columns - seen)))
            left.remove(piece)
            known = frozenset(seen & piece.columns)
            if known != piece.columns:
                total += self._term(piece, piece.columns) - (self._term(piece, known) if known else 0.0)
            seen |= piece.columns
        return total

    def _term_fresh(self, piece: Piece, names: Names) -> float:
        """Minus the mean log probability that a table gives to some of its columns."""
        protect = piece.protects
        if protect is None or protect not in names or len(names) == 1:
            return self._entropy(names)
        buckets = self._buckets(piece)
        if buckets is None:
            return self._entropy(names - {protect}) + self._entropy(frozenset({protect}))
        return self._inside_buckets(names - {protect}, protect, buckets)

    def _inside_buckets(self, others: Names, protect: str, buckets: Ids) -> float:
        """The same where the protected column is shuffled inside buckets."""
        n = self._table.n_rows
        left, _ = self._ids(others)
        right, n_right = self._ids(frozenset({protect}))
        keys, weights = _pairs(buckets, left, right, n_right)
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
        first = np.append(True, np.diff(keys) != 0)
        sums = np.add.reduceat(weights, np.flatnonzero(first)) / n
        places = np.searchsorted(keys[first], left * n_right + right)
        return -float(np.log(sums[places]).mean())

    def _ids(self, names: Names) -> tuple[Ids, int]:
        ordered = tuple(sorted(names))
        return dense(self._table.codes(ordered), self._table.sizes(ordered), self._table.n_rows)

    def _entropy_fresh(self, names: Names) -> float:
        ids, n_ids = self._ids(names)
        counts = np.bincount(ids, minlength=n_ids)
        n = self._table.n_rows
        return float(np.log(n) - (counts * np.log(counts)).sum() / n)


def _pairs(buckets: Ids, left: Ids, right: Ids, n_right: int) -> tuple[Ids, np.ndarray]:
    """Every left value with every right value of its bucket, and how many rows the pair is expected to have."""
    one = _cells(buckets, left)
    other = _cells(buckets, right)
    sizes = np.bincount(buckets)
    per_bucket = np.bincount(other[0], minlength=sizes.size)
    starts = np.cumsum(per_bucket) - per_bucket
    lengths = per_bucket[one[0]]
    ends = np.cumsum(lengths)
    within = np.arange(int(ends[-1])) - np.repeat(ends - lengths, lengths)
    places = np.repeat(starts[one[0]], lengths) + within
    keys = np.repeat(one[1], lengths) * n_right + other[1][places]
    weights = np.repeat(one[2] / sizes[one[0]], lengths) * other[2][places]
    return keys, weights


def _cells(buckets: Ids, values: Ids) -> tuple[Ids, Ids, Ids]:
    """Bucket, value and count of every different pair, in order of bucket."""
    span = int(values.max(initial=0)) + 1
    keys = buckets * span + values
    numbers, firsts = number(keys)
    counts = np.bincount(numbers, minlength=len(firsts))
    found = keys[firsts]
    order = np.argsort(found, kind="stable")
    held, codes = np.divmod(found[order], span)
    return held, codes, counts[order]
