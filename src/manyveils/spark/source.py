"""Where rows come from: a file, a folder of files, or a Spark dataframe."""

from pathlib import Path
from typing import TYPE_CHECKING

from manyveils.errors import DataError, Problem
from manyveils.policy import Policy
from manyveils.spark.places import address
from manyveils.table.read import find_delimiter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUOTE = '"'
PARQUET = (".parquet", ".pq")
# Every file must have the header of the first, and every row as many cells, even where some are not published.
STRICT = {"mode": "FAILFAST", "enforceSchema": "false", "columnPruning": "false"}


def rows_of(data: object, policy: Policy, spark: "SparkSession") -> "DataFrame":
    """The rows as Spark reads them; cells of csv files stay texts, so that types are decided as everywhere."""
    from pyspark.sql import DataFrame

    if isinstance(data, DataFrame):
        return data
    source = policy.source if data is None else data
    if source is None:
        remedy = "Set it or give --data."
        raise DataError([Problem(policy.name, "data.source is not set and no data were given.", remedy)])
    path = Path(str(source))
    files = sorted(_files(path))
    if not files:
        remedy = "Name a csv or parquet file, or a folder of them."
        raise DataError([Problem(str(path), "there are no such data.", remedy)])
    kinds = {file.suffix.lower() in PARQUET for file in files}
    if len(kinds) > 1:
        raise DataError(
            [Problem(str(path), "has csv and parquet files.", "Give a folder with files of one kind.")]
        )
    if kinds == {True}:
        return spark.read.parquet(*map(address, files))
    delimiter = policy.data.delimiter or _delimiter(files[0])
    options: dict[str, str] = {"header": "true", "sep": delimiter, "escape": QUOTE, **STRICT}
    return spark.read.options(**options).csv([address(file) for file in files], inferSchema=False)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._"]
    return [path] if path.exists() else []


def _delimiter(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            return find_delimiter(lines.readline())
    except UnicodeDecodeError:
        raise DataError(
            [Problem(str(file), "is not valid UTF-8.", "Save it as UTF-8, or give parquet.")]
        ) from None
