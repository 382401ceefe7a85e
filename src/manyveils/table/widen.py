"""An attribute with values that only earlier releases have."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import InputError, PolicyError
from manyveils.policy import Policy
from manyveils.table.attributes import Attribute
from manyveils.table.encode import encode_attribute


def widened(own: Attribute, more: Sequence[str], policy: Policy) -> tuple[Attribute, NDArray[np.int64]]:
    """The attribute with the texts of more values in its dictionary; and the code of each value it had, or that was added."""
    if not more:
        return own, np.arange(own.n_values)
    texts = pl.Series(own.name, [text or None for text in (*own.texts, *more)], dtype=pl.String)
    section = policy.attributes[own.name].model_copy(update={"kind": own.kind})
    try:
        [wide] = encode_attribute(texts, section, policy)
    except InputError:
        # The table has no such cell, so that nobody should look for it there.
        where = f"{policy.name}: attributes.{own.name}.kind"
        what = f"earlier releases have values that are not {own.kind}, and nobody of the table has them any more."
        raise PolicyError.at(where, what, 'Set kind = "categorical".') from None
    return replace(wide, codes=wide.codes[own.codes]), wide.codes.astype(np.int64)
