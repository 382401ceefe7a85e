"""The original with values of an attribute that only earlier releases have."""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.labels import Labels, unrecoded
from manyveils.table.widen import widened as wider


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
    wide, codes = wider(own, earlier.held[name].more, evidence.policy)
    attributes = {**evidence.table.attributes, name: wide}
    table = replace(evidence.table, attributes=attributes)
    return Widened(Evidence(evidence.release, table, evidence.policy), unrecoded(attributes[name]), codes)
