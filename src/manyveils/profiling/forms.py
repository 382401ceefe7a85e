"""What the distinct values of a text column look like; only shapes are told, never a value."""

from dataclasses import dataclass

import polars as pl

from manyveils.table.dates import are_dates
from manyveils.table.kinds import NUMBER

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
SHORTEST_CODE, LONGEST_CODE = 3, 12
SEPARATORS = "|;"
FEW_WORDS = 20


@dataclass(frozen=True)
class Form:
    """The shape of a column's texts."""

    identifies: str | None = None
    is_date: bool = False
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


def form_of(domain: pl.Series) -> Form:
    """The shape of distinct texts, from ten thousand of them at most, and from all where it matters."""
    sample = domain.head(LOOKED_AT)
    if len(sample) == 0:
        return Form()
    lengths = domain.str.len_chars().unique()
    length = int(lengths[0]) if len(lengths) == 1 else None
    return Form(
        identifies=next((form for form, pattern in FORMS.items() if _have_form(sample, pattern)), None),
        is_date=bool(are_dates(sample).all()) and bool(are_dates(domain).all()),
        has_time=bool((sample.str.len_chars() > len("2000-01-01")).any()),
        year_last=_have_form(sample, YEAR_LAST),
        year_first=_have_form(sample, YEAR_FIRST),
        has_decimal_comma=_have_form(sample, DECIMAL_COMMA),
        length=length,
        is_free_text=float(sample.str.len_chars().sum()) / len(sample) > LONG_TEXT,
        code_length=length if _are_codes(domain, length) else None,
        separator=_separator(sample),
        words_among_numbers=_words_among_numbers(sample),
    )


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
