"""Which attributes share a column."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from manyveils.errors import PolicyError, Problem
from manyveils.methods.slice.correlation import Matrix, correlations
from manyveils.methods.slice.medoids import best_clusters, medoid_clusters
from manyveils.methods.work import Options
from manyveils.promises.work import Work

Columns = tuple[tuple[str, ...], ...]


class SliceOptions(Options):
    """Keys of [publish] for `method = "slice"`."""

    columns: Annotated[int, Field(ge=1)] | list[list[str]] | Literal["auto"] = "auto"
    discretize: Literal["equal-width", "cluster"] = "equal-width"
    bins: int = Field(10, ge=2)
    column_k: int = Field(1, ge=1)
    joint: bool = False
    overlap: list[str] = []
    partition: Literal["mondrian", "random", "membership"] = "mondrian"
    bucket: int = Field(100, ge=1)


@dataclass(frozen=True)
class Layout:
    """The columns, and the correlations they were chosen by."""

    columns: Columns
    names: tuple[str, ...]
    correlation: Matrix

    @property
    def correlation_notes(self) -> dict[str, dict[str, float]]:
        """The correlations by the names of attributes."""
        return {
            name: {other: round(float(x), 4) for other, x in zip(self.names, row, strict=True)}
            for name, row in zip(self.names, self.correlation, strict=True)
        }


def lay_out(work: Work, options: SliceOptions) -> Layout:
    """Choose columns by correlation, or check those that were given; decided from counts of pairs of attributes."""
    names, columns = work.policy.published, options.columns
    problems = [*_overlap_problems(work, options.overlap), *_column_problems(work, columns, options.overlap)]
    if problems:
        where = f"{work.policy.name}: publish"
        raise PolicyError(Problem(f"{where}.{key}", what, remedy) for key, what, remedy in problems)
    matrix = correlations(
        work.table, names, discretize=options.discretize, bins=options.bins, counts=work.counts
    )
    if not isinstance(columns, list):
        distance = 1.0 - matrix
        clusters = best_clusters(distance) if columns == "auto" else medoid_clusters(distance, columns)
        groups = [{names[number] for number in cluster} for cluster in clusters]
        for together in _families(work, joint=options.joint):
            groups = _united(groups, together)
        columns = [[name for name in names if name in group] for group in groups]
        columns = _overlapped(columns, names, matrix, options.overlap)
    return Layout(tuple(work.table.expand(column) for column in columns), names, matrix)


def _families(work: Work, *, joint: bool) -> Iterator[set[str]]:
    """Attributes that must stay together: those that are protected as one."""
    yield from map(set, work.policy.guarantee.joint)
    if joint:
        yield set(work.policy.sensitive)


def _united(groups: list[set[str]], together: set[str]) -> list[set[str]]:
    touched = [group for group in groups if group & together]
    return [group for group in groups if not group & together] + ([set().union(*touched)] if touched else [])


def _column_problems(
    work: Work, columns: int | str | list[list[str]], overlap: list[str]
) -> Iterator[tuple[str, str, str]]:
    """Every published attribute stands in one column, or in several if it is listed in overlap."""
    published = work.policy.published
    if isinstance(columns, int) and columns > len(published):
        yield (
            "columns",
            f"{columns} columns for {len(published)} attributes.",
            f"Ask for {len(published)} at most.",
        )
    if not isinstance(columns, list):
        return
    listed = [name for column in columns for name in column]
    for name in listed:
        if name not in published:
            yield "columns", f"{name!r} is not a published attribute.", ""
    for name in published:
        if name not in listed:
            yield "columns", f"{name!r} is in no column.", "Add it."
    for name in sorted(set(listed)):
        if listed.count(name) > 1 and name not in overlap:
            yield "columns", f"{name!r} is in several columns.", "List it in overlap if that is meant."


def _overlap_problems(work: Work, overlap: list[str]) -> Iterator[tuple[str, str, str]]:
    """Only what an adversary knows anyway may stand twice: anything else would link the rows of two columns."""
    remedy = "Drop it from overlap: in two columns it would link their rows one by one."
    for name in overlap:
        if name not in work.policy.quasi:
            yield (
                "overlap",
                f"{name!r} is not a quasi-identifier, so it may stand in one column only.",
                remedy,
            )


def _overlapped(
    columns: list[list[str]], names: tuple[str, ...], matrix: Matrix, overlap: list[str]
) -> list[list[str]]:
    """Put each overlapping attribute also into the other column it goes with best."""
    widened = [list(column) for column in columns]
    for name in overlap:
        row = dict(zip(names, matrix[names.index(name)], strict=True))
        others = [number for number, column in enumerate(columns) if name not in column]
        if others:
            means = [float(np.mean([row[member] for member in columns[number]])) for number in others]
            widened[others[means.index(max(means))]].append(name)
    return widened
