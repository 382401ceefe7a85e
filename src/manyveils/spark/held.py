"""A table whose rows stay with Spark: here are only its dictionaries, and rows as numbers in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.spark.dictionaries import as_texts, dictionaries, numbered, typed
from manyveils.table import Column, Table
from manyveils.table.encode import encode_attribute, refuse_columns, refuse_missing
from manyveils.table.levels import Codes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_TASK = 250_000

Raw = NDArray[np.int64]


class Sketch(Table):
    """Columns as dictionaries with counts; which values stand in one row is only known where the rows are."""

    def codes(self, names: tuple[str, ...]) -> tuple[Codes, ...]:
        """Refuse: several columns are counted together by Spark."""
        raise AssertionError(f"{len(names)} columns of a sketch have no common rows")

    def alone(self, names: tuple[str, ...]) -> Table:
        """A table of one column, which its dictionary tells, or of none."""
        if not names:
            return Table({}, 1, derived=self.derived, weights=np.array([self.n_people]))
        [name] = names
        column = self[name]
        return Table({name: column}, len(column.codes), derived=self.derived, weights=column.weights)


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
    found = dict(zip(kept, dictionaries(chosen, len(kept)), strict=True))
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
    # A task costs more than some hundred thousand rows do.
    chosen = chosen.coalesce(-(-n_people // ROWS_OF_A_TASK))
    return Held(numbered(chosen, [found[name]["value"] for name in kept]).persist(), sketch, places)


def _chosen(rows: "DataFrame", kept: Sequence[str], policy: Policy) -> "DataFrame":
    """The columns that may be published, as texts; missing cells are null, or their rows are gone."""
    chosen = rows.select(*as_texts(kept, policy.data.missing_markers))
    return chosen.dropna() if policy.data.missing == "drop" else chosen


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
            values = typed(dictionary["value"], kind).alias(name)
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
