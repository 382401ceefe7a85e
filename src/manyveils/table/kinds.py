"""What kind of attribute a column is, its distinct values in their proper type, and one text for every number."""

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.hierarchies import Lines
from manyveils.policy.sections import AttributeSection, Kind

NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
WHOLE = r"^\s*[+-]?[0-9]{1,18}\s*$"
# Leading zeros and more digits than a number keeps: such texts are codes, and as numbers would change.
CODE = r"^\s*[+-]?(0[0-9]|[0-9]{19})"
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
    is_masked = attribute.hierarchy is not None and attribute.hierarchy.mask is not None
    others = domain.filter(~domain.str.contains(NUMBER))
    not_finite = others.filter(others.str.contains(NOT_FINITE))
    if len(not_finite) == len(others):
        _refuse_not_finite(values, not_finite)
    if attribute.kind == "numeric" and len(others):
        n_rows = int(values.is_in(others.to_list()).sum())
        what = f"{n_rows} of {len(values)} cells are not numbers."
        remedy = 'Correct them, list them in missing_markers, or set kind = "categorical".'
        raise DataError.at(f"data: {values.name}", what, remedy)
    is_code = is_masked or domain.str.contains(CODE).any()
    if attribute.kind == "numeric" or (len(domain) and not len(others) and not is_code):
        numbers = _numbers(domain)
        _refuse_not_finite(values, domain.filter(~numbers.is_finite()))
        return "numeric", numbers
    return "categorical", domain


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
