"""An attribute with values that only earlier releases have."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.table.attributes import Attribute
from manyveils.table.encode import encode_attribute


def widened(own: Attribute, more: Sequence[str], policy: Policy) -> tuple[Attribute, NDArray[np.int64]]:
    """The attribute with the texts of more values in its dictionary; and the code of each value it had, or that was added."""
    if not more:
        return own, np.arange(own.n_values)
    texts = pl.Series(own.name, [text or None for text in (*own.texts, *more)], dtype=pl.String)
    section = policy.attributes[own.name].model_copy(update={"kind": own.kind})
    [wide] = encode_attribute(texts, section, policy)
    return replace(wide, codes=wide.codes[own.codes]), wide.codes.astype(np.int64)
