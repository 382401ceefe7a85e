"""How varied a group must be, before anything is counted."""

from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Linkability,
    RecursiveDiversity,
)


def variety(promise: Promise) -> int:
    """How many different values a group needs, at least, to keep a promise."""
    match promise.guarantee:
        case DistinctDiversity(l=l) | FrequencyDiversity(l=l) | EntropyDiversity(l=l):
            return l
        case RecursiveDiversity(c=c, l=l):
            return l + int(1 / c)
        case CappedShare(alpha=bound) | Linkability(epsilon=bound):
            return -(-bound.denominator // bound.numerator)
        case KAnonymity():
            return 1
        case _:
            return 2
