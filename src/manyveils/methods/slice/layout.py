"""Which attributes share a column."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.methods.slice.correlation import Matrix, correlations
from manyveils.methods.slice.medoids import best_clusters, medoid_clusters
from manyveils.promises.work import Work

Columns = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Layout:
    """The columns, and the correlations they were chosen by."""

    columns: Columns
    names: tuple[str, ...]
    correlation: Matrix


def lay_out(
    work: Work,
    *,
    columns: int | list[list[str]] | str,
    discretize: str,
    bins: int,
    overlap: list[str],
    joint: bool,
) -> Layout:
    """Choose columns by correlation, or check those that were given; decided from counts of pairs of attributes."""
    names = work.policy.published
    matrix = correlations(work.table, names, discretize=discretize, bins=bins, counts=work.counts)
    if isinstance(columns, list):
        return Layout(_given(work, columns, overlap), names, matrix)
    if isinstance(columns, int) and columns > len(names):
        what = f"{columns} columns for {len(names)} attributes."
        raise PolicyError([Problem(f"{work.policy.name}: publish.columns", what, f"At most {len(names)}.")])
    distance = 1.0 - matrix
    clusters = best_clusters(distance) if isinstance(columns, str) else medoid_clusters(distance, columns)
    groups = [{names[place] for place in cluster} for cluster in clusters]
    for together in _families(work, joint=joint):
        groups = _united(groups, together)
    chosen = tuple(tuple(name for name in names if name in group) for group in groups)
    widened = _overlapped(chosen, names, matrix, _checked(work, overlap))
    return Layout(tuple(work.table.expand(column) for column in widened), names, matrix)


def _families(work: Work, *, joint: bool) -> Iterator[set[str]]:
    """Attributes that must stay together: those that are protected as one."""
    for group in work.policy.guarantee.joint:
        yield set(group)
    if joint:
        yield set(work.policy.sensitive)


def _united(groups: list[set[str]], together: set[str]) -> list[set[str]]:
    touched = [group for group in groups if group & together]
    return [group for group in groups if not group & together] + ([set().union(*touched)] if touched else [])


def _given(work: Work, columns: list[list[str]], overlap: list[str]) -> Columns:
    expanded = tuple(work.table.expand(column) for column in columns)
    listed = [name for column in expanded for name in column]
    _checked(work, overlap)
    unknown = [name for column in columns for name in column if name not in work.policy.published]
    missing = [name for name in work.policy.published if not set(work.table.expand((name,))) <= set(listed)]
    named = [name for column in columns for name in column]
    doubled = {name for name in named if named.count(name) > 1 and name not in overlap}
    problems = [
        Problem(f"{work.policy.name}: publish.columns", f"{name!r} is not a published attribute.")
        for name in unknown
    ]
    problems += [
        Problem(f"{work.policy.name}: publish.columns", f"{name!r} is in no column.", "Add it.")
        for name in missing
    ]
    problems += [
        Problem(
            f"{work.policy.name}: publish.columns",
            f"{name!r} is in several columns.",
            "List it in overlap if that is meant.",
        )
        for name in sorted(doubled)
    ]
    if problems:
        raise PolicyError(problems)
    return expanded


def _checked(work: Work, overlap: list[str]) -> tuple[str, ...]:
    """Only what an outsider knows anyway may stand twice: anything else would link the rows of two columns."""
    wrong = [name for name in overlap if name not in work.policy.quasi]
    if wrong:
        raise PolicyError(
            [
                Problem(
                    f"{work.policy.name}: publish.overlap",
                    f"{name!r} is no quasi-identifier, so it stands in one column only.",
                    "In two it would link their rows one by one: drop it from overlap.",
                )
                for name in wrong
            ]
        )
    return tuple(overlap)


def _overlapped(
    columns: Columns, names: tuple[str, ...], matrix: Matrix, overlap: tuple[str, ...]
) -> Columns:
    """Put each overlapping attribute also into the other column it goes with best."""
    place = {name: number for number, name in enumerate(names)}
    widened = [list(column) for column in columns]
    for name in overlap:
        others = [number for number, column in enumerate(columns) if name not in column]
        if others:
            best = max(
                others,
                key=lambda number: float(
                    np.mean([matrix[place[name], place[each]] for each in columns[number]])
                ),
            )
            widened[best].append(name)
    return tuple(tuple(column) for column in widened)
