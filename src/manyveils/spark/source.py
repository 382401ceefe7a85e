"""Where rows come from: a file, a folder of files, or a Spark dataframe."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.policy import Policy
from manyveils.spark.places import address
from manyveils.table.read import find_delimiter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUOTE = '"'
PARQUET = (".parquet", ".pq")
# Every file must have the header of the first, and every row as many cells, even where some are not published.
STRICT = {
    "mode": "FAILFAST",
    "enforceSchema": "false",
    "columnPruning": "false",
    "unescapedQuoteHandling": "RAISE_ERROR",
}
# Folders that say which of the files beside them count.
CATALOGUES = ("_delta_log", "metadata", ".hoodie")


@dataclass(frozen=True, repr=False)
class Source:
    """Rows, and whether they come from text that might not be UTF-8."""

    rows: "DataFrame"
    is_csv: bool = False


def source_of(data: object, policy: Policy, spark: "SparkSession") -> Source:
    """The rows as Spark reads them; cells of csv files stay texts, so that types are decided as everywhere."""
    from pyspark.sql import DataFrame

    if isinstance(data, DataFrame):
        return Source(data)
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
        _refuse_other_schemas(files, path)
        return Source(spark.read.parquet(*map(address, files)))
    delimiter = policy.data.delimiter or _delimiter(files[0])
    options: dict[str, str] = {"header": "true", "sep": delimiter, "escape": QUOTE, **STRICT}
    return Source(
        spark.read.options(**options).csv([address(file) for file in files], inferSchema=False), is_csv=True
    )


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        catalogues = [name for name in CATALOGUES if (path / name).is_dir()]
        if catalogues:
            what = (
                f"has a folder {catalogues[0]}: it is a table of a lakehouse, of which not all files count."
            )
            raise DataError([Problem(str(path), what, "Read it with Spark, and publish the dataframe.")])
        inside = [(file, file.relative_to(path).parts) for file in path.rglob("*") if file.is_file()]
        return [file for file, parts in inside if not any(part[0] in "._" for part in parts)]
    return [path] if path.exists() else []


def _refuse_other_schemas(files: list[Path], path: Path) -> None:
    """Spark takes the columns of one file for those of all."""
    try:
        schemas = [pl.read_parquet_schema(file) for file in files]
    except (pl.exceptions.PolarsError, OSError):
        raise DataError([Problem(str(path), "has a file that cannot be read as parquet.")]) from None
    n_others = sum(dict(schema) != dict(schemas[0]) for schema in schemas)
    if n_others:
        what = f"has {n_others} files with other columns or types than the first."
        raise DataError([Problem(str(path), what, "Give all of them the same columns and types.")])


def _delimiter(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            return find_delimiter(lines.readline())
    except UnicodeDecodeError:
        raise DataError(
            [Problem(str(file), "is not valid UTF-8.", "Save it as UTF-8, or give parquet.")]
        ) from None
