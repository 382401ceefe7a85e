"""The door for dataframes: anything that speaks Arrow comes in, the same kind goes out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.table.read import read_file

Restore = Callable[[pl.DataFrame], Any]


def take_in(data: object, *, delimiter: str | None = None) -> tuple[pl.DataFrame, Restore]:
    """Read a path or a dataframe, and say how to hand back one of the same kind (Polars for a path)."""
    if isinstance(data, str | Path):
        return read_file(Path(data), delimiter=delimiter), _unchanged
    if isinstance(data, pl.DataFrame):
        return data, _unchanged
    if isinstance(data, pl.LazyFrame):
        return data.collect(), _unchanged
    try:
        frame = nw.from_native(data, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        return _from_arrow(data), _unchanged
    _refuse_repeated_names(list(frame.columns))
    return frame.to_polars(), _restorer(str(frame.implementation))


def _unchanged(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def _from_arrow(data: object) -> pl.DataFrame:
    if not hasattr(data, "__arrow_c_stream__"):
        kind = type(data).__name__
        raise DataError(
            [Problem("data", f"a {kind} is not a table.", "Give a path, or pandas, Polars or PyArrow data.")]
        )
    return pl.DataFrame(data)


def _refuse_repeated_names(names: list[str]) -> None:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise DataError(
            [Problem("data", f"column {name!r} stands there {names.count(name)} times.") for name in doubled]
        )


def _restorer(implementation: str) -> Restore:
    match implementation:
        case "Implementation.PANDAS":
            return lambda frame: frame.to_pandas()
        case "Implementation.PYARROW":
            return lambda frame: frame.to_arrow()
        case _:
            return _unchanged
