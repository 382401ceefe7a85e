"""Rules and small tables of published values, read with the key."""

import re
from collections.abc import Mapping, Sequence

from manyveils.errors import InputError
from manyveils.keys.key import Grades, Key, Meaning, number_of
from manyveils.reading.predicates import Condition, parse

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|->|=>|⇒|→")
ARROWS = ("->", "=>", "⇒", "→")
PLAIN = re.compile(r"[^\s<>=!(),'\"`]+")
EXAMPLE = "Write, for example: age > 2.5 and disease = 'KX7Q2M9A' -> income >= 3.2."
MOST_CELLS = 1_000


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
    arrows = [found for found in QUOTED.finditer(text) if found[0] in ARROWS]
    if len(arrows) > 1:
        raise InputError.at("rule", "has several arrows.", EXAMPLE)
    return [text[: arrows[0].start()], text[arrows[0].end() :]] if arrows else [text]


def _written(key: Key, condition: Condition, used: list[Meaning]) -> str:
    name = condition.name if PLAIN.fullmatch(condition.name) else f"`{condition.name}`"
    if not condition.values:
        return f"{name} {condition.sign}"
    grades = key.grades.get(condition.name)
    if grades is not None and condition.sign not in ("=", "!=", "in"):
        return _compared(name, condition, grades, used)
    meanings = [_meaning(key, condition.name, value) for value in condition.values]
    used += meanings
    texts = [_quoted(meaning) for meaning in meanings]
    if condition.sign == "between":
        return f"{name} between {texts[0]} and {texts[1]}"
    values = f"({', '.join(texts)})" if condition.sign == "in" else texts[0]
    return f"{name} {condition.sign} {values}"


def _compared(name: str, condition: Condition, grades: Grades, used: list[Meaning]) -> str:
    """A comparison with originals that holds for exactly the rows whose grades it holds for."""
    numbers = [_number(condition.name, value) for value in condition.values]
    low, high = grades.ends
    match condition.sign:
        case ">" | "<=":
            found = grades.at_most(numbers[0])
            sign, original = (
                (condition.sign, found) if found else (">=" if condition.sign == ">" else "<", low)
            )
        case ">=" | "<":
            found = grades.at_least(numbers[0])
            sign, original = (
                (condition.sign, found) if found else (">" if condition.sign == ">=" else "<=", high)
            )
        case _:
            first, last = grades.at_least(numbers[0]), grades.at_most(numbers[1])
            if first is None or last is None or float(first) > float(last):
                raise InputError.at(condition.name, "no published grade lies between these.")
            used += [
                Meaning(condition.name, value, "number", found)
                for value, found in zip(condition.values, (first, last), strict=True)
            ]
            return f"{name} between {first} and {last}"
    used.append(Meaning(condition.name, condition.values[0], "number", original))
    return f"{name} {sign} {original}"


def _number(name: str, value: str) -> float:
    number = number_of(value)
    if number is None:
        raise _no_grade(name)
    return number


def _quoted(meaning: Meaning) -> str:
    if meaning.kind == "number" or (meaning.kind == "public" and number_of(meaning.meaning) is not None):
        return meaning.meaning
    return "'" + meaning.meaning.replace("'", "''") + "'"


def _meaning(key: Key, attribute: str, published: str) -> Meaning:
    found = key.meaning(attribute, published)
    if found is None:
        raise _no_grade(attribute)
    return found


def _no_grade(attribute: str) -> InputError:
    what = "is published as grades, and this is none of them."
    return InputError.at(attribute, what, "Ask with a published value.")


def interpret_table(
    key: Key, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[list[str]], tuple[Meaning, ...]]:
    """A small table of published values, cell by cell, as it would be read with the key."""
    if len(names) * len(rows) > MOST_CELLS:
        raise InputError.at("table", f"has more than {MOST_CELLS} cells.", "Ask about fewer.")
    if any(len(row) != len(names) for row in rows):
        raise InputError.at("table", "has lines of different lengths.", "Give every line each field.")
    meanings: Mapping[tuple[int, int], Meaning] = {
        (place, column): _meaning(key, names[column], cell)
        for place, row in enumerate(rows)
        for column, cell in enumerate(row)
    }
    read = [[meanings[place, column].meaning for column in range(len(names))] for place in range(len(rows))]
    return read, tuple(meanings.values())
