"""How cells of text files are spelled: encodings, decimal commas, thousands, dates with the day or the month first."""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.table.packed import Source

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NOT_UTF8 = 'Set encoding in [data]: often "windows-1252" or "latin-1"; or save it as UTF-8.'
# Characters that separate fields of some files; unlike others, they are no part of usual names.
RARE_DELIMITERS = "^~#!§¦"
DATES: Mapping[str, tuple[str, str]] = {
    "dmy": (r"^\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})\s*$", "321"),
    "mdy": (r"^\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})\s*$", "312"),
    "ymd": (r"^\s*([0-9]{4})[./-]([0-9]{1,2})[./-]([0-9]{1,2})\s*$", "123"),
}


def in_utf8(source: Source, form: Data) -> Source:
    """The file as UTF-8, from the encoding that the policy names or that its first bytes mark."""
    encoding = form.encoding
    if encoding is None:
        with source.open() as file:
            encoding = "utf-16" if file.read(2) in UTF_16 else None
    if encoding is None:
        return source
    with source.open() as file:
        content = file.read()
    try:
        return replace(source, content=content.decode(encoding).encode())
    except UnicodeError:
        what = f"is not in the encoding {encoding}."
        raise DataError.at(str(source), what, "Correct encoding in [data].") from None


def refuse_rare_delimiter(source: Source, header: str) -> None:
    """Ask where a header has none of the usual delimiters and one that other files use."""
    for mark in RARE_DELIMITERS:
        n_marks = header.count(mark)
        if n_marks and mark.isascii():
            what = (
                f"has none of the usual delimiters (, ; | tab) in its header, and {mark!r} {n_marks} times."
            )
            remedy = f"If it stands between fields, set delimiter = {mark!r} in [data], or --delimiter."
            raise DataError.at(str(source), what, remedy.replace("'", '"'))


def spelled_out(frame: pl.DataFrame, form: Data) -> pl.DataFrame:
    """The frame with numbers and dates that are spelled as the policy says written in the usual way.

    A column is changed if all of its cells are spelled so, but for missing ones.
    """
    if not (form.dates or form.decimal or form.thousands):
        return frame
    missing = ["", *form.missing_markers]
    return frame.with_columns(_spelled(frame, form, missing))


def _spelled(frame: pl.DataFrame, form: Data, missing: list[str]) -> Iterator[pl.Series]:
    for name, dtype in frame.schema.items():
        if dtype != pl.String:
            continue
        cells = frame[name].set(frame[name].is_in(missing), None)
        told = cells.drop_nulls().unique()
        if len(told) and form.dates and told.str.contains(DATES[form.dates][0]).all():
            yield _dated(cells, form.dates).alias(name)
        elif len(told) and (form.decimal or form.thousands):
            decimal, thousands = form.decimal or ".", form.thousands
            if told.str.contains(_numbers(decimal, thousands)).all():
                plain = cells.str.replace_all(thousands, "", literal=True) if thousands else cells
                yield plain.str.replace(decimal, ".", literal=True).str.strip_chars().alias(name)


def _dated(cells: pl.Series, order: str) -> pl.Series:
    """Dates with the year first; what is no day of the calendar stays as it is, to be refused as other texts are."""
    pattern, places = DATES[order]
    year, month, day = (cells.str.extract(pattern, int(place)).str.zfill(2) for place in places)
    dates = year + "-" + month + "-" + day
    are_days = dates.str.to_date("%Y-%m-%d", strict=False).is_not_null()
    return dates.zip_with(are_days, cells)


def _numbers(decimal: str, thousands: str | None) -> str:
    """A pattern of numbers: digits in threes, if thousands are marked, or plain ones."""
    whole = "[0-9]+" + (rf"|[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+" if thousands else "")
    return rf"^\s*[+-]?(?:{whole})(?:{re.escape(decimal)}[0-9]*)?\s*$"
