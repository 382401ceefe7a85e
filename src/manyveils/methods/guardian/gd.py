"""Guardian decomposition: repair one broken demand after the other, then give back what does no harm (paper 002, Algorithm 1)."""

from collections import Counter
from collections.abc import Callable, Sequence

from manyveils.methods.guardian.pieces import Demands, Piece, tidy

Score = Callable[[Sequence[Piece]], float]
Progress = Callable[[float], None]


def by_repair(names: Sequence[str], demands: Demands, score: Score, progress: Progress) -> tuple[Piece, ...]:
    """Tables in Guardian Normal Form, found by repairing, with columns added back by what they gain.

    Claim: the tables are in Guardian Normal Form, and every column stands in one.
    Why: the first loop ends only when every demand is kept; a column removed from all tables enters a new one at once;
    and an addition is made only if every demand is still kept.
    Tested by: tests/claims/test_guardian.py
    """
    return enriched(demands.apart(repaired(names, demands)), names, demands, score, progress)


def repaired(names: Sequence[str], demands: Demands) -> tuple[Piece, ...]:
    """Start with one table; while a demand is broken, give what it protects a table of its own with what is given."""
    protect = next((demand.protect for demand in demands.each), None)
    pieces: tuple[Piece, ...] = (Piece(frozenset(names), protect if len(names) > 1 else None),)
    protected = {demand.protect for demand in demands.each}
    repairs: Counter[str] = Counter()
    while broken := demands.broken(pieces):
        # Rules that protect what others give, or what tells of it, would undo each other's tables for ever:
        # so a column's table gets smaller every time, and at last it is alone.
        beside = (broken.given, broken.given - protected, frozenset[str]())[min(repairs[broken.protect], 2)]
        repairs[broken.protect] += 1
        quiet = demands.silenced(pieces, broken)
        stripped = [piece.without(broken.protect) for piece in quiet]
        guardian = Piece(beside | {broken.protect}, broken.protect if beside else None)
        pieces = tidy([*stripped, guardian])
    return pieces


def enriched(
    pieces: tuple[Piece, ...],
    names: Sequence[str],
    demands: Demands,
    score: Score,
    progress: Progress,
) -> tuple[Piece, ...]:
    """Add the column to the table that brings the estimate closest to the original, as long as one may be added."""
    while True:
        fuller = _filled(pieces, names, demands, score, progress)
        pieces = tidy(fuller)
        # A table that stands in another one is gone, and with it ways on which demands were broken.
        if len(pieces) == len(fuller):
            return pieces


def _filled(
    pieces: tuple[Piece, ...], names: Sequence[str], demands: Demands, score: Score, progress: Progress
) -> tuple[Piece, ...]:
    """The same tables with columns added until none may be, or none gains."""
    best, rounds = score(pieces), 0
    # More columns never make a broken demand kept again, so what was refused once is not asked again.
    refused: set[tuple[int, str]] = set()
    while True:
        allowed = []
        for index, piece in enumerate(pieces):
            for name in names:
                if name in piece.columns or (index, name) in refused:
                    continue
                candidate = _changed(pieces, index, piece.with_column(name))
                if demands.all_kept(candidate):
                    allowed.append(candidate)
                else:
                    refused.add((index, name))
        scores = [score(candidate) for candidate in allowed]
        if min(scores, default=best) >= best:
            return pieces
        best = min(scores)
        pieces = allowed[scores.index(best)]
        rounds += 1
        progress(1 - 1 / (1 + rounds))


def _changed(pieces: tuple[Piece, ...], index: int, piece: Piece) -> tuple[Piece, ...]:
    return (*pieces[:index], piece, *pieces[index + 1 :])
