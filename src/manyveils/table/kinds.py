"""What kind of attribute a column is, and its distinct values in their proper type."""

import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.policy.sections import Attribute, Kind

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
WHOLE = r"^\s*[+-]?\d{1,18}\s*$"
CODE = r"^\s*[+-]?0\d"
NOT_FINITE = r"^\s*(?i)[+-]?(nan|inf|infinity)\s*$"


def typed(values: pl.Series, domain: pl.Series, attribute: Attribute) -> tuple[Kind, pl.Series]:
    """Decide the kind and give the distinct values their type; numbers in text become numbers."""
    if domain.dtype.is_numeric():
        _refuse_not_finite(values, domain)
        return attribute.kind or "numeric", domain
    if domain.dtype != pl.String:
        return attribute.kind or ("ordinal" if domain.dtype.is_temporal() else "categorical"), domain
    if attribute.kind in ("categorical", "ordinal"):
        return attribute.kind, domain
    masks = attribute.hierarchy is not None and attribute.hierarchy.mask is not None
    strange = domain.filter(~domain.str.contains(NUMBER))
    odd = strange.filter(strange.str.contains(NOT_FINITE))
    if len(odd) and len(odd) == len(strange):
        n_rows = int(values.is_in(odd.to_list()).sum())
        raise DataError(
            [
                Problem(
                    f"data: {values.name}", f"{n_rows} cells are NaN or infinite.", "Leave such cells empty."
                )
            ]
        )
    if attribute.kind == "numeric" and len(strange):
        n_rows = int(values.is_in(strange.to_list()).sum())
        raise DataError(
            [
                Problem(
                    f"data: {values.name}",
                    f"{n_rows} of {len(values)} cells are not numbers.",
                    'Mend them, list them in missing_markers, or set kind = "categorical".',
                )
            ]
        )
    looks_numeric = not len(strange) and not domain.str.contains(CODE).any() and not masks and len(domain) > 0
    if attribute.kind == "numeric" or looks_numeric:
        return "numeric", _numbers(domain)
    return "categorical", domain


def _numbers(domain: pl.Series) -> pl.Series:
    whole = domain.str.contains(WHOLE).all()
    return domain.str.strip_chars().cast(pl.Int64 if whole else pl.Float64)


def _refuse_not_finite(values: pl.Series, domain: pl.Series) -> None:
    if domain.dtype.is_float() and not domain.is_finite().all():
        n_rows = int((~values.drop_nulls().is_finite()).sum())
        raise DataError(
            [
                Problem(
                    f"data: {values.name}",
                    f"{n_rows} cells are NaN or infinite.",
                    "Make them missing (null).",
                )
            ]
        )
