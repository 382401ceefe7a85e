"""A table whose rows stay with Spark: here are only its dictionaries, and rows as numbers in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, InfeasibleError, InputError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.table import Column, Table
from manyveils.table.encode import encode_attribute, refuse_columns, refuse_missing
from manyveils.table.levels import Codes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_VALUES = 5_000_000
WHOLE = ("tinyint", "smallint", "int", "bigint")
BROKEN = ("float", "double")

Raw = NDArray[np.int64]


class Sketch(Table):
    """Columns as dictionaries with counts; which values stand in one row is only known where the rows are."""

    def codes(self, names: tuple[str, ...]) -> tuple[Codes, ...]:
        """Refuse: several columns are counted together by Spark."""
        raise AssertionError(f"{len(names)} columns of a sketch have no common rows")


@dataclass(frozen=True, repr=False)
class Held:
    """Rows as numbers of raw values (column `c0`, `c1`, … of `rows`), and what the numbers mean.

    `places` has the number of each attribute's column; a sketch's column gives each raw value its code.
    """

    rows: "DataFrame"
    sketch: Sketch
    places: Mapping[str, int]

    def without_rows(self) -> "Held":
        """What the numbers mean, to be sent where rows are: a batch brings its own."""
        return replace(self, rows=None)  # type: ignore[arg-type]

    def field(self, column: str) -> str:
        """The field of `rows` that a column is read from."""
        return f"c{self.places[self.sketch.home(column)]}"

    def table_of(self, raw: Mapping[str, Raw], names: Sequence[str], weights: Raw | None = None) -> Table:
        """A table of rows that were brought here: `raw` has their numbers by field."""
        columns = {}
        for name in names:
            known = self.sketch[name]
            columns[name] = replace(known, codes=known.codes[raw[self.field(name)]], weights=weights)
        n_rows = len(next(iter(raw.values()))) if raw else 0
        return Table(columns, n_rows, derived=self.sketch.derived, weights=weights)


def hold_there(rows: "DataFrame", policy: Policy) -> Held:
    """Collect the dictionaries of all columns in one pass, and number the rows' values by them in another."""
    refuse_columns(rows.columns, policy)
    kept = [name for name, attribute in policy.attributes.items() if attribute.role != "identifier"]
    chosen = _chosen(rows, kept, policy)
    found = _dictionaries(chosen, kept)
    n_people = int(found[kept[0]]["count"].sum())
    if not n_people:
        raise DataError([Problem("data", "there is a header but no row.")])
    if policy.data.missing == "error":
        refuse_missing({name: _missing(each) for name, each in found.items()}, n_people)
    types = dict(rows.dtypes)
    columns, derived = _encoded({name: (each, types[name]) for name, each in found.items()}, policy)
    inferred = tuple(name for name in kept if policy.attributes[name].kind is None)
    sketch = Sketch(columns, n_people, 0, derived, inferred)
    places = {name: place for place, name in enumerate(kept)}
    return Held(_numbered(chosen, found, kept), sketch, places)


def _chosen(rows: "DataFrame", kept: Sequence[str], policy: Policy) -> "DataFrame":
    """The columns that may be published, as texts under plain names; missing cells are null, or their rows are gone."""
    from pyspark.sql import functions as f

    markers = ["", *policy.data.missing_markers]
    fields = []
    for place, name in enumerate(kept):
        cell = f.col(f"`{name.replace('`', '``')}`").cast("string")
        fields.append(f.when(~cell.isin(markers), cell).alias(f"c{place}"))
    chosen = rows.select(*fields)
    return chosen.dropna() if policy.data.missing == "drop" else chosen


def _dictionaries(chosen: "DataFrame", kept: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The distinct values of every column with their counts: value, count, in the order of values."""
    from pyspark.sql import functions as f

    cells = [
        f.struct(f.lit(place).alias("place"), f.col(f"c{place}").alias("value")) for place in range(len(kept))
    ]
    each = chosen.select(f.explode(f.array(*cells)).alias("cell")).groupBy("cell.place", "cell.value").count()
    found = pl.DataFrame(each.limit(MOST_VALUES + 1).toArrow())
    if found.height > MOST_VALUES:
        raise InfeasibleError([_too_many()])
    parts = found.sort("place", "value").partition_by("place", as_dict=True, include_key=False)
    return {name: parts[(place,)] for place, name in enumerate(kept)}


def _too_many() -> Problem:
    return Problem(
        "data",
        f"all columns together have more than {MOST_VALUES:,} different values, which do not fit the driver.",
        'Set role = "identifier" for columns that need not be published, or round numbers before publishing.',
    )


def _missing(dictionary: pl.DataFrame) -> int:
    return int(dictionary.filter(pl.col("value").is_null())["count"].sum())


def _encoded(
    found: Mapping[str, tuple[pl.DataFrame, str]], policy: Policy
) -> tuple[dict[str, Column], dict[str, tuple[str, ...]]]:
    """Every attribute's columns, coded by raw value; all problems at once."""
    columns: dict[str, Column] = {}
    derived: dict[str, tuple[str, ...]] = {}
    problems: list[InputError] = []
    for name, (dictionary, kind) in found.items():
        try:
            values = _typed(dictionary["value"], kind).alias(name)
            made = encode_attribute(values, policy.attributes[name], policy)
        except InputError as error:
            problems.append(error)
            continue
        weights = dictionary["count"].to_numpy()
        columns |= {column.name: replace(column, weights=weights) for column in made}
        if policy.attributes[name].multivalued:
            derived[name] = tuple(column.name for column in made)
    if problems:
        worst = DataError if any(isinstance(error, DataError) for error in problems) else PolicyError
        raise worst(problem for error in problems for problem in error.problems)
    return columns, derived


def _typed(values: pl.Series, kind: str) -> pl.Series:
    """Values that went through text with their type again."""
    if kind in WHOLE:
        return values.cast(pl.Int64)
    if kind in BROKEN:
        return values.cast(pl.Float64)
    if kind == "boolean":
        return values == "true"
    return values.str.to_date("%Y-%m-%d") if kind == "date" else values


def _numbered(chosen: "DataFrame", found: Mapping[str, pl.DataFrame], kept: Sequence[str]) -> "DataFrame":
    """The rows with the number of each value in its dictionary."""
    from pyspark.sql import types as t

    schema = t.StructType([t.StructField(f"c{place}", t.IntegerType()) for place in range(len(kept))])
    texts = [found[name]["value"] for name in kept]

    def number(batches: Iterator[pl.DataFrame]) -> Iterator[object]:
        import pyarrow as pa

        for batch in batches:
            frame = pl.DataFrame(batch)
            numbers = [_places(frame[f"c{place}"], text) for place, text in enumerate(texts)]
            yield pa.RecordBatch.from_arrays(
                [pa.array(each, type=pa.int32()) for each in numbers],
                names=[f"c{place}" for place in range(len(texts))],
            )

    return chosen.mapInArrow(number, schema).persist()


def _places(values: pl.Series, dictionary: pl.Series) -> NDArray[np.int32]:
    """The place of each value in its dictionary, where a missing one stands first if there is one."""
    first = int(dictionary.null_count())
    known = pl.Enum(dictionary.drop_nulls())
    codes = values.cast(known).to_physical().cast(pl.Int64)
    return (codes.fill_null(-1) + first).to_numpy().astype(np.int32)
