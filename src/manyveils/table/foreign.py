"""Tables that are not in csv, parquet or arrow files: sheets, files of statistics programs, databases."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from importlib import import_module
from types import ModuleType
from typing import Any

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.table.packed import Source

ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+]*://")
MOST_LISTED = 12


def is_address(source: object) -> bool:
    """Whether data are named by a connection string.

    >>> is_address("postgresql+psycopg://host/db"), is_address("people.csv")
    (True, False)
    """
    return isinstance(source, str) and ADDRESS.match(source) is not None


def _needed(module: str, extra: str, where: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        what = f"needs the package {module} to be read."
        raise DataError.at(where, what, f'Install it with: pip install "manyveils[{extra}]"') from None


def _one(names: list[str], asked: str | None, where: str, key: str) -> str:
    """The one that is asked for, or the only one; several are asked about."""
    listed = ", ".join(names[:MOST_LISTED]) + (", …" if len(names) > MOST_LISTED else "")
    if asked is not None and asked not in names:
        raise DataError.at(where, f"has no {key} {asked!r}.", f"It has {listed}." if names else "")
    if asked is None and len(names) != 1:
        what = f"has {len(names)} {key}s{f': {listed}' if names else ''}."
        raise DataError.at(where, what, f"Set {key} in [data], or --{key}." if names else "")
    return asked or names[0]


def _from_excel(source: Source, form: Data) -> pl.DataFrame:
    where = str(source)
    excel = _needed("fastexcel", "excel", where)
    try:
        book = excel.read_excel(source.path if source.content is None else source.content)
        sheet = _one(book.sheet_names, form.sheet, where, "sheet")
        top = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
        frame = book.load_sheet(sheet, header_row=0, schema_sample_rows=None).to_polars()
    except excel.FastExcelError:
        raise DataError.at(where, "is damaged or not of the kind its ending says.") from None
    names = [str(name).strip() if name is not None else "" for name in (top.row(0) if top.height else ())]
    if not all(names) or len(names) != frame.width:
        what = f"the first line of sheet {sheet!r} is not a header: a name is missing."
        raise DataError.at(where, what, "Let the header be the first line, with a name for every column.")
    doubled = sum(names.count(name) > 1 for name in names)
    if doubled:
        raise DataError.at(where, f"{doubled} columns of sheet {sheet!r} share their names.", "Rename them.")
    # Days without a time of day are dates.
    days = [name for name, dtype in frame.schema.items() if dtype == pl.Datetime and _is_days(frame[name])]
    return frame.with_columns(pl.col(name).cast(pl.Date) for name in days)


def _is_days(moments: pl.Series) -> bool:
    return bool((moments.drop_nulls() == moments.drop_nulls().dt.truncate("1d")).all())


def _from_statistics(source: Source, form: Data) -> pl.DataFrame:
    """A file of SPSS, Stata or SAS, by value labels where every value that occurs in a column has one."""
    where = str(source)
    reader = _needed("pyreadstat", "statistics", where)
    if source.content is not None:
        raise DataError.at(where, "is packed, and such files are read as they are.", "Unpack it first.")
    read = getattr(reader, STATISTICS[source.suffix])
    try:
        frame, told = read(str(source.path), output_format="polars")
        labels = _labels(reader, source, told) if form.labels else {}
    except (reader.ReadstatError, reader.PyreadstatError, UnicodeDecodeError):
        raise DataError.at(where, "is damaged or not of the kind its ending says.") from None
    return frame.with_columns(
        _labelled(frame[name], labels[name]) for name in frame.columns if labels.get(name)
    ).with_columns(_whole(frame[name]) for name in frame.columns if not labels.get(name))


def _labels(reader: ModuleType, source: Source, told: Any) -> Mapping[str, Mapping[Any, str]]:
    """The value labels of every column; SAS keeps them in a catalog beside the data."""
    if source.suffix != ".sas7bdat":
        return dict(told.variable_value_labels)
    beside = source.path.with_suffix(CATALOG), source.path.with_name(f"formats{CATALOG}")
    for catalog in beside:
        if catalog.is_file():
            _, told = reader.read_sas7bdat(str(source.path), catalog_file=str(catalog), metadataonly=True)
            return dict(told.variable_value_labels)
    return {}


def _labelled(values: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
    coded = {float(code) if isinstance(code, int) else code: str(label) for code, label in labels.items()}
    present = values.drop_nulls().unique().to_list()
    keys = [float(code) if isinstance(code, int) else code for code in present]
    if any(key not in coded for key in keys) or len(set(coded.values())) < len(coded):
        return _whole(values)
    return values.replace_strict(
        dict(zip(present, [coded[key] for key in keys], strict=True)), return_dtype=pl.String
    )


def _whole(values: pl.Series) -> pl.Series:
    """Whole numbers that are stored as others, as such programs do."""
    if not values.dtype.is_float():
        return values
    whole = values.fill_nan(None).cast(pl.Int64, strict=False)
    return whole if (whole.cast(pl.Float64) == values.fill_nan(None)).all() else values.fill_nan(None)


def _from_duckdb(source: Source, form: Data) -> pl.DataFrame:
    where = str(source)
    duckdb = _needed("duckdb", "duckdb", where)
    try:
        # A query sees this file and no other.
        settings = {"enable_external_access": "false"}
        with duckdb.connect(str(source.path), read_only=True, config=settings) as connection:
            query = form.query
            if query is None:
                listed = connection.execute("SELECT table_schema, table_name FROM information_schema.tables")
                tables = {_dotted(schema, "main", name): (schema, name) for schema, name in listed.fetchall()}
                schema, name = tables[_one(sorted(tables), form.table, where, "table")]
                query = f"SELECT * FROM {_quoted(schema)}.{_quoted(name)}"
            return pl.DataFrame(connection.sql(query))
    except duckdb.Error as error:
        raise _unanswered(where, form, error) from None


def _dotted(schema: str, usual: str | None, name: str) -> str:
    return name if schema == usual else f"{schema}.{name}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unanswered(where: str, form: Data, error: Exception) -> DataError:
    """The database's own message may quote cells, and connection strings hold passwords."""
    asked = "the query" if form.query else "the table"
    what = f"the database did not answer, or not {asked} ({type(error).__name__})."
    return DataError.at(where, what, f"Check the address, and try {asked} in the database's own client.")


def from_address(address: str, form: Data) -> pl.DataFrame:
    """A table of a database, or what it answers to a query, by a connection string as SQLAlchemy takes it."""
    sql = _needed("sqlalchemy", "database", "data.source")
    try:
        url = sql.engine.make_url(address)
        where = url.render_as_string(hide_password=True)
        engine = sql.create_engine(url)
    except sql.exc.NoSuchModuleError:
        raise DataError.at("data.source", "names a kind of database that is not known.") from None
    except (sql.exc.ArgumentError, ValueError):
        raise DataError.at(
            "data.source", "is not a connection string.", "For example sqlite:///people.db."
        ) from None
    except ImportError as error:
        what = f"a package is missing to reach the database ({error.name})."
        raise DataError.at("data.source", what, "Install it.") from None
    try:
        with engine.connect() as connection:
            query = form.query or f"SELECT * FROM {_table_of(sql, connection, form, where)}"
            return _answered(connection.execute(sql.text(query)), where)
    except (sql.exc.SQLAlchemyError, pl.exceptions.PolarsError) as error:
        raise _unanswered(where, form, error) from None
    finally:
        engine.dispose()


def _answered(answer: Any, where: str) -> pl.DataFrame:
    """The table that a database answers with."""
    if not answer.returns_rows:
        raise DataError.at(where, "the query answers with no table.", "Ask with SELECT.")
    names = list(answer.keys())
    if doubled := len(names) - len(set(names)):
        what = f"{doubled} names stand over more than one column of the answer."
        raise DataError.at(where, what, "Name columns apart with AS.")
    columns = list(zip(*answer.fetchall(), strict=True)) or [()] * len(names)
    return pl.DataFrame([_column(name, cells) for name, cells in zip(names, columns, strict=True)])


def _column(name: str, cells: tuple[Any, ...]) -> pl.Series:
    """A column by its type; numbers of any length, and types that only the database knows, as they are written."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {Decimal}:
        numbers = (None if cell is None or not cell.is_finite() else f"{cell:f}" for cell in cells)
        return pl.Series(name, numbers, pl.String)
    if (len(kinds) == 1 and kinds <= PLAIN) or kinds == {int, float}:
        return pl.Series(name, cells, pl.Float64 if len(kinds) == 2 else None)
    return pl.Series(name, (None if cell is None else str(cell) for cell in cells), pl.String)


def _table_of(sql: ModuleType, connection: Any, form: Data, where: str) -> str:
    """The table that is asked for, quoted; a name before a dot is its schema's."""
    schema, _, name = (form.table or "").rpartition(".")
    known = sql.inspect(connection)
    tables = [*known.get_table_names(schema or None), *known.get_view_names(schema or None)]
    found = _one(tables, name or None, where, "table")
    quote = connection.dialect.identifier_preparer.quote_identifier
    return f"{quote(schema)}.{quote(found)}" if schema else str(quote(found))


CATALOG = ".sas7bcat"
# What a dataframe holds as it is.
PLAIN = {bool, int, float, str, date, datetime, time}
STATISTICS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
READERS: Mapping[str, Callable[[Source, Data], pl.DataFrame]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), _from_excel),
    **dict.fromkeys(STATISTICS, _from_statistics),
    **dict.fromkeys((".duckdb", ".ddb"), _from_duckdb),
}
