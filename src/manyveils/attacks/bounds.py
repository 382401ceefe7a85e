"""How sure of a value the policy lets anybody be.

Frequency l, alpha, linkability, t with equal ground, beta and delta cap the belief in a value.
Distinct, entropy and recursive l and the others do not, nor does a cap that allows certainty; there, somebody is taken
to be known too well when more than half of the doubt that everybody has without the release is gone: above (1 + p) / 2
for a value of share p. Nobody promises this, and going beyond it breaks no promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.attacks.people import Bools, Floats
from manyveils.errors import ManyveilsError
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    FrequencyDiversity,
    Likeness,
    Linkability,
)
from manyveils.table import Attribute, Table, resolve

UNPROMISED = "half of the doubt, since no promise caps it"


@dataclass(frozen=True, repr=False)
class Caps:
    """The most belief in each value of an attribute, which of these caps are promised, and by what."""

    values: Floats
    promised: Bools
    words: str

    def at(self, codes: np.ndarray) -> Floats:
        """The cap of each person's value; of a value the data do not have, half of the doubt."""
        return np.where(codes >= 0, self.values[np.maximum(codes, 0)], 0.5)

    def is_promised(self, codes: np.ndarray) -> Bools:
        """Whether the cap of each person's value is promised."""
        return np.where(codes >= 0, self.promised[np.maximum(codes, 0)], False)


def half_the_doubt(before: Floats) -> Floats:
    """The belief that is left of nothing but half of the doubt there was.

    >>> half_the_doubt(np.array([0.0, 0.5])).tolist()
    [0.5, 0.75]
    """
    return (1.0 + before) / 2.0


def promises_about(policy: Policy, table: Table) -> tuple[Promise, ...]:
    """The promises of a policy; none where they contradict each other or the data."""
    try:
        return resolve(policy, table)
    except ManyveilsError:
        return ()


def caps_of(promises: Sequence[Promise], column: Attribute, known: Sequence[str]) -> Caps:
    """The strictest cap on one column that promises set for those who know this much; half of the doubt where none does."""
    shares = column.counts / max(int(column.counts.sum()), 1)
    caps, words = np.full(column.n_values, np.inf), []
    for promise in promises:
        if promise.protects == (column.name,) and {*known} <= {*promise.given}:
            own = _caps(promise, column, shares)
            if own is not None:
                caps = np.minimum(caps, own)
                words.append(promise.guarantee.kind)
    promised = caps < 1.0
    kinds = list(dict.fromkeys(words)) if promised.any() else []
    if not promised.all():
        kinds.append(UNPROMISED)
    return Caps(np.where(promised, caps, half_the_doubt(shares)), promised, ", or ".join(kinds))


def _caps(promise: Promise, column: Attribute, shares: Floats) -> Floats | None:
    guarantee = promise.guarantee
    every = np.ones(column.n_values)
    if isinstance(guarantee, FrequencyDiversity):
        return every / guarantee.l
    if isinstance(guarantee, Linkability):
        return every * float(guarantee.epsilon)
    if isinstance(guarantee, CappedShare):
        listed = np.array([not guarantee.values or text in guarantee.values for text in column.texts])
        return np.where(listed, float(guarantee.alpha), np.inf)
    if isinstance(guarantee, Closeness) and guarantee.ground == "equal":
        return np.minimum(shares + float(guarantee.t), 1.0)
    if isinstance(guarantee, Likeness):
        gain = np.minimum(float(guarantee.beta), -np.log(np.maximum(shares, 1e-300)))
        return np.minimum(shares * (1 + gain), 1.0)
    if isinstance(guarantee, Disclosure):
        return np.minimum(shares * np.exp(float(guarantee.delta)), 1.0)
    return None
