"""How much sensitive attributes tell of each other, and what a plan loses and exposes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.promises.entries import Ids, tally
from manyveils.table import Attribute, Table

Matrix = NDArray[np.float64]
Names = tuple[str, ...]
Members = tuple[int, ...]
Plan = tuple[Members, ...]
Fits = Callable[[Members], bool]
ONE = 2**40
# What rounding to whole numbers may add up to, far below any threshold a policy can name.
TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, repr=False)
class Association:
    """Mutual information and exposable information of every pair of attributes.

    `information` is in nats; `shared` and `exposed` are whole numbers in proportion to mutual and exposable
    information, so that sums over pairs do not depend on their order and equal plans are equal.
    """

    names: tuple[str, ...]
    information: Matrix
    shared: Ids
    exposed: Ids

    def within(self, members: Members) -> tuple[int, int]:
        """What the pairs among some attributes share, and what they expose if they stand together."""
        block = np.ix_(members, members)
        return int(self.shared[block].sum()) // 2, int(self.exposed[block].sum()) // 2

    @property
    def totals(self) -> tuple[int, int]:
        """The same for all pairs."""
        return self.within(tuple(range(len(self.names))))

    def loss(self, plan: Plan) -> Fraction:
        """The association loss ratio: the part of all mutual information that is between tables."""
        total = self.totals[0]
        return 1 - Fraction(sum(self.within(part)[0] for part in plan), total) if total else Fraction(0)

    def exposure(self, plan: Plan) -> Fraction:
        """The information exposure ratio: what stands together, weighed by the share of attributes it stands with."""
        total = self.totals[1]
        if not total:
            return Fraction(0)
        return Fraction(sum(self.within(part)[1] * len(part) for part in plan), total * len(self.names))


def sums_between(pairs: Ids, parts: Plan) -> Ids:
    """The sum over the pairs between every two parts; between a part and itself every pair counts twice."""
    member_of = np.zeros((len(parts), len(pairs)), dtype=np.int64)
    for number, part in enumerate(parts):
        member_of[number, list(part)] = 1
    return np.asarray(member_of @ pairs @ member_of.T)


def associate(
    table: Table, policy: Policy, names: Names, counts: Callable[[Names], Table] | None = None
) -> Association:
    """Count every pair of attributes once; everything else about plans follows from these counts."""
    entropies = [entropy(table[name].counts) for name in names]
    concerned = [_sensitive_share(table[name], table, policy) for name in names]
    information, exposable = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    for i, j in combinations(range(len(names)), 2):
        pair = names[i], names[j]
        shared = mutual_information(table if counts is None else counts(pair), *pair)
        # Summed over joint values, only the shares of rows with a sensitive value in i, and in j, remain.
        exposed = sum(concerned[member] * max(entropies[member] - shared, 0.0) for member in (i, j))
        information[i, j] = information[j, i] = shared
        exposable[i, j] = exposable[j, i] = exposed
    return Association(names, information, _whole(information), _whole(exposable))


def mutual_information(table: Table, name: str, beside: str) -> float:
    """How much two attributes tell of each other, in nats."""
    first, second = table[name], table[beside]
    keys = first.codes.astype(np.int64) * second.n_values + second.codes
    _, counts = tally(keys, first.n_values * second.n_values, table.weights)
    return max(entropy(first.counts) + entropy(second.counts) - entropy(counts), 0.0)


def entropy(counts: Ids) -> float:
    """The entropy of counts, in nats.

    >>> round(entropy(np.array([1, 1])), 6)
    0.693147
    """
    # In order of size, so that sums do not depend on how values are called.
    present = np.sort(counts[counts > 0])
    total = int(present.sum())
    return float(np.log(total) - (present * np.log(present)).sum() / total) if present.size > 1 else 0.0


def _whole(pairs: Matrix) -> Ids:
    total = float(pairs.sum()) / 2
    # Less than a billionth of a nat in all is rounding, not association.
    scale = ONE / total if total > 1e-9 else 0.0
    return np.rint(pairs * scale).astype(np.int64)


def _sensitive_share(attribute: Attribute, table: Table, policy: Policy) -> float:
    """The share of rows whose value of an attribute needs protection."""
    insensitive = policy.attributes[table.home(attribute.name)].insensitive
    atom = table.atom(attribute.name)
    if atom is not None:
        # A derived attribute tells of one value, and both answers are sensitive if the value is.
        return float(atom not in insensitive)
    spared = np.array([text in insensitive for text in attribute.texts], dtype=np.int64)
    return 1 - float(attribute.counts @ spared) / max(table.n_people, 1)
