"""Published tables written where the rows are: sorted, in parts, with nothing that tells how they were made."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_PART = 2_000_000


def write_sorted(rows: "DataFrame", names: Sequence[str], n_rows: int, target: Path) -> None:
    """Write a table in the order of its values, part after part.

    Claim: read in the order of their names, the parts are one sorted multiset.
    Why: ranges of values go to parts in their order, and each part is sorted.
    Tested by: tests/spark/test_write.py
    """
    order = [rows[field].asc_nulls_first() for field in rows.columns]
    n_parts = max(1, -(-n_rows // ROWS_OF_A_PART))
    ranged = rows.coalesce(1) if n_parts == 1 else rows.repartitionByRange(n_parts, *order)
    named = ranged.sortWithinPartitions(*order).toDF(*names)
    aside = target.with_name(f"{target.name}.parts")
    named.write.parquet(str(aside))
    target.mkdir()
    for place, part in enumerate(sorted(aside.glob("part-*.parquet"))):
        part.rename(target / f"part-{place:05d}.parquet")
    shutil.rmtree(aside)
