"""Rows to learn from, made from a release as an analyst would make them.

Inside a bucket the columns are joined in random order, as the paper does.
A label is replaced by one of the originals it covers, drawn evenly, so that rows can be read like the test rows.
"""

import numpy as np
import polars as pl

from manyveils import Release
from manyveils.release.seal import BUCKET

DRAWN = "drawn"


def rebuilt(release: Release, rng: np.random.Generator) -> pl.DataFrame:
    """A row for every published row, with original values in all cells."""
    view = release.views[0]
    parts = [_shuffled(release.frames[file.table], rng) for file in view.files]
    rows = pl.concat(parts, how="horizontal")
    return rows.with_columns(
        _expanded(rows[name], release.recodings[view.name, name], rng)
        for name in rows.columns
        if (view.name, name) in release.recodings
    ).cast(pl.String)


def _shuffled(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The rows in random order inside their buckets; buckets in order, so that files lie side by side."""
    if BUCKET not in frame.columns:
        return frame
    drawn = frame.with_columns(pl.Series(DRAWN, rng.random(frame.height)))
    return drawn.sort(BUCKET, DRAWN).drop(BUCKET, DRAWN)


def _expanded(labels: pl.Series, recoding: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    covered = recoding.group_by("published").agg(pl.col("original").sort())
    cells = pl.DataFrame({"published": labels}).join(
        covered, on="published", how="left", maintain_order="left", nulls_equal=True
    )
    choice = (pl.Series(rng.random(cells.height)) * cells["original"].list.len()).cast(pl.UInt32)
    return (
        cells.with_columns(choice.alias(DRAWN))
        .select(pl.col("original").list.get(pl.col(DRAWN)))["original"]
        .alias(labels.name)
    )
