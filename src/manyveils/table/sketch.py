"""A table whose rows are elsewhere: here are its dictionaries with counts, and what the numbers of its rows mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.model import Policy
from manyveils.table.attributes import Attribute, Table
from manyveils.table.encode import encode_attributes
from manyveils.table.levels import Codes

Raw = NDArray[np.integer]
Weights = NDArray[np.int64]
COUNT = "count"


class Sketch(Table):
    """Columns as dictionaries with counts; which values stand in one row is only known where the rows are."""

    def codes(self, names: tuple[str, ...]) -> tuple[Codes, ...]:
        """Refuse: several columns are counted together where the rows are."""
        raise AssertionError(f"{len(names)} columns of a sketch have no common rows")

    def alone(self, names: tuple[str, ...]) -> Table:
        """A table of one column, which its dictionary tells, or of none."""
        if not names:
            return Table({}, 1, derived=self.derived, weights=np.array([self.n_people]))
        [name] = names
        column = self[name]
        return Table({name: column}, len(column.codes), derived=self.derived, weights=column.weights)


@dataclass(frozen=True, repr=False)
class Numbered:
    """What rows mean that are held as numbers of raw values, in fields `c0`, `c1` and so on.

    `numbers` has the number of each attribute's field; a sketch's column gives each raw value its code.
    """

    sketch: Sketch
    numbers: Mapping[str, int]

    def field(self, column: str) -> str:
        """The field that a column is read from."""
        return f"c{self.numbers[self.sketch.home(column)]}"

    def fields(self, names: Sequence[str]) -> list[str]:
        """The fields that some columns are read from."""
        return sorted({self.field(name) for name in names})

    def table_of(self, raw: Mapping[str, Raw], names: Sequence[str], weights: Weights | None = None) -> Table:
        """A table of rows that are at hand: `raw` has their numbers by field."""
        columns = {}
        for name in names:
            known = self.sketch[name]
            columns[name] = replace(known, codes=known.codes[raw[self.field(name)]], weights=weights)
        n_rows = len(next(iter(raw.values()))) if raw else 0
        return Table(columns, n_rows, derived=self.sketch.derived, weights=weights)

    def is_one_each(self, names: Sequence[str]) -> bool:
        """Whether different raw values have different codes, so that combinations of numbers are counted once."""
        codes = {name: self.sketch[name].codes for name in names}
        exact = {self.field(name) for name in names if np.unique(codes[name]).size == codes[name].size}
        return exact == {self.field(name) for name in names}


def weighted(
    values: Mapping[str, Callable[[], pl.Series]], counts: Mapping[str, Weights], policy: Policy
) -> tuple[dict[str, Attribute], dict[str, tuple[str, ...]]]:
    """Every attribute's columns, coded by raw value, and how many people have each; those of multi-valued ones too."""
    n_values = max(map(len, counts.values()), default=0)
    columns, derived = encode_attributes(values, policy, n_values)
    homes = {name: home for home, names in derived.items() for name in names}
    told = {name: replace(column, weights=counts[homes.get(name, name)]) for name, column in columns.items()}
    return told, derived


def compact(
    table: Table, beside: Mapping[str, NDArray[np.int64]], *, are_different: bool = False
) -> tuple[Table, list[NDArray[np.int64]]]:
    """One row per combination of codes, in their order: several raw values may have one."""
    assert table.weights is not None
    keys: dict[str, Any] = {f"b{number}": codes for number, codes in enumerate(beside.values())}
    keys |= {f"k{number}": column.codes for number, column in enumerate(table.attributes.values())}
    frame = pl.DataFrame({**keys, COUNT: table.weights})
    if keys and not are_different:
        frame = frame.group_by(*keys).agg(pl.col(COUNT).sum())
    frame = frame.sort(*keys) if keys else frame
    weights = frame[COUNT].to_numpy()
    columns = {
        name: replace(column, codes=frame[f"k{number}"].to_numpy(), weights=weights)
        for number, (name, column) in enumerate(table.attributes.items())
    }
    told = Table(columns, frame.height, derived=table.derived, weights=weights)
    return told, [frame[f"b{number}"].to_numpy() for number in range(len(beside))]


def projected(table: Table, names: tuple[str, ...]) -> Table:
    """Some columns of counted combinations, which are then not all different."""
    return replace(table, attributes={name: table[name] for name in names})
