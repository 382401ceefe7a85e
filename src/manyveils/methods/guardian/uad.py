"""Utility-aware decomposition: as few tables as a colouring of the demands needs (paper 002, Algorithm 2)."""

from collections.abc import Sequence

import networkx as nx

from manyveils.methods.guardian.pieces import Demands, Piece, tidy


def by_colouring(names: Sequence[str], demands: Demands) -> tuple[Piece, ...]:
    """Divide columns into tables: those of one colour together, and one more that the table protects.

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
        pieces.append(
            Piece(
                frozenset(together if guarded is None else (*together, guarded)),
                _only_protected(guarded, together, edges),
            )
        )
        left = [name for name in left if name not in pieces[-1].columns]
    tables = tuple(pieces)
    while broken := demands.broken(tables):
        # Only a dependency can break it: something tells of what is protected, and must stand alone.
        quiet = tidy(demands.silenced(tables, broken))
        alone = [*(piece.without(broken.protect) for piece in quiet), Piece(frozenset({broken.protect}))]
        tables = tidy(alone) if {*quiet} == {*tables} else quiet
    return demands.apart(tables)


def _only_protected(guarded: str | None, together: list[str], edges: set[tuple[str, str]]) -> str | None:
    return guarded if guarded is not None and any((name, guarded) in edges for name in together) else None


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
    open_ = [
        name
        for name in left
        if name not in together and not any((name, other) in edges for other in together)
    ]
    return max(open_, key=lambda name: sum((other, name) in edges for other in together), default=None)
