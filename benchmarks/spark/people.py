"""People generated on Spark: four quasi-identifiers with 80,000 combinations, and three sensitive attributes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import manyveils as mv

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

MILLION = 1_000_000
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20]}},
    "sex": {"role": "quasi"},
    "region": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": "right"}},
    "school": {"role": "quasi"},
    "illness": {"role": "sensitive"},
    "income": {"role": "sensitive"},
    "insurance": {"role": "sensitive"},
}
ONE_SENSITIVE = ATTRIBUTES | {"income": {"role": "identifier"}, "insurance": {"role": "identifier"}}
POLICIES = {
    "full-domain": mv.Policy(
        attributes=ATTRIBUTES,
        guarantee={"k": 20, "l": 4, "l_kind": "frequency"},
        publish={"method": "generalize", "suppression": 0.01},
    ),
    "anatomy": mv.Policy(
        data={"person": "row"},
        attributes=ONE_SENSITIVE,
        guarantee={"l": 4, "l_kind": "frequency"},
        publish={"method": "anatomize"},
    ),
    "slicing": mv.Policy(
        attributes=ATTRIBUTES,
        guarantee={"l": 3, "l_kind": "frequency"},
        publish={"method": "slice", "columns": 3},
    ),
    "CODIP": mv.Policy(
        attributes=ATTRIBUTES,
        guarantee={"k": 20, "l": 3, "l_kind": "frequency"},
        publish={"method": "codip", "suppression": 0.01},
    ),
}


def write_people(spark: "SparkSession", n_rows: int, target: Path) -> None:
    """Write so many rows as parquet; every value comes from a hash of the row's number."""
    from pyspark.sql import functions as f

    def drawn(name: str, n_values: int, skew: float) -> "Column":
        share = f.pmod(f.xxhash64("id", f.lit(name)), f.lit(MILLION)) / MILLION
        return f.floor(f.pow(share, f.lit(skew)) * n_values).cast("int")

    def text(name: str, n_values: int, skew: float, form: str) -> "Column":
        return f.format_string(form, drawn(name, n_values, skew)).alias(name)

    rows = spark.range(0, n_rows, 1, max(2, n_rows // MILLION)).select(
        drawn("age", 100, 1.1).alias("age"),
        text("sex", 2, 1.0, "s%d"),
        text("region", 50, 1.3, "%02d"),
        text("school", 8, 1.5, "e%d"),
        text("illness", 30, 1.3, "d%02d"),
        text("income", 12, 1.2, "p%02d"),
        text("insurance", 5, 1.1, "i%d"),
    )
    rows.write.mode("overwrite").parquet(str(target))
