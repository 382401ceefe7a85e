"""What can be counted about one column: its type, distinct values, missing cells, how far it singles out rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.profiling.forms import Form, form_of
from manyveils.profiling.words import NUMBERS, POSTCODES, says
from manyveils.table import Attribute, encode

Type = Literal["whole number", "decimal", "date", "true or false", "code", "category", "text", "unreadable"]

# Whole numbers with so few values are as likely codes as amounts.
FEW_VALUES = 10
NO_FORM = Form()


@dataclass(frozen=True, repr=False)
class Facts:
    """Counts about a column; `column` and `spread` are for deciding and are never shown."""

    name: str
    type: Type
    n_rows: int
    distinct: int
    missing: int
    markers: Mapping[str, int]
    commonest: float
    alone: float
    form: Form = NO_FORM
    is_counter: bool = False
    trouble: str = ""
    spread: float = 0.0
    column: Attribute | None = None

    @property
    def share_distinct(self) -> float:
        """Different values per cell that is not missing."""
        present = self.n_rows - self.missing
        return self.distinct / present if present else 0.0

    @property
    def n_values(self) -> int:
        """Different values, a missing one included."""
        return self.distinct + (self.missing > 0)

    def __repr__(self) -> str:
        return f"<Facts {self.name}: {self.type}, {self.distinct} different values>"


def facts_of(values: pl.Series, markers: Mapping[str, int], missing_markers: Sequence[str]) -> Facts:
    """Count what there is to know about a column, as publishing will read it."""
    name = values.name
    try:
        column = _held(values, missing_markers)
    except InputError as error:
        trouble = " ".join(problem.what for problem in error.problems)
        return Facts(name, "unreadable", len(values), 0, 0, markers, 0.0, 0.0, trouble=trouble)
    counts = column.counts
    distinct = column.n_values - column.has_missing
    present = column.domain.head(distinct)
    form = form_of(present) if present.dtype == pl.String else NO_FORM
    return Facts(
        name,
        _type(column, present, form),
        len(values),
        distinct,
        int(counts[-1]) if column.has_missing else 0,
        markers,
        float(counts.max()) / len(values),
        float((counts == 1).sum()) / len(values),
        form,
        is_counter=_counts_rows(column, present),
        spread=_spread(column) if present.dtype.is_numeric() else 0.0,
        column=column,
    )


def _held(values: pl.Series, missing_markers: Sequence[str]) -> Attribute:
    """The column as publishing would code it; postcodes stay texts."""
    attribute: dict[str, object] = {"role": "neutral"}
    if says(values.name, POSTCODES):
        attribute["kind"] = "categorical"
        values = values.cast(pl.String) if values.dtype.is_integer() else values
    policy = Policy(data={"missing_markers": list(missing_markers)}, attributes={values.name: attribute})
    return encode(values.to_frame(), policy)[values.name]


def _type(column: Attribute, present: pl.Series, form: Form) -> Type:
    if present.dtype.is_numeric():
        return _number_type(column, present)
    if present.dtype == pl.Boolean:
        return "true or false"
    if form.is_date or form.is_other_date or present.dtype in (pl.Date, pl.Datetime):
        return "date"
    if form.is_free_text:
        return "text"
    return "code" if form.code_length else "category"


def _number_type(column: Attribute, present: pl.Series) -> Type:
    whole = present.dtype.is_integer() or bool((present == present.round()).all())
    if whole and len(present) <= FEW_VALUES and not says(column.name, NUMBERS):
        return "code"
    return "whole number" if whole else "decimal"


def _counts_rows(column: Attribute, present: pl.Series) -> bool:
    """Whether whole numbers go up by one from row to row."""
    if len(present) < 3 or len(present) < len(column.codes) or not present.dtype.is_integer():
        return False
    return bool((np.diff(column.codes) == 1).all()) and int(present[-1]) - int(present[0]) == len(present) - 1


def _spread(column: Attribute) -> float:
    """How far numbers lie apart, without the outermost hundredth on either side, if that leaves anything."""
    numbers = column.numbers[: column.n_values - column.has_missing]
    if numbers.size < 2:
        return 0.0
    running = np.cumsum(column.counts[: numbers.size])
    low, high = np.searchsorted(running, (0.01 * running[-1], 0.99 * running[-1]))
    inner = float(numbers[high] - numbers[low])
    return inner if inner > 0 else float(numbers[-1] - numbers[0])
