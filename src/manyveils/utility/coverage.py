"""What the published labels of one attribute stand for: the originals they cover and their level."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from manyveils.policy.hierarchies import TOP, Lines
from manyveils.release import Release, View
from manyveils.table import Attribute

# Of a row of `labels`: the label is a value of the original and stands for nothing else.
IS_VALUE = pl.col("named") & (pl.col("level") == 0)


@dataclass(frozen=True, repr=False)
class Coverage:
    """The labels of one attribute in one view.

    `labels` has a row per published label: `label` (empty for a missing cell), `rows`, `hidden` (the label
    tells nothing), `covered` (originals under it), `level` and `named` (whether the hierarchy has the label
    at that level). `pairs` lists the codes of the originals under each label.
    """

    column: Attribute
    lines: Lines | None
    labels: pl.DataFrame
    pairs: pl.DataFrame

    @property
    def height(self) -> int:
        """The top level of the attribute's hierarchy."""
        return len(self.column.levels) - 1


def coverage(release: Release, view: View, column: Attribute, lines: Lines | None) -> Coverage:
    """Read off a release what it publishes of one column in one view."""
    recoding = release.recodings.get((view.name, column.name))
    labels = _rows_per_label(release, view, column.name)
    pairs = _pairs(labels, column, recoding)
    labels = labels.with_columns(hidden=_is_hidden(labels, pairs, recoded=recoding is not None))
    pairs = pl.concat(
        [
            pairs.join(labels.filter("hidden"), on="label", how="anti"),
            labels.filter("hidden").select("label").join(_codes(column).select("code"), how="cross"),
        ]
    )
    known = pairs.group_by("label").agg(pl.len().cast(pl.Int64).alias("covered"))
    labels = labels.join(known, on="label", how="left", maintain_order="left")
    return Coverage(column, lines, _with_levels(labels, pairs, column), pairs)


def _rows_per_label(release: Release, view: View, attribute: str) -> pl.DataFrame:
    table = next(file.table for file in view.files if attribute in file.attributes)
    cells = release.frames[table].select(pl.col(attribute).alias("label"))
    # Counted before they become text, because there are far fewer values than rows.
    counted = cells.group_by("label").agg(pl.len().cast(pl.Int64).alias("rows"))
    return counted.with_columns(pl.col("label").cast(pl.String).fill_null("")).sort("label")


def _codes(column: Attribute) -> pl.DataFrame:
    texts = pl.Series("original", column.texts, dtype=pl.String)
    return texts.to_frame().with_row_index("code").cast({"code": pl.Int64})


def _pairs(labels: pl.DataFrame, column: Attribute, recoding: pl.DataFrame | None) -> pl.DataFrame:
    """List label and code of every original under it; a label that no recoding lists stands for itself."""
    pairs = labels.select("label", pl.col("label").alias("original"))
    if recoding is not None:
        listed = recoding.select(
            pl.col("published").fill_null("").alias("label"), pl.col("original").fill_null("")
        ).join(labels, on="label", how="semi")
        pairs = pl.concat([listed, pairs.join(listed, on="label", how="anti")])
    return pairs.join(_codes(column), on="original").select("label", "code")


def _is_hidden(labels: pl.DataFrame, pairs: pl.DataFrame, *, recoded: bool) -> pl.Series:
    """Tell the labels that are `*`, unless `*` is a value of the original that was left as it is."""
    is_value = not recoded and bool((pairs["label"] == TOP).any())
    return (labels["label"] == TOP) & (not is_value)


def _with_levels(labels: pl.DataFrame, pairs: pl.DataFrame, column: Attribute) -> pl.DataFrame:
    """Give every label the lowest level that has it, else the lowest that has one label for all it covers."""
    top = len(column.levels) - 1
    placed = (
        pairs.with_columns(_placed(column))
        .group_by("label")
        .agg(pl.col("^named .*$").all(), pl.col("^place .*$").min() == pl.col("^place .*$").max())
    )
    found = placed.select(
        "label",
        pl.coalesce(pl.when(f"named {level}").then(level) for level in range(top + 1)).alias("by_name"),
        pl.coalesce(pl.when(f"place {level}").then(level) for level in range(top + 1)).alias("by_cover"),
    )
    joined = labels.join(found, on="label", how="left", maintain_order="left")
    level = pl.when("hidden").then(top).otherwise(pl.coalesce("by_name", "by_cover", pl.lit(top)))
    named = pl.col("hidden") | pl.col("by_name").is_not_null()
    return joined.with_columns(level=level.cast(pl.Int64), named=named).drop("by_name", "by_cover")


def _placed(column: Attribute) -> Iterator[pl.Expr]:
    """Say of every original, level by level, where it stands and whether its name there is the label."""
    for number, level in enumerate(column.levels.each):
        place = pl.lit(pl.Series(level.label_of, dtype=pl.Int64)).gather(pl.col("code"))
        name = pl.lit(pl.Series(level.labels, dtype=pl.String)).gather(place)
        yield place.alias(f"place {number}")
        yield (name == pl.col("label")).alias(f"named {number}")
