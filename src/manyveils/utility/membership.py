"""Whether a release tells that somebody is in the data (slicing's membership disclosure)."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release import View
from manyveils.release.seal import BUCKET
from manyveils.utility.comparison import Comparison, Measures
from manyveils.utility.matching import COUNT, VALUE, Buckets, Ids, buckets_of

ENUMERATED = 4_000_000
SAMPLED = 40_000
TRIED = 200_000


@dataclass(frozen=True)
class Tuples:
    """Combinations of column values and how many buckets match each.

    An original weighs as many as it has rows; fake tuples weigh one each, or what they stand for in a sample.
    """

    matches: Ids
    is_original: NDArray[np.bool_]
    weight: NDArray[np.float64]

    @property
    def fakes(self) -> float:
        """How many combinations match some bucket and are not in the original."""
        return float(self.weight[~self.is_original].sum())


def membership(comparison: Comparison) -> Measures:
    """Count combinations that look like members and are none, and originals whose membership is certain.

    Tuples are combinations of all published attributes; they are counted for releases of one view without recodings.
    A value that a recoded view still shows as it is counts as shown.
    A tuple is singled out when the release proves that it is there: whatever the links inside the bucket are.
    """
    if not comparison.release.rows:
        return {}
    proven: Measures = {
        "singled_out": max(singled_out(comparison, view) for view in comparison.release.views)
    }
    if len(comparison.release.views) > 1 or comparison.release.reading.is_recoded:
        # A recoded or scattered tuple does not match value by value, so there is nothing to count.
        return proven
    tuples = tuples_of(comparison, comparison.release.views[0])
    fake = ~tuples.is_original
    return proven | {
        "fake_tuples": tuples.fakes,
        "matching_buckets_original": float(tuples.matches[tuples.is_original].mean())
        if tuples.is_original.any()
        else 0.0,
        "matching_buckets_fake": _mean(tuples.matches[fake], tuples.weight[fake]),
    }


def _mean(values: Ids, weights: NDArray[np.float64]) -> float:
    return float((values * weights).sum() / weights.sum()) if weights.sum() > 0 else 0.0


def tuples_of(comparison: Comparison, view: View) -> Tuples:
    """The distinct originals, and the fake tuples: all of them if they can be listed, otherwise a weighted sample.

    The sample picks a bucket by the number of its combinations and a combination in it; weighing each by one over
    the buckets that match it makes the sum an unbiased count of the different combinations (Karp and Luby).
    """
    buckets = buckets_of(comparison.release, view, frozenset(view.attributes))
    originals, rows = _original_tuples(comparison, buckets)
    fakes, weight = _fake_tuples(buckets, originals)
    tried, rows = _some(originals, rows)
    matches = np.append(buckets.matches(tried), buckets.matches(fakes))
    is_original = np.arange(matches.size) < tried.shape[1]
    return Tuples(matches, is_original, np.append(rows, weight))


def _some(originals: Ids, rows: NDArray[np.float64]) -> tuple[Ids, NDArray[np.float64]]:
    """All originals, or a random sample of very many, weighed so that it stands for all rows."""
    if originals.shape[1] <= TRIED:
        return originals, rows
    chosen = np.random.default_rng(0).choice(originals.shape[1], TRIED, replace=False)
    return originals[:, chosen], rows[chosen] * (rows.sum() / rows[chosen].sum())


def _fake_tuples(buckets: Buckets, originals: Ids) -> tuple[Ids, NDArray[np.float64]]:
    combinations = buckets.variety.astype(np.float64).prod(axis=0)
    listed = combinations.sum() <= ENUMERATED
    tuples, weight = _listed(buckets) if listed else _sampled(buckets, combinations)
    fresh = ~np.isin(_keys(tuples, buckets), _keys(originals, buckets))
    tuples, weight = tuples[:, fresh], weight[fresh]
    return tuples, weight if listed else weight / buckets.matches(tuples)


def _original_tuples(comparison: Comparison, buckets: Buckets) -> tuple[Ids, NDArray[np.float64]]:
    """The distinct tuples of the original as value numbers, and how many rows have each."""
    rows = _row_tuples(comparison, buckets)
    distinct = rows.group_by(rows.columns).len("rows").sort(rows.columns)
    return np.stack([distinct[name].to_numpy() for name in rows.columns]), distinct["rows"].to_numpy().astype(
        np.float64
    )


def _keys(tuples: Ids, buckets: Buckets) -> Ids | NDArray[np.float64]:
    key = np.zeros(tuples.shape[1], dtype=np.int64)
    for numbers, values in zip(tuples, buckets.values, strict=True):
        # Wraps around beyond 64 bits; two tuples that then share a key are one in 10^19.
        key = key * np.int64(2 * values.height + 3) + numbers + 1
    return key


def _listed(buckets: Buckets) -> tuple[Ids, NDArray[np.float64]]:
    """Every combination that matches some bucket."""
    joined = buckets.pairs[0].select(BUCKET, pl.col(VALUE).alias("c0"))
    for place, pairs in enumerate(buckets.pairs[1:], start=1):
        joined = joined.join(pairs.select(BUCKET, pl.col(VALUE).alias(f"c{place}")), on=BUCKET)
    distinct = joined.drop(BUCKET).unique()
    tuples = np.stack([distinct[name].to_numpy() for name in distinct.columns])
    return tuples, np.ones(tuples.shape[1])


def _sampled(buckets: Buckets, total: NDArray[np.float64]) -> tuple[Ids, NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(buckets.n_buckets, size=SAMPLED, p=total / total.sum()))
    tuples = []
    for pairs in buckets.pairs:
        ordered = pairs.sort(BUCKET, VALUE)
        starts = np.searchsorted(ordered[BUCKET].to_numpy(), np.arange(buckets.n_buckets + 1))
        lengths = np.diff(starts)[chosen]
        tuples.append(ordered[VALUE].to_numpy()[starts[chosen] + rng.integers(0, lengths)])
    return np.stack(tuples), np.full(SAMPLED, float(total.sum()) / SAMPLED)


def singled_out(comparison: Comparison, view: View) -> float:
    """The share of people whose quasi-identifiers the view proves to be in the data, however its columns are linked.

    If the counts of a tuple's values in a bucket add up to more than (columns - 1) times its rows, some row has them
    all. All values but one then fill more than half of the bucket, so there are few combinations to look at.
    """
    known = frozenset(comparison.quasi)
    if not known or not known <= set(view.attributes):
        return 0.0
    buckets = buckets_of(comparison.release, view, known)
    proven = pl.concat([_proven(buckets, free) for free in range(len(buckets.pairs))]).unique()
    originals = _row_tuples(comparison, buckets)
    return originals.join(proven, on=proven.columns, how="semi").height / max(originals.height, 1)


def _proven(buckets: Buckets, free: int) -> pl.DataFrame:
    """Combinations that must be there, in which all columns but one have the value of most rows of the bucket."""
    sizes = pl.DataFrame({BUCKET: np.arange(buckets.n_buckets), "size": buckets.sizes})
    joined = sizes.with_columns(slack=pl.col("size") - 1)
    for place, pairs in enumerate(buckets.pairs):
        part = pairs.rename({VALUE: f"c{place}"}).join(sizes, on=BUCKET)
        part = part if place == free else part.filter(2 * pl.col(COUNT) > pl.col("size"))
        joined = joined.join(part.drop("size"), on=BUCKET)
        joined = joined.with_columns(slack=pl.col("slack") - (pl.col("size") - pl.col(COUNT))).drop(COUNT)
        joined = joined.filter(pl.col("slack") >= 0)
    return joined.select(f"c{place}" for place in range(len(buckets.pairs)))


def _row_tuples(comparison: Comparison, buckets: Buckets) -> pl.DataFrame:
    """Every row of the original as value numbers; -1 where a value was recoded or is not published."""
    columns = {}
    for place, values in enumerate(buckets.values):
        names = [name for name in values.columns if name != VALUE]
        cells = pl.DataFrame(
            {
                name: pl.Series(comparison.table[name].texts).gather(comparison.table[name].codes)
                for name in names
            }
        )
        texts = values.select(*(pl.col(name).cast(pl.String).fill_null("") for name in names), VALUE)
        columns[f"c{place}"] = cells.join(texts, on=names, how="left", maintain_order="left")[
            VALUE
        ].fill_null(-1)
    return pl.DataFrame(columns)
