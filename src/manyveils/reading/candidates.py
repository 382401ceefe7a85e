"""Whose row a row may be where a missing cell may stand for any value, as sdcMicro counts: groups that overlap.

Someone who knows a row's values goes through all rows that agree with them or say nothing. Rows with equal cells have the
same candidates, so these are listed once for each, with how often they occur.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import PolicyError
from manyveils.reading.evidence import Evidence, Key, lines_of
from manyveils.reading.keys import Ids
from manyveils.release.bare import TABLE, BareRelease
from manyveils.release.views import ColumnFile

# The columns of the working tables besides the known attributes, which are numbered.
OWNER, SHOWN, COUNT, PATTERN, ALIKE = "owner", "shown", "count", "pattern", "alike"
INDEX = pl.get_index_type()
MISSING = -1
# Joining the rows of two patterns takes about as long as comparing so many pairs of rows.
ROWS_PER_JOIN = 10_000
# So many pairs are compared at once, and at most.
PAIRS_AT_ONCE, MOST_PAIRS = 1_000_000, 4_000_000_000
# A pattern is the bits of a number.
MOST_BITS = 62

Matrix = NDArray[np.bool_]


def is_any(evidence: Evidence, known: Key) -> bool:
    """Whether some cell of a known attribute is missing."""
    [file] = evidence.release.views[0].files
    return any(evidence.frame(file)[name].null_count() for name in known if name in file.attributes)


def with_candidates(evidence: Evidence, known: Key, shown: Key) -> Evidence:
    """The evidence with the candidates of all rows in place of the rows: who knows some attributes is shown others.

    Claim: rows of one group are all rows that agree with one published row in every known attribute, or lack a cell there
    where it or they do.
    Why: for two patterns of missing cells, rows agree if they are equal in what neither pattern lacks; counts are added up
    over those cells first, so no pairs of rows are looked at. Only where patterns are nearly as many as rows, they are.
    Tested by: tests/claims/test_missing_any.py
    """
    [view] = evidence.release.views
    [file] = view.files
    known = tuple(name for name in file.attributes if name in known)
    shown = tuple(name for name in file.attributes if name in shown and name not in known)
    rows = _rows(evidence, file, known, shown)
    different = rows.group_by(rows.columns, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(COUNT))
    owners = different.select(_names(known)).unique(maintain_order=True).with_row_index(OWNER)
    listed = pl.concat(_candidates(evidence, different, owners))
    listed = listed.group_by(OWNER, SHOWN).agg(pl.col(COUNT).sum()).sort(OWNER, SHOWN)
    own = rows.join(owners, on=_names(known), nulls_equal=True, how="left", maintain_order="left")
    lines = own.join(listed.with_row_index("line"), on=[OWNER, SHOWN], how="left", maintain_order="left")[
        "line"
    ]
    frame = _frame(evidence, file, known, shown, owners, listed)
    return _evidence(evidence, file, frame, listed[COUNT].to_numpy(), lines.to_numpy().astype(np.int64))


def n_candidates(evidence: Evidence, known: Key) -> Ids | None:
    """How many candidates each row has; None where a missing cell is a value of its own, or no known cell is missing."""
    if evidence.policy.data.missing != "any" or not is_any(evidence, known):
        return None
    told = with_candidates(evidence, known, ())
    [file] = told.release.views[0].files
    numbers, lines = told.group_numbers(file, file.attributes), lines_of(told)
    sizes: Ids = told.tally(file, numbers)[numbers[lines]]
    return sizes


def _names(known: Sequence[str]) -> list[str]:
    return [f"known_{number}" for number in range(len(known))]


def _rows(evidence: Evidence, file: ColumnFile, known: Key, shown: Key) -> pl.DataFrame:
    """The rows: known_0, … (a code, null where the cell is missing), shown (a number)."""
    coded = [evidence.coded(file, name) for name in known]
    columns = {
        name: pl.Series(own.codes).set(pl.Series(own.values.is_null().to_numpy()[own.codes]), None)
        for name, own in zip(_names(known), coded, strict=True)
    }
    numbers = evidence.group_numbers(file, shown)
    return pl.DataFrame({**columns, SHOWN: numbers})


def _candidates(evidence: Evidence, rows: pl.DataFrame, owners: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """For every different row its candidates: owner, shown, count; in parts, whose counts add up.

    Few patterns of missing cells are compared with each other, and where there are many, so are rows: two attributes
    more can have four times as many patterns.
    """
    lacked = [name for name in owners.drop(OWNER).columns if owners[name].null_count()]
    n_patterns = owners.select(pl.col(lacked).is_null()).n_unique()
    by_pattern, by_row = n_patterns**2 * ROWS_PER_JOIN, owners.height**2
    if min(by_pattern, by_row) > MOST_PAIRS:
        there_are = f"there are {owners.height} different rows with {n_patterns} sets of missing cells"
        what = f"{there_are}; with so many sets, any compares at most {isqrt(MOST_PAIRS)} rows."
        remedy = 'Write "category", or judge fewer or coarser quasi-identifiers.'
        raise PolicyError.at(f"{evidence.policy.name}: data.missing", what, remedy)
    if by_pattern <= by_row and len(lacked) <= MOST_BITS:
        return _by_pattern(rows, owners, lacked)
    return _by_row(rows, owners)


def _by_pattern(rows: pl.DataFrame, owners: pl.DataFrame, lacked: list[str]) -> Iterator[pl.DataFrame]:
    """The candidates of rows by the cells that neither they nor others lack."""
    always = [name for name in owners.drop(OWNER).columns if name not in lacked]
    patterns = pl.sum_horizontal(
        pl.lit(0, dtype=pl.Int64),
        *(pl.col(name).is_not_null().cast(pl.Int64) * 2**bit for bit, name in enumerate(lacked)),
    )
    rows, owners = rows.with_columns(patterns.alias(PATTERN)), owners.with_columns(patterns.alias(PATTERN))
    for (pattern,), whose in owners.partition_by(PATTERN, as_dict=True).items():
        common = rows.with_columns(pl.col(PATTERN) & pl.lit(pattern, dtype=pl.Int64))
        for (both,), alike in common.partition_by(PATTERN, as_dict=True).items():
            shared = [*always, *(name for bit, name in enumerate(lacked) if int(both) >> bit & 1)]
            summed = alike.group_by(*shared, SHOWN).agg(pl.col(COUNT).sum())
            joined = whose.join(summed, on=shared) if shared else whose.join(summed, how="cross")
            yield joined.select(OWNER, SHOWN, COUNT)


def _by_row(rows: pl.DataFrame, owners: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The candidates of rows by comparing each with all others, so many at once as fit."""
    names = owners.drop(OWNER).columns
    counted = rows.join(owners.rename({OWNER: ALIKE}), on=names, nulls_equal=True)
    columns = [owners[name].fill_null(MISSING).to_numpy().astype(np.int32) for name in names]
    step = max(PAIRS_AT_ONCE // rows.height, 1)
    for start in range(0, owners.height, step):
        some, all_ = np.nonzero(_agree(columns, slice(start, start + step)))
        pairs = pl.DataFrame({OWNER: some + start, ALIKE: all_}, schema=dict.fromkeys((OWNER, ALIKE), INDEX))
        joined = pairs.join(counted, on=ALIKE)
        yield joined.group_by(OWNER, SHOWN, maintain_order=True).agg(pl.col(COUNT).sum())


def _agree(columns: Sequence[NDArray[np.int32]], some: slice) -> Matrix:
    """Which of some rows agree with which of all, a missing cell agreeing with everything."""
    agree: Matrix = np.ones((columns[0][some].size, columns[0].size), dtype=bool)
    for codes in columns:
        equal = codes[some, np.newaxis] == codes
        equal |= (codes[some] == MISSING)[:, np.newaxis]
        equal |= codes == MISSING
        agree &= equal
    return agree


def _frame(
    evidence: Evidence, file: ColumnFile, known: Key, shown: Key, owners: pl.DataFrame, listed: pl.DataFrame
) -> pl.DataFrame:
    """The candidates as a published table, in which a group goes by the cells of those whose candidates they are."""
    frame, numbers = evidence.frame(file), evidence.group_numbers(file, shown)
    first = pl.DataFrame({SHOWN: numbers}).with_row_index("row").unique(SHOWN, keep="first").sort(SHOWN)
    examples = frame.select(shown)[first["row"].to_numpy()] if shown else None
    columns = []
    for name, column in zip(known, _names(known), strict=True):
        values = evidence.coded(file, name).values
        columns.append(values.gather(owners[column].gather(listed[OWNER])).alias(name))
    if examples is not None:
        columns += [examples[name].gather(listed[SHOWN]) for name in shown]
    return pl.DataFrame(columns)


def _evidence(evidence: Evidence, file: ColumnFile, frame: pl.DataFrame, counts: Ids, lines: Ids) -> Evidence:
    release, [view] = evidence.release, evidence.release.views
    file = replace(file, attributes=tuple(frame.columns))
    n_rows = int(counts.sum())
    manifest = replace(release.manifest, rows=n_rows, views=(replace(view, files=(file,), rows=n_rows),))
    expanded = BareRelease(manifest, {TABLE: frame}, release.recodings, weights={TABLE: counts})
    expanded.lines = lines
    return Evidence(expanded, evidence.table, evidence.policy)
