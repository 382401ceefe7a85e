"""How far the estimate from a set of tables is from the original, table by table, so that little is counted twice."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from manyveils.methods.guardian.hiding import Hiding, Names
from manyveils.methods.guardian.pieces import Piece
from manyveils.promises.entries import dense
from manyveils.table import Table
from manyveils.table.attributes import tally as people


class Divergence:
    """The cross entropy of tables: the divergence from the original, up to the original's own entropy.

    The estimate is a product over tables of P(new columns | columns of earlier tables), as in `estimate`.
    Each factor needs one table only, so a change of one table leaves the others' numbers as they are.
    `counts` gives a table in which some columns can be counted together.
    """

    def __init__(self, counts: Callable[[tuple[str, ...]], Table], hiding: Hiding) -> None:
        self._counts = counts
        self._hiding = hiding
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
        hidden = self._hiding(piece, names)
        return (
            self._entropy(names - {protect}) + self._entropy(frozenset({protect}))
            if hidden is None
            else hidden
        )

    def _entropy_fresh(self, names: Names) -> float:
        ordered = tuple(sorted(names))
        table = self._counts(ordered)
        ids, n_ids = dense(table.codes(ordered), table.sizes(ordered), table.n_rows)
        counts = people(ids, table.weights, n_ids)
        n = table.n_people
        return float(np.log(n) - (counts * np.log(counts)).sum() / n)
