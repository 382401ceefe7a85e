"""What an optimal generalization makes small, and how much a node must cost at least."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.lattice import Counted, Lattice, Node
from manyveils.promises.entries import Ids

Grid = NDArray[np.float64]


class Objective:
    """A cost of nodes. Claims of it: `floor` and `bound` never fall on the way up, and never exceed `cost`.

    `sums` are costs of every attribute's levels whose sum a node costs at least; with several attributes left out of
    account, or less lost, it costs no more. Without `sums` little is known before a node is counted.
    `guide` says where cheap nodes are likely; it decides the order of the search and nothing else.
    """

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._n_rows = int(lattice.base.sizes.sum())
        self.sums: list[Grid] = []

    @cached_property
    def floor(self) -> Grid:
        """What every node costs at least."""
        return _sum_grid(self.sums, self._lattice.shape)

    @cached_property
    def guide(self) -> Grid:
        """How much every node is likely to cost, beside others."""
        return self.floor if self.sums else _collisions(self._lattice)

    def least(self, node: Node) -> float:
        """What a node costs at least, before it is counted."""
        # In the order of `floor`, so that both are the same to the last bit.
        return sum((float(costs[level]) for costs, level in zip(self.sums, node, strict=False)), start=0.0)

    def bound(self, counted: Counted) -> float:
        """What this node and every coarser one costs at least."""
        return self.least(counted.node)

    def cost(self, counted: Counted, lost: Ids) -> float:
        """What the node costs when so many rows of every group are suppressed."""
        return self.bound(counted)

    def per_lost_row(self, limit: int) -> Grid:
        """What each suppressed row adds to `bound` at least, at every node, if so much may be suppressed."""
        return np.zeros(self._lattice.shape)

    def beyond(self, node: Node, lost: Ids, limit: int) -> float:
        """What a node costs at least beyond `bound` if so many rows of the lattice's bottom groups are suppressed there."""
        return 0.0

    def whatever(self, least_rows: int) -> float:
        """What every node costs at least if groups need so many rows."""
        return 0.0


class Loss(Objective):
    """Mean share of the domain a published value covers; a suppressed row loses everything."""

    def __init__(self, lattice: Lattice) -> None:
        super().__init__(lattice)
        self._losses = [[level.loss for level in column.levels.each] for column in lattice.columns]
        # Rounding must not make a coarser level look cheaper.
        self.sums = [np.maximum.accumulate(_level_sums(lattice, i)) for i in range(len(lattice.columns))]

    def cost(self, counted: Counted, lost: Ids) -> float:
        """The loss without suppression, and what suppressed rows lose beyond it."""
        extra, some = 0.0, lost > 0
        if some.any():
            for index, level in enumerate(counted.node):
                kept_share = 1.0 - self._losses[index][level][counted.labels[index][some]]
                extra += float(kept_share @ lost[some])
        return self.bound(counted) + extra

    def per_lost_row(self, limit: int) -> Grid:
        """What a row keeps at a node at least, which it loses when suppressed."""
        worst = [np.array([float(loss.max()) for loss in losses]) for losses in self._losses]
        # A hair less, so that rounding in sums cannot prune the optimum.
        return (len(self.sums) - _sum_grid(worst, self._lattice.shape)) * (1 - 1e-9)

    def beyond(self, node: Node, lost: Ids, limit: int) -> float:
        """What the rows that must go would have kept there."""
        some = lost > 0
        labels, sizes = self._lattice.base.labels[:, some], lost[some]
        kept = (1.0 - self._at_base[i][level][labels[i]] for i, level in enumerate(node))
        return sum((float(share @ sizes) for share in kept), start=0.0) * (1 - 1e-9)

    @cached_property
    def _at_base(self) -> list[list[NDArray[np.float64]]]:
        """What every label of the bottom loses at each level."""
        return [
            [level.loss[column.levels.climb(0, number)] for number, level in enumerate(column.levels.each)]
            for column in self._lattice.columns
        ]


class Height(Objective):
    """The sum of levels; suppression costs nothing within its limit."""

    def __init__(self, lattice: Lattice) -> None:
        super().__init__(lattice)
        self.sums = [np.arange(size, dtype=np.float64) for size in lattice.shape]


class Discernibility(Objective):
    """The sum of squared group sizes; a suppressed row counts as many as there are rows."""

    def bound(self, counted: Counted) -> float:
        """The squares of all groups: merging adds to them, and suppressing a group costs more than its square.

        Where persons go, rows may be suppressed out of a group that stays. That may cost less than their part of the
        square if the group has more than half of all rows: it is then counted as if all rows went that make it cheaper.
        """
        if self._lattice.persons is None:
            return float(squares(counted.sizes))
        beyond = np.maximum(counted.sizes - (self._n_rows + 1) // 2, 0)
        return float(squares(counted.sizes - beyond) + int(beyond.sum()) * self._n_rows)

    def cost(self, counted: Counted, lost: Ids) -> float:
        """Squares of published groups, and the whole table's size for each suppressed row."""
        return float(squares(counted.sizes - lost) + int(lost.sum()) * self._n_rows)

    def per_lost_row(self, limit: int) -> Grid:
        """The table's size, less what the row's group, no larger than the limit, took in the bound."""
        return np.full(self._lattice.shape, float(self._per_lost(limit)))

    def beyond(self, node: Node, lost: Ids, limit: int) -> float:
        """As much for each row that must go."""
        return float(lost.sum()) * self._per_lost(limit)

    def _per_lost(self, limit: int) -> int:
        """Nothing where persons go, for they may leave a group of any size."""
        return self._n_rows - limit if self._lattice.persons is None else 0

    def whatever(self, least_rows: int) -> float:
        """Every row counts as many as its group has, or all if it is suppressed."""
        return float(self._n_rows * min(least_rows, self._n_rows))


class ClassSize(Objective):
    """Rows of the table for each published group; how many groups are lost does not follow from lost rows."""

    def bound(self, counted: Counted) -> float:
        """As if every group were published."""
        return self._n_rows / counted.sizes.size

    def cost(self, counted: Counted, lost: Ids) -> float:
        """Rows of the table for each group that is published."""
        published = int((lost < counted.sizes).sum())
        return self._n_rows / published if published else float("inf")

    def whatever(self, least_rows: int) -> float:
        """No more groups than fit."""
        return float(least_rows)


OBJECTIVES: dict[str, type[Objective]] = {
    "loss": Loss,
    "height": Height,
    "discernibility": Discernibility,
    "class-size": ClassSize,
}


def squares(sizes: Ids) -> int:
    """The sum of squared group sizes."""
    return int((sizes * sizes).sum())


def _collisions(lattice: Lattice) -> Grid:
    """The log of the sum of squared group sizes, if attributes were independent."""
    sums = []
    for index, column in enumerate(lattice.columns):
        counts = np.bincount(lattice.base.labels[index], weights=lattice.base.sizes)
        shares = counts / max(counts.sum(), 1)
        climbs = [
            np.bincount(column.levels.climb(0, level), weights=shares) for level in range(len(column.levels))
        ]
        sums.append(np.array([np.log(np.square(share).sum()) for share in climbs]))
    return _sum_grid(sums, lattice.shape)


def _level_sums(lattice: Lattice, index: int) -> Grid:
    counts = np.bincount(lattice.base.labels[index], weights=lattice.base.sizes)
    levels = lattice.columns[index].levels
    return np.array(
        [float(level.loss[levels.climb(0, number)] @ counts) for number, level in enumerate(levels.each)],
        dtype=np.float64,
    )


def _sum_grid(sums: list[Grid], shape: tuple[int, ...]) -> Grid:
    grid = np.zeros(shape)
    for axis, values in enumerate(sums):
        # Rounding must not make a coarser level look cheaper.
        rising = np.maximum.accumulate(values)
        grid += rising.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return grid
