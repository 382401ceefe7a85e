"""A release: sealed tables and their manifest, in memory or in a folder."""

import csv
import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from manyveils.errors import DataError, Problem
from manyveils.plain import as_table
from manyveils.release.folder import AS_PUBLISHED, PLACEMENTS, write_text
from manyveils.release.views import FORMAT, Manifest, View, parse_manifest, stem_of
from manyveils.release.writing import MANIFEST, manifest_text, write_recoding, write_table
from manyveils.release.wrong_paths import refuse_no_release
from manyveils.table import Restore
from manyveils.table.door import restorer_of

if TYPE_CHECKING:
    from manyveils.keys import Key
    from manyveils.reading import Count, Reading
    from manyveils.release.ledger import Ledger

MANIFEST_KEYS = frozenset(
    {
        "format",
        "method",
        "rows",
        "suppressed",
        "promises",
        "views",
        "recodings",
        "derived",
        "secret",
        "levels",
        "kinds",
    }
)
VIEW_KEYS = frozenset({"name", "bucketed", "rows", "columns", "enforces"})
COLUMN_KEYS = frozenset({"attributes", "file", "types"})
RECODING_KEYS = frozenset({"view", "attribute", "file"})
PROMISE_KEYS = frozenset({"kind", "parameters", "attribute", "attributes", "rule", "conditional"})
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, csv.Error)
READ_AS: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "integer": lambda column: column.cast(pl.Int64),
    "number": lambda column: _with_one_zero(column.cast(pl.Float64)),
    "boolean": lambda column: column.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean),
    "date": lambda column: column.str.to_date("%Y-%m-%d"),
}


def _unchanged(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


class Release:
    """What is published: views, as sorted multisets of their columns, and nothing else.

    `notes` (how the method went about it) and `key` (what secret labels mean, if there are any) are for the publisher
    and are never saved with it. `weights` are for tables that are held as distinct rows: for how many equal published
    rows each stands. `placements` are for the publisher alone, where persons are told apart: for every view, where
    each row of the original stands (its bucket, or its line in a table without buckets), and -1 where it is left out.
    So is the `ledger`: who was seen in which group, for the releases to come. Copies and pickles are without it.
    """

    def __init__(
        self,
        manifest: Manifest,
        frames: Mapping[str, pl.DataFrame],
        recodings: Mapping[tuple[str, str], pl.DataFrame],
        *,
        restore: Restore = _unchanged,
        notes: Mapping[str, object] | None = None,
        key: "Key | None" = None,
        weights: Mapping[str, NDArray[np.int64]] | None = None,
        placements: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> None:
        self.manifest = manifest
        self.frames = dict(frames)
        self.recodings = dict(recodings)
        self.notes = dict(notes or {})
        self.key = key
        self.weights = dict(weights or {})
        self.placements = dict(placements or {})
        self.ledger: Ledger | None = None
        # Where it was read from, and the digest with which it was published, if its private folder is at hand.
        self.read_from: Path | None = None
        self.published_as: str | None = None
        self._restore = restore

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"ledger": None}

    @property
    def views(self) -> tuple[View, ...]:
        """The views: name, columns (tuples of attributes), bucketed."""
        return self.manifest.views

    @property
    def tables(self) -> dict[str, Any]:
        """The published tables by name, as dataframes of the kind that came in."""
        return {name: self._restore(frame) for name, frame in self.frames.items()}

    def restored(self, frame: pl.DataFrame) -> Any:
        """A frame as the kind of dataframe that came in."""
        return self._restore(frame)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.manifest.rows

    @property
    def suppressed(self) -> int:
        """Rows left out."""
        return self.manifest.suppressed

    @cached_property
    def reading(self) -> "Reading":
        """What the release lets one estimate: its distribution, worked out once."""
        from manyveils.reading import Reading

        return Reading(self)

    def count(self, query: str) -> "Count":
        """For how many published rows conditions hold, such as "age >= 20 and disease = 'Flu'": an estimate, low and high."""
        return self.reading.count(query)

    def sample(self, n: int | None = None, seed: int | None = None) -> Any:
        """Draw synthetic rows from the distribution the release implies, as many as are published unless `n` says otherwise.

        They are a dataframe of the kind that came in.
        """
        return self._restore(self.reading.sample(self.rows if n is None else n, seed))

    def recode(self, data: object, view: str | None = None) -> Any:
        """Apply the release's recoding to new rows, for models that were trained on it; other columns stay as they are.

        What no published label covers is missing. `view` is needed where several views recode. The rows come back as
        the kind of dataframe that they came in as.
        """
        from manyveils.reading.recoding import recoded
        from manyveils.table import take_in

        frame, restore = take_in(data)
        return restore(recoded(self, frame, view))

    def save(self, path: str | Path, *, format: str = "csv", force: bool = False) -> Path:  # noqa: A002
        """Write the release folder; it appears whole or not at all.

        Where persons are told apart, who stands where goes into the private folder beside it, for the audit and for
        the releases to come.
        """
        from manyveils.release.ledger import appearing
        from manyveils.release.placements import private_folder

        is_told = bool(self.placements) or self.ledger is not None
        beside = private_folder(Path(path)) if is_told else None
        with appearing(Path(path), beside, force=force) as (folder, private):
            self.write(folder, format=format)
            if private is not None:
                self.write_private(folder, private)
        return Path(path)

    def write_private(self, folder: Path, private: Path) -> None:
        """Write what a release folder is, who stands where and who was seen where, into its private folder."""
        from manyveils.release.ledger import digest_of, write_ledger
        from manyveils.release.placements import write_placements

        write_text(private / AS_PUBLISHED, digest_of(folder) + "\n")
        if self.placements:
            write_placements(self.placements, private / PLACEMENTS)
        if self.ledger is not None:
            write_ledger(self.ledger, folder, private)

    def moved(self, folder: Path) -> "Release":
        """The release after its files were moved to a folder; one in memory does not mind."""
        return self

    def write(self, folder: Path, *, format: str = "csv") -> None:  # noqa: A002
        """Write the files of the release into a folder that is being prepared."""
        if format not in ("csv", "parquet"):
            raise DataError.at("format", "must be csv or parquet.")
        (folder / "tables").mkdir()
        for name, frame in self.frames.items():
            write_table(frame, folder / "tables" / f"{name}.{format}", format=format)
        self.write_listing(folder, format=format)

    def write_listing(self, folder: Path, *, format: str) -> None:  # noqa: A002
        """Write what labels cover, and the manifest, into a folder that has the tables."""
        if self.recodings:
            (folder / "recodings").mkdir()
        for key, frame in self.recodings.items():
            write_recoding(frame, folder / "recodings" / f"{self.manifest.recodings[key]}.csv")
        write_text(folder / MANIFEST, manifest_text(self.manifest, format))

    @classmethod
    def load(cls, path: str | Path, kind: str = "polars") -> Self:
        """Read a release folder; files the manifest does not list are refused.

        Tables and samples are dataframes of `kind`: polars, pandas or pyarrow.
        """
        outline = cls.outline(path)
        outline._restore = restorer_of(kind)
        files = {file.table: file for view in outline.views for file in view.files}
        outline.frames = {
            table: read_table(file, files[table].types) for table, file in table_files(Path(path)).items()
        }
        return outline

    @classmethod
    def outline(cls, path: str | Path) -> Self:
        """Read the manifest and the recodings of a release folder, and none of its tables."""
        folder = Path(path)
        document = _read_manifest(folder)
        try:
            manifest = parse_manifest(document)
            listed = {entry["file"] for entry in document.get("recodings", [])} | {*_listed(document)}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise DataError.at(str(folder / MANIFEST), "is not a manifest of this format.") from None
        _refuse_unlisted(folder, listed)
        _refuse_other_keys(folder, document)
        recodings = {
            key: _read_recoding(folder / "recodings" / f"{stem}.csv")
            for key, stem in manifest.recodings.items()
        }
        release = cls(manifest, {}, recodings)
        release.read_from = folder
        return release

    def _repr_html_(self) -> str:
        rows = [
            [view.name, " | ".join(", ".join(column) for column in view.columns), view.bucketed, view.rows]
            for view in self.views
        ]
        note = f"{self.rows:,} rows published, {self.suppressed:,} left out."
        title = f"Release by {self.manifest.method}"
        return as_table(title, ["view", "columns", "in buckets", "rows"], rows, note=note)

    def __repr__(self) -> str:
        views = ", ".join(view.name for view in self.views)
        return f"<Release by {self.manifest.method}: {self.rows} rows, {self.suppressed} suppressed, views {views}>"


def table_files(folder: Path) -> dict[str, Path]:
    """The file of every published table, or the folder that has its parts; the manifest has been checked."""
    return {stem_of(file): folder / file for file in _listed(_read_manifest(folder))}


def _listed(document: Mapping[str, Any]) -> list[str]:
    return [column["file"] for view in document["views"] for column in view["columns"]]


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    refuse_no_release(folder)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError.at(str(path), f"cannot be read as JSON ({type(error).__name__}).") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError.at(str(path), f"is not of the format {FORMAT}.")
    return document


def _refuse_unlisted(folder: Path, listed: set[str]) -> None:
    present = {
        _listed_as(path.relative_to(folder)) for path in folder.rglob("*") if not _is_filled_folder(path)
    }
    unsafe = [file for file in listed if points_elsewhere(folder, file)]
    elsewhere = Problem(str(folder), f"{len(unsafe)} file names of the manifest point elsewhere.")
    problems = [elsewhere] if unsafe else []
    problems += [
        Problem(str(folder / file), "is listed in the manifest but is not there.")
        for file in sorted(listed - present)
    ]
    problems += [
        Problem(str(folder / file), "is not listed in the manifest.", "Remove it.")
        for file in sorted(present - listed - {MANIFEST})
    ]
    DataError.refuse(problems)


def _is_filled_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and any(path.iterdir())


def _listed_as(path: Path) -> str:
    """The name under which a manifest lists a file; parts of a table go by the table's name."""
    is_part = len(path.parts) == 3 and re.fullmatch(r"part-\d+\.parquet", path.name) is not None
    return (path.parent if is_part else path).as_posix()


def points_elsewhere(folder: Path, file: str) -> bool:
    """Whether a file that a manifest names is not one of a release folder."""
    is_plain = re.fullmatch(r"(tables|recodings)/[^/\\]+", file) is not None
    return not is_plain or any((folder / part).is_symlink() for part in (file, file.split("/")[0]))


def _refuse_other_keys(folder: Path, document: Mapping[str, Any]) -> None:
    """A manifest says what its format says; anything else might be a message."""
    columns = [column for view in document["views"] for column in view["columns"]]
    entries = {
        MANIFEST_KEYS: [document],
        VIEW_KEYS: document["views"],
        COLUMN_KEYS: columns,
        RECODING_KEYS: document.get("recodings", []),
        PROMISE_KEYS: document["promises"],
    }
    strange = sum(len(set(entry) - known) for known, listed in entries.items() for entry in listed)
    if strange:
        raise DataError.at(str(folder / MANIFEST), f"has {strange} keys that the format does not know.")


def read_table(path: Path, types: Mapping[str, str]) -> pl.DataFrame:
    """One published table, with the types that the manifest lists."""
    try:
        if path.suffix == ".parquet":
            # Names are no patterns, whatever they hold.
            files = sorted(path.glob("part-*.parquet")) if path.is_dir() else path
            return as_published(pl.read_parquet(files, glob=False), None)
        return as_published(
            pl.read_csv(path, infer_schema=False, new_columns=header_of(path), glob=False), types
        )
    except UNREADABLE:
        raise DataError.at(str(path), "is damaged: it cannot be read as the manifest describes it.") from None


def as_published(frame: pl.DataFrame, types: Mapping[str, str] | None) -> pl.DataFrame:
    """Rows with the types that the manifest lists, if they were read as texts."""
    if types is None:
        return frame.with_columns(_with_one_zero(cs.float()))
    frame = frame.with_columns(pl.when(pl.all() == "").then(None).otherwise(pl.all()).name.keep())
    kinds = {"bucket": "integer", **types}
    return frame.with_columns(
        READ_AS[kinds[name]](pl.col(name)) for name in frame.columns if kinds.get(name) in READ_AS
    )


def _with_one_zero(numbers: pl.Expr) -> pl.Expr:
    """Make every -0.0 a 0.0: they are equal, and must be one value to whoever compares texts."""
    return pl.when(numbers == 0).then(0.0).otherwise(numbers).name.keep()


def header_of(path: Path) -> list[str]:
    """The names in the first record; names with quotes in them are more than the library reads."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def _read_recoding(path: Path) -> pl.DataFrame:
    try:
        pairs = pl.read_csv(path, separator=";", infer_schema=False, glob=False)
    except UNREADABLE:
        raise DataError.at(str(path), "is damaged: it cannot be read.") from None
    if pairs.columns != ["published", "original"]:
        raise DataError.at(str(path), "must have the fields published and original, and no others.")
    return pairs
