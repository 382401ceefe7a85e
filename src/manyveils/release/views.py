"""What the public sees of a release: views, their columns and files, and the manifest that lists them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

from manyveils.policy.sections import Kind

FORMAT = "manyveils-release/1"
LONGEST = 100
TYPES = {"integer", "number", "boolean", "date", "text"}


class Names:
    """Hands out file names; a name that is unsafe, long or taken is changed."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, view: str, attributes: Iterable[str] = ()) -> str:
        """A name for a view, or for some attributes of it.

        >>> Names().of("main", ["age", "a/b"])
        'main.age+a_b'
        """
        parts = [_safe(view), "+".join(_safe(name) for name in attributes)]
        return self._fresh(".".join(part for part in parts if part))

    def _fresh(self, name: str) -> str:
        short, number = name[:LONGEST], 1
        while short.lower() in self._taken or (number == 1 and len(name) > LONGEST):
            number += 1
            short = f"{name[: LONGEST - 6]}~{number}"
        self._taken.add(short.lower())
        return short


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_=-]", "_", name).strip() or "_"


@dataclass(frozen=True)
class ColumnFile:
    """One published column: its attributes, the table that holds it, and the type of each attribute."""

    attributes: tuple[str, ...]
    table: str
    types: Mapping[str, str]

    def describe(self, suffix: str) -> dict[str, object]:
        """The column as the manifest lists it."""
        return {
            "attributes": list(self.attributes),
            "file": f"tables/{self.table}.{suffix}",
            "types": dict(self.types),
        }


@dataclass(frozen=True)
class View:
    """A table whose attributes are grouped into columns and whose rows may be grouped into buckets."""

    name: str
    files: tuple[ColumnFile, ...]
    bucketed: bool
    rows: int
    enforces: Mapping[str, Any] | None = None

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The attributes, column by column."""
        return tuple(file.attributes for file in self.files)

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the view."""
        return tuple(name for column in self.columns for name in column)

    def describe(self, suffix: str) -> dict[str, object]:
        """The view as the manifest lists it."""
        return {
            "name": self.name,
            "bucketed": self.bucketed,
            "rows": self.rows,
            "columns": [file.describe(suffix) for file in self.files],
            "enforces": dict(self.enforces) if self.enforces else None,
        }


@dataclass(frozen=True)
class Manifest:
    """The public description of a release."""

    method: str
    rows: int
    suppressed: int
    promises: tuple[Mapping[str, Any], ...]
    views: tuple[View, ...]
    derived: Mapping[str, tuple[str, ...]]
    recodings: Mapping[tuple[str, str], str]
    secret: tuple[str, ...] = ()
    # Multi-valued attributes whose values are labels of a level of their hierarchy.
    levels: Mapping[str, int] = field(default_factory=dict)
    # Whether the values of a published attribute are amounts, ranks or names; codes are names, whatever they look like.
    kinds: Mapping[str, str] = field(default_factory=dict)

    def describe(self, suffix: str = "csv") -> dict[str, object]:
        """The manifest as `release.json` holds it."""
        document: dict[str, object] = {
            "format": FORMAT,
            "method": self.method,
            "rows": self.rows,
            "suppressed": self.suppressed,
            "promises": [dict(promise) for promise in self.promises],
            "views": [view.describe(suffix) for view in self.views],
            "recodings": [
                {"view": view, "attribute": attribute, "file": f"recodings/{stem}.csv"}
                for (view, attribute), stem in self.recodings.items()
            ],
        }
        if self.secret:
            document["secret"] = list(self.secret)
        if self.levels:
            document["levels"] = dict(self.levels)
        if self.derived:
            document["derived"] = {name: list(parts) for name, parts in self.derived.items()}
        if self.kinds:
            document["kinds"] = dict(self.kinds)
        return document


def parse_manifest(document: Mapping[str, Any]) -> Manifest:
    """Read `release.json`; a KeyError or TypeError means that it is not one."""
    return Manifest(
        method=_method(document["method"]),
        rows=int(document["rows"]),
        suppressed=int(document["suppressed"]),
        promises=_tables(document["promises"]),
        views=tuple(_parse_view(view) for view in document["views"]),
        derived={name: _texts(parts) for name, parts in document.get("derived", {}).items()},
        recodings={
            (entry["view"], entry["attribute"]): stem_of(entry["file"])
            for entry in document.get("recodings", [])
        },
        secret=_texts(document.get("secret", [])),
        levels={str(name): int(level) for name, level in document.get("levels", {}).items()},
        kinds={str(name): _kind(kind) for name, kind in document.get("kinds", {}).items()},
    )


def _method(name: object) -> str:
    """The name of a method, which has no room for a message."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
        raise ValueError("not a method")
    return name


def _parse_view(view: Mapping[str, Any]) -> View:
    files = tuple(
        ColumnFile(_texts(column["attributes"]), stem_of(column["file"]), _types(column))
        for column in view["columns"]
    )
    if not files or (len(files) > 1 and not view["bucketed"]):
        raise ValueError("several columns without buckets")
    enforces = _rule(view.get("enforces"))
    return View(str(view["name"]), files, bool(view["bucketed"]), int(view["rows"]), enforces)


def _rule(enforces: Any) -> Mapping[str, Any] | None:
    """The rule that a view enforces, if there is one."""
    if enforces is None:
        return None
    rule = {"given": list(_texts(enforces["given"])), "protect": enforces["protect"], "l": enforces["l"]}
    if rule != enforces or not isinstance(rule["protect"], str) or not isinstance(rule["l"], int | None):
        raise ValueError("not a rule")
    return rule


def _kind(value: object) -> str:
    if value not in get_args(Kind):
        raise ValueError("not a kind")
    return str(value)


def _tables(values: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise TypeError("not a list of tables")
    return tuple(values)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("not a list of texts")
    if len(set(values)) < len(values):
        raise ValueError("a text twice")
    return tuple(values)


def _types(column: Mapping[str, Any]) -> dict[str, str]:
    types = column.get("types", {})
    if not {*types} <= {*column["attributes"]}:
        raise ValueError("types of other attributes")
    if not {*types.values()} <= TYPES:
        raise ValueError("not a type")
    return dict(types)


def stem_of(file: str) -> str:
    """The name of the table in a file of the release folder."""
    return file.split("/", 1)[1].rsplit(".", 1)[0]
