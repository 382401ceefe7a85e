"""OCC-7 and OCC-15: the complete rows of Adult with occupation as the sensitive attribute."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl

from manyveils import Policy

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"
MISSING = "the Adult table is not at ../shared/data/adult"
FILES = ("adult.data.gz", "adult.test.gz")

SENSITIVE = "occupation"
NUMERIC = ("age", "final-weight", "education-num", "capital-gain", "capital-loss", "hours")
OCC15 = (
    "age",
    "workclass",
    "final-weight",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours",
    "native-country",
    "salary",
)
OCC7 = ("age", "workclass", "education", "marital-status", "race", "sex", "occupation")
TABLES = {"OCC-7": OCC7, "OCC-15": OCC15}


def is_here() -> bool:
    """Whether the table can be read."""
    return all((FOLDER / file).exists() for file in FILES)


def read(names: tuple[str, ...] = OCC15) -> pl.DataFrame:
    """The 45,222 rows without an unknown cell, every cell as text."""
    rows = [row for file in FILES for row in _rows(FOLDER / file) if "?" not in row]
    return pl.DataFrame(rows, schema=list(OCC15), orient="row").select(names)


def _rows(file: Path) -> list[list[str]]:
    """Lines that hold all attributes; the test part begins with a remark and ends its labels with a full stop."""
    lines = gzip.decompress(file.read_bytes()).decode("ascii").splitlines()
    cells = [[cell.strip() for cell in line.rstrip(".").split(",")] for line in lines]
    return [row for row in cells if len(row) == len(OCC15)]


def policy(
    names: tuple[str, ...], guarantee: dict[str, Any], publish: dict[str, Any], sensitive: str = SENSITIVE
) -> Policy:
    """All attributes are quasi-identifiers but the sensitive one, if it is among them."""
    return Policy(
        attributes={name: _attribute(name, sensitive) for name in names}, guarantee=guarantee, publish=publish
    )


def _attribute(name: str, sensitive: str) -> dict[str, str]:
    kind = {"kind": "numeric"} if name in NUMERIC else {}
    return {"role": "sensitive" if name == sensitive else "quasi", **kind}
