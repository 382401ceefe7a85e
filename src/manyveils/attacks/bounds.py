"""How sure of a value the policy lets anybody be.

Frequency l, alpha, linkability, t with equal ground, beta and delta cap the belief in a value.
Distinct, entropy and recursive l and the others do not, nor does a cap that allows certainty; there, somebody is taken
to be known too well when more than half of the doubt that everybody has without the release is gone: above (1 + p) / 2
for a value of share p. Nobody promises this, and going beyond it breaks no promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.attacks.people import Bools, Floats, Ids, looked_up
from manyveils.errors import ManyveilsError
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Guarantee
from manyveils.table import Attribute, Table, resolve

UNPROMISED = "half of the doubt, since no promise caps it"


@dataclass(frozen=True, repr=False)
class Bound:
    """How much may be believed of each value or each person, where that is promised, and what it is in words."""

    cap: Floats
    promised: Bools
    words: str

    def of(self, codes: Ids) -> "Bound":
        """The bound of each person, by the bounds of values; of a value the data do not have, half of the doubt."""
        promised = looked_up(self.promised, codes, otherwise=False)
        return Bound(looked_up(self.cap, codes, 0.5), promised, self.words)


def even_bound(n: int, cap: float, words: str, *, is_promised: bool) -> Bound:
    """The same bound for n people."""
    return Bound(np.full(n, cap), np.full(n, is_promised), words)


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


def promised_to(promises: Sequence[Promise], about: str, known: Sequence[str]) -> list[Guarantee]:
    """What is promised of an attribute to those who know this much."""
    return [
        promise.guarantee
        for promise in promises
        if promise.protects == (about,) and {*known} <= {*promise.given}
    ]


def bounds_of_values(promises: Sequence[Promise], attribute: Attribute, known: Sequence[str]) -> Bound:
    """The strictest cap that promises set for those who know this much; half of the doubt where none does."""
    shares = attribute.counts / max(int(attribute.counts.sum()), 1)
    caps, kinds = np.full(attribute.n_values, np.inf), dict[str, None]()
    for guarantee in promised_to(promises, attribute.name, known):
        pairs = zip(shares.tolist(), attribute.texts, strict=True)
        own = [guarantee.most_belief(share, text) for share, text in pairs]
        if min(own, default=np.inf) < np.inf:
            caps = np.minimum(caps, own)
            kinds[guarantee.kind] = None
    promised = caps < 1.0
    words = [*(kinds if promised.any() else ()), *([] if promised.all() else [UNPROMISED])]
    return Bound(np.where(promised, caps, half_the_doubt(shares)), promised, ", or ".join(words))
