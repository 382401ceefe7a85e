"""Promises about every value of a multi-valued attribute, measured at once from the values that people have.

A group in which nobody has a value is not counted for it: all such groups are alike, and the smallest speaks for them.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import Measure
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    Elimination,
    FrequencyDiversity,
    Likeness,
    Linkability,
)
from manyveils.reading.evidence import Evidence, lines_of
from manyveils.reading.keys import Bools, Floats, Ids, distinct, ranges
from manyveils.reading.sight import Sight

# Their measures depend on shares alone, so groups in which nobody has the value have one measure.
ABOUT_SHARES = (FrequencyDiversity, CappedShare, Linkability, Likeness, Disclosure, Closeness)
AT_ONCE = (*ABOUT_SHARES, Elimination)


@dataclass(frozen=True, repr=False)
class Holders:
    """The rows of a published column that have each of some values: rows of value after value, and where each starts."""

    names: tuple[str, ...]
    rows: Ids
    starts: Ids

    @property
    def values(self) -> Ids:
        """The number of the value of each of the rows."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.starts))

    def counted(self, evidence: Evidence, sight: Sight) -> tuple[Ids, Ids, Ids]:
        """How often each value stands in each group, where it does: value, group, count."""
        groups, weights = evidence.group_numbers(sight.file, sight.key), evidence.weights(sight.file)
        n_groups = int(groups.max(initial=-1)) + 1
        keys = self.values * n_groups + groups[self.rows]
        first, counts = distinct(keys, None if weights is None else weights[self.rows])
        values, owners = np.divmod(keys[first], max(n_groups, 1))
        return values, owners, counts

    def have(self, values: Ids, rows: Ids) -> Bools:
        """Whether each row has the value beside it."""
        n_rows = int(max(self.rows.max(initial=0), rows.max(initial=0))) + 1
        return np.isin(values * n_rows + rows, self.values * n_rows + self.rows)


def is_one_of_many(evidence: Evidence, promise: Promise, sight: Sight) -> bool:
    """Whether a promise is about one value of a multi-valued attribute, of which a column shows several as they are."""
    if len(promise.protects) > 1 or not isinstance(promise.guarantee, AT_ONCE):
        return False
    if evidence.table.persons is not None or lines_of(evidence) is not None:
        # Persons with several rows have and lack a value at once, and candidates may be nobody's: one by one, then.
        return False
    name = promise.protects[0]
    if evidence.table.atom(name) is None or promise.insensitive != {"0"}:
        return False
    names = holders_in(evidence, sight, evidence.table.home(name)).names
    return len(names) > 1 and name in names


def holders_in(evidence: Evidence, sight: Sight, home: str) -> Holders:
    """Who has the values of a multi-valued attribute in a column, for those published as yes or no."""
    question = ("holders", sight.file.table, (home,), ())
    return evidence.remembered(question, lambda: _holders(evidence, sight, home))


def _holders(evidence: Evidence, sight: Sight, home: str) -> Holders:
    frame, derived = evidence.frame(sight.file), {*evidence.table.derived[home]}
    names = tuple(
        name for name in sight.file.attributes if name in derived and _is_plain(evidence, sight, frame[name])
    )
    rows = [np.flatnonzero(frame[name].to_numpy()) for name in names]
    starts = np.cumsum([0, *map(len, rows)])
    return Holders(names, np.concatenate([np.zeros(0, dtype=np.int64), *rows]), starts)


def _is_plain(evidence: Evidence, sight: Sight, published: pl.Series) -> bool:
    """Whether a field has yes or no in every row, and nothing is listed under them."""
    if not published.dtype.is_integer() or published.null_count():
        return False
    numbers = published.to_numpy()
    is_bit = numbers.min(initial=0) >= 0 and numbers.max(initial=0) <= 1
    return bool(is_bit) and evidence.listed(sight.view, published.name) is None


def measured_apart(evidence: Evidence, promise: Promise, sight: Sight, measure: Measure) -> pl.DataFrame:
    """What the promise about each value comes to: value, and per group of groups alike its rows, measure, kept, times, all_rows.

    Claim: no group is left out that breaks the promise or has the worst measure.
    Why: groups in which nobody has a value have one measure, and the smallest of them stands for all.
    Tested by: tests/claims/test_audit_set_valued.py
    """
    holders = holders_in(evidence, sight, evidence.table.home(promise.protects[0]))
    groups = evidence.group_numbers(sight.file, sight.key)
    sizes = evidence.tally(sight.file, groups)
    value, group, counts = holders.counted(evidence, sight)
    nobody = lacking(value, group, sizes, len(holders.names))
    cells = cells_apart(value, value * sizes.size + group, counts, sizes[group], nobody)
    measured = measure(
        promise.guarantee, Groups(cells, values_apart(evidence, holders), (), evidence, of_sets=True)
    )
    return (
        measured.select("group", "rows", "measure", "kept")
        .join(nobody.select("group", "times", "all_rows"), on="group", how="left")
        .with_columns(
            value=pl.col("group") // sizes.size,
            times=pl.col("times").fill_null(1),
            all_rows=pl.col("all_rows").fill_null(pl.col("rows")),
        )
    )


def lacking(
    value: Ids, group: Ids, sizes: Ids, n_values: int, times: Ids | None = None, rows: Ids | None = None
) -> pl.DataFrame:
    """For each value that some group lacks, the smallest such group, how many there are, and their rows together.

    Every group is one, and has as many rows as its size, unless `times` and `rows` say otherwise.
    """
    times, rows = np.ones_like(sizes) if times is None else times, sizes if rows is None else rows
    by_size = np.argsort(sizes, kind="stable")
    rank = np.empty(sizes.size, dtype=np.int64)
    rank[by_size] = np.arange(sizes.size)
    order = np.lexsort((rank[group], value))
    value, ranks, n_present = value[order], rank[group][order], np.bincount(value, minlength=n_values)
    steps = ranges(np.zeros(n_values, dtype=np.int64), n_present)
    # Those that have it fill the first ranks up to the first gap.
    firsts = np.bincount(value[ranks == steps], minlength=n_values)
    some = np.flatnonzero(n_present < sizes.size)
    smallest = by_size[firsts[some]]

    def left(amounts: Ids) -> Ids:
        present = np.bincount(value, weights=amounts[by_size[ranks]], minlength=n_values)
        return (amounts.sum() - present[some]).astype(np.int64)

    return pl.DataFrame(
        {
            "group": some * sizes.size + smallest,
            "value": some,
            "size": sizes[smallest],
            "times": left(times),
            "all_rows": left(rows),
        }
    )


def cells_apart(
    value: Ids, keys: Ids, counts: Ids | Floats, sizes: Ids | Floats, nobody: pl.DataFrame
) -> pl.DataFrame:
    """The cells of those who have a value, and of those who do not; groups are numbered anew for every value.

    Values are numbered in pairs: not to have the first is 0, to have it is 1, and so on.
    """
    has = pl.DataFrame({"group": keys, "value": 2 * value + 1, "count": counts, "size": sizes})
    has_not = has.with_columns(value=pl.col("value") - 1, count=pl.col("size") - pl.col("count"))
    # The one cell of those who have nobody is all they have, however large they are.
    one = nobody.select("group", value=2 * pl.col("value"), count="size", size="size")
    cells = pl.concat([has, has_not.filter(pl.col("count") > 0), one.cast(has.schema)])
    return cells.with_columns(rows=pl.col("size"), sensitive=pl.col("value") % 2 == 1)


def values_apart(evidence: Evidence, holders: Holders) -> pl.DataFrame:
    """How many people of the original do not have each value, and how many do: value, count, sensitive."""
    counts = np.concatenate([evidence.original(name).counts for name in holders.names])
    numbers = np.arange(counts.size)
    return pl.DataFrame({"value": numbers, "count": counts, "sensitive": numbers % 2 == 1})
