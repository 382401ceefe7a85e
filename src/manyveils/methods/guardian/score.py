"""How far the estimate from a set of tables is from the original, as expected from counts, table by table."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.expectation import expected_beside
from manyveils.methods.guardian.pieces import Piece
from manyveils.promises.entries import Ids, dense, examples, numbered
from manyveils.release.dealing import DealtView
from manyveils.table import Table
from manyveils.table.attributes import tally as people

Names = frozenset[str]
# Minus the mean log probability that a table gives to some columns, one of which it protects; None if it cannot be made.
Hiding = Callable[[Piece, Names], float | None]


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
            piece = max(left, key=lambda piece: (len(seen & piece.columns), len(piece.columns - seen)))
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
        if hidden is not None:
            return hidden
        return self._entropy(names - {protect}) + self._entropy(frozenset({protect}))

    def _entropy_fresh(self, names: Names) -> float:
        ordered = tuple(sorted(names))
        table = self._counts(ordered)
        ids, n_ids = numbered(table, ordered)
        counts = people(ids, table.weights, n_ids)
        n = table.n_people
        return float(np.log(n) - (counts * np.log(counts)).sum() / n)


def by_counts(
    counts: Callable[[tuple[str, ...]], Table], dealt: Callable[[Piece], DealtView | None]
) -> Hiding:
    """What buckets are expected to tell, since chance decides which rows of a value fall into which.

    Claim: the number of people taken as the expectation is exact; only its logarithm is not that of one dealing.
    Why: how often a value stands in a bucket is decided; each of its rows is as likely to stand there as any other,
    and a bucket's pairs are in proportion to how many of its rows look alike.
    Tested by: tests/claims/test_guardian_hiding.py
    """
    # Dealing looks at what is protected alone, whatever stands beside it.
    views: dict[str | None, DealtView | None] = {}

    def hidden(piece: Piece, names: Names) -> float | None:
        if piece.protects not in views:
            views[piece.protects] = dealt(piece)
        view = views[piece.protects]
        return None if view is None else expected_loss(counts(tuple(sorted(names))), names, view)

    return hidden


def expected_loss(table: Table, names: Names, view: DealtView) -> float:
    """Minus the mean log of the expected share of each person's values, from counts of them."""
    counts, expected = expected_people(table, names, view)
    n = table.n_people
    return float(np.log(n) - (counts * np.log(expected)).sum() / n)


def expected_people(table: Table, names: Names, view: DealtView) -> tuple[Ids, NDArray[np.float64]]:
    """How many people have each combination of some columns, and how many are expected by the buckets."""
    [protect] = view.by
    others, _ = numbered(table, tuple(sorted(names - {protect})))
    values = view.combinations_of(table)
    cells, n_cells = dense((others, values), (int(others.max()) + 1, len(view.values)), table.n_rows)
    counts = people(cells, table.weights, n_cells)
    example = examples(cells, n_cells)
    of_cell = values[example]
    starts = np.append(np.flatnonzero(np.diff(others[example], prepend=-1)), n_cells)
    shares = counts / people(values, table.weights, len(view.values))[of_cell]
    return counts, expected_beside(starts, of_cell, shares, *_entries(view))


def _entries(view: DealtView) -> tuple[Ids, Ids, Ids, NDArray[np.float64]]:
    """Where each value's entries start, their kinds of buckets and how often it stands there, and the kinds' weights."""
    kinds, alike = view.deal.kinds()
    owners, values, counts = view.deal.counts(kinds)
    sizes = people(owners, counts, kinds.size)
    starts = np.searchsorted(values, np.arange(len(view.values) + 1))
    return starts, owners, counts, alike / sizes
