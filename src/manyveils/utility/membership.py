"""Whether a release tells that somebody is in the data (slicing's membership disclosure)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.columns import read_column
from manyveils.reading.cover import Ids
from manyveils.release import Release, View
from manyveils.utility.comparison import Comparison, Measures

Weights = NDArray[np.float64]
ENUMERATED = 4_000_000
SAMPLED = 40_000
TRIED = 200_000
BUCKET, VALUE, COUNT, PERSON = "#bucket", "#value", "#count", "#person"
BLOCK = 4096
CHUNK = 50_000


@dataclass(frozen=True, repr=False)
class Buckets:
    """A view as buckets: for every column the different (bucket, value) pairs with their counts, values numbered."""

    sizes: Ids
    pairs: tuple[pl.DataFrame, ...]
    values: tuple[pl.DataFrame, ...]

    @property
    def n_buckets(self) -> int:
        """How many buckets there are; a view without buckets is one."""
        return self.sizes.size

    @property
    def combinations(self) -> NDArray[np.float64]:
        """How many combinations of column values each bucket allows."""
        buckets = (pairs[BUCKET].to_numpy() for pairs in self.pairs)
        return np.prod([np.bincount(bucket, minlength=self.n_buckets) * 1.0 for bucket in buckets], axis=0)

    def matches(self, tuples: Ids) -> Ids:
        """For each tuple of value numbers (one row per column), how many buckets hold all its values; -1 is no value."""
        total = np.zeros(tuples.shape[1], dtype=np.int64)
        for columns in self._blocks():
            for start in range(0, total.size, CHUNK):
                chunk = slice(start, start + CHUNK)
                bits = columns[0][tuples[0, chunk]]
                for column, values in zip(columns[1:], tuples[1:, chunk], strict=True):
                    bits &= column[values]
                total[chunk] += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        return total

    def _blocks(self) -> Iterator[list[NDArray[np.uint64]]]:
        """Blocks of buckets: per column, the buckets of every value as bits; the last row is the value that is nowhere."""
        for start in range(0, self.n_buckets, BLOCK):
            n_words = -(-min(BLOCK, self.n_buckets - start) // 64)
            block = []
            for pairs, values in zip(self.pairs, self.values, strict=True):
                inside = pairs.filter(pl.col(BUCKET).is_between(start, start + BLOCK - 1))
                index = inside[BUCKET].to_numpy() - start
                bits = np.zeros((values.height + 1, n_words), dtype=np.uint64)
                bit = np.uint64(1) << (index % 64).astype(np.uint64)
                np.bitwise_or.at(bits, (inside[VALUE].to_numpy(), index // 64), bit)
                block.append(bits)
            yield block


def buckets_of(release: Release, view: View, wanted: frozenset[str]) -> Buckets:
    """Read a view as buckets, each column cut down to the wanted attributes; columns without any are left out."""
    domains = release.reading.estimate.domains
    known = [(file, tuple(name for name in file.attributes if name in wanted)) for file in view.files]
    columns = [read_column(release, view, file, domains, names) for file, names in known if names]
    pairs, values = [], []
    for column in columns:
        rows = pl.DataFrame(dict(column.labels))
        distinct = rows.unique(maintain_order=True).with_row_index(VALUE).cast({VALUE: pl.Int64})
        numbers = rows.join(distinct, on=rows.columns, how="left", maintain_order="left")[VALUE]
        pairs.append(pl.DataFrame({BUCKET: column.buckets, VALUE: numbers, COUNT: column.counts}))
        cells = [column.texts[name].gather(distinct[name]).alias(name) for name in column.attributes]
        values.append(distinct.with_columns(cells))
    sizes = np.bincount(columns[0].buckets, weights=columns[0].counts) if columns else np.zeros(0)
    return Buckets(sizes.astype(np.int64), tuple(pairs), tuple(values))


@dataclass(frozen=True)
class Tuples:
    """Combinations of column values and how many buckets match each.

    An original weighs as many as it has rows; fake tuples weigh one each, or what they stand for in a sample.
    """

    matches: Ids
    is_original: NDArray[np.bool_]
    weight: Weights

    @property
    def fakes(self) -> float:
        """How many combinations match some bucket and are not in the original."""
        return float(self.weight[~self.is_original].sum())


def membership(comparison: Comparison) -> Measures:
    """Count combinations that look like members and are not, and originals whose membership is certain.

    Tuples are combinations of all published attributes; they are counted for releases of one view without recodings.
    A value that a recoded view still shows as it is counts as shown.
    A tuple is singled out when the release proves that it is there, however values are linked inside the bucket.
    """
    release = comparison.release
    if not release.rows:
        return {}
    proven: Measures = {"singled_out": max(singled_out(comparison, view) for view in release.views)}
    if len(release.views) > 1 or release.reading.is_recoded:
        # A tuple that is recoded, or spread over views, does not match value by value.
        return proven
    tuples = tuples_of(comparison, release.views[0])
    originals, fakes = tuples.matches[tuples.is_original], ~tuples.is_original
    return proven | {
        "fake_tuples": tuples.fakes,
        "matching_buckets_original": _mean(originals, np.ones(originals.size)),
        "matching_buckets_fake": _mean(tuples.matches[fakes], tuples.weight[fakes]),
    }


def _mean(values: Ids, weights: Weights) -> float:
    return float((values * weights).sum() / weights.sum()) if weights.sum() > 0 else 0.0


def tuples_of(comparison: Comparison, view: View) -> Tuples:
    """The distinct originals, and the fake tuples: all of them if they can be listed, otherwise a weighted sample.

    The sample picks a bucket by the number of its combinations and a combination in it; weighing each by one over
    the buckets that match it makes the sum an unbiased count of the different combinations (Karp and Luby).
    """
    buckets = buckets_of(comparison.release, view, frozenset(view.attributes))
    originals, rows = _original_tuples(comparison, buckets)
    fakes, weight = _fake_tuples(buckets, originals)
    originals, rows = _sample_of(originals, rows)
    matches = np.append(buckets.matches(originals), buckets.matches(fakes))
    is_original = np.arange(matches.size) < originals.shape[1]
    return Tuples(matches, is_original, np.append(rows, weight))


def _sample_of(originals: Ids, rows: Weights) -> tuple[Ids, Weights]:
    """All originals, or a random sample of very many, weighed so that it stands for all rows."""
    if originals.shape[1] <= TRIED:
        return originals, rows
    chosen = np.random.default_rng(0).choice(originals.shape[1], TRIED, replace=False)
    return originals[:, chosen], rows[chosen] * (rows.sum() / rows[chosen].sum())


def _fake_tuples(buckets: Buckets, originals: Ids) -> tuple[Ids, Weights]:
    combinations = buckets.combinations
    are_listed = combinations.sum() <= ENUMERATED
    tuples, weight = _listed(buckets) if are_listed else _sampled(buckets, combinations)
    is_fake = ~np.isin(_keys(tuples, buckets), _keys(originals, buckets)) & _agree(tuples, buckets)
    tuples, weight = tuples[:, is_fake], weight[is_fake]
    return tuples, weight if are_listed else weight / buckets.matches(tuples)


def _agree(tuples: Ids, buckets: Buckets) -> NDArray[np.bool_]:
    """Whether a tuple has one value in each attribute, though some attributes stand in several columns."""
    agree = np.ones(tuples.shape[1], dtype=bool)
    n_columns = Counter(name for values in buckets.values for name in values.columns if name != VALUE)
    for name in (name for name, count in n_columns.items() if count > 1):
        columns = zip(buckets.values, tuples, strict=True)
        first, *others = (
            values[name].gather(numbers) for values, numbers in columns if name in values.columns
        )
        for cells in others:
            agree &= first.eq_missing(cells).to_numpy()
    return agree


def _original_tuples(comparison: Comparison, buckets: Buckets) -> tuple[Ids, Weights]:
    """The distinct tuples of the original as value numbers, and how many rows have each."""
    rows = _row_tuples(comparison, buckets)
    distinct = rows.group_by(rows.columns).len("rows").sort(rows.columns)
    return _stacked(distinct.drop("rows")), distinct["rows"].to_numpy().astype(np.float64)


def _stacked(tuples: pl.DataFrame) -> Ids:
    return np.stack([column.to_numpy() for column in tuples])


def _keys(tuples: Ids, buckets: Buckets) -> Ids:
    key = np.zeros(tuples.shape[1], dtype=np.int64)
    for numbers, values in zip(tuples, buckets.values, strict=True):
        # Wraps around beyond 64 bits; two tuples that then share a key are one in 10^19.
        key = key * np.int64(2 * values.height + 3) + numbers + 1
    return key


def _listed(buckets: Buckets) -> tuple[Ids, Weights]:
    """Every combination that matches some bucket."""
    joined = buckets.pairs[0].select(BUCKET, pl.col(VALUE).alias("c0"))
    for column, pairs in enumerate(buckets.pairs[1:], start=1):
        joined = joined.join(pairs.select(BUCKET, pl.col(VALUE).alias(f"c{column}")), on=BUCKET)
    tuples = _stacked(joined.drop(BUCKET).unique())
    return tuples, np.ones(tuples.shape[1])


def _sampled(buckets: Buckets, combinations: Weights) -> tuple[Ids, Weights]:
    rng = np.random.default_rng(0)
    total = combinations.sum()
    chosen = np.sort(rng.choice(buckets.n_buckets, size=SAMPLED, p=combinations / total))
    tuples = []
    for pairs in buckets.pairs:
        ordered = pairs.sort(BUCKET, VALUE)
        starts = np.searchsorted(ordered[BUCKET].to_numpy(), np.arange(buckets.n_buckets + 1))
        lengths = np.diff(starts)[chosen]
        tuples.append(ordered[VALUE].to_numpy()[starts[chosen] + rng.integers(0, lengths)])
    return np.stack(tuples), np.full(SAMPLED, float(total) / SAMPLED)


def singled_out(comparison: Comparison, view: View) -> float:
    """The share of people whose quasi-identifiers the view proves to be in the data, however its columns are linked.

    Whoever has several rows is singled out by any of them.

    If the counts of a tuple's values in a bucket add up to more than (columns - 1) times its rows, some row has them
    all. All values but one then fill more than half of the bucket, so there are few combinations to look at.
    """
    known = frozenset(comparison.quasi)
    if not known or not known <= set(view.attributes):
        return 0.0
    buckets = buckets_of(comparison.release, view, known)
    proven = pl.concat([_proven(buckets, free) for free in range(len(buckets.pairs))]).unique()
    originals, persons = _row_tuples(comparison, buckets), comparison.table.persons
    if persons is None:
        return originals.join(proven, on=proven.columns, how="semi").height / max(originals.height, 1)
    shown = originals.with_columns(pl.Series(PERSON, persons)).join(proven, on=proven.columns, how="semi")
    return shown[PERSON].n_unique() / comparison.n_people


def _proven(buckets: Buckets, free: int) -> pl.DataFrame:
    """Combinations that must be there, in which all columns but one have the value of most rows of the bucket."""
    sizes = pl.DataFrame({BUCKET: np.arange(buckets.n_buckets), "size": buckets.sizes})
    joined = sizes.with_columns(slack=pl.col("size") - 1)
    for column, pairs in enumerate(buckets.pairs):
        numbered = pairs.rename({VALUE: f"c{column}"}).join(sizes, on=BUCKET)
        if column != free:
            numbered = numbered.filter(2 * pl.col(COUNT) > pl.col("size"))
        joined = joined.join(numbered.drop("size"), on=BUCKET)
        joined = joined.with_columns(slack=pl.col("slack") - (pl.col("size") - pl.col(COUNT))).drop(COUNT)
        joined = joined.filter(pl.col("slack") >= 0)
    return joined.drop(BUCKET, "size", "slack")


def _row_tuples(comparison: Comparison, buckets: Buckets) -> pl.DataFrame:
    """Every row of the original as value numbers; -1 where a value was recoded or is not published."""
    table, columns = comparison.table, {}
    for column, values in enumerate(buckets.values):
        names = [name for name in values.columns if name != VALUE]
        cells = {name: pl.Series(table[name].texts).gather(table[name].codes) for name in names}
        numbered = pl.DataFrame(cells).join(values, on=names, how="left", maintain_order="left")
        columns[f"c{column}"] = numbered[VALUE].fill_null(-1)
    return pl.DataFrame(columns)
