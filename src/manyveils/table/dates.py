"""Dates as a hierarchy: 2024-03-05 becomes its month, quarter, year and decade."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from manyveils.errors import PolicyError
from manyveils.policy.hierarchies import TOP
from manyveils.policy.sections import DateUnit
from manyveils.table.levels import Levels, written

# A date of the calendar with the year first; a time of day may follow.
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?$"
DAY = len("2024-03-05")

LABELS: Mapping[DateUnit, Callable[[str], str]] = {
    "day": lambda date: date[:DAY],
    "month": lambda date: date[:7],
    "quarter": lambda date: f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}",
    "year": lambda date: date[:4],
    "decade": lambda date: f"{date[:3]}0s",
}


def are_dates(texts: pl.Series) -> pl.Series:
    """Which texts begin with a day of the calendar, year first."""
    days = texts.str.slice(0, DAY).str.to_date("%Y-%m-%d", strict=False)
    return texts.str.contains(ISO_DATE) & days.is_not_null()


def labels_of(date: str, units: Sequence[DateUnit]) -> tuple[str, ...]:
    """A date as each part of the calendar writes it.

    >>> labels_of("2024-03-05", ["month", "quarter", "year", "decade"])
    ('2024-03', '2024-Q1', '2024', '2020s')
    """
    return tuple(LABELS[unit](date) for unit in units)


def dated(texts: Sequence[str], units: Sequence[DateUnit], *, where: str, has_missing: bool) -> Levels:
    """Levels by parts of the calendar, each nested in the next, then `*`; the last text is empty if one is missing."""
    dates = list(texts[:-1] if has_missing else texts)
    n_others = int((~are_dates(pl.Series(dates, dtype=pl.String))).sum())
    if n_others:
        what = f"{n_others} of {len(dates)} values are not dates."
        remedy = "Write them as 2024-12-31, list them in missing_markers, or use a tree."
        raise PolicyError.at(where, what, remedy)
    lines = tuple((date, *labels_of(date, units), TOP) for date in dates) or (
        ("", *("" for _ in units), TOP),
    )
    return written(
        texts, lines, where=where, counts=np.zeros(len(texts), dtype=np.int64), has_missing=has_missing
    )
