"""Hierarchies of attributes: read from what is typed, and every level previewed with its labels and people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from manyveils.errors import InputError, PolicyError
from manyveils.policy import Policy
from manyveils.policy.sections import DateUnit
from manyveils.profiling import Profile
from manyveils.profiling.hierarchies import interval_widths
from manyveils.reading.keys import numbered
from manyveils.studio.standing import Ids
from manyveils.table.encode import encode_attribute

FORMS: Mapping[str, str] = {
    "none": "none: the value, or *",
    "widths": "widths: intervals of numbers",
    "mask": "mask: one character after the other",
    "dates": "dates: parts of the calendar",
    "file": "file: a line for each value, as ARX writes it",
    "known": "known: one that everybody shares",
    "tree": "tree: groups of values, written in the text",
}
UNITS = get_args(DateUnit)
LABELS_SHOWN = 6


@dataclass(frozen=True, repr=False)
class Rung:
    """A level: how many labels it has, how much detail it loses, the fewest people under a label, and its commonest labels."""

    level: int
    n_labels: int
    loss: float
    fewest: int
    commonest: tuple[tuple[str, int], ...]


def form_of(section: Mapping[str, Any]) -> tuple[str, Any]:
    """Which form of hierarchy a section of an attribute has, and its value."""
    hierarchy = section.get("hierarchy")
    if not isinstance(hierarchy, Mapping) or len(hierarchy) != 1:
        return "none", None
    ((form, value),) = hierarchy.items()
    return (form, value) if form in FORMS else ("none", None)


def proposed(form: str, name: str, profile: Profile) -> dict[str, Any] | None:
    """The hierarchy to begin with when a form is chosen; None for none."""
    facts = profile.facts[name]
    match form:
        case "widths":
            found = interval_widths(facts.spread, whole=facts.type == "whole number")
            return {"widths": [_as_number(width) for width in found] or [1]}
        case "mask":
            return {"mask": "right"}
        case "dates":
            return {"dates": ["month", "quarter", "year"]}
        case "known":
            return {"known": "postcodes"}
        case "file":
            return {"file": f"{name}.csv"}
    return None


def read_widths(text: str) -> list[float | int]:
    """The widths of intervals as they were typed.

    >>> read_widths("5, 10 20")
    [5, 10, 20]
    """
    words = text.replace(",", " ").split()
    try:
        widths = [_as_number(float(word)) for word in words]
    except ValueError:
        widths = []
    if not widths or not all(np.isfinite(width) for width in widths):
        what = "are not numbers."
        raise InputError.at("widths", what, "Write numbers with commas between them, such as 5, 10, 20.")
    return widths


def _as_number(number: float) -> float | int:
    return int(number) if np.isfinite(number) and number == int(number) else number


@dataclass(frozen=True, repr=False)
class Place:
    """The rows, whose they are, and where the policy stands whose paths are followed."""

    frame: pl.DataFrame
    persons: Ids | None
    folder: Path
    name: str


def rungs_of(place: Place, data: Mapping[str, Any], section: Mapping[str, Any], name: str) -> list[Rung]:
    """Every level of an attribute's hierarchy as a policy would have it; problems of the hierarchy are errors."""
    if section.get("multivalued"):
        what = "has several values in a cell, and is not previewed."
        raise PolicyError.at(name, what, "manyveils plan shows what is published of it.")
    kept = {key: data[key] for key in ("missing_markers",) if key in data}
    # Of a quasi-identifier without a hierarchy many values would be refused.
    own = {**section, "role": "sensitive"}
    own.pop("guarantee", None)
    policy = Policy(data=kept, attributes={name: own}, _folder=place.folder, _name=place.name)
    values = place.frame.get_column(name)
    (attribute,) = encode_attribute(_missing(values, kept), policy.attributes[name], policy)
    return [
        _rung(
            level,
            step.labels,
            step.label_of[attribute.codes].astype(np.int64),
            step.loss[step.label_of],
            attribute.counts,
            place,
        )
        for level, step in enumerate(attribute.levels.each)
    ]


def _missing(values: pl.Series, data: Mapping[str, Any]) -> pl.Series:
    if values.dtype != pl.String:
        return values
    markers = ["", *map(str, data.get("missing_markers", []))]
    return values.set(values.is_in(markers).fill_null(value=False), None)


def _rung(level: int, labels: Sequence[str], of_rows: Ids, losses: Any, counts: Ids, place: Place) -> Rung:
    codes = of_rows
    if place.persons is not None:
        codes = codes[numbered([codes, place.persons])[1]]
    people = np.bincount(codes, minlength=len(labels))
    order = np.argsort(-people, kind="stable")[:LABELS_SHOWN]
    loss = float(losses @ counts / max(int(counts.sum()), 1))
    commonest = tuple((labels[code] or "missing", int(people[code])) for code in order)
    return Rung(level, len(labels), loss, int(people.min(initial=place.frame.height)), commonest)
