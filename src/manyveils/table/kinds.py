"""What kind of attribute a column is, its distinct values in their proper type, and one text for every number."""

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.hierarchies import Lines
from manyveils.policy.sections import AttributeSection, Kind

NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
WHOLE = r"^\s*[+-]?[0-9]{1,18}\s*$"
# Leading zeros and more digits than a number keeps: such texts are codes, and as numbers would change.
CODE = r"^\s*[+-]?(0[0-9]|[0-9]{19})"
# Numbers with commas, before decimals or between thousands; a plain whole number before the comma could be either.
COMMA = r"^\s*[+-]?[0-9]{1,3}(?:\.?[0-9]{3})*,[0-9]+\s*$|^\s*[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\s*$"
LACKING = ("na", "n/a", "#n/a", "-", "--", ".", "?", "null", "none", "missing", "unknown")
NOT_FINITE = r"^\s*(?i)[+-]?(nan|inf|infinity)\s*$"


def typed(values: pl.Series, domain: pl.Series, attribute: AttributeSection) -> tuple[Kind, pl.Series]:
    """Decide the kind and give the distinct values their type; numbers in text become numbers."""
    if domain.dtype.is_numeric():
        _refuse_not_finite(values, domain.filter(~domain.cast(pl.Float64).is_finite()))
        return attribute.kind or "numeric", domain
    if domain.dtype != pl.String:
        return attribute.kind or ("ordinal" if domain.dtype.is_temporal() else "categorical"), domain
    if attribute.kind in ("categorical", "ordinal"):
        return attribute.kind, domain
    if attribute.kind is None and attribute.hierarchy is not None and attribute.hierarchy.dates:
        # With the year first, texts are in the order of time.
        return "ordinal", domain
    is_masked = attribute.hierarchy is not None and bool(
        attribute.hierarchy.mask or attribute.hierarchy.known
    )
    others = domain.filter(~domain.str.contains(NUMBER))
    not_finite = others.filter(others.str.contains(NOT_FINITE))
    if len(not_finite) == len(others):
        _refuse_not_finite(values, not_finite)
    if attribute.kind == "numeric" and len(others):
        n_rows = int(values.is_in(others.to_list()).sum())
        what = f"{n_rows} of {len(values)} cells are not numbers."
        remedy = 'Correct them, list them in missing_markers, or set kind = "categorical".'
        raise DataError.at(f"data: {values.name}", what, remedy)
    if attribute.kind is None and attribute.hierarchy is None:
        _ask(values, domain, others)
    is_code = is_masked or domain.str.contains(CODE).any()
    if attribute.kind == "numeric" or (len(domain) and not len(others) and not is_code):
        numbers = _numbers(domain)
        _refuse_not_finite(values, domain.filter(~numbers.is_finite()))
        return "numeric", numbers
    return "categorical", domain


def _ask(values: pl.Series, domain: pl.Series, others: pl.Series) -> None:
    """Ask about texts that may be numbers, instead of taking them for categories in silence."""
    remedy = 'If they are categories, set kind = "categorical".'
    if _lack_some(domain, others):
        n_rows = int(values.is_in(others.to_list()).sum())
        what = f"all cells are numbers, but for {n_rows} of {len(values)} that seem to say that one is missing (such as NA)."
        raise DataError.at(f"data: {values.name}", what, f"List these in missing_markers of [data]. {remedy}")
    if have_commas(others):
        what = "cells seem to be numbers with commas in them, before decimals or between thousands."
        which = 'Set decimal = "," or thousands = "," in [data].'
        raise DataError.at(f"data: {values.name}", what, f"{which} {remedy}")


def _lack_some(domain: pl.Series, others: pl.Series) -> bool:
    small = others.str.strip_chars().str.to_lowercase()
    return 0 < len(others) < len(domain) and bool(small.is_in(LACKING).all())


def have_commas(others: pl.Series) -> bool:
    """Whether texts that are no plain numbers are numbers with commas, all of them.

    >>> have_commas(pl.Series(["1,5", "2.000,25"])), have_commas(pl.Series(["1,5", "a"]))
    (True, False)
    """
    return len(others) > 0 and bool(others.str.contains(COMMA).all())


def _numbers(domain: pl.Series) -> pl.Series:
    is_whole = domain.str.contains(WHOLE).all()
    return with_one_zero(domain.str.strip_chars().cast(pl.Int64 if is_whole else pl.Float64))


def with_one_zero(numbers: pl.Series) -> pl.Series:
    """The same numbers with every -0.0 made 0.0: they are equal, so they are one value with one text."""
    # Adding 0.0 would do, but Polars skips that addition.
    return numbers.set(numbers == 0, 0.0) if numbers.dtype.is_float() else numbers


def _refuse_not_finite(values: pl.Series, not_finite: pl.Series) -> None:
    if len(not_finite):
        n_rows = int(values.is_in(not_finite.implode()).sum())
        what = f"{n_rows} cells are NaN or infinite."
        raise DataError.at(f"data: {values.name}", what, "Leave such cells empty.")


def as_number(text: str) -> float | None:
    """The number that a text writes; nothing if it writes none."""
    try:
        return float(text)
    except ValueError:
        return None


def spelled_as(lines: Lines, domain: pl.Series) -> Lines:
    """Write the numbers of a hierarchy as the table writes them (17, not 17.0), and others always the same way.

    >>> spelled_as((("17.0", "low"), ("18", "low"), ("18.0", "low")), pl.Series([17]))
    (('17', 'low'), ('18', 'low'), ('18', 'low'))
    """
    spelling: dict[float | None, str] = {
        float(value): str(text)
        for value, text in zip(domain.to_list(), domain.cast(pl.String).to_list(), strict=True)
        if value is not None
    }
    return tuple((_spelled(line[0], spelling), *line[1:]) for line in lines)


def _spelled(text: str, spelling: dict[float | None, str]) -> str:
    number = as_number(text)
    return text if number is None else spelling.setdefault(number, text)
