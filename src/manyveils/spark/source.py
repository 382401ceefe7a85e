"""Where rows come from: a file, a folder of files, or a Spark dataframe."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.table.door import read_header
from manyveils.table.foreign import is_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUOTE = '"'
PARQUET = (".parquet", ".pq")
# Every file must have the header of the first, and every row as many cells, even where some are not published.
STRICT = {
    "mode": "FAILFAST",
    "enforceSchema": "false",
    "columnPruning": "false",
    "unescapedQuoteHandling": "RAISE_ERROR",
}
FORMS = ("sheet", "table", "query", "encoding", "decimal", "thousands", "dates")
# What Spark takes for a pattern of names, unless a backslash stands before it.
PATTERN = re.compile(r"([\\*?\[\]{}])")
# What stores of files are called; Spark has a file system for those that its session was given one for.
STORES = ("s3a", "gs", "abfss", "hdfs")
TEXTS = (".csv", ".tsv", ".txt")
# Folders that say which of the files beside them count.
CATALOGUES = ("_delta_log", "metadata", ".hoodie")


@dataclass(frozen=True, repr=False)
class Source:
    """Rows, and whether they come from text that might not be UTF-8."""

    rows: "DataFrame"
    is_csv: bool = False


def source_of(data: object, policy: Policy, spark: "SparkSession") -> Source:
    """The rows as Spark reads them; cells of csv files stay texts, so that types are decided as everywhere."""
    from pyspark.sql import DataFrame

    if isinstance(data, DataFrame):
        return Source(data)
    source = policy.source if data is None else data
    if source is None:
        remedy = "Set it or give --data."
        raise DataError([Problem(policy.name, "data.source is not set and no data were given.", remedy)])
    _refuse_forms(policy)
    if isinstance(source, str) and is_address(source):
        return Source(_stored(source, spark))
    path = Path(str(source))
    files = sorted(_files(path))
    _refuse_names(files)
    kinds = {file.suffix.lower() in PARQUET for file in files}
    if len(kinds) > 1:
        raise DataError(
            [Problem(str(path), "has csv and parquet files.", "Give a folder with files of one kind.")]
        )
    if kinds == {True}:
        _refuse_schemas(files, path)
        return Source(spark.read.parquet(*map(address, files)))
    return Source(_csv(files, policy.data.delimiter, spark), is_csv=True)


def _stored(source: str, spark: "SparkSession") -> "DataFrame":
    """Parquet at an address for which Spark has a file system, such as s3a://bucket/people."""
    scheme = source.partition("://")[0]
    if scheme not in STORES:
        what = f"Spark reads parquet from {', '.join(STORES)}, and not from {scheme}."
        raise DataError.at(
            "data", what, "Read it with Spark and publish the dataframe, or use the local engine."
        )
    if source.lower().endswith(TEXTS):
        what = "csv is read from this machine's files, and parquet alone from a store."
        raise DataError.at("data", what, "Read it with Spark, and publish the dataframe.")
    rows = spark.read.parquet(source)
    refuse_alike(rows.columns)
    return rows


def _files(path: Path) -> list[Path]:
    """The files that hold the data; hidden ones do not."""
    if not path.is_dir():
        files = [path] if path.exists() else []
    else:
        inside = [(entry, entry.relative_to(path).parts) for entry in path.rglob("*")]
        shown = [
            (entry, parts[-1]) for entry, parts in inside if not any(part[0] in "._" for part in parts[:-1])
        ]
        _refuse_lakehouses(path, {name for entry, name in shown if entry.is_dir()})
        shown = [(entry, name) for entry, name in shown if name[0] not in "._"]
        _refuse_links(path, [entry for entry, _ in shown if entry.is_symlink()])
        files = [entry for entry, _ in shown if entry.is_file()]
    if not files:
        remedy = "Name a csv or parquet file, or a folder of them."
        raise DataError([Problem(str(path), "there are no such data.", remedy)])
    return files


def _refuse_lakehouses(path: Path, folders: set[str]) -> None:
    for name in CATALOGUES:
        if name in folders:
            what = f"has a folder {name}: it is a table of a lakehouse, of which not all files count."
            raise DataError([Problem(str(path), what, "Read it with Spark, and publish the dataframe.")])


def _refuse_links(path: Path, links: list[Path]) -> None:
    """A link to a folder might lead back here, and one to nowhere had people behind it."""
    n_strange = sum(not link.is_file() for link in links)
    if n_strange:
        what = f"has {n_strange} links to folders or to nowhere, which are not followed."
        raise DataError([Problem(str(path), what, "Remove them, or put what they lead to in their place.")])


def _refuse_forms(policy: Policy) -> None:
    """Refuse what says of a file how it is written and the local engine alone understands."""
    keys = [key for key in FORMS if getattr(policy.data, key) is not None]
    if keys:
        what = f"Spark reads csv in UTF-8 and parquet, and knows nothing of {', '.join(keys)}."
        raise PolicyError.at(f"{policy.name}: data", what, "Use the local engine, or write parquet first.")


def _refuse_names(files: list[Path]) -> None:
    problems = []
    for file in files:
        if file.name[0] in "._" or ":" in file.name:
            what = "Spark does not read files whose names begin with . or _, or have a colon."
            problems.append(Problem(str(file), what, "Rename it."))
        if file.suffix.lower() in (".arrow", ".feather", ".ipc"):
            problems.append(Problem(str(file), "Spark reads csv and parquet.", "Give it as one of these."))
    if problems:
        raise DataError(problems)


def _csv(files: list[Path], delimiter: str | None, spark: "SparkSession") -> "DataFrame":
    # Jobs leave empty files where they had no row.
    first = next((file for file in files if file.stat().st_size), files[0])
    try:
        names, delimiter = read_header(first, delimiter)
    except OSError as error:
        raise DataError([Problem(str(first), f"cannot be read ({error.strerror}).")]) from None
    refuse_alike(names)
    addresses = [address(file) for file in files]
    if len(names) == 1 or delimiter.isspace():
        _refuse_blank_lines(spark.read.text(addresses), len(names))
    options: dict[str, str] = {"header": "true", "sep": delimiter, "escape": QUOTE, **STRICT}
    return spark.read.options(**options).csv(addresses, inferSchema=False)


def _refuse_blank_lines(lines: "DataFrame", n_columns: int) -> None:
    """Spark passes over lines of nothing but blanks, which may be people with every cell missing.

    With several columns a line without any delimiter is nobody.
    """
    n_blank = lines.where(
        lines.value.rlike(r"^[\x00-\x20]*$" if n_columns == 1 else r"^[\x00-\x20]+$")
    ).count()
    if n_blank:
        what = f"{n_blank} lines have no cell that is not missing: Spark would pass over them."
        raise DataError([Problem("data", what, 'Write their missing cells as "", or give parquet.')])


def _refuse_schemas(files: list[Path], path: Path) -> None:
    """Spark takes the columns of one file for those of all, and has no times of day."""
    try:
        schemas = [schema_of(file) for file in files]
    except (pl.exceptions.PolarsError, OSError):
        raise DataError([Problem(str(path), "has a file that cannot be read as parquet.")]) from None
    n_others = sum(dict(schema) != dict(schemas[0]) for schema in schemas)
    if n_others:
        what = f"has {n_others} files with other columns or types than the first."
        raise DataError([Problem(str(path), what, "Give all of them the same columns and types.")])
    refuse_alike(list(schemas[0]))
    times = [name for name, kind in schemas[0].items() if kind == pl.Time]
    if times:
        what = "Spark cannot read times of day."
        raise DataError(Problem(f"data: {name}", what, "Turn them into text or numbers.") for name in times)


def alike(names: Iterable[str]) -> set[str]:
    """The names that differ from another in case alone."""
    names = list(names)
    shared = Counter(map(str.lower, names))
    return {name for name in names if shared[name.lower()] > 1}


def refuse_alike(columns: Iterable[str]) -> None:
    """Refuse columns of the data that Spark takes for one."""
    if confused := sorted(alike(columns)):
        raise DataError(
            Problem("data", f"Spark takes column {name!r} and another for one.", "Rename one of them.")
            for name in confused
        )


def address(path: Path) -> str:
    """The address of a file or folder that driver and executors see under the same path."""
    return "file://" + PATTERN.sub(r"\\\1", str(path.absolute()))


def schema_of(path: Path) -> pl.Schema:
    """The columns of a parquet file, whose name is no pattern either."""
    return pl.scan_parquet(path, glob=False).collect_schema()
