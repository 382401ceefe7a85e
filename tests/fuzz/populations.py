"""How many people of a list look like a published row, from what its labels say and the policy's hierarchies."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.fuzz.values import levels_of, number, spelled, text

Keys = Mapping[str, Any]
RANGE = re.compile(r"\[(-?[0-9.e+]+), (-?[0-9.e+]+)\]")
DATE = re.compile(r"(\d{4})(?:-(\d\d))?")
QUARTER = re.compile(r"(\d{4})-Q([1-4])")
DECADE = re.compile(r"(\d{3})0s")


class Untold(Exception):
    """What a label stands for is not worked out here."""


class People:
    """The people of a list by their quasi-identifiers; those whom no hierarchy knows are left out."""

    def __init__(
        self, people: Sequence[Keys], attributes: Keys, quasi: Sequence[str], numeric: set[str]
    ) -> None:
        self.attributes, self.quasi, self.numeric = attributes, quasi, numeric
        rows = [{name: text(row[name]) for name in quasi} for row in people]
        self.rows = [row for row in rows if all(self._is_known(name, row[name]) for name in quasi)]

    def without_gaps(self) -> None:
        """Leave out whoever lacks a value, as the policy does with rows."""
        self.rows = [row for row in self.rows if all(row.values())]

    def alike(self, line: Mapping[str, str], recoded: frozenset[str]) -> int:
        """How many of them a published line may stand for."""
        return sum(
            all(self._covers(name, line[name], row[name], name in recoded) for name in self.quasi)
            for row in self.rows
        )

    def _is_known(self, name: str, value: str) -> bool:
        steps = levels_of(self.attributes[name], [value])
        return steps is None or not value or bool(steps[1][value])

    def _covers(self, name: str, label: str, value: str, is_recoded: bool) -> bool:
        own = spelled(value) if name in self.numeric else value
        if not is_recoded:
            return own == (spelled(label) if name in self.numeric else label)
        if label == "*":
            return True
        if not label or not value:
            return label == value
        hierarchy = self.attributes[name].get("hierarchy") or {}
        if "tree" in hierarchy:
            steps = levels_of(self.attributes[name], [value]) or []
            return label in {step[value] for step in steps}
        if "dates" in hierarchy:
            return _is_in_time(label, value)
        if found := RANGE.fullmatch(label):
            low, high, mine = Fraction(found[1]), Fraction(found[2]), number(value)
            return mine is not None and low <= mine <= high
        raise Untold


def _is_in_time(label: str, value: str) -> bool:
    """Whether a date is in a quarter, a decade, or begins as the label does."""
    if found := QUARTER.fullmatch(label):
        return value[:4] == found[1] and (int(value[5:7]) + 2) // 3 == int(found[2])
    if found := DECADE.fullmatch(label):
        return value[:3] == found[1]
    return value.startswith(label)
