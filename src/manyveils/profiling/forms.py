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
    some = domain.head(LOOKED_AT)
    if len(some) == 0:
        return Form()
    return Form(
        identifies=next((form for form, pattern in FORMS.items() if _share(some, pattern) >= MOST), None),
        is_date=bool(are_dates(some).all()) and bool(are_dates(domain).all()),
        has_time=bool((some.str.len_chars() > len("2000-01-01")).any()),
        year_last=_share(some, YEAR_LAST) >= MOST,
        year_first=_share(some, YEAR_FIRST) >= MOST,
        has_decimal_comma=_share(some, DECIMAL_COMMA) >= MOST,
        length=_length(domain),
        is_free_text=_mean(some.str.len_chars()) > LONG_TEXT,
        code_length=_code_length(domain),
        separator=_separator(some),
        words_among_numbers=_words_among_numbers(some),
    )


def _share(texts: pl.Series, pattern: str) -> float:
    return _mean(texts.str.contains(pattern))


def _mean(numbers: pl.Series) -> float:
    return float(numbers.cast(pl.Float64).sum()) / len(numbers)


def _length(domain: pl.Series) -> int | None:
    """The one length of all texts, if they have one."""
    lengths = domain.str.len_chars().unique()
    return int(lengths[0]) if len(lengths) == 1 else None


def _code_length(domain: pl.Series) -> int | None:
    """The one length of all texts, if they are codes: letters and digits, with a digit in most."""
    length = _length(domain)
    if length is None or not SHORTEST_CODE <= length <= LONGEST_CODE:
        return None
    is_code = bool(domain.str.contains(CODE).all()) and _share(domain, "[0-9]") >= MOST
    return length if is_code else None


def _words_among_numbers(texts: pl.Series) -> int:
    """How many of the texts are no numbers, if these are very few beside many numbers."""
    words = len(texts) - int(texts.str.contains(NUMBER).sum())
    return words if words * FEW_WORDS <= len(texts) else 0


def _separator(texts: pl.Series) -> str | None:
    """What parts several values in a cell: cells are then made of fewer pieces than there are cells."""
    for mark in SEPARATORS:
        parted = texts.filter(texts.str.contains(mark, literal=True))
        if len(parted) * 20 >= len(texts) and len(parted) > 1:
            pieces = texts.str.split(mark).explode().str.strip_chars().unique()
            if len(pieces) < len(texts):
                return mark
    return None
