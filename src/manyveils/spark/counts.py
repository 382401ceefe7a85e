"""Counts of combinations, brought to the driver as far as they fit."""

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from manyveils.errors import InfeasibleError, Problem
from manyveils.spark.held import Held
from manyveils.table import Table

MOST_CELLS = 60_000_000


@dataclass(frozen=True, repr=False)
class Counts:
    """What Spark has counted so far; the same question is asked once."""

    held: Held
    most_cells: int = MOST_CELLS
    _found: dict[frozenset[str], Table] = field(default_factory=dict)

    def of(self, names: tuple[str, ...]) -> Table:
        """Distinct combinations of some columns, with how many rows have each."""
        key = frozenset(names)
        if key not in self._found:
            self._found[key] = self._counted(names)
        return self._found[key]

    def _counted(self, names: tuple[str, ...]) -> Table:
        held = self.held
        if not names:
            n = np.array([held.sketch.n_people])
            return Table({}, 1, derived=held.sketch.derived, weights=n)
        fields = sorted({held.field(name) for name in names})
        most = self.most_cells // (len(fields) + 1)
        grouped = held.rows.groupBy(*fields).count()
        found = pl.DataFrame(grouped.limit(most + 1).toArrow())
        if found.height > most:
            raise InfeasibleError([self._too_many(names, most)])
        found = found.sort(fields)
        raw = {each: found[each].to_numpy().astype(np.int64) for each in fields}
        return _compact(held.table_of(raw, names, found["count"].to_numpy()))

    def _too_many(self, names: tuple[str, ...], most: int) -> Problem:
        homes = ", ".join(dict.fromkeys(self.held.sketch.home(name) for name in names))
        return Problem(
            "data",
            f"more than {most:,} combinations of {homes}: their counts do not fit the driver.",
            "Round numbers or group rare values before publishing, give fewer quasi-identifiers, or raise "
            "MANYVEILS_DRIVER_CELLS if the driver has the memory (8 bytes each).",
        )


def _compact(table: Table) -> Table:
    """One row per combination of codes: several raw values may have one."""
    assert table.weights is not None
    frame = pl.DataFrame({name: column.codes for name, column in table.columns.items()})
    frame = frame.with_columns(pl.Series("#", table.weights)).group_by(*table.columns).agg(pl.col("#").sum())
    frame = frame.sort(list(table.columns))
    weights = frame["#"].to_numpy()
    columns = {
        name: replace(column, codes=frame[name].to_numpy(), weights=weights)
        for name, column in table.columns.items()
    }
    return Table(columns, frame.height, derived=table.derived, weights=weights)
