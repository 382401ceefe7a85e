"""Whether secret labels are what was chosen: codes and grades beside the original, as far as they can be told."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.finding import Finding
from manyveils.policy import Policy
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Column, Table

CODE = re.compile(r"[A-Z2-7]{10}")


def secret_findings(release: Release, table: Table, policy: Policy) -> Iterator[Finding]:
    """A finding for every secret column in every view: numbers keep their ranks, and choices are respected."""
    for view in release.views:
        for file in view.files:
            for name in file.attributes:
                if name in release.manifest.secret and name in table.columns:
                    promise = "ranks-kept" if table[name].kind == "numeric" else "choices-respected"
                    wrong = _wrong(release, view, file, table, policy, name)
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


def _wrong(
    release: Release, view: View, file: ColumnFile, table: Table, policy: Policy, name: str
) -> int | None:
    """Rows that cannot be right; None where the column is not there, or rows were left out and nobody knows which."""
    frame = release.frames.get(file.table, pl.DataFrame())
    if release.suppressed or not {name, *file.attributes} <= {*frame.columns}:
        return None
    beside = _beside(release, view, file, table, policy)
    if table[name].kind == "numeric":
        return _out_of_range(frame[name], table[name], policy) + _moved(frame, beside, table, name)
    return _unchosen(frame, beside, table, policy, name)


def _beside(release: Release, view: View, file: ColumnFile, table: Table, policy: Policy) -> tuple[str, ...]:
    """Quasi-identifiers that stand beside a secret as they are, by which rows can be matched with the original's."""
    if view.bucketed:
        return ()
    known = [name for name in table.expand(policy.quasi) if name in file.attributes]
    return tuple(name for name in known if (view.name, name) not in release.recodings)


def _texts(columns: Mapping[str, Column], names: Sequence[str]) -> list[pl.Series]:
    return [pl.Series(name, columns[name].texts).gather(columns[name].codes) for name in names]


def _differing(one: pl.DataFrame, other: pl.DataFrame) -> int:
    """By how many rows two tables differ, whatever their order."""
    keys = one.columns
    counts = [frame.group_by(keys).len(f"#{place}") for place, frame in enumerate((one, other))]
    both = counts[0].join(counts[1], on=keys, how="full", coalesce=True, nulls_equal=True).fill_null(0)
    return int(both.select(((pl.col("#0").cast(pl.Int64) - pl.col("#1")).abs()).sum()).item()) // 2


def _moved(frame: pl.DataFrame, beside: tuple[str, ...], table: Table, name: str) -> int:
    """Rows whose number stands in another rank than the original's, ties included."""
    if not frame[name].dtype.is_numeric():
        return frame.height
    column = table[name]
    present = column.counts[: column.n_values - column.has_missing] > 0
    ranks = np.append(np.cumsum(present), [0] * column.has_missing)[column.codes]
    original = pl.DataFrame([*_texts(table.columns, beside), pl.Series("#rank", ranks.astype(np.int64))])
    shown = frame.select(
        *(pl.col(each).cast(pl.String).fill_null("") for each in beside),
        pl.col(name).rank("dense").cast(pl.Int64).fill_null(0).alias("#rank"),
    )
    return _differing(original, shown)


def _out_of_range(published: pl.Series, column: Column, policy: Policy) -> int:
    """Rows that no category has; all rows if the numbers are simply the original's."""
    if not published.dtype.is_numeric():
        return len(published)
    asked = policy.publish.options.get("categories", 5)
    asked = asked.get(column.name, 5) if isinstance(asked, Mapping) else asked
    most = asked if isinstance(asked, int) else len(asked)
    numbers = published.drop_nulls().cast(pl.Float64)
    if numbers.n_unique() > most and set(numbers) == set(column.numbers[column.counts > 0].tolist()):
        return len(published)
    return int(((numbers < 1) | (numbers >= most + 1)).sum())


def _unchosen(frame: pl.DataFrame, beside: tuple[str, ...], table: Table, policy: Policy, name: str) -> int:
    """Rows by which published cells differ from what was chosen: values, codes of groups and codes of values.

    Which code is whose cannot be seen without the key, so codes are compared by how often they occur.
    """
    column, choice = table[name], _choices(table, policy)
    is_missing = (column.codes == column.n_values - 1) & column.has_missing
    openly = (choice == 1) | is_missing
    original = pl.DataFrame(_texts(table.columns, (*beside, name))).filter(pl.Series(openly))
    shown = frame.select(pl.col(each).cast(pl.String).fill_null("") for each in (*beside, name))
    is_open = shown[name].is_in(list(column.texts))
    parents = column.levels[min(1, len(column.levels) - 1)].label_of[column.codes]
    wanted = [
        *np.bincount(parents[(choice == 2) & ~is_missing]).tolist(),
        *np.bincount(column.codes[(choice == 3) & ~is_missing]).tolist(),
    ]
    codes = Counter(shown.filter(~is_open)[name].to_list())
    strange = sum(count for code, count in codes.items() if not CODE.fullmatch(code))
    opened = shown.filter(is_open)
    off = _differing(original, opened) + abs(original.height - opened.height)
    return off + strange + _uneven(wanted, list(codes.values()))


def _uneven(wanted: list[int], found: list[int]) -> int:
    """By how many rows two lists of counts differ, each taken in order of size."""
    length = max(len(wanted), len(found))
    pairs = [sorted([*counts, *[0] * (length - len(counts))], reverse=True) for counts in (wanted, found)]
    return sum(abs(one - other) for one, other in zip(*pairs, strict=True))


def _choices(table: Table, policy: Policy) -> NDArray[np.int64]:
    default = int(policy.publish.options.get("default_choice", 3))
    names = policy.having("choice")
    if not names:
        return np.full(table.n_rows, default)
    column = table[names[0]]
    meant = [
        int(float(text)) if text in ("1", "2", "3", "1.0", "2.0", "3.0") else default for text in column.texts
    ]
    return np.array(meant, dtype=np.int64)[column.codes]
