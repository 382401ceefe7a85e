"""People generated in batches: ten attributes, of which five are quasi-identifiers with some 300,000 combinations."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

MILLION = 1_000_000
SEED = 20_261_119
COLUMNS = (
    "age",
    "sex",
    "region",
    "education",
    "married",
    "diagnosis",
    "income",
    "zipcode",
    "job",
    "race",
)
QUASI: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20]}},
    **{name: {"role": "quasi"} for name in ("sex", "region", "education", "married")},
}
OTHERS: dict[str, Any] = {
    "zipcode": {"role": "neutral", "kind": "categorical"},
    "job": {"role": "neutral"},
    "race": {"role": "neutral"},
}
DIAGNOSIS = {"role": "sensitive"}
DATA = {"person": "row"}
# Neutral attributes are nearly different in every row together, so that the published rows are too.
ACCEPTED = [f"neutral-unique: {name}" for name in ("zipcode", "job", "race", "income")]
POLICIES: dict[str, dict[str, Any]] = {
    "full-domain": {
        "accept": ACCEPTED[:3],
        "data": DATA,
        "attributes": QUASI
        | {"diagnosis": DIAGNOSIS, "income": {"role": "sensitive", "kind": "numeric"}}
        | OTHERS,
        "guarantee": {"k": 5, "l": 3},
        "publish": {"method": "generalize", "suppression": 0.01},
    },
    "anatomy": {
        "accept": ACCEPTED,
        "data": DATA,
        "attributes": QUASI
        | {"diagnosis": DIAGNOSIS, "income": {"role": "neutral", "kind": "numeric"}}
        | OTHERS,
        "guarantee": {"k": 5, "l": 3},
        "publish": {"method": "anatomize", "suppression": 0.01},
    },
}


def write_people(n_rows: int, target: Path) -> None:
    """Write so many rows as parquet, a million at a time."""
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED)
    writer = None
    for start in range(0, n_rows, MILLION):
        rows = _people(min(MILLION, n_rows - start), rng).to_arrow()
        writer = writer or pq.ParquetWriter(target, rows.schema)
        writer.write_table(rows)
    assert writer is not None
    writer.close()


def _people(n: int, rng: np.random.Generator) -> pl.DataFrame:
    def skewed(n_values: int) -> NDArray[np.int64]:
        return np.minimum((rng.pareto(1.2, n) * n_values / 12).astype(np.int64), n_values - 1)

    def text(form: str, codes: NDArray[np.integer], n_values: int) -> pl.Series:
        return pl.Series([form.format(value) for value in range(n_values)]).gather(codes)

    ages, sexes = rng.integers(0, 100, n), rng.integers(0, 2, n)
    illnesses = (rng.random(n) ** 1.5 * 200).astype(np.int64)
    columns = {
        "age": pl.Series(ages),
        "sex": text("sex {}", sexes, 2),
        "region": text("region {:02}", skewed(20), 20),
        "education": text("school {:02}", skewed(16), 16),
        "married": text("married {}", skewed(5), 5),
        "diagnosis": text("diagnosis {:03}", illnesses, 200),
        "income": pl.Series(rng.integers(10, 200, n) * 500),
        "zipcode": text("{:05}", skewed(2000), 2000),
        "job": text("job {:03}", skewed(300), 300),
        "race": text("race {}", skewed(6), 6),
    }
    return pl.DataFrame({name: columns[name] for name in COLUMNS})
