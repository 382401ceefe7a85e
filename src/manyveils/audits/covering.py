"""Which originals the labels of a view stand for: whom a published value may be."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.audits.evidence import Evidence
from manyveils.reading.keys import Numbers


@dataclass(frozen=True, repr=False)
class Covering:
    """Originals that stand under the same labels are one class; the view cannot tell them apart.

    `of_code[c]` is the class of original c; `pairs` has the labels of each class: class, text.
    """

    of_code: Numbers
    pairs: pl.DataFrame


def covering_of(evidence: Evidence, view: str, attribute: str) -> Covering:
    """The classes of an attribute in a view; originals that no label covers stand for themselves."""
    originals = pl.DataFrame({"text": pl.Series(evidence.table[attribute].texts, dtype=pl.String)})
    own = originals.with_row_index("code").with_columns(pl.col("code").cast(pl.Int64))
    recoding = evidence.release.recodings.get((view, attribute))
    if recoding is None:
        return Covering(own["code"].to_numpy(), own.rename({"code": "class"}))
    listed = recoding.select(label=pl.col("published").fill_null(""), text=pl.col("original").fill_null(""))
    covered = listed.unique().join(own, on="text").select("code", text="label")
    return _classes(pl.concat([covered, own.join(covered, on="code", how="anti")]))


def _classes(pairs: pl.DataFrame) -> Covering:
    """Number the different sets of labels."""
    numbers = pairs.with_columns(label=pl.col("text").rank("dense").cast(pl.String))
    sets = numbers.sort("code", "label").group_by("code", maintain_order=True).agg("label")
    classes = sets.select(
        "code", (pl.col("label").list.join(",").rank("dense") - 1).cast(pl.Int64).alias("class")
    )
    labels = pairs.join(classes, on="code").select("class", "text").unique()
    return Covering(classes["class"].to_numpy().astype(np.int64), labels)
