"""Cases: a table, a policy, a format and whether it is published again, drawn from a seed and a number."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.columns import Column, column
from tests.fuzz.policies import angelized, sections
from tests.fuzz.wider import changed, limited, populated, returned, with_everybody

SIZES = (0, *(1, 1, 2, 3, 4, 6) * 2, *(8, 8, 12, 16, 20, 24, 32, 40, 60) * 3)
Rows = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Case:
    """What is published: rows, their later versions where releases follow, and a policy as a dict."""

    rows: Rows
    columns: tuple[str, ...]
    sections: Mapping[str, Any]
    format: str = "csv"
    source: str = "csv"
    later: tuple[Rows, ...] = ()
    population: Rows | None = None
    # How many rows are read at once, where not all are in memory.
    batch: int | None = None
    note: str = ""

    @property
    def method(self) -> str:
        """The method."""
        return str(self.sections["publish"]["method"])

    def without_column(self, name: str) -> "Case":
        """The same without a column, in the table alone."""
        columns = tuple(other for other in self.columns if other != name)
        return replace(self, columns=columns)

    def write(self, path: Path) -> None:
        """Keep it in a file."""
        document = {key: getattr(self, key) for key in self.__dataclass_fields__}
        seen = [
            [{name: row[name] for name in self.columns} for row in rows] for rows in (self.rows, *self.later)
        ]
        document |= {"rows": seen[0], "later": seen[1:]}
        path.write_text(
            json.dumps(document, indent=1, ensure_ascii=False, default=list) + "\n", encoding="utf-8"
        )

    @classmethod
    def read(cls, path: Path) -> "Case":
        """What `write` kept."""
        document = json.loads(path.read_text(encoding="utf-8"))
        later = tuple(map(tuple, document.pop("later")))
        rows, columns = tuple(document.pop("rows")), tuple(document.pop("columns"))
        people = document.pop("population", None)
        return cls(rows, columns, later=later, population=people and tuple(people), **document)


def draw(seed: int, number: int) -> Case:
    """The case of a number; the same on every machine."""
    rng = Random(f"{seed}/{number}")
    columns = _columns(rng)
    n_rows = rng.choice(SIZES)
    rows = _rows(rng, columns, n_rows)
    has_persons = any(name == "id" for name in (column.name for column in columns)) and rng.random() < 0.5
    policy = sections(rng, columns, rows, has_persons=has_persons)
    constant = [name for name, keys in policy["attributes"].items() if keys.get("constant")]
    rows = _of_persons(rng, rows, constant) if has_persons else rows
    later: tuple[Rows, ...] = ()
    if has_persons and policy["publish"]["method"] in ("generalize", "anatomize", "slice", "separate"):
        later = (_later(rng, columns, rows, constant),) if rng.random() < 0.4 else ()
    names = tuple(column.name for column in columns)
    if not later:
        policy = angelized(Random(f"angelize {seed}/{number}"), policy)
    else:
        later = _last(Random(f"third {seed}/{number}"), columns, rows, later, constant)
    policy = with_everybody(Random(f"everybody {seed}/{number}"), policy)
    policy, people = populated(Random(f"population {seed}/{number}"), columns, rows, policy)
    batch = None if later else limited(Random(f"memory {seed}/{number}"), policy)
    form, source = rng.choice(("csv", "parquet")), rng.choice(("csv", "frame"))
    return Case(rows, names, policy, form, source, later, people, batch)


def _columns(rng: Random) -> list[Column]:
    n_quasi, n_sensitive, n_neutral = (
        rng.choice((0, 1, 1, 2, 2, 3, 4)),
        rng.choice((0, 1, 1, 1, 2, 2, 3)),
        rng.choice((0, 0, 0, 1, 2)),
    )
    roles = ["quasi"] * n_quasi + ["sensitive"] * n_sensitive + ["neutral"] * n_neutral
    roles = roles or ["sensitive"]
    drawn = [column(rng, f"{role[0]}{place}", role) for place, role in enumerate(roles)]
    if rng.random() < 0.6:
        drawn.insert(0, Column("id", "identifier", "text", ()))
    if rng.random() < 0.1:
        drawn.append(column(rng, "c", "choice"))
    if rng.random() < 0.1:
        drawn.append(column(rng, "d", "drop"))
    return drawn


def _rows(rng: Random, columns: Sequence[Column], n_rows: int) -> Rows:
    if len(columns) > 1 and rng.random() < 0.15:  # What one column says follows from another.
        source, target = rng.sample(range(len(columns)), 2)
    else:
        source = target = 0
    rows, chosen = [], dict[Any, Any]()
    for number in range(n_rows):
        row = {column.name: column.cell(rng, number) for column in columns}
        if source != target and columns[target].name != "id" and columns[source].name != "id":
            key = str(row[columns[source].name])
            row[columns[target].name] = chosen.setdefault(key, row[columns[target].name])
        rows.append(row)
    return tuple(rows)


def _of_persons(rng: Random, rows: Rows, constant: Sequence[str]) -> Rows:
    n_persons = max(1, round(len(rows) * rng.choice((0.3, 0.6, 0.9, 1))))
    whose = [number % n_persons for number in range(len(rows))]
    if rng.random() < 0.5:
        whose = [rng.randrange(n_persons) for _ in rows] if n_persons < len(rows) else whose
    firsts: dict[int, Mapping[str, Any]] = {}
    told = []
    for person, row in zip(whose, rows, strict=True):
        first = firsts.setdefault(person, row)
        told.append({**row, "id": f"p{person}", **{name: first[name] for name in constant}})
    return tuple(told)


def _later(rng: Random, columns: Sequence[Column], rows: Rows, constant: Sequence[str]) -> Rows:
    left = changed(rng, columns, rows, (), constant)
    joined = _rows(rng, columns, rng.randrange(1 + max(1, len(rows) // 3)))
    return (*left, *({**row, "id": f"new{number}"} for number, row in enumerate(joined)))


def _last(
    rng: Random, columns: Sequence[Column], rows: Rows, later: tuple[Rows, ...], constant: Sequence[str]
) -> tuple[Rows, ...]:
    """The later rows, and of some a version after that, in which people may be back."""
    if rng.random() < 0.5:
        return later
    newest = later[-1]
    joined = _rows(rng, columns, rng.randrange(1 + max(1, len(newest) // 3)))
    others = [{**row, "id": f"late{number}"} for number, row in enumerate(joined)]
    return (*later, changed(rng, columns, newest, returned(rng, rows, newest) + others, constant))
