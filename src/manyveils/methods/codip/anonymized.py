"""One projected table, anonymized: its classes, and how close and how linked its sensitive attributes are in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from manyveils.methods.generalize.objectives import squares
from manyveils.policy import Promise
from manyveils.policy.guarantees import Closeness, Ground, SupersetCloseness, exact
from manyveils.promises.distances import distances
from manyveils.promises.entries import Entries, Ids
from manyveils.promises.keeping import Watch, tallied, watch_counts
from manyveils.promises.work import Work
from manyveils.release import Recoding


@dataclass(frozen=True)
class Linked:
    """The confidence with which someone in a class can name a value, and what bounds it.

    `bound`: a class of n rows with l different values has none more than n - l + 1 times; the worst class speaks.
    """

    share: float
    bound: float
    fewest_values: int


@dataclass(frozen=True, repr=False)
class Anonymized:
    """What is published of the quasi-identifiers beside some sensitive attributes."""

    sizes: Ids
    closeness: Mapping[str, float]
    linked: Mapping[str, Linked]
    recodings: Mapping[str, Recoding] = field(repr=False, default_factory=dict)
    levels: Mapping[str, int] | None = None

    @property
    def discernibility(self) -> int:
        """The sum of squared class sizes."""
        return squares(self.sizes)


def watched(work: Work, promises: tuple[Promise, ...]) -> tuple[tuple[Watch, ...], dict[str, Watch]]:
    """Promises, and a measure of closeness for every sensitive column, by the ground that the policy names or its
    natural one; what they have in common is counted once.
    """
    gauges = tuple(
        Promise(Closeness(exact(1), _ground(work, name)), (), (name,), _harmless(work, name))
        for name in work.sensitive
    )
    found = watch_counts(work, (*promises, *gauges), (), work.quasi)
    return found[: len(promises)], dict(zip(work.sensitive, found[len(promises) :], strict=True))


def _ground(work: Work, name: str) -> Ground:
    for promise in work.promises:
        if promise.protects == (name,) and isinstance(promise.guarantee, Closeness | SupersetCloseness):
            return promise.guarantee.ground
    return "equal" if work.table[name].kind == "categorical" else "ordered"


def _harmless(work: Work, name: str) -> frozenset[str]:
    """Values that need no protection; not having a value of a multi-valued attribute needs none."""
    harmless = work.policy.attributes[work.table.home(name)].insensitive
    atom = work.table.atom(name)
    if atom is None:
        return frozenset(harmless)
    return frozenset({"0", "1"} if atom in harmless else {"0"})


def closeness(gauge: Watch, entries: Entries, sizes: Ids) -> float:
    """The largest distance of any class from the whole table."""
    assert isinstance(gauge.promise.guarantee, Closeness)
    distance, scale = distances(gauge.promise.guarantee.ground, tallied(gauge, entries, sizes)[0])
    return float((distance / scale).max(initial=0.0))


def linked(gauge: Watch, entries: Entries, sizes: Ids) -> Linked:
    """The worst confidence in any value that needs protection, over all classes."""
    tally, _ = tallied(gauge, entries, sizes)
    values = np.bincount(tally.owners, minlength=sizes.size)
    return Linked(
        float((tally.of_sensitive().largest()[:, 0] / sizes).max(initial=0.0)),
        float(((sizes - values + 1) / sizes).max(initial=0.0)),
        int(values.min(initial=values.max(initial=0))),
    )
