"""The original with values of an attribute that only earlier releases have."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.labels import Labels, unrecoded
from manyveils.table.encode import encode_attribute


@dataclass(frozen=True, repr=False)
class Widened:
    """The evidence with more values of an attribute, these values, and the code of each that it had, or that was added."""

    evidence: Evidence
    labels: Labels
    codes: Ids


def widened(evidence: Evidence, name: str, n_values: int) -> Widened:
    """The evidence with `n_values` values of an attribute; as it is where the original has so many."""
    own = evidence.original(name)
    if n_values == own.n_values:
        return Widened(evidence, unrecoded(own), np.arange(n_values))
    return evidence.remembered(("widened", name, (), ()), lambda: _widened(evidence, name))


def _widened(evidence: Evidence, name: str) -> Widened:
    own, earlier = evidence.original(name), evidence.table.earlier
    assert earlier is not None
    more = [text or None for text in earlier.held[name].more]
    texts = pl.Series(name, [*(text or None for text in own.texts), *more], dtype=pl.String)
    section = evidence.policy.attributes[name].model_copy(update={"kind": own.kind})
    [wide] = encode_attribute(texts, section, evidence.policy)
    codes = wide.codes.astype(np.int64)
    attributes = {**evidence.table.attributes, name: replace(wide, codes=wide.codes[own.codes])}
    table = replace(evidence.table, attributes=attributes)
    return Widened(Evidence(evidence.release, table, evidence.policy), unrecoded(attributes[name]), codes)
