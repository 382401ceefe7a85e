"""Rules and small tables of published values, read with the key."""

import re
from collections.abc import Mapping, Sequence

from manyveils.errors import InputError, Problem
from manyveils.estimate.predicates import Condition, parse
from manyveils.keys.key import Key, Meaning

ARROW = re.compile(r"\s*(?:->|=>|⇒|→)\s*")
EXAMPLE = "Write, for example: age > 2.5 and disease = 'KX7Q2M9A' -> income >= 3.2."
MOST_CELLS = 1_000


def interpret_rule(key: Key, text: str) -> tuple[str, tuple[Meaning, ...]]:
    """A rule, or conditions alone, with meanings in place of codes and grades; and the meanings that were used."""
    sides = ARROW.split(text.strip())
    if len(sides) > 2:
        raise InputError([Problem("rule", "has several arrows.", EXAMPLE)])
    used: list[Meaning] = []
    written = [" and ".join(_written(key, condition, used) for condition in parse(side)) for side in sides]
    return " -> ".join(written), tuple(used)


def _written(key: Key, condition: Condition, used: list[Meaning]) -> str:
    if not condition.values:
        return f"{condition.name} {condition.sign}"
    meanings = [_meaning(key, condition.name, value) for value in condition.values]
    used += meanings
    if condition.sign == "between":
        return f"{condition.name} between {meanings[0].meaning} and {meanings[1].meaning}"
    texts = [_quoted(meaning) for meaning in meanings]
    values = f"({', '.join(texts)})" if condition.sign == "in" else texts[0]
    return f"{condition.name} {condition.sign} {values}"


def _quoted(meaning: Meaning) -> str:
    if meaning.kind == "number":
        return meaning.meaning
    return "'" + meaning.meaning.replace("'", "''") + "'"


def _meaning(key: Key, attribute: str, published: str) -> Meaning:
    found = key.meaning(attribute, published)
    if found is None:
        raise InputError(
            [Problem(attribute, "is published as grades, and this is none.", "Ask with a published value.")]
        )
    return found


def interpret_table(
    key: Key, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[list[str]], tuple[Meaning, ...]]:
    """A small table of published values, cell by cell, as it would be read with the key."""
    if len(names) * len(rows) > MOST_CELLS:
        raise InputError([Problem("table", f"has more than {MOST_CELLS} cells.", "Ask about fewer.")])
    if any(len(row) != len(names) for row in rows):
        raise InputError([Problem("table", "has lines of different lengths.", "Give every line each field.")])
    meanings: Mapping[tuple[int, int], Meaning] = {
        (place, column): _meaning(key, names[column], cell)
        for place, row in enumerate(rows)
        for column, cell in enumerate(row)
    }
    read = [[meanings[place, column].meaning for column in range(len(names))] for place in range(len(rows))]
    return read, tuple(meanings.values())
