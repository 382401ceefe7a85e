"""What is believed of each target: counts where one bucket matches her, and shares where several do.

Where few buckets match, they are found one by one and weighed as a sparse product; where many do, as dense blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.reading.blocks import Believed, Offer, Values, believed_in, blocks_of, suits_blocks
from manyveils.reading.keys import Floats, Ids, combined, dense, example
from manyveils.reading.pairs import Pairs, Search
from manyveils.reading.slices import NO_UNIT, Slice
from manyveils.table.attributes import tally

LARGEST_BATCH = 1_000_000


@dataclass(frozen=True, repr=False)
class Beliefs:
    """What is believed of some targets.

    `sizes`: target, size: the rows of the protected column that may be the target's, over all buckets.
    `certain`: target, unit_0, …: those that only one bucket matches, with the matching rows in it.
    `shares`: target, part_0, …, share: what the others are believed to have.
    """

    sizes: pl.DataFrame
    certain: pl.DataFrame
    shares: pl.DataFrame


@dataclass(frozen=True, repr=False)
class Protected:
    """The columns that hold what is protected, the first of them in `table`, and the values of their units.

    `cells` has for each column: unit, part_…, count, size. Without cells only sizes are asked for.
    """

    table: str
    columns: Sequence[Slice]
    cells: Sequence[pl.DataFrame]

    @cached_property
    def n_cells(self) -> list[Ids]:
        """How many cells each unit of each column has."""
        columns = zip(self.columns, self.cells, strict=False)
        return [tally(own["unit"].to_numpy(), None, len(column.units.keys)) for column, own in columns]

    @cached_property
    def values(self) -> Values:
        """The values of the units of a single column, with one number for each combination of parts."""
        [cells] = self.cells
        parts = cells.select("^part_.*$")
        numbers = dense(combined([part.to_numpy() for part in parts]))
        share = (cells["count"] / cells["size"]).to_numpy()
        return Values(cells["unit"].to_numpy(), numbers, share, parts[example(numbers)])


def beliefs_of(search: Search, protected: Protected) -> Iterator[Beliefs]:
    """The beliefs about all targets that some bucket matches, a bounded number at a time."""
    if is_in_blocks(search, protected):
        others = search.slices.beside(protected.table)
        yield from _in_blocks(protected.columns[0], others, protected.values)
        return
    for pairs in search.pairs():
        for matches in _portions(_matched(pairs, protected.columns), protected):
            yield _believed(search, matches, protected)


def is_in_blocks(search: Search, protected: Protected) -> bool:
    """Whether so many buckets match that targets are looked at in dense blocks."""
    others = search.slices.beside(protected.table)
    return len(protected.cells) == 1 and suits_blocks(
        protected.columns[0], others, protected.values, search.n_pairs
    )


@dataclass(frozen=True, repr=False)
class Best:
    """The best score of the buckets that match some targets, their rows there, and the unit of whom only one matches."""

    target: Ids
    score: Ids
    size: Ids
    unit: Ids


def best_of(search: Search, table: str, column: Slice, scores: Ids) -> Iterator[Best]:
    """The best score of the units of a column that match each target, for all targets that some bucket matches."""
    one = np.ones(scores.size, dtype=np.int64)
    cells = pl.DataFrame({"unit": np.arange(scores.size), "part_0": scores, "count": one, "size": one})
    protected = Protected(table, [column], [cells])
    if is_in_blocks(search, protected):
        yield from (
            _best_in(beliefs, scores, len(search.slices.rows)) for beliefs in beliefs_of(search, protected)
        )
        return
    for pairs in search.pairs():
        matches = _matched(pairs, [column])
        starts, [units] = matches.starts, matches.units
        if starts.size:
            best, sizes = np.maximum.reduceat(scores[units], starts), np.add.reduceat(matches.counts, starts)
            only = np.where(matches.lengths == 1, units[starts], NO_UNIT)
            yield Best(matches.pairs.target[starts], best, sizes, only)


def _best_in(beliefs: Beliefs, scores: Ids, n_targets: int) -> Best:
    """The same from beliefs about the scores themselves."""
    best, only = np.zeros(n_targets, dtype=np.int64), np.full(n_targets, NO_UNIT, dtype=np.int64)
    certain, units = (beliefs.certain[name].to_numpy() for name in ("target", "unit_0"))
    best[certain], only[certain] = scores[units], units
    np.maximum.at(best, *(beliefs.shares[name].to_numpy() for name in ("target", "part_0")))
    target, sizes = (beliefs.sizes[name].to_numpy() for name in ("target", "size"))
    return Best(target, best[target], sizes, only[target])


@dataclass(frozen=True, repr=False)
class _Matches:
    """Pairs whose buckets have what their targets seek in the protected columns too: the units there, and their rows."""

    pairs: Pairs
    units: tuple[Ids, ...]
    counts: Ids

    def some(self, which: Ids | slice) -> "_Matches":
        """Some of the pairs."""
        return _Matches(self.pairs.some(which), tuple(own[which] for own in self.units), self.counts[which])

    @cached_property
    def starts(self) -> Ids:
        """Where the pairs of each target start."""
        return np.flatnonzero(np.diff(self.pairs.target, prepend=-1))

    @cached_property
    def lengths(self) -> Ids:
        """How many pairs each target has."""
        return np.diff(self.starts, append=len(self.pairs.target))


def _matched(pairs: Pairs, columns: Sequence[Slice]) -> _Matches:
    units = tuple(column.matching(pairs.target, pairs.bucket) for column in columns)
    counts = [column.units.counts[own] for column, own in zip(columns, units, strict=True)]
    is_match = np.min(units, axis=0) != NO_UNIT
    return _Matches(pairs, units, np.min(counts, axis=0)).some(np.flatnonzero(is_match))


def _portions(matches: _Matches, protected: Protected) -> Iterator[_Matches]:
    """Some targets at a time, of which those that several buckets match have a bounded number of cells."""
    n_cells = np.ones(len(matches.counts), dtype=np.int64)
    for counted, units in zip(protected.n_cells, matches.units, strict=False):
        n_cells *= counted[units]
    is_several = np.repeat(matches.lengths > 1, matches.lengths)
    reached = np.cumsum(n_cells * is_several)[matches.starts]
    cuts = matches.starts[1:][np.diff(reached // LARGEST_BATCH) > 0]
    bounds = np.concatenate([[0], cuts, [len(matches.counts)]])
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if start < stop:
            yield matches.some(slice(start, stop))


def _believed(search: Search, matches: _Matches, protected: Protected) -> Beliefs:
    """The beliefs about the targets of some pairs."""
    starts, lengths = matches.starts, matches.lengths
    sizes = {"target": matches.pairs.target[starts], "size": np.add.reduceat(matches.counts, starts)}
    single = starts[lengths == 1]
    units = {f"unit_{index}": own[single] for index, own in enumerate(matches.units)}
    certain = {"target": matches.pairs.target[single], **units}
    if not protected.cells:
        return Beliefs(pl.DataFrame(sizes), pl.DataFrame(certain), pl.DataFrame())
    several = matches.some(np.flatnonzero(np.repeat(lengths > 1, lengths)))
    mixed = _mixed if len(protected.cells) == 1 else _mixed_combinations
    shares = mixed(several, search.weights(several.pairs), protected)
    return Beliefs(pl.DataFrame(sizes), pl.DataFrame(certain), shares)


def _mixed(matches: _Matches, weight: Floats, protected: Protected) -> pl.DataFrame:
    """Add up, over the buckets of each target, what their matching rows have: one product of sparse tables."""
    from scipy import sparse  # Takes longer to load than most views to judge.

    values, pairs, n_units = protected.values, matches.pairs, len(protected.n_cells[0])
    ends = np.append(matches.starts, len(pairs.target))
    weights = sparse.csr_array((weight, matches.units[0], ends), shape=(len(matches.starts), n_units))
    first = np.append(0, np.cumsum(protected.n_cells[0]))
    offered = sparse.csr_array((values.share, values.value, first), shape=(n_units, values.n_values))
    mixed = weights @ offered
    targets = np.repeat(np.arange(len(matches.starts)), np.diff(mixed.indptr))
    totals = np.bincount(targets, weights=mixed.data, minlength=len(matches.starts))
    shares = pl.DataFrame({"target": pairs.target[matches.starts][targets]})
    return shares.hstack(values.parts[mixed.indices]).with_columns(share=mixed.data / totals[targets])


def _mixed_combinations(matches: _Matches, weight: Floats, protected: Protected) -> pl.DataFrame:
    """The same for combinations of values in several columns, which are independent inside a bucket."""
    units = {f"unit_{index}": own for index, own in enumerate(matches.units)}
    pairs = pl.DataFrame({"target": matches.pairs.target, **units, "weight": weight})
    for index, own in enumerate(protected.cells):
        odds = own.with_columns(odds=pl.col("count") / pl.col("size")).drop("count", "size")
        joined = pairs.join(odds.rename({"unit": f"unit_{index}"}), on=f"unit_{index}")
        pairs = joined.with_columns(weight=pl.col("weight") * pl.col("odds")).drop("odds")
    summed = pairs.group_by("target", "^part_.*$").agg(pl.col("weight").sum())
    totals = summed.group_by("target").agg(pl.col("weight").sum().alias("total"))
    joined = summed.join(totals, on="target")
    return joined.select("target", "^part_.*$", share=pl.col("weight") / pl.col("total"))


def _in_blocks(column: Slice, others: Sequence[Slice], values: Values) -> Iterator[Beliefs]:
    batch: list[Believed] = []
    n_cells = 0
    offer: Offer | None = None
    for block in blocks_of(column, others):
        if offer is None or offer.first != block.units[0]:
            offer = values.within(block.units)
        batch.append(believed_in(block, column.units.counts, offer))
        n_cells += len(batch[-1].target) + len(batch[-1].certain)
        if n_cells >= LARGEST_BATCH:
            yield _together(batch, values)
            batch, n_cells = [], 0
    if batch:
        yield _together(batch, values)


def _together(batch: Sequence[Believed], values: Values) -> Beliefs:
    def all_of(name: str) -> pl.Series:
        return pl.Series(name, np.concatenate([getattr(believed, name) for believed in batch]))

    shares = pl.DataFrame({"target": all_of("target")}).hstack(values.parts[all_of("value")])
    return Beliefs(
        pl.DataFrame({"target": all_of("matched"), "size": all_of("sizes")}),
        pl.DataFrame({"target": all_of("certain"), "unit_0": all_of("units")}),
        shares.with_columns(all_of("share")),
    )
