"""What can be counted about one column: its type, distinct values, missing cells, the shape of its texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.profiling.words import CODES, NUMBERS, POSTCODES, says
from manyveils.table import Attribute, encode
from manyveils.table.kinds import NUMBER, have_commas
from manyveils.table.levels import are_dates
from manyveils.table.ranges import are_ranges

Type = Literal[
    "whole number", "decimal", "date", "true or false", "range", "code", "category", "text", "unreadable"
]

# Whole numbers with so few values are as likely codes as amounts.
FEW_VALUES = 10
# A name that speaks of codes makes codes of whole numbers with up to so many values.
MANY_CODES = 2_000
WRITTEN = ("?", "NA", "N/A", "n/a", "na", "#N/A", "-", "--", ".", "NULL", "null", "NaN", "nan", "Nan")
# What people write where a value is missing; fields of some files begin with a blank.
MARKERS = tuple(blank + text for text in WRITTEN for blank in ("", " "))
FORMS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "UUIDs": r"^\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?$",
    "web addresses": r"^(https?://|www\.)\S+$",
    "IP addresses": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$",
    "phone numbers": r"^(\+[0-9]{1,3}|\(?0[0-9]{2,4}\)?|\(?[0-9]{3}\)?)[ /-][0-9][0-9 /.-]{5,14}$",
    "social security numbers": r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
}
YEAR_LAST = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{2}|[0-9]{4})$"
YEAR_FIRST = r"^[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2}$"
DECIMAL_COMMA = r"^\s*[+-]?[0-9][0-9. ]*,[0-9]+\s*$"
CODE = r"^[A-Za-z0-9][A-Za-z0-9 .-]*$"
# A column of some form may have slips in it.
MOST = 0.9
LOOKED_AT = 10_000
LONG_TEXT = 40
# Texts of so many words on average are sentences, however short.
MANY_WORDS = 5
SHORTEST_CODE, LONGEST_CODE = 3, 12
SEPARATORS = "|;"
FEW_WORDS = 20


@dataclass(frozen=True)
class Form:
    """The shape of a column's texts."""

    identifies: str | None = None
    is_date: bool = False
    is_range: bool = False
    has_time: bool = False
    year_last: bool = False
    year_first: bool = False
    has_decimal_comma: bool = False
    length: int | None = None
    is_free_text: bool = False
    code_length: int | None = None
    separator: str | None = None
    words_among_numbers: int = 0

    @property
    def is_other_date(self) -> bool:
        """Whether the texts look like dates, but not as 2024-12-31."""
        return not self.is_date and (self.year_last or self.year_first)


NO_FORM = Form()


@dataclass(frozen=True, repr=False)
class Facts:
    """Counts about a column; `attribute` and `spread` are for deciding and are never shown."""

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
    attribute: Attribute | None = None

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


def markers_in(values: pl.Series) -> Mapping[str, int]:
    """How many cells hold each of the usual markers; an empty cell needs none."""
    if values.dtype != pl.String:
        return {}
    counts = dict(values.filter(values.is_in(list(MARKERS))).value_counts().iter_rows())
    return {marker: counts[marker] for marker in MARKERS if marker in counts}


def facts_of(values: pl.Series, markers: Mapping[str, int], missing_markers: Sequence[str]) -> Facts:
    """Count what there is to know about a column, as publishing will read it."""
    name = values.name
    try:
        attribute = _encoded(values, missing_markers)
    except InputError as error:
        trouble = " ".join(problem.what for problem in error.problems)
        return Facts(name, "unreadable", len(values), 0, 0, markers, 0.0, 0.0, trouble=trouble)
    counts = attribute.counts
    distinct = attribute.n_values - attribute.has_missing
    present = attribute.domain.head(distinct)
    form = form_of(present) if present.dtype == pl.String else NO_FORM
    return Facts(
        name,
        _type(attribute, present, form),
        len(values),
        distinct,
        int(counts[-1]) if attribute.has_missing else 0,
        markers,
        float(counts.max()) / len(values),
        float((counts == 1).sum()) / len(values),
        form,
        is_counter=_counts_rows(attribute, present),
        spread=_spread(attribute) if present.dtype.is_numeric() else 0.0,
        attribute=attribute,
    )


def _encoded(values: pl.Series, missing_markers: Sequence[str]) -> Attribute:
    """The column as publishing would code it; postcodes stay texts."""
    section: dict[str, object] = {"role": "neutral"}
    if values.dtype == pl.String:
        told = values.drop_nulls().unique()
        if have_commas(told.filter(~told.is_in(["", *missing_markers]) & ~told.str.contains(NUMBER))):
            # Publishing asks whether they are numbers; until then they are texts.
            section["kind"] = "categorical"
    if says(values.name, POSTCODES):
        section["kind"] = "categorical"
        values = values.cast(pl.String) if values.dtype.is_integer() else values
    policy = Policy(data={"missing_markers": list(missing_markers)}, attributes={values.name: section})
    return encode(values.to_frame(), policy)[values.name]


def _type(attribute: Attribute, present: pl.Series, form: Form) -> Type:
    if present.dtype.is_numeric():
        is_whole = present.dtype.is_integer() or bool((present == present.round()).all())
        if is_whole and not says(attribute.name, NUMBERS) and _are_numbered(attribute.name, present):
            return "code"
        return "whole number" if is_whole else "decimal"
    if present.dtype == pl.Boolean:
        return "true or false"
    if form.is_date or form.is_other_date or present.dtype in (pl.Date, pl.Datetime):
        return "date"
    if form.is_range:
        return "range"
    if form.is_free_text:
        return "text"
    return "code" if form.code_length else "category"


def _are_numbered(name: str, present: pl.Series) -> bool:
    """Whether whole numbers are codes: there are few, or the name says so and there are not too many."""
    return len(present) <= FEW_VALUES or (says(name, CODES) and len(present) <= MANY_CODES)


def _counts_rows(attribute: Attribute, present: pl.Series) -> bool:
    """Whether whole numbers go up by one from row to row."""
    if len(present) < 3 or len(present) < len(attribute.codes) or not present.dtype.is_integer():
        return False
    is_in_order = bool((np.diff(attribute.codes) == 1).all())
    return is_in_order and int(present[-1]) - int(present[0]) == len(present) - 1


def _spread(attribute: Attribute) -> float:
    """How far numbers lie apart, without the outermost hundredth of rows on either side, if that leaves anything."""
    numbers = attribute.numbers[: attribute.n_values - attribute.has_missing]
    if numbers.size < 2:
        return 0.0
    running = np.cumsum(attribute.counts[: numbers.size])
    low, high = np.searchsorted(running, (0.01 * running[-1], 0.99 * running[-1]))
    inner = float(numbers[high] - numbers[low])
    return inner if inner > 0 else float(numbers[-1] - numbers[0])


def form_of(domain: pl.Series) -> Form:
    """The shape of distinct texts, from ten thousand of them at most, and from all where it matters."""
    sample = domain.head(LOOKED_AT)
    if len(sample) == 0:
        return Form()
    lengths = domain.str.len_chars().unique()
    length = int(lengths[0]) if len(lengths) == 1 else None
    return Form(
        identifies=next((form for form, pattern in FORMS.items() if _have_form(sample, pattern)), None),
        is_range=are_ranges(domain),
        is_date=bool(are_dates(sample).all()) and bool(are_dates(domain).all()),
        has_time=bool((sample.str.len_chars() > len("2000-01-01")).any()),
        year_last=_have_form(sample, YEAR_LAST),
        year_first=_have_form(sample, YEAR_FIRST),
        has_decimal_comma=_have_form(sample, DECIMAL_COMMA),
        length=length,
        is_free_text=_are_sentences(sample),
        code_length=length if _are_codes(domain, length) else None,
        separator=_separator(sample),
        words_among_numbers=_words_among_numbers(sample),
    )


def _are_sentences(texts: pl.Series) -> bool:
    n_words = int(texts.str.count_matches(r"\S+").sum())
    return int(texts.str.len_chars().sum()) > LONG_TEXT * len(texts) or n_words >= MANY_WORDS * len(texts)


def _have_form(texts: pl.Series, pattern: str) -> bool:
    return float(texts.str.contains(pattern).sum()) / len(texts) >= MOST


def _are_codes(domain: pl.Series, length: int | None) -> bool:
    """Whether texts of one length are codes: letters and digits, with a digit in most."""
    if length is None or not SHORTEST_CODE <= length <= LONGEST_CODE:
        return False
    return bool(domain.str.contains(CODE).all()) and _have_form(domain, "[0-9]")


def _words_among_numbers(texts: pl.Series) -> int:
    """How many of the texts are not numbers, if these are very few beside many numbers."""
    words = len(texts) - int(texts.str.contains(NUMBER).sum())
    return words if words * FEW_WORDS <= len(texts) else 0


def _separator(texts: pl.Series) -> str | None:
    """What separates several values in a cell: cells are then made of fewer pieces than there are cells."""
    for mark in SEPARATORS:
        n_separated = int(texts.str.contains(mark, literal=True).sum())
        if n_separated * 20 >= len(texts) and n_separated > 1:
            pieces = texts.str.split(mark).explode().str.strip_chars().unique()
            if len(pieces) < len(texts):
                return mark
    return None
