"""Data from outside: a path or a dataframe of any kind comes in, and dataframes of that kind go out."""

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
    if is_sparks(data):
        remedy = "Publish and audit take it; elsewhere give toPandas() of it, or of a sample."
        raise DataError.at("data", "a Spark dataframe is not collected here.", remedy)
    if isinstance(data, pl.Series) or not _is_tabular(data):
        kind = type(data).__name__
        raise DataError.at(
            "data", f"{kind} is not a table.", "Give a path, or pandas, Polars or PyArrow data."
        )
    _refuse_repeated_names(data)
    try:
        return _as_polars(data), _restorer(data)
    except Exception as error:
        # Whatever library the data came from, its own message may quote cells.
        raise _unreadable(error) from None


def is_sparks(data: object) -> bool:
    """Whether data are a Spark dataframe, whose rows are elsewhere."""
    kind = type(data)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


def _is_tabular(data: object) -> bool:
    return isinstance(data, pl.LazyFrame) or any(
        hasattr(data, door) for door in ("__arrow_c_stream__", "__dataframe__")
    )


def _as_polars(data: Any) -> pl.DataFrame:
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        return pl.DataFrame(data)
    return frame.to_polars()


def _unchanged(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def _refuse_repeated_names(data: Any) -> None:
    if isinstance(data, pl.LazyFrame):
        return
    names = data.column_names if hasattr(data, "column_names") else getattr(data, "columns", ())
    names = [str(name) for name in names]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise DataError(
            Problem("data", f"column {name!r} occurs {names.count(name)} times.", "Rename one.")
            for name in doubled
        )


def _unreadable(error: Exception) -> DataError:
    if isinstance(error, ImportError):
        return DataError.at("data", f"a package is missing to read them ({error.name}).", "Install it.")
    what = f"cannot be read as a table ({type(error).__name__})."
    return DataError.at("data", what, "Give every column one type and a name of its own.")


def _restorer(data: object) -> Restore:
    match type(data).__module__.partition(".")[0]:
        # Functions with a name, so that a release can be pickled.
        case "pandas":
            return pl.DataFrame.to_pandas
        case "pyarrow":
            return pl.DataFrame.to_arrow
        case _:
            return _unchanged
