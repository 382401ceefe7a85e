"""Counts of combinations, brought to the driver as far as they fit."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import Problem
from manyveils.methods.parting import Cuts
from manyveils.promises.entries import Ids
from manyveils.spark.held import Held
from manyveils.spark.limits import CELLS, driver_cells
from manyveils.spark.packed import counted
from manyveils.table import Table
from manyveils.table.counting import Counting, TooManyError
from manyveils.table.sketch import COUNT, compact

PART = "part"


@dataclass(frozen=True, repr=False)
class Counts(Counting):
    """What Spark has counted so far."""

    held: Held
    most_cells: int = field(default_factory=driver_cells)

    def brought(self, names: tuple[str, ...]) -> Table:
        """Counted where the rows are."""
        return self._brought(self.held.rows, names, ())[0]

    def in_parts(self, rows: Any, names: tuple[str, ...]) -> tuple[Table, Ids]:
        """The same of rows that have their parts, with the part of each combination."""
        table, [parts] = self._brought(rows, names, (PART,))
        return table, parts

    def _brought(
        self, rows: Any, names: tuple[str, ...], beside: tuple[str, ...]
    ) -> tuple[Table, list[NDArray[np.int64]]]:
        fields = self.held.fields(names)
        most = self.most_cells // (len(fields) + len(beside) + 1)
        combinations = counted(rows, self.held.sizes(fields), most, beside)
        if combinations is None:
            raise TooManyError([_too_many(self.held, names, most)])
        raw = {field: combinations[field].to_numpy() for field in (*beside, *fields)}
        table = self.held.table_of(
            {field: raw[field] for field in fields}, names, combinations[COUNT].to_numpy()
        )
        table = table if fields else replace(table, n_rows=combinations.height)
        return compact(
            table,
            {field: raw[field].astype(np.int64) for field in beside},
            are_different=self.held.is_one_each(names),
        )


def parted(held: Held, cuts: Cuts, names: tuple[str, ...]) -> Any:
    """The rows with their parts and the fields of some columns."""
    fields = sorted({held.field(name) for name in names})
    needed = sorted({*fields, *(held.field(name) for name in cuts.columns)})
    meanings = held.without_rows()

    def divide(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {field: batch.column(field).to_numpy().astype(np.int64) for field in needed}
            table = meanings.table_of(raw, cuts.columns)
            parts = cuts.parts_of({name: table[name].codes for name in cuts.columns}, batch.num_rows)
            arrays = [pa.array(parts.astype(np.int32)), *(batch.column(field) for field in fields)]
            yield pa.RecordBatch.from_arrays(arrays, names=[PART, *fields])

    # A batch without a column would not tell how many rows it has.
    chosen = needed or [f"c{number}" for number in held.numbers.values()][:1]
    schema = ", ".join(f"{field} int" for field in [PART, *fields])
    return held.rows.select(*chosen).mapInArrow(divide, schema)


def _too_many(held: Held, names: tuple[str, ...], most: int) -> Problem:
    homes = ", ".join(dict.fromkeys(held.sketch.home(name) for name in names))
    return Problem(
        "data",
        f"more than {most:,} combinations of {homes}: their counts do not fit the driver.",
        "Round numbers or group rare values before publishing, give fewer quasi-identifiers, or raise "
        f"{CELLS} if the driver has the memory (some 50 bytes for each).",
    )
