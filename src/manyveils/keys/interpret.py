"""Rules and small tables of published values, read with the key."""

import re
from collections.abc import Sequence
from typing import TypeVar

from manyveils.errors import InputError
from manyveils.keys.key import Grades, Key, Meaning, number_of
from manyveils.reading.predicates import Condition, parse

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|->|=>|⇒|→")
ARROWS = ("->", "=>", "⇒", "→")
PLAIN = re.compile(r"[^\s<>=!(),'\"`]+")
EXAMPLE = "Write, for example: age > 2.5 and disease = 'KX7Q2M9A' -> income >= 3.2."
MOST_CELLS = 1_000
Read = TypeVar("Read", float, Meaning)
# The sign that says the same of the outermost original as this one says of a grade beyond all published ones.
BEYOND_ALL = {">": ">=", "<=": "<", ">=": ">", "<": "<="}


def interpret_rule(key: Key, text: str) -> tuple[str, tuple[Meaning, ...]]:
    """A rule, or conditions alone, with meanings in place of codes and grades; and the meanings that were used.

    A comparison of grades becomes the comparison of originals that holds for the same published rows.
    """
    sides = _sides(text)
    used: list[Meaning] = []
    written = [" and ".join(_written(key, condition, used) for condition in parse(side)) for side in sides]
    return " -> ".join(written), tuple(used)


def _sides(text: str) -> list[str]:
    """What stands before and after the arrow; arrows in quotes are part of a value."""
    arrows = [match for match in QUOTED.finditer(text) if match[0] in ARROWS]
    if len(arrows) > 1:
        raise InputError.at("rule", "has several arrows.", EXAMPLE)
    return [text[: arrows[0].start()], text[arrows[0].end() :]] if arrows else [text]


def _written(key: Key, condition: Condition, used: list[Meaning]) -> str:
    name = condition.name if PLAIN.fullmatch(condition.name) else f"`{condition.name}`"
    if not condition.values:
        return f"{name} {condition.sign}"
    grades = key.grades.get(condition.name)
    if grades is not None and "contains" in condition.sign:
        raise InputError.at(condition.name, "is one number a person, and contains none.", "Compare it.")
    if grades is not None and condition.sign not in ("=", "!=", "in"):
        return _compared(name, condition, grades, used)
    meanings = [_graded(condition.name, key.meaning(condition.name, value)) for value in condition.values]
    used += meanings
    texts = [_quoted(meaning) for meaning in meanings]
    if condition.sign == "between":
        return f"{name} between {texts[0]} and {texts[1]}"
    values = f"({', '.join(texts)})" if condition.sign == "in" else texts[0]
    return f"{name} {condition.sign} {values}"


def _compared(name: str, condition: Condition, grades: Grades, used: list[Meaning]) -> str:
    """A comparison with originals that holds for exactly the rows whose grades it holds for."""
    numbers = [_graded(condition.name, number_of(value)) for value in condition.values]
    if condition.sign == "between":
        first, last = grades.at_least(numbers[0]), grades.at_most(numbers[1])
        if first is None or last is None or float(first) > float(last):
            raise InputError.at(condition.name, "no published grade lies between these.")
        pairs = zip(condition.values, (first, last), strict=True)
        used += [Meaning(condition.name, value, "number", original) for value, original in pairs]
        return f"{name} between {first} and {last}"
    is_above = condition.sign in (">", "<=")
    original, sign = (grades.at_most if is_above else grades.at_least)(numbers[0]), condition.sign
    if original is None:
        # All published grades lie on one side: compare with the smallest or the largest original.
        original, sign = grades.ends[0 if is_above else 1], BEYOND_ALL[sign]
    used.append(Meaning(condition.name, condition.values[0], "number", original))
    return f"{name} {sign} {original}"


def _quoted(meaning: Meaning) -> str:
    if meaning.kind == "number" or (meaning.kind == "public" and number_of(meaning.meaning) is not None):
        return meaning.meaning
    return "'" + meaning.meaning.replace("'", "''") + "'"


def _graded(attribute: str, read: Read | None) -> Read:
    """What was read of a published value; an error if nothing was, as it is no grade."""
    if read is None:
        what = "is published as grades, and this is none of them."
        raise InputError.at(attribute, what, "Ask with a published value.")
    return read


def interpret_table(
    key: Key, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[list[str]], tuple[Meaning, ...]]:
    """A small table of published values, cell by cell, as it would be read with the key."""
    if len(names) * len(rows) > MOST_CELLS:
        raise InputError.at("table", f"has more than {MOST_CELLS} cells.", "Ask about fewer.")
    if any(len(row) != len(names) for row in rows):
        raise InputError.at("table", "has lines of different lengths.", "Give every line each field.")
    meanings = [
        [_graded(name, key.meaning(name, cell)) for name, cell in zip(names, row, strict=True)]
        for row in rows
    ]
    texts = [[meaning.meaning for meaning in row] for row in meanings]
    return texts, tuple(meaning for row in meanings for meaning in row)
