"""The numbers of people per kind that are likeliest among very many worlds: iterative proportional fitting.

Every row in turn is scaled to the people that stand in it, over and over. Where the views hang together as a tree, or
there is one view only, this is the exact mean; elsewhere it is the estimate of least assumption, good for many people
and rough for few.
"""

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.worlds.blocks import Block
from manyveils.attacks.worlds.covers import Ids
from manyveils.attacks.worlds.effort import SCALING, Effort

LEAST_ROUNDS, MOST_ROUNDS = 20, 500
CLOSE = 1e-7


def fitted(
    rows: NDArray[np.int64], totals: Ids, ways: NDArray[np.float64], effort: Effort
) -> NDArray[np.float64]:
    """Weights in proportion to `ways` but for one factor per row, with which every row has its people, or nearly."""
    found = ways.astype(np.float64)
    for turn in range(MOST_ROUNDS):
        furthest = 0.0
        for each in rows:
            reached = np.bincount(each, weights=found, minlength=totals.size)
            factor = np.divide(totals, reached, out=np.zeros(totals.size), where=reached > 0)
            found = found * factor[each]
            furthest = max(furthest, float(np.abs(factor[each] - 1)[found > CLOSE].max(initial=0)))
        effort.spend(SCALING * (rows.size + totals.size))
        if furthest < CLOSE or (turn >= LEAST_ROUNDS and effort.is_spent):
            break
    return found


def fitted_block(block: Block, effort: Effort) -> NDArray[np.float64]:
    """The fit of one block, kept between the least and the most people of each kind."""
    return np.clip(fitted(block.rows, block.totals, block.ways, effort), block.low, block.high)
