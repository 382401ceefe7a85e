"""A release folder as plain Python: the files that its manifest lists, cell by cell, as texts."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, str]
Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Columns:
    """One file of a view: its attributes, and its rows with their buckets (0 where there are none)."""

    attributes: tuple[str, ...]
    rows: Sequence[Row]
    buckets: Sequence[int]


@dataclass(frozen=True)
class Published:
    """One view: its name, whether it has buckets, its files, and the attributes whose values are labels."""

    name: str
    bucketed: bool
    columns: tuple[Columns, ...]
    recoded: frozenset[str]
    placements: Sequence[int] | None

    @property
    def attributes(self) -> set[str]:
        """All that stands in the view."""
        return {name for column in self.columns for name in column.attributes}


@dataclass(frozen=True)
class Folder:
    """All views, the manifest, and which files are listed and missing, or there and not listed."""

    manifest: Mapping[str, Any]
    views: tuple[Published, ...]
    unlisted: tuple[str, ...]


def read(folder: Path, private: Path) -> Folder:
    """Read a release, and from the private folder which line or bucket each row of the original is in."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    placements = _placements(private / "placements.parquet")
    views = tuple(_view(folder, view, manifest, placements) for view in manifest["views"])
    files = [column for view in manifest["views"] for column in view["columns"]] + list(manifest["recodings"])
    listed = {"release.json", *(entry["file"] for entry in files)}
    held = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    unlisted = held ^ listed
    return Folder(manifest, views, tuple(sorted(unlisted)))


def _view(folder: Path, view: Keys, manifest: Keys, placements: Mapping[str, Sequence[int]]) -> Published:
    name = view["name"]
    columns = tuple(_columns(folder / column["file"], column["attributes"]) for column in view["columns"])
    recoded = {entry["attribute"] for entry in manifest["recodings"] if entry["view"] == name}
    recoded |= set(map(str, manifest.get("secret", ())))
    return Published(name, view["bucketed"], columns, frozenset(recoded), placements.get(name))


def _columns(path: Path, attributes: Sequence[str]) -> Columns:
    rows = _rows(path)
    buckets = [int(row.get("bucket", 0)) for row in rows]
    return Columns(tuple(attributes), rows, buckets)


def _rows(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return [{key: _text(value) for key, value in row.items()} for row in pq.read_table(path).to_pylist()]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _placements(path: Path) -> Mapping[str, Sequence[int]]:
    if not path.is_file():
        return {}
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pydict()


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
