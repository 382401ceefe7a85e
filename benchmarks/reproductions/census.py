"""Census-Income (KDD) as the CODIP paper used it: four quasi-identifiers, fifteen sensitive attributes."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "census-income"
FILE = FOLDER / "census-income.data.gz"
MISSING = "the Census-Income table is not at ../shared/data/census-income"

QUASI = ("age", "race", "sex", "citizenship")
RENAMED = {
    "class_of_worker": "worker_class",
    "education": "education",
    "major_industry_code": "industry",
    "full_or_part_time_employment_stat": "employment_status",
    "own_business_or_self_employed": "business_status",
    "income": "salary_class",
    "major_occupation_code": "occupation",
}
CUT = {
    "wage_per_hour": "wage_per_hour",
    "dividends_from_stocks": "dividend",
    "capital_gains": "capital_gain",
    "capital_losses": "capital_loss",
}
HOUSEHOLD = "household_status"
UNKNOWN_OCCUPATION = "Not in universe"

CITIZENSHIPS = {
    "Native": [
        "Native- Born in the United States",
        "Native- Born abroad of American Parent(s)",
        "Native- Born in Puerto Rico or U S Outlying",
    ],
    "Foreign born": [
        "Foreign born- Not a citizen of U S",
        "Foreign born- U S citizen by naturalization",
    ],
}
# The paper does not give its own; docs/reproductions/codip.md says why these.
HIERARCHIES: Mapping[str, Mapping[str, Any]] = {
    "age": {"widths": [5, 10, 30]},
    "citizenship": {"tree": CITIZENSHIPS},
}


def is_here() -> bool:
    """Whether the table can be read."""
    return FILE.exists()


def columns() -> list[str]:
    """The names of the 42 columns, in the order of the file."""
    return (FOLDER / "columns.txt").read_text(encoding="utf-8").split()


def as_csv(folder: Path) -> Path:
    """The whole file, unpacked and with a line of names, so that it can be read like any other."""
    file = folder / "census-income.csv"
    packed = gzip.decompress(FILE.read_bytes()).decode("ascii")
    file.write_text(",".join(columns()) + "\n" + packed, encoding="ascii")
    return file


def read() -> pl.DataFrame:
    """The 98,839 rows with an occupation: quasi-identifiers and twelve sensitive attributes, one multi-valued."""
    whole = pl.read_csv(FILE, has_header=False, new_columns=columns(), infer_schema=False)
    return prepared(whole)


def prepared(whole: pl.DataFrame) -> pl.DataFrame:
    """Rename, cut numbers to 0 and more, and derive the household's values."""
    texts = whole.select(pl.all().cast(pl.String).str.strip_chars())
    return texts.filter(pl.col("major_occupation_code") != UNKNOWN_OCCUPATION).select(
        *(pl.col(name) for name in QUASI),
        *(pl.col(name).alias(ours) for name, ours in RENAMED.items()),
        *(
            (pl.col(name).cast(pl.Float64) > 0).cast(pl.Int8).cast(pl.String).alias(ours)
            for name, ours in CUT.items()
        ),
        _household().alias(HOUSEHOLD),
    )


def _household() -> pl.Expr:
    detail = pl.col("detailed_household_and_family_stat").str.to_lowercase()
    belongs = detail.str.replace_all(r"not in (a )?subfamily", "").str.contains("subfamily")
    derived = {
        "married": pl.col("marital_stat").str.starts_with("Married"),
        "under-18": detail.str.contains("<18") | detail.str.contains("under 18"),
        "descendent": detail.str.contains("child"),
        "subfamily": belongs,
    }
    return pl.concat_str(
        [pl.when(holds).then(pl.lit(value)) for value, holds in derived.items()],
        separator=";",
        ignore_nulls=True,
    )


def attributes(hierarchies: Mapping[str, Mapping[str, Any]] = HIERARCHIES) -> dict[str, Any]:
    """The roles, and hierarchies for some quasi-identifiers; those without one are published whole or not at all."""
    described: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    described["age"]["kind"] = "numeric"
    for name, hierarchy in hierarchies.items():
        described[name]["hierarchy"] = dict(hierarchy)
    described |= {name: {"role": "sensitive"} for name in (*RENAMED.values(), *CUT.values())}
    described[HOUSEHOLD] = {"role": "sensitive", "multivalued": ";"}
    return described
