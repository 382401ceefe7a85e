"""The smallest case that fails in the same way: without rows, columns, keys, one after the other."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.cases import Case

# So many tries are enough for small tables.
TRIES = 250


def shrunk(case: Case, fails: Callable[[Case], bool], tries: int = TRIES) -> Case:
    """The case without what it does not need to fail."""
    left = tries
    is_smaller = True
    while is_smaller and left > 0:
        is_smaller = False
        for smaller in _smaller(case):
            left -= 1
            if left < 0:
                break
            if fails(smaller):
                case, is_smaller = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that lack something: the larger steps first."""
    if case.later is not None:
        yield replace(case, later=None)
    yield from _fewer_rows(case)
    for name in case.columns:
        if (sections := _without_attribute(case.sections, name)) is not None:
            yield replace(case.without_column(name), sections=sections)
    yield from (replace(case, sections=sections) for sections in _fewer_keys(case.sections, ()))
    if case.format == "parquet":
        yield replace(case, format="csv")
    if case.source == "csv":
        yield replace(case, source="frame")


def _fewer_rows(case: Case) -> Iterator[Case]:
    for part in ("rows", "later"):
        rows = getattr(case, part) or ()
        size = len(rows)
        while size := size // 2:
            for start in range(0, len(rows), size):
                yield replace(case, **{part: (*rows[:start], *rows[start + size :])})


def _without_attribute(sections: Any, name: str) -> dict[str, Any] | None:
    told = copy.deepcopy(dict(sections))
    told["attributes"].pop(name, None)
    told.get("accept", []).clear()
    told["accept"] = [code for code in sections.get("accept", []) if f" {name}" not in code]
    return told


def _fewer_keys(sections: Any, path: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """The sections without one key or one member of a list, at any depth."""
    place: Any = sections
    for step in path:
        place = place[step]
    steps = list(place) if isinstance(place, dict) else range(len(place)) if isinstance(place, list) else ()
    for step in steps:
        if path or step != "attributes":
            told = copy.deepcopy(dict(sections))
            inner: Any = told
            for above in path:
                inner = inner[above]
            del inner[step]
            yield told
        yield from _fewer_keys(sections, (*path, step))
