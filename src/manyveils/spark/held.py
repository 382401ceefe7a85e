"""A table whose rows stay with Spark: here are only its dictionaries, and rows as numbers in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.policy import Policy
from manyveils.release.seal import BUCKET
from manyveils.spark.dictionaries import BROKEN, WHOLE, as_texts, dictionaries, numbered, typed
from manyveils.spark.persons import refuse_several
from manyveils.spark.session import n_at_once
from manyveils.spark.source import alike, refuse_alike
from manyveils.table.encode import refuse_columns, refuse_missing
from manyveils.table.kinds import as_number
from manyveils.table.sketch import Numbered, Sketch, weighted

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

ROWS_OF_A_TASK = 250_000


@dataclass(frozen=True, repr=False)
class Held(Numbered):
    """Rows as numbers of raw values (column `c0`, `c1`, … of `rows`), and what the numbers mean."""

    rows: "DataFrame"

    def sizes(self, fields: Sequence[str]) -> dict[str, int]:
        """How many raw values some fields have."""
        known = {self.field(name): len(column.codes) for name, column in self.sketch.attributes.items()}
        return {field: known[field] for field in fields}

    def without_rows(self) -> "Held":
        """What the numbers mean, to be sent where rows are: a batch brings its own."""
        return replace(self, rows=None)  # type: ignore[arg-type]


def hold_there(rows: "DataFrame", policy: Policy, *, is_csv: bool = False) -> Held:
    """Collect the dictionaries of all columns in one pass, and number the rows' values by them in another."""
    refuse_columns(rows.columns, policy)
    refuse_types(rows, policy)
    published = list(policy.held)
    is_missing = _missing_cells(rows, policy)
    refuse_several(rows, published, policy, is_missing)
    chosen = rows.select(*as_texts(published, is_missing))
    chosen = chosen.dropna() if policy.data.missing == "drop" else chosen
    values = dict(zip(published, dictionaries(chosen, len(published)), strict=True))
    if is_csv:
        refuse_garbled({name: dictionary["value"] for name, dictionary in values.items()})
    n_people = int(values[published[0]]["count"].sum())
    if not n_people:
        if policy.data.missing == "drop" and not rows.isEmpty():
            raise DataError([Problem("data", "all rows have a missing cell.", 'Set missing = "category".')])
        raise DataError([Problem("data", "there is a header but no row.")])
    if policy.data.missing == "error":
        refuse_missing({name: _missing(dictionary) for name, dictionary in values.items()}, n_people)
    types = dict(rows.dtypes)
    plain = {
        name: partial(typed, dictionary["value"].alias(name), types[name])
        for name, dictionary in values.items()
    }
    counts = {name: dictionary["count"].to_numpy() for name, dictionary in values.items()}
    columns, derived = weighted(plain, counts, policy)
    _refuse_published_alike(columns, derived)
    inferred = tuple(name for name in published if policy.attributes[name].kind is None)
    sketch = Sketch(columns, n_people, 0, derived, inferred)
    numbers = {name: number for number, name in enumerate(published)}
    texts = [values[name]["value"] for name in published]
    gathered = _gathered(chosen, texts, -(-n_people // ROWS_OF_A_TASK)).persist()
    return Held(sketch, numbers, gathered)


def _gathered(chosen: "DataFrame", texts: Sequence[pl.Series], n_tasks: int) -> "DataFrame":
    """The rows as numbers in few tasks, since a task costs more than some hundred thousand rows do.

    They may be what is left of many more, which no fewer tasks should find than can run at once.
    """
    if n_tasks < n_at_once(chosen.sparkSession):
        return numbered(chosen, texts).repartition(n_tasks)
    return numbered(chosen.coalesce(n_tasks), texts)


def _missing_cells(rows: "DataFrame", policy: Policy) -> "Callable[[str, SparkColumn], SparkColumn]":
    """What tells whether a cell of a column, which is not null, means a missing one."""
    types = dict(rows.dtypes)
    markers = ["", *policy.data.missing_markers]
    numbers = [number for number in map(as_number, policy.data.missing_markers) if number is not None]

    def is_missing(name: str, cell: "SparkColumn") -> "SparkColumn":
        if types[name] in (*WHOLE, *BROKEN) or types[name].startswith("decimal"):
            # A marker stands for its number, however that is written.
            return cell.cast("double").isin(numbers) if numbers else cell.isNull()
        return cell.cast("string").isin(markers)

    return is_missing


def refuse_types(rows: "DataFrame", policy: Policy) -> None:
    """What Spark has no published form for, and names that it takes for one."""
    problems = [
        Problem(
            f"data: {name}",
            f"cells of Spark's type {kind.partition('<')[0]} cannot be published.",
            "Cast them to texts, numbers, dates or true and false, or drop the column.",
        )
        for name, kind in rows.dtypes
        if name in policy.held and not _is_plain(kind)
    ]
    if problems:
        raise DataError(problems)
    refuse_alike(rows.columns)


def _refuse_published_alike(columns: Iterable[str], derived: Mapping[str, tuple[str, ...]]) -> None:
    """Names of published columns that Spark takes for one; those of multi-valued attributes hold values."""
    confused = alike([*columns, BUCKET]) - {BUCKET}
    homes = [home for home, names in derived.items() if confused & set(names)]
    problems = [
        Problem(
            f"data: {name}",
            "has values that differ in case alone, and Spark takes their columns for one.",
            "Spell them alike.",
        )
        for name in homes
    ]
    problems += [
        Problem("data", f"Spark takes column {name!r} and {BUCKET!r} for one.", "Rename it.")
        for name in sorted(confused - {name for home in homes for name in derived[home]})
    ]
    if problems:
        raise DataError(problems)


def _is_plain(kind: str) -> bool:
    return kind in (*WHOLE, *BROKEN, "string", "boolean", "date") or kind.startswith(
        ("decimal", "char", "varchar")
    )


def refuse_garbled(texts: Mapping[str, pl.Series]) -> None:
    """Spark reads what is not UTF-8 as a mark, the same for all."""
    garbled = [name for name, values in texts.items() if values.str.contains("\ufffd", literal=True).any()]
    if garbled:
        what = "is not valid UTF-8 everywhere, or has the mark of what was not (U+FFFD)."
        raise DataError(
            Problem(f"data: {name}", what, "Save it as UTF-8, or give parquet.") for name in garbled
        )


def _missing(dictionary: pl.DataFrame) -> int:
    return int(dictionary.filter(pl.col("value").is_null())["count"].sum())
