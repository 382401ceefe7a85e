"""Two ways to tables in Guardian Normal Form: repairing broken demands (GD), and colouring columns (UAD) (paper 002)."""

from collections import Counter
from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np

from manyveils.methods.guardian.pieces import Demands, Piece, tidy
from manyveils.policy.rules import PrivacyRule

# Orders of repairs that end have ended long before.
MOST_REPAIRS = 200

Score = Callable[[Sequence[Piece]], float]
Progress = Callable[[float], None]


def by_repair(
    names: Sequence[str],
    demands: Demands,
    score: Score,
    progress: Progress,
    rng: np.random.Generator | None = None,
) -> tuple[Piece, ...]:
    """Algorithm 1: repair one broken demand after the other, then add columns back by what they gain.

    Claim: the tables are in Guardian Normal Form, and every column stands in one.
    Why: the first loop ends only when every demand is kept; a column removed from all tables enters a new one at once;
    and an addition is made only if every demand is still kept.
    Tested by: tests/claims/test_guardian.py
    """
    pieces = None if rng is None else repaired_as_drawn(names, demands, rng)
    pieces = repaired(names, demands) if pieces is None else pieces
    return enriched(demands.apart(pieces), names, demands, score, progress)


def repaired_as_drawn(
    names: Sequence[str], demands: Demands, rng: np.random.Generator
) -> tuple[Piece, ...] | None:
    """The paper's loop to the letter, the broken demand to repair drawn each time; nothing if it does not come to an end."""
    pieces = _one_table(names, demands)
    for _ in range(MOST_REPAIRS):
        every = demands.every_broken(pieces)
        if not every:
            return pieces
        broken = every[int(rng.integers(len(every)))]
        pieces = _with_guardian(pieces, demands, broken, broken.given)
    return None


def _one_table(names: Sequence[str], demands: Demands) -> tuple[Piece, ...]:
    protect = next((demand.protect for demand in demands.each), None)
    return (Piece(frozenset(names), protect if len(names) > 1 else None),)


def _with_guardian(
    pieces: tuple[Piece, ...], demands: Demands, broken: PrivacyRule, beside: frozenset[str]
) -> tuple[Piece, ...]:
    """The tables without what a demand protects, and a table of its own for that beside some columns."""
    stripped = [piece.without(broken.protect) for piece in demands.silenced(pieces, broken)]
    guardian = Piece(beside | {broken.protect}, broken.protect if beside else None)
    return tidy([*stripped, guardian])


def repaired(names: Sequence[str], demands: Demands) -> tuple[Piece, ...]:
    """Start with one table; while a demand is broken, give what it protects a table of its own with what is given."""
    pieces = _one_table(names, demands)
    protected = {demand.protect for demand in demands.each}
    repairs: Counter[str] = Counter()
    while broken := demands.broken(pieces):
        # Rules that protect what others give, or what tells of it, would undo each other's tables for ever:
        # so a column's table gets smaller every time, and at last it is alone.
        beside = (broken.given, broken.given - protected, frozenset[str]())[min(repairs[broken.protect], 2)]
        repairs[broken.protect] += 1
        pieces = _with_guardian(pieces, demands, broken, beside)
    return pieces


def enriched(
    pieces: tuple[Piece, ...], names: Sequence[str], demands: Demands, score: Score, progress: Progress
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
                candidate = (*pieces[:index], piece.with_column(name), *pieces[index + 1 :])
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


def by_colouring(names: Sequence[str], demands: Demands) -> tuple[Piece, ...]:
    """Algorithm 2: divide columns into as few tables as a colouring needs: one colour, and one column it protects.

    Claim: the tables are in Guardian Normal Form.
    Why: tables share no column, so what is protected is reached only inside its own table; and there no column stands
    beside one it may not be known with, except the one that the table protects from all others. What tells of a
    protected column by a dependency is taken out until nothing leads to it.
    Tested by: tests/claims/test_guardian.py
    """
    edges = {(name, demand.protect) for demand in demands.each for name in demand.given}
    left, pieces = list(names), []
    while left:
        together = _largest_colour(left, edges)
        guarded = _guarded(left, together, edges)
        columns = frozenset(together if guarded is None else (*together, guarded))
        pieces.append(Piece(columns, guarded if any((name, guarded) in edges for name in together) else None))
        left = [name for name in left if name not in pieces[-1].columns]
    tables = tuple(pieces)
    while broken := demands.broken(tables):
        # Only a dependency can break it: something tells of what is protected, and must stand alone.
        quiet = tidy(demands.silenced(tables, broken))
        alone = [*(piece.without(broken.protect) for piece in quiet), Piece(frozenset({broken.protect}))]
        tables = tidy(alone) if {*quiet} == {*tables} else quiet
    return demands.apart(tables)


def _largest_colour(left: list[str], edges: set[tuple[str, str]]) -> list[str]:
    """The largest set of columns with no demand between them that DSATUR colours alike; the first of equals."""
    graph = nx.Graph()
    graph.add_nodes_from(left)
    graph.add_edges_from((one, other) for one, other in sorted(edges) if one in graph and other in graph)
    colour = nx.greedy_color(graph, strategy="DSATUR")
    classes: dict[int, list[str]] = {}
    for name in left:
        classes.setdefault(colour[name], []).append(name)
    return max(classes.values(), key=len)


def _guarded(left: list[str], together: list[str], edges: set[tuple[str, str]]) -> str | None:
    """The column that most of a table must not reveal, and that must not reveal any of it."""
    members = set(together)
    told: dict[str, set[str]] = {name: set() for name in left}
    for name, protected in edges:
        if name in members:
            told.setdefault(protected, set()).add(name)
    telling = {name for name, protected in edges if protected in members}
    open_ = [name for name in left if name not in members and name not in telling]
    return max(open_, key=lambda name: len(told[name]), default=None)
