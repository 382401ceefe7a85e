"""Whether secret labels are what was chosen: codes and grades beside the original, as far as they can be told."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.finding import Finding
from manyveils.keys.choices import ACTUAL, GENERALIZED, HIDDEN, PSEUDONYM, choices_of, n_categories
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.people import PEOPLE, people_in, tally, with_people
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute, Table
from manyveils.table.levels import Codes


def secret_findings(evidence: Evidence) -> Iterator[Finding]:
    """A finding for every secret column in every view: numbers keep their ranks, and choices are respected.

    The evidence has the original with its secret columns, not as it is published.
    """
    table = evidence.table
    for view in evidence.release.views:
        for file in view.files:
            for name in file.attributes:
                if name in evidence.release.manifest.secret and name in table.attributes:
                    promise = "ranks-kept" if table[name].kind == "numeric" else "choices-respected"
                    wrong = _wrong(evidence, view, file, name)
                    yield Finding(
                        promise,
                        table.home(name),
                        view.name,
                        "release",
                        promised=True,
                        required=0,
                        measured=wrong,
                        kept=wrong == 0,
                    )


def _wrong(evidence: Evidence, view: View, file: ColumnFile, name: str) -> int | None:
    """Rows that cannot be right; None where the column is not there, or rows were left out and nobody knows which."""
    release, policy = evidence.release, evidence.policy
    frame = release.frames.get(file.table, pl.DataFrame())
    if release.suppressed or not {name, *file.attributes} <= {*frame.columns}:
        return None
    beside = _beside(evidence, view, file)
    table = evidence.table.whole((*beside, name, *policy.having("choice")))
    shown = with_people(frame, evidence.weights(file))
    if table[name].kind == "numeric":
        return _out_of_range(shown, table[name], policy) + _moved(shown, beside, table, name)
    return _unchosen(shown, beside, table, policy, name)


def _beside(evidence: Evidence, view: View, file: ColumnFile) -> tuple[str, ...]:
    """Quasi-identifiers that stand beside a secret as they are, by which rows can be matched with the original's."""
    if view.bucketed:
        return ()
    known = [name for name in evidence.table.expand(evidence.policy.quasi) if name in file.attributes]
    return tuple(name for name in known if (view.name, name) not in evidence.release.recodings)


def _texts(columns: Mapping[str, Attribute], names: Sequence[str]) -> list[pl.Series]:
    return [pl.Series(name, columns[name].texts).gather(columns[name].codes) for name in names]


def _differing(one: pl.DataFrame, other: pl.DataFrame) -> int:
    """By how many rows two tables differ, whatever their order."""
    keys = [name for name in one.columns if name != PEOPLE]
    counts = [
        frame.group_by(keys).agg(people_in(frame).alias(f"#{place}"))
        for place, frame in enumerate((one, other))
    ]
    both = counts[0].join(counts[1], on=keys, how="full", coalesce=True, nulls_equal=True).fill_null(0)
    return int(both.select(((pl.col("#0") - pl.col("#1")).abs()).sum()).item()) // 2


def _height(rows: pl.DataFrame) -> int:
    """How many people the rows stand for."""
    return int(rows.select(people_in(rows)).item())


def _kept(rows: pl.DataFrame) -> list[str]:
    """The field that says how many people a row stands for, if there is one."""
    return [PEOPLE] if PEOPLE in rows.columns else []


def _moved(frame: pl.DataFrame, beside: tuple[str, ...], table: Table, name: str) -> int:
    """Rows whose number stands in another rank than the original's, ties included."""
    if not frame[name].dtype.is_numeric():
        return _height(frame)
    column = table[name]
    present = column.counts[: column.n_values - column.has_missing] > 0
    ranks = np.append(np.cumsum(present), [0] * column.has_missing)[column.codes]
    original = pl.DataFrame([*_texts(table.attributes, beside), pl.Series("#rank", ranks.astype(np.int64))])
    shown = frame.select(
        *(pl.col(each).cast(pl.String).fill_null("") for each in beside),
        pl.col(name).rank("dense").cast(pl.Int64).fill_null(0).alias("#rank"),
        *_kept(frame),
    )
    return _differing(with_people(original, table.weights), shown)


def _out_of_range(frame: pl.DataFrame, column: Attribute, policy: Policy) -> int:
    """Rows that no category has; all rows if the numbers are simply the original's."""
    published = frame[column.name]
    if not published.dtype.is_numeric():
        return _height(frame)
    most = n_categories(policy, column.name)
    numbers = published.drop_nulls().cast(pl.Float64).unique()
    if len(numbers) > most and set(numbers) == set(column.numbers[column.counts > 0].tolist()):
        return _height(frame)
    number = pl.col(column.name).cast(pl.Float64)
    return _height(frame.filter((number < 1) | (number >= most + 1)))


def _unchosen(frame: pl.DataFrame, beside: tuple[str, ...], table: Table, policy: Policy, name: str) -> int:
    """Rows by which published cells differ from what was chosen: values, codes of groups and codes of values.

    Which code is whose cannot be seen without the key, so codes are compared by how often they occur.
    """
    column, choices = table[name], choices_of(policy, table.attributes)
    choice = choices.of({each: table[each].codes for each in policy.having("choice")}, table.n_rows)
    is_missing = (column.codes == column.n_values - 1) & column.has_missing
    openly = (choice == ACTUAL) | is_missing
    original = with_people(pl.DataFrame(_texts(table.attributes, (*beside, name))), table.weights)
    original = original.filter(pl.Series(openly))
    shown = frame.select(
        *(pl.col(each).cast(pl.String).fill_null("") for each in (*beside, name)), *_kept(frame)
    )
    is_open = shown[name].is_in(list(column.texts))
    parents = column.levels[min(1, len(column.levels) - 1)].label_of[column.codes]
    wanted = [
        *_tallied(parents, (choice == GENERALIZED) & ~is_missing, table),
        *_tallied(column.codes, (choice == HIDDEN) & ~is_missing, table),
    ]
    hidden = shown.filter(~is_open)
    codes = dict(hidden.group_by(name).agg(people_in(hidden)).iter_rows())
    strange = sum(count for code, count in codes.items() if not PSEUDONYM.fullmatch(code))
    opened = shown.filter(is_open)
    off = _differing(original, opened) + abs(_height(original) - _height(opened))
    return off + strange + _uneven(wanted, list(codes.values()))


def _tallied(numbers: Codes, chosen: NDArray[np.bool_], table: Table) -> list[int]:
    """People per number, of some rows of a table."""
    weights = None if table.weights is None else table.weights[chosen]
    return tally(numbers[chosen].astype(np.int64), weights).tolist()


def _uneven(wanted: list[int], found: list[int]) -> int:
    """By how many rows two lists of counts differ, each taken in order of size."""
    length = max(len(wanted), len(found))
    pairs = [sorted([*counts, *[0] * (length - len(counts))], reverse=True) for counts in (wanted, found)]
    return sum(abs(one - other) for one, other in zip(*pairs, strict=True))
