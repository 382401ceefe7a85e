"""Tables and releases as distinct rows with counts, and cut into parts."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release import Release
from manyveils.table import Table

COUNT = "\0count"


def compact_release(release: Release) -> Release:
    """The release with one row for all that are alike, and how many there are."""
    counted = {
        name: frame.group_by(frame.columns, maintain_order=True).len(COUNT)
        for name, frame in release.frames.items()
    }
    return Release(
        release.manifest,
        {name: frame.drop(COUNT) for name, frame in counted.items()},
        release.recodings,
        weights={name: frame[COUNT].cast(pl.Int64).to_numpy() for name, frame in counted.items()},
    )


def compact_table(table: Table, names: tuple[str, ...] | None = None) -> Table:
    """Some columns of a plain table, or all, with one row for all that are alike, and how many there are."""
    names = tuple(table.attributes) if names is None else names
    if not names:
        return replace(table, attributes={}, n_rows=1, weights=np.array([table.n_people]))
    codes = pl.DataFrame({name: table[name].codes for name in names})
    counted = codes.group_by(codes.columns, maintain_order=True).len(COUNT)
    weights = counted[COUNT].cast(pl.Int64).to_numpy()
    columns = {name: replace(table[name], codes=counted[name].to_numpy(), weights=weights) for name in names}
    return replace(table, attributes=columns, n_rows=counted.height, weights=weights)


def some_rows(table: Table, rows: NDArray[np.bool_], whole: Callable[[tuple[str, ...]], Table]) -> Table:
    """Some rows of a plain table, which counts over all people by `whole`."""
    columns = {name: column.taking(rows) for name, column in table.attributes.items()}
    return replace(table, attributes=columns, n_rows=int(rows.sum()), reference=whole)


def part_of(release: Release, rows: Mapping[str, NDArray[np.bool_]]) -> Release:
    """Some rows of each table of a plain release; the manifest counts what is left in each view."""
    frames = {name: frame.filter(pl.Series(rows[name])) for name, frame in release.frames.items()}
    views = tuple(
        replace(view, rows=max(frames[file.table].height for file in view.files)) for view in release.views
    )
    return Release(replace(release.manifest, views=views), frames, release.recodings)
