"""One projected table, anonymized: its groups, and how close and how linked its sensitive attributes are in them."""

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
class Gauged:
    """The largest distance of a group from the whole table, and the confidence with which a value can be named.

    `share` is the confidence in the worst group. `bound` is what bounds it: in a group of n rows with l different
    values none has more than n - l + 1.
    """

    closeness: float
    share: float
    bound: float
    fewest_values: int


@dataclass(frozen=True, repr=False)
class Anonymized:
    """What is published of the quasi-identifiers beside the sensitive attributes that are gauged."""

    sizes: Ids
    gauged: Mapping[str, Gauged]
    recodings: Mapping[str, Recoding] = field(repr=False, default_factory=dict)
    levels: Mapping[str, int] | None = None

    @property
    def discernibility(self) -> int:
        """The sum of squared group sizes."""
        return squares(self.sizes)

    @property
    def smallest(self) -> int:
        """The rows of the smallest group."""
        return int(self.sizes.min(initial=self.sizes.max(initial=0)))

    @property
    def closeness(self) -> float:
        """The largest distance of any attribute."""
        return max((gauged.closeness for gauged in self.gauged.values()), default=0.0)


def watch_gauges(work: Work, promises: tuple[Promise, ...]) -> tuple[tuple[Watch, ...], dict[str, Watch]]:
    """Promises, and a gauge of closeness for every sensitive attribute, by the ground that the policy names or its
    natural one; what they have in common is counted once.
    """
    gauges = tuple(
        Promise(Closeness(exact(1), _ground(work, name)), (), (name,), _insensitive(work, name))
        for name in work.sensitive
    )
    watches = watch_counts(work, (*promises, *gauges), (), work.quasi)
    return watches[: len(promises)], dict(zip(work.sensitive, watches[len(promises) :], strict=True))


def _ground(work: Work, name: str) -> Ground:
    for promise in work.promises:
        if promise.protects == (name,) and isinstance(promise.guarantee, Closeness | SupersetCloseness):
            return promise.guarantee.ground
    return "equal" if work.table[name].kind == "categorical" else "ordered"


def _insensitive(work: Work, name: str) -> frozenset[str]:
    """Values that need no protection; not having a value of a multi-valued attribute needs none."""
    insensitive = work.policy.attributes[work.table.home(name)].insensitive
    atom = work.table.atom(name)
    if atom is None:
        return frozenset(insensitive)
    return frozenset({"0", "1"} if atom in insensitive else {"0"})


def closeness(gauge: Watch, entries: Entries | None, sizes: Ids) -> float:
    """The largest distance of any group from the whole table."""
    assert isinstance(gauge.promise.guarantee, Closeness)
    assert entries is not None
    distance, scale = distances(gauge.promise.guarantee.ground, tallied(gauge, entries, sizes)[0])
    return float((distance / scale).max(initial=0.0))


def gauged_by(gauge: Watch, entries: Entries | None, sizes: Ids) -> Gauged:
    """What a gauge measures over all groups."""
    assert entries is not None
    tally, _ = tallied(gauge, entries, sizes)
    n_values = np.bincount(tally.owners, minlength=sizes.size)
    return Gauged(
        closeness(gauge, entries, sizes),
        float((tally.of_sensitive().largest()[:, 0] / sizes).max(initial=0.0)),
        float(((sizes - n_values + 1) / sizes).max(initial=0.0)),
        int(n_values.min(initial=n_values.max(initial=0))),
    )
