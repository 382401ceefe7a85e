"""Columns of random tables: plain and odd texts, numbers, dates, several values in a cell, gaps and skew."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

PLAIN = ("flu", "cold", "ulcer", "asthma", "colic", "gout", "mumps", "croup")
ODD = (
    "*",
    "{a, b}",
    "[1, 2]",
    "[1, 3]",
    "a",
    "A",
    " a",
    "a ",
    "é",
    "e\u0301",
    "日本",
    "x;y",
    'say "so"',
    "two\nlines",
    "a,b",
    "=1+1",
    "NULL",
    "nan",
    "None",
    "-0",
    "0",
    "007",
    "1e5",
    "true",
    "a|b",
    "\t",
    "0.10",
    "[5-10)",
    "65+",
    "a=b",
    "missing",
    "group 1",
    "'",
    "\\",
    "🦊",
    "x" * 300,
)


@dataclass(frozen=True)
class Column:
    """A column: its name and role, what its cells are, the values they come from, how often, and how often none."""

    name: str
    role: str
    what: str
    values: tuple[Any, ...]
    weights: tuple[float, ...] = ()
    gaps: float = 0.0

    def cell(self, rng: Random, number: int) -> Any:
        """A cell of a row."""
        if self.name == "id":
            return f"p{number}"
        if rng.random() < self.gaps:
            return None
        if self.what == "several":
            n_values = rng.choice((0, 1, 1, 2, 3))
            drawn = rng.sample(self.values, min(n_values, len(self.values)))
            return "|".join(map(str, drawn)) or None
        return rng.choices(self.values, self.weights)[0]


def column(rng: Random, name: str, role: str) -> Column:
    """A column of a role, with values drawn for it."""
    if role == "choice":
        return Column(name, role, "whole", (1, 2, 3), (1.0, 1.0, 1.0), rng.choice((0.0, 0.2)))
    kinds = ("text", "text", "odd", "whole", "decimal", "date", "bool", "several", "mixed")
    weights = (6, 3, 3, 4, 2, 1.5, 0.5, 1.5 if role == "sensitive" else 0, 1)
    what = rng.choices(kinds, weights)[0]
    values = _values(rng, what)
    skew = rng.choice((0.0, 0.0, 0.0, 0.7, 2.0))
    shares = tuple(1 / (1 + place) ** skew for place in range(len(values)))
    return Column(name, role, what, values, shares, rng.choice((0.0, 0.0, 0.0, 0.0, 0.1, 0.4)))


def _values(rng: Random, what: str) -> tuple[Any, ...]:
    n_values = rng.choice((1, 2, 3, 3, 4, 4, 5, 6, 8))
    if what == "text":
        return tuple(rng.sample(PLAIN, n_values))
    if what == "several":
        return tuple(rng.sample(PLAIN[:6], min(n_values, 5)))
    if what == "odd":
        return tuple(rng.sample(ODD, n_values))
    if what == "mixed":
        return tuple(rng.sample((*ODD[:6], *PLAIN[:4]), n_values))
    if what == "whole":
        span = rng.choice((5, 20, 100, 10**6, 2**40))
        return _different([rng.randrange(-span // 4, span) for _ in range(n_values * rng.choice((1, 1, 3)))])
    if what == "decimal":
        return _different([rng.randrange(-500, 500) / rng.choice((2, 4, 8)) for _ in range(n_values)])
    if what == "bool":
        return (True, False)[: min(n_values, 2)]
    return _different(
        [
            f"20{rng.randrange(10, 26)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
            for _ in range(n_values)
        ]
    )


def _different(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))
