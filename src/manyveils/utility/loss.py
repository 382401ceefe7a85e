"""Loss: how much of its attribute's domain a published cell leaves open (0 the value itself, 1 all of it).

ARX's measure: (leaves under the label - 1) / (leaves - 1), and 1 in every cell of a row that is left out.
"""

import numpy as np

from manyveils.reading.cover import Floats
from manyveils.utility.comparison import Comparison, Measures, mean_of_attributes, mean_per_cell
from manyveils.utility.coverage import Coverage, first_known


def loss(comparison: Comparison) -> Measures:
    """Average the loss of a cell for each quasi-identifier and over all; granularity is what is left."""
    by_attribute = mean_per_cell(comparison, loss_of_labels)
    lost = mean_of_attributes(comparison, by_attribute)
    return {"loss": lost, "loss_by_attribute": by_attribute, "granularity": 1.0 - lost}


def loss_of_labels(view: Coverage) -> Floats:
    """Measure each label: by its name in a written hierarchy, its span, or what it covers."""
    by_name = view.leaves_by_name()
    share = (first_known(by_name, view.covered()) - 1) / max(view.n_leaves - 1, 1)
    is_written = ~np.isnan(by_name) & (view.lines is not None)
    cost = np.where(is_written, share, first_known(view.spans(), share, 1.0))
    return np.clip(np.select([view.hidden, view.is_value], [1.0, 0.0], cost), 0.0, 1.0)
