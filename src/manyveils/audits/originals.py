"""How many persons of the original have each value, and how much of them is spread on it."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids
from manyveils.reading.labels import Labels
from manyveils.reading.persons import persons_in


def rows_of_persons(evidence: Evidence, labels: Sequence[Labels]) -> tuple[Ids, list[Ids]] | None:
    """The person of each row of the original, and the codes of its attributes.

    What is secret is known as it is published, and its rows are the published ones.
    """
    names = [own.attribute.name for own in labels]
    persons = evidence.table.persons
    assert persons is not None
    if {*names}.isdisjoint(evidence.release.manifest.secret):
        return persons, [evidence.table[name].codes.astype(np.int64) for name in names]
    for view in evidence.release.views:
        for file in view.files:
            if {*names} <= {*file.attributes}:
                lines = persons_in(evidence, view, file)
                codes = [own.attribute.codes.astype(np.int64) for own in labels]
                is_same = lines is not None and all(len(own) == len(lines) for own in codes)
                return (lines, codes) if lines is not None and is_same else None
    return None


def original_holders(evidence: Evidence, labels: Sequence[Labels], values: pl.DataFrame) -> pl.Series:
    """How many persons of the original have each value, in one of their rows at least."""
    return _by_value(evidence, labels, values, is_weighed=False)


def original_weights(
    evidence: Evidence, labels: Sequence[Labels], values: pl.DataFrame, scale: int | None
) -> pl.Series:
    """How much of the persons of the original is spread on each value, where each weighs `scale`, or 1."""
    return _by_value(evidence, labels, values, is_weighed=True, scale=scale)


def weights_by_code(evidence: Evidence, labels: Labels) -> Floats:
    """How much of the persons of the original is spread on each original."""
    rows = rows_of_persons(evidence, [labels])
    assert rows is not None
    assert evidence.table.persons is not None
    persons, [codes] = rows
    weights = 1 / np.maximum(np.bincount(evidence.table.persons), 1)
    return np.bincount(codes, weights[persons], labels.attribute.n_values).astype(np.float64)


def _by_value(
    evidence: Evidence,
    labels: Sequence[Labels],
    values: pl.DataFrame,
    *,
    is_weighed: bool,
    scale: int | None = None,
) -> pl.Series:
    """Persons by value, or what is spread of them."""
    rows = rows_of_persons(evidence, labels)
    assert rows is not None
    assert evidence.table.persons is not None
    persons, codes = rows
    n_rows = np.maximum(np.bincount(evidence.table.persons), 1)
    weights = (1 / n_rows if scale is None else scale // n_rows) if is_weighed else None
    if len(labels) > 1:
        coded = zip(labels, codes, strict=True)
        parts = {f"part_{index}": own.of_code[code] for index, (own, code) in enumerate(coded)}
        joined = pl.DataFrame({"person": persons, **parts}).join(values, on=[*parts], maintain_order="left")
        return pl.Series(
            _summed(joined["value"].to_numpy(), joined["person"].to_numpy(), weights, values.height)
        )
    [own], [code] = labels, codes
    if own.is_exact and (is_weighed or not own.cover.is_coarse):
        question = ("by code", str(scale if is_weighed else ""), (own.attribute.name,), ())
        n_codes = own.attribute.n_values
        of_codes = evidence.remembered(question, lambda: _summed(code, persons, weights, n_codes))
        summed = np.bincount(own.of_code, weights=of_codes, minlength=values.height)
        return pl.Series(summed.astype(of_codes.dtype))
    numbers, covered = own.cover.pairs()
    under = pl.DataFrame({"value": numbers, "code": covered})
    joined = pl.DataFrame({"person": persons, "code": code}).join(under, on="code")
    return pl.Series(_summed(joined["value"].to_numpy(), joined["person"].to_numpy(), weights, values.height))


def _summed(values: Ids, persons: Ids, weights: Ids | Floats | None, n_values: int) -> Ids | Floats:
    if weights is None:
        n_persons = int(persons.max(initial=0)) + 1
        keys = np.unique(values * n_persons + persons)
        return np.bincount(keys // n_persons, minlength=n_values)
    summed = np.bincount(values, weights=weights[persons], minlength=n_values)
    return summed if weights.dtype.kind == "f" else np.rint(summed).astype(np.int64)
