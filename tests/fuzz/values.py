"""What the table of a case says, as the release should spell it: values as texts, orders, labels."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Keys = Mapping[str, Any]
Row = dict[str, str]


def text(value: object) -> str:
    """A cell as text; missing is empty."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(cell: str) -> Fraction | None:
    """The number that a text spells."""
    try:
        return Fraction(cell.strip())
    except (ValueError, ZeroDivisionError):
        return None


def spelled(cell: str) -> str:
    """One text for one number, however it is spelled."""
    value = number(cell)
    if value is None:
        return cell
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def originals(rows: Sequence[Keys], sections: Keys, n_rows: int) -> list[Row] | None:
    """The rows as texts, several values as 0/1; without those that are dropped; None if no reading has so many rows."""
    attributes = sections["attributes"]
    told = [{name: text(row.get(name)) for name in attributes} for row in rows]
    seen = [n for n, keys in attributes.items() if keys["role"] not in ("identifier", "drop", "choice")]
    several = {name for name in seen if attributes[name].get("multivalued")}
    if sections.get("data", {}).get("missing") == "drop":
        candidates = [[n for n in seen if n not in several], seen, [*seen, *_choice(attributes)]]
    else:
        candidates = [[]]
    for needed in candidates:
        whole = [row for row in told if all(row[name] for name in needed)]
        if len(whole) == n_rows:
            return [_in_bits(row, attributes, several) for row in whole]
    return None


def _choice(attributes: Keys) -> list[str]:
    return [name for name, keys in attributes.items() if keys["role"] == "choice"]


def _in_bits(row: Row, attributes: Keys, several: set[str]) -> Row:
    bits: Row = {}
    for name in several:
        for value in row[name].split(attributes[name]["multivalued"]):
            bits[f"{name}={value}"] = "1"
    return row | bits


def levels_of(keys: Keys, values: Sequence[str]) -> list[Mapping[str, str]] | None:
    """Labels of each level of a tree, from the value to the top; None for other hierarchies."""
    tree = (keys.get("hierarchy") or {}).get("tree")
    if tree is None:
        return None
    paths: dict[str, list[str]] = {}
    _climb(tree, [], paths)
    height = max(map(len, paths.values()))
    steps: list[dict[str, str]] = [{} for _ in range(height + 2)]
    for value in values:
        path = paths.get(value, [""] * height)
        for step, label in zip(steps, [value, *path, "*" if value else ""], strict=True):
            step[value] = label
    return steps


def _climb(tree: Any, above: list[str], paths: dict[str, list[str]]) -> None:
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            _climb(below, [label, *above], paths)
    else:
        paths.update({str(value): above for value in tree})


def order_of(keys: Keys, kind: str, values: Sequence[str]) -> list[str] | None:
    """The values from lowest to highest, missing last; None where the order is not plain."""
    held = [value for value in values if value]
    if keys.get("order"):
        held = [value for value in map(str, keys["order"]) if value in held]
    elif all(number(value) is not None for value in held) and kind == "numeric":
        held.sort(key=Fraction)
    else:
        return None
    return held + ([""] if "" in values else [])
