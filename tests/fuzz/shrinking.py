"""The smallest case that fails in the same way: without rows, columns, keys, one after the other."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.cases import Case, Rows

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
    for place in range(len(case.later)):
        yield replace(case, later=case.later[:place] + case.later[place + 1 :])
    yield from _fewer_rows(case)
    for name in case.columns:
        if (sections := _without_attribute(case.sections, name)) is not None:
            yield replace(case.without_column(name), sections=sections)
    yield from (replace(case, sections=sections) for sections in _fewer_keys(case.sections, ()))
    if case.format == "parquet":
        yield replace(case, format="csv")
    if case.batch is not None:
        yield replace(case, batch=None)
    if case.source == "csv":
        yield replace(case, source="frame")


def _fewer_rows(case: Case) -> Iterator[Case]:
    yield from (replace(case, rows=rows) for rows in _halves(case.rows))
    yield from (replace(case, population=rows) for rows in _halves(case.population or ()))
    for place, later in enumerate(case.later):
        for rows in _halves(later):
            yield replace(case, later=(*case.later[:place], rows, *case.later[place + 1 :]))


def _halves(rows: Rows) -> Iterator[Rows]:
    """The rows without a half of them, a quarter, and so on."""
    size = len(rows)
    while size := size // 2:
        yield from (rows[:start] + rows[start + size :] for start in range(0, len(rows), size))


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
