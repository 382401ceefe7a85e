"""The Adult table with ARX's hierarchies, which lies outside the repository, and policies for it."""

from pathlib import Path
from typing import Any

import polars as pl

from manyveils import Policy

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "arx-adult"
MISSING = "the Adult table is not at ../shared/data/arx-adult"
COPIES = 34

EIGHT = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
NINE = (*EIGHT, "salary-class")
SEVEN = EIGHT[:7]


def is_here() -> bool:
    """Whether the table can be read."""
    return (FOLDER / "adult.csv").exists()


def read() -> pl.DataFrame:
    """The table, every cell as text."""
    return pl.read_csv(FOLDER / "adult.csv", separator=";", infer_schema=False)


def hierarchy_file(name: str) -> Path:
    """ARX's hierarchy of an attribute."""
    return FOLDER / f"adult_hierarchy_{name}.csv"


def policy(
    quasi: tuple[str, ...],
    guarantee: dict[str, Any],
    publish: dict[str, Any],
    sensitive: dict[str, dict[str, Any]] | None = None,
) -> Policy:
    """A policy for Adult: some attributes are quasi-identifiers, some sensitive, the rest neutral."""
    attributes: dict[str, Any] = {name: {"role": "neutral"} for name in NINE}
    for name in quasi:
        attributes[name] = {"role": "quasi", "hierarchy": {"file": str(hierarchy_file(name))}}
    for name, override in (sensitive or {}).items():
        attributes[name] = {"role": "sensitive"} | ({"guarantee": override} if override else {})
    return Policy(attributes=attributes, guarantee=guarantee, publish=publish)
