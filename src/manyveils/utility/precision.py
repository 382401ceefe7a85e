"""Precision: how far up its hierarchy a published cell stands (Sweeney's Prec), and a release's height."""

from math import fsum

from manyveils.reading.cover import Floats
from manyveils.utility.comparison import Comparison, Measures, mean_of_attributes, mean_per_cell
from manyveils.utility.coverage import Coverage


def precision(comparison: Comparison) -> Measures:
    """Average 1 - level / top level over the quasi-identifiers' cells, and sum their mean levels as height.

    A range or a set stands at the lowest level with one label for all it covers, a row left out at the top.
    """
    climbed = mean_per_cell(comparison, _share_climbed)
    levels = (share * (len(comparison.table[name].levels) - 1) for name, share in climbed.items())
    return {"precision": 1.0 - mean_of_attributes(comparison, climbed), "height": fsum(levels)}


def _share_climbed(view: Coverage) -> Floats:
    return view.levels[0] / view.height
