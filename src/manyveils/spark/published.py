"""Published tables as Spark reads them: rows as numbers, and the values of every field with their counts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, Problem
from manyveils.release import Release
from manyveils.release.release import table_files
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile
from manyveils.spark.arrow import GarbledError
from manyveils.spark.dictionaries import WHOLE, as_texts, dictionaries, numbered, typed
from manyveils.spark.limits import CELLS
from manyveils.spark.packed import counted
from manyveils.spark.source import address, schema_of
from manyveils.table.counting import TooManyError
from manyveils.table.sketch import COUNT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What Spark calls the types of a manifest.
KINDS = {"integer": "bigint", "number": "double", "boolean": "boolean", "date": "date"}
# An estimate, which is some 2 % off, is believed if it exceeds by so much what fits.
ROUGHLY = 1.1


@dataclass(frozen=True, repr=False)
class PublishedTable:
    """One published table: `rows` has the bucket, if there are any, and the number of each field's value.

    `buckets` has the bucket alone, for whose sake no value need be numbered.
    """

    path: Path
    file: ColumnFile
    columns: tuple[str, ...]
    rows: "DataFrame"
    buckets: "DataFrame | None"
    values: Mapping[str, pl.Series]
    counts: Mapping[str, NDArray[np.int64]]
    n_rows: int

    @property
    def numbers(self) -> list[str]:
        """The fields of `rows` that hold numbers of values."""
        return [f"c{place}" for place in range(len(self.values))]

    @property
    def empty(self) -> pl.DataFrame:
        """The table without its rows."""
        schema = {name: pl.Int64() if name == BUCKET else self.values[name].dtype for name in self.columns}
        return pl.DataFrame(schema=schema)

    def frame(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that were brought here, as they are published, in order."""
        fields = {name: f"c{place}" for place, name in enumerate(self.values)}
        series = [
            rows[BUCKET].cast(pl.Int64)
            if name == BUCKET
            else self.values[name].gather(rows[fields[name]].to_numpy()).alias(name)
            for name in self.columns
        ]
        return pl.DataFrame(series)

    def without_rows(self) -> "PublishedTable":
        """What the numbers mean, to be sent where rows are."""
        return replace(self, rows=None, buckets=None)  # type: ignore[arg-type]

    @property
    def least_cells(self) -> int:
        """How many cells the different rows have at least: rows of buckets are taken to be all different."""
        return self.n_rows * len(self.columns) if BUCKET in self.columns else 0

    def showing(self, names: set[str]) -> "PublishedTable":
        """The table with some of its fields only."""
        fields = {name: f"c{place}" for place, name in enumerate(self.values) if name in names}
        rows = self.rows.select(*(self.rows[old].alias(f"c{new}") for new, old in enumerate(fields.values())))
        values = {name: self.values[name] for name in fields}
        return replace(self, columns=tuple(fields), rows=rows, values=values)

    def distinct(self, most_cells: int) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The different rows in order, and how often each is there."""
        most = most_cells // (len(self.columns) + 1)
        # Finding out how many there are, roughly, takes a fraction of what counting them takes.
        if min(self.n_rows, self._most_different()) > most and self._roughly_different() > ROUGHLY * most:
            raise TooManyError([_too_many(self.file, most)])
        sizes = {field: len(values) for field, values in zip(self.numbers, self.values.values(), strict=True)}
        found = counted(self.rows, sizes, most, [BUCKET] if BUCKET in self.columns else [])
        if found is None:
            raise TooManyError([_too_many(self.file, most)])
        frame = self.frame(found)
        plain = pl.DataFrame([each.alias(f"c{place}") for place, each in enumerate(frame.get_columns())])
        order = plain.select(pl.arg_sort_by(plain.columns)).to_series()
        return frame[order], found[COUNT].gather(order).to_numpy()

    def _most_different(self) -> int:
        """How many different rows there can be outside of buckets."""
        return self.n_rows if BUCKET in self.columns else math.prod(map(len, self.values.values()))

    def _roughly_different(self) -> int:
        from pyspark.sql import functions as f

        counted = f.approx_count_distinct(f.xxhash64(*self.rows.columns), 0.02)
        return int(self.rows.agg(counted).collect()[0][0])


def cells_of(folder: Path, outline: Release) -> int:
    """How many cells all tables have, as far as can be told without reading them."""
    widths = {file.table: len(file.attributes) + 1 for view in outline.views for file in view.files}
    return sum(_n_rows(path) * widths[table] for table, path in table_files(folder).items())


def _n_rows(path: Path) -> int:
    parts = parts_in(path)
    if path.suffix != ".parquet":
        # A row of text has at least two characters.
        return sum(part.stat().st_size for part in parts) // 2
    try:
        return sum(int(pl.scan_parquet(part, glob=False).select(pl.len()).collect().item()) for part in parts)
    except (pl.exceptions.PolarsError, OSError):
        raise DataError([Problem(str(path), "is damaged: it cannot be read.")]) from None


def parts_in(path: Path) -> list[Path]:
    """The files of a table, in order."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


def read_published(folder: Path, outline: Release, spark: "SparkSession") -> dict[str, PublishedTable]:
    """All tables of a release."""
    paths = table_files(folder)
    files = {file.table: file for view in outline.views for file in view.files}
    return {table: _read(paths[table], file, spark) for table, file in files.items()}


def _read(path: Path, file: ColumnFile, spark: "SparkSession") -> PublishedTable:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    is_parquet = path.suffix == ".parquet"
    _refuse_other_parts(path)
    try:
        rows = spark.read.parquet(address(path)) if is_parquet else _read_csv(path, spark)
        names = [name for name in rows.columns if name != BUCKET]
        bucket = {BUCKET: "long"} if BUCKET in rows.columns else {}
        _refuse_strange_buckets(rows, path)
        cells = as_texts(names, None if is_parquet else lambda _, cell: cell == "")
        texts = rows.select(*(rows[each].cast(kind) for each, kind in bucket.items()), *cells)
        found = dictionaries(texts, len(names))
        n_rows = int(found[0]["count"].sum()) if names else texts.count()
    except (PySparkException, Py4JJavaError, GarbledError):
        raise DataError([Problem(str(path), "is damaged: Spark cannot read it.")]) from None
    kinds = (
        dict(rows.dtypes) if is_parquet else {name: KINDS.get(kind, "") for name, kind in file.types.items()}
    )
    values = {
        name: typed(each["value"], kinds.get(name, "")).alias(name)
        for name, each in zip(names, found, strict=True)
    }
    counts = {name: each["count"].to_numpy() for name, each in zip(names, found, strict=True)}
    coded = numbered(texts, [each["value"] for each in found], bucket).persist()
    buckets = texts.select(BUCKET) if bucket else None
    return PublishedTable(path, file, tuple(rows.columns), coded, buckets, values, counts, n_rows)


def _refuse_other_parts(path: Path) -> None:
    """Spark looks at one part's columns; another part must not have more."""
    try:
        schemas = [schema_of(part) for part in sorted(path.glob("part-*.parquet"))]
    except (pl.exceptions.PolarsError, OSError):
        raise DataError([Problem(str(path), "is damaged: it cannot be read.")]) from None
    if any(list(schema.items()) != list(schemas[0].items()) for schema in schemas):
        raise DataError([Problem(str(path), "is damaged: its parts have different columns.")])


def _refuse_strange_buckets(rows: "DataFrame", path: Path) -> None:
    """Buckets are whole numbers: others might be told apart by one reader and not by another."""
    kind = dict(rows.dtypes).get(BUCKET)
    if kind is None or kind in WHOLE:
        return
    # Whatever a csv file has is text here.
    is_strange = rows[BUCKET].isNotNull() & ~rows[BUCKET].rlike(r"^-?\d+$")
    if kind != "string" or path.suffix == ".parquet" or rows.where(is_strange).limit(1).count():
        raise DataError([Problem(str(path), "is damaged: its buckets are no whole numbers.")])


def _read_csv(path: Path, spark: "SparkSession") -> "DataFrame":
    # Cells may have line breaks.
    options = {"header": "true", "escape": '"', "mode": "FAILFAST", "multiLine": "true", "lineSep": "\n"}
    return spark.read.options(**options).csv(address(path), inferSchema=False)


def _too_many(file: ColumnFile, most: int) -> Problem:
    return Problem(
        file.table,
        f"has more than {most:,} different rows, which do not fit the driver.",
        f"Raise {CELLS} if the driver has the memory (some 50 bytes for each).",
    )
