"""The tumour registry with four classes for each sensitive attribute, so that Definition 1 has a release."""

from typing import Any

import polars as pl

from benchmarks.reproductions.alpha_beta_k_trials import Original, original_of
from manyveils.datasets import tumour_sections
from manyveils.datasets.registry import SENSITIVE, TREES

PARTS = {
    "Digestive organs": "Digestive organs",
    "Respiratory organs": "Airways, head and neck",
    "Head and neck": "Airways, head and neck",
    "Female genital organs": "Genital and urinary organs",
    "Male genital organs": "Genital and urinary organs",
    "Urinary tract": "Genital and urinary organs",
}
ELSEWHERE = "Elsewhere"
FAMILIES = {
    "Adenocarcinomas": "Glandular",
    "Ductal and lobular carcinomas": "Glandular",
    "Squamous and urothelial carcinomas": "Squamous and urothelial",
    "Neuroendocrine tumours": "Neuroendocrine",
}
OTHERS = "Others"
# The first number of each class but the lowest.
STARTS = {"survival_years": (2, 5, 10), "age_at_diagnosis": (55, 65, 75), "tumor_size": (16, 31, 51)}
YEARS = ("2007", "2010", "2013")


def coarsened(frame: pl.DataFrame) -> pl.DataFrame:
    """Every sensitive attribute in four classes."""
    return frame.with_columns(
        pl.col("tumor_topography").replace_strict(_classes("tumor_topography", PARTS, ELSEWHERE)),
        pl.col("histology").replace_strict(_classes("histology", FAMILIES, OTHERS)),
        _classed(pl.col("diagnosis_date").str.slice(0, 4), YEARS).alias("diagnosis_date"),
        *(_classed(pl.col(name), starts).alias(name) for name, starts in STARTS.items()),
    )


def _classes(name: str, classes: dict[str, str], rest: str) -> dict[str, str]:
    return {leaf: classes.get(label, rest) for label, leaves in TREES[name].items() for leaf in leaves}


def _classed(values: pl.Expr, starts: tuple[Any, ...]) -> pl.Expr:
    """Number the classes by how many of their starts a value has reached."""
    return pl.format("class {}", pl.sum_horizontal((values >= start).cast(pl.Int64) for start in starts))


def coarse_original(frame: pl.DataFrame, i: int) -> Original:
    """The coarse registry with its first i sensitive attributes, which have no hierarchies."""
    plain = {name: {"role": "sensitive"} for name in SENSITIVE[:i]}
    return original_of(frame, i, tumour_sections(i)["attributes"] | plain)
