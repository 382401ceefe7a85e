"""The groups an adversary sees in a view: rows that look alike to someone who knows the quasi-identifiers."""

from collections.abc import Iterator

import polars as pl

from manyveils.release import Release, View
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile


def group_sizes(
    release: Release, view: View, quasi: frozenset[str], protected: frozenset[str]
) -> tuple[pl.Series, ...]:
    """Count the rows of every group, once for each column of the view that holds something protected.

    In a bucketed view a group is a bucket and the quasi-identifiers that stand beside what is protected;
    in any other, the quasi-identifiers. A missing value is a value.
    """
    keyed = _keyed(view, quasi - protected, protected)
    return tuple(_sizes(release.frames[file.table], keys) for file, keys in keyed)


def _keyed(
    view: View, quasi: frozenset[str], protected: frozenset[str]
) -> Iterator[tuple[ColumnFile, list[str]]]:
    telling = [file for file in view.files if protected & set(file.attributes)]
    buckets = [BUCKET] if view.bucketed else []
    if buckets and not telling:
        yield view.files[0], buckets
        return
    for file in telling or view.files:
        yield file, [*buckets, *(name for name in file.attributes if name in quasi)]


def _sizes(frame: pl.DataFrame, keys: list[str]) -> pl.Series:
    if not keys:
        return pl.Series([frame.height], dtype=pl.Int64)
    return frame.group_by(keys).agg(pl.len().cast(pl.Int64).alias("#rows"))["#rows"].alias("rows")
