"""Loss: how much of its attribute's domain a published cell leaves open (0 the value itself, 1 all of it).

ARX's measure: (leaves under the label - 1) / (leaves - 1), and 1 in every cell of a row that is left out.
"""

import polars as pl

from manyveils.utility.comparison import Comparison, Measures, mean_of_attributes, mean_per_cell
from manyveils.utility.coverage import IS_VALUE, Coverage
from manyveils.utility.leaves import leaves_by_name, members, n_leaves, span


def loss(comparison: Comparison) -> Measures:
    """Average the loss of a cell for each quasi-identifier and over all; granularity is what is left."""
    by_attribute = mean_per_cell(comparison, loss_of_labels)
    lost = mean_of_attributes(comparison, by_attribute)
    return {"loss": lost, "loss_by_attribute": by_attribute, "granularity": 1.0 - lost}


def loss_of_labels(view: Coverage) -> pl.Series:
    """Measure each label: by its name in a written hierarchy, its span, its members, or what it covers."""
    by_name = leaves_by_name(view.column, view.lines)
    labels = view.labels.join(by_name, on=["label", "level"], how="left", maintain_order="left")
    leaves = pl.coalesce(pl.when("named").then("leaves"), members(view), "covered")
    share = (leaves - 1) / max(n_leaves(view) - 1, 1)
    is_written = pl.col("named") & pl.lit(view.lines is not None)
    cost = pl.when(is_written).then(share).otherwise(pl.coalesce(span(view), share, 1.0))
    return labels.select(
        pl.when("hidden").then(1.0).when(IS_VALUE).then(0.0).otherwise(cost).clip(0.0, 1.0).alias("loss")
    ).to_series()
