"""Data from outside: a path or a dataframe of any kind comes in, and dataframes of that kind go out."""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.errors import DataError, InputError, Problem
from manyveils.policy.sections import Data
from manyveils.table.foreign import READERS, from_address, is_address
from manyveils.table.packed import Source, source_of
from manyveils.table.room import parquet_fits, refuse_bytes, refuse_rows
from manyveils.table.shape import CHUNK, NEWLINE, QUOTE, check_shape
from manyveils.table.spelling import NOT_UTF8, in_utf8, refuse_rare_delimiter, spelled_out
from manyveils.table.stored import is_stored, scanned, unread

Restore = Callable[[pl.DataFrame], Any]
DELIMITERS = ",;\t|"
HEADER_BYTES = 1 << 20


def take_in(data: object, form: Data | None = None) -> tuple[pl.DataFrame, Restore]:
    """Read a path, a connection string or a dataframe, and say how to hand back one of the same kind (Polars for a path).

    `form` says how it is written, as the section [data] of a policy does.
    """
    if isinstance(data, str) and is_stored(data):
        return _from_storage(data), unchanged
    if isinstance(data, str) and is_address(data):
        return from_address(data, form or Data()), unchanged
    if isinstance(data, str | Path):
        return read_file(Path(data), form), unchanged
    if is_sparks(data):
        remedy = "Publish and audit take it; elsewhere give toPandas() of it, or of a sample."
        raise DataError.at("data", "a Spark dataframe is not collected here.", remedy)
    if isinstance(data, pl.Series) or not _is_tabular(data):
        remedy = "Give a path, or pandas, Polars or PyArrow data."
        raise DataError.at("data", f"{type(data).__name__} is not a table.", remedy)
    _refuse_repeated_names(data)
    try:
        return _as_polars(data), _restorer(data)
    except Exception as error:
        # Whatever library the data came from, its own message may quote cells.
        raise _unreadable(error) from None


def _from_storage(address: str) -> pl.DataFrame:
    rows = scanned(address)
    try:
        return rows.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise unread(address) from None


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
    # Loaded only here: files need no help to be read.
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        return pl.DataFrame(data)
    return frame.to_polars()


def unchanged(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it is."""
    return frame


RESTORERS: Mapping[str, Restore] = {
    "polars": unchanged,
    "pandas": pl.DataFrame.to_pandas,
    "pyarrow": pl.DataFrame.to_arrow,
}


def _refuse_repeated_names(data: Any) -> None:
    if isinstance(data, pl.LazyFrame):
        return
    names = data.column_names if hasattr(data, "column_names") else getattr(data, "columns", ())
    names = [str(name) for name in names]
    DataError.refuse(
        Problem("data", f"column {name!r} occurs {names.count(name)} times.", "Rename one.")
        for name in sorted({name for name in names if names.count(name) > 1})
    )


def _unreadable(error: Exception) -> DataError:
    if isinstance(error, ImportError):
        return DataError.at("data", f"a package is missing to read them ({error.name}).", "Install it.")
    what = f"cannot be read as a table ({type(error).__name__})."
    return DataError.at("data", what, "Give every column one type and a name of its own.")


def _restorer(data: object) -> Restore:
    library = type(data).__module__.partition(".")[0]
    return RESTORERS.get(library, unchanged)


def restorer_of(library: str) -> Restore:
    """How to hand back dataframes of a library that is named."""
    if library not in RESTORERS:
        raise InputError.at("kind", f"must be one of {', '.join(RESTORERS)}.")
    return RESTORERS[library]


def read_file(path: Path, form: Data | None = None) -> pl.DataFrame:
    """Read csv (every cell as text), parquet, arrow/feather, packed or not, or another program's file, by its ending."""
    try:
        if not path.exists():
            raise DataError.at(str(path), "there is no such data file.", "Check the path, or give --data.")
        if path.is_dir():
            raise DataError.at(str(path), "is a folder.", "Name a csv, parquet or arrow file.")
        return _read(source_of(path), form or Data())
    except OSError as error:
        raise DataError.at(str(path), f"cannot be read ({error.strerror or type(error).__name__}).") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # The library's own message may quote cells.
        raise DataError.at(str(path), "is damaged or not of the kind its ending says.") from None


def _read(source: Source, form: Data) -> pl.DataFrame:
    if source.suffix in READERS:
        return spelled_out(READERS[source.suffix](source, form), form)
    match source.suffix:
        case ".parquet" | ".pq":
            with source.open() as file:
                parquet_fits(str(source), file)
            return pl.read_parquet(source.path if source.content is None else source.open(), glob=False)
        case ".arrow" | ".feather" | ".ipc":
            # By its name it would be taken for a pattern.
            with source.open() as file:
                refuse_rows(str(source), pl.scan_ipc(file, glob=False))
                file.seek(0)
                return pl.read_ipc(file)
        case _:
            refuse_bytes(str(source), "its texts", source.n_bytes)
            return spelled_out(_read_csv(in_utf8(source, form), form.delimiter), form)


def _read_csv(source: Source, delimiter: str | None) -> pl.DataFrame:
    names, delimiter = _names_in(source, delimiter)
    content = source.path if source.content is None else source.content
    try:
        frame = pl.read_csv(content, separator=delimiter, infer_schema=False, new_columns=names, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        check_shape(source, len(names), delimiter)
        raise damaged(source, str(error)) from None
    if _is_even(source, frame, delimiter):
        return frame
    n_records, blank = check_shape(source, len(names), delimiter)
    if frame.height != n_records - 1:
        raise damaged(source)
    # A blank line is nobody; the reader makes it a row of missing cells.
    # With one column only it is a missing cell.
    is_person = ~np.isin(np.arange(frame.height), blank - 1)
    return frame.filter(is_person) if blank.size and len(names) > 1 else frame


def _is_even(source: Source, frame: pl.DataFrame, delimiter: str) -> bool:
    """Whether every line of a file is one record with all its fields.

    The reader refuses records that are too long, and fills up those that are too short, whose last field is then
    missing. If none is, and there are as many lines as records, there is nothing to look for. Of a last line that is
    not ended, it lets a field too many pass; and it takes quotes inside a field as they stand.
    """
    if frame.width < 2 or not frame.height or frame.to_series(frame.width - 1).null_count():
        return False
    n_lines, last = 0, b"\n"
    with source.open() as file:
        while chunk := file.read(CHUNK):
            if b'"' in chunk:
                chunk += file.readline()
                if not _encloses_fields(last + chunk + b"\n", delimiter):
                    return False
            n_lines, last = n_lines + chunk.count(b"\n"), chunk[-1:]
    return last == b"\n" and n_lines == frame.height + 1


def _encloses_fields(lines: bytes, delimiter: str) -> bool:
    """Whether the quotes of some lines, and the byte before, open at the beginnings of fields and close at their ends."""
    data = np.frombuffer(lines, dtype=np.uint8)
    quotes = np.flatnonzero(data == QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    if opening.size != closing.size:
        return False
    is_end = np.zeros(256, dtype=bool)
    is_end[[ord(delimiter), NEWLINE, 0x0D]] = True
    return bool(is_end[data[opening - 1]].all() and is_end[data[closing + 1]].all())


def read_header(path: Path, delimiter: str | None = None) -> tuple[list[str], str]:
    """The columns' names, and what is between them; names that are missing or there twice are refused."""
    return _names_in(Source(path, path.name), delimiter)


def _names_in(source: Source, delimiter: str | None) -> tuple[list[str], str]:
    start = _start(source)
    if not start.strip():
        raise DataError.at(str(source), "is empty.", "It needs a header line and rows.")
    delimiter = delimiter or _find_delimiter(source, start.split("\n", 1)[0])
    names = _header(source, start, delimiter)
    DataError.refuse(problem.within(str(source)) for problem in _header_problems(names))
    return names, delimiter


def damaged(path: Source, message: str = "") -> DataError:
    """What is wrong with a csv file that its reader refuses, or reads differently."""
    if "utf-8" in message.lower():
        return DataError.at(str(path), "is not valid UTF-8.", NOT_UTF8)
    what = "is not a well-formed csv file: quotes are not closed or rows differ."
    return DataError.at(str(path), what, "Correct the quotes.")


def _start(path: Source) -> str:
    """The beginning of the file, long enough to hold the header."""
    with path.open() as file:
        start = file.read(HEADER_BYTES)
    if start.startswith((b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")):
        raise DataError.at(
            str(path), "is compressed.", "Unpack it first, or let its name end in .gz, .zst or .zip."
        )
    try:
        # Decoded in steps, because the last character may be cut in two.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        raise DataError.at(str(path), "is not valid UTF-8.", NOT_UTF8) from None


def _header(path: Source, start: str, delimiter: str) -> list[str]:
    """The column names; a quoted one may hold a line end."""
    try:
        names = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter))
    except csv.Error:
        remedy = "Lines end with a line feed, names are short and quotes are closed."
        raise DataError.at(str(path), "the first line cannot be read as a header.", remedy) from None
    if not names:
        raise DataError.at(str(path), "the first line is blank.", "Start with the header.")
    return names


def _find_delimiter(source: Source, header: str) -> str:
    """The delimiter that a header line has most of, outside quotes."""
    outside_quotes = "".join(header.split('"')[::2])
    if not any(mark in outside_quotes for mark in DELIMITERS):
        refuse_rare_delimiter(source, outside_quotes)
    return max(DELIMITERS, key=outside_quotes.count)


def _header_problems(names: list[str]) -> Iterator[Problem]:
    # A file without a header has cells in its first line, so columns are told by their positions.
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(str(position))
    for name, same in sorted(positions.items()):
        if name and len(same) > 1:
            yield Problem(
                "header", f"columns {' and '.join(same)} have the same name.", "Rename all but one."
            )
    n_nameless = sum(not name.strip() for name in names)
    if n_nameless:
        yield Problem("header", f"{n_nameless} columns have no name.", "Name them.")
