"""How much sensitive attributes tell of each other, what a plan loses and exposes, and the plans that none betters in both."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels import frontier as kernel
from manyveils.policy import Policy
from manyveils.promises.entries import Ids, tally
from manyveils.table import Attribute, Table

MOST_PARTS = 16
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
    _within: dict[Members, tuple[int, int]] = field(default_factory=dict)

    def within(self, members: Members) -> tuple[int, int]:
        """What the pairs among some attributes share, and what they expose if they stand together."""
        if members not in self._within:
            block = np.ix_(members, members)
            self._within[members] = int(self.shared[block].sum()) // 2, int(self.exposed[block].sum()) // 2
        return self._within[members]

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
    if all(len(part) == 1 for part in parts):
        members = [part[0] for part in parts]
        return pairs[np.ix_(members, members)]
    member_of = np.zeros((len(parts), len(pairs)), dtype=np.int64)
    for number, part in enumerate(parts):
        member_of[number, list(part)] = 1
    return np.asarray(member_of @ pairs @ member_of.T)


def associate(
    table: Table, policy: Policy, names: Names, counts: Callable[[Names], Table] | None = None
) -> Association:
    """Count every pair of attributes once; everything else about plans follows from these counts.

    `counts` has tables of two attributes where nobody holds all rows.
    """
    entropies = np.array([entropy(table[name].counts) for name in names])
    concerned = np.array([_sensitive_share(table[name], table, policy) for name in names])
    is_bit = np.array([table.atom(name) is not None and counts is None for name in names], dtype=bool)
    bits = np.flatnonzero(is_bit)
    information = np.zeros((len(names),) * 2)
    information[np.ix_(bits, bits)] = _information_of_bits(table, tuple(names[bit] for bit in bits))
    for i, j in combinations(range(len(names)), 2):
        if not (is_bit[i] and is_bit[j]):
            pair = names[i], names[j]
            shared = mutual_information(table if counts is None else counts(pair), *pair)
            information[i, j] = information[j, i] = shared
    # Summed over joint values, only the shares of rows with a sensitive value in i, and in j, remain.
    left = concerned[:, np.newaxis] * np.maximum(entropies[:, np.newaxis] - information, 0.0)
    exposable = left + left.T
    np.fill_diagonal(exposable, 0.0)
    return Association(names, information, _whole(information), _whole(exposable))


def _information_of_bits(table: Table, names: Names) -> Matrix:
    """What 0/1 attributes tell of each other in pairs, from the values that people have together.

    Claim: it is the mutual information of each pair, to the last digit.
    Why: how many people have both, and how many have each, are all four counts of a pair; they are added up in the
    order of their size as elsewhere, and counts of nothing add nothing.
    Tested by: tests/claims/test_codip.py
    """
    have, both = _together(table, names)
    alone = np.array([entropy(table[name].counts) for name in names])
    cells = [both, have[:, np.newaxis] - both, have - both]
    counts = np.sort(np.stack([*cells, table.n_people - sum(cells)]), axis=0)
    terms = counts * np.log(np.maximum(counts, 1))
    summed = ((terms[0] + terms[1]) + terms[2]) + terms[3]
    joint = np.where(counts[2] > 0, np.log(table.n_people) - summed / table.n_people, 0.0)
    information: Matrix = np.maximum(alone[:, np.newaxis] + alone - joint, 0.0)
    # The first of a pair is added first.
    information = np.triu(information, k=1)
    return information + information.T


def _together(table: Table, names: Names) -> tuple[Ids, Ids]:
    """How many people have each of some values, and how many have each two of them."""
    from scipy.sparse import csr_array  # Takes longer to load than most tables to publish.

    holders = [np.flatnonzero(table[name].codes) for name in names]
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *holders])
    starts = np.cumsum([0, *map(len, holders)])
    weights = np.ones(rows.size, dtype=np.int64) if table.weights is None else table.weights[rows]
    shape = len(names), table.n_rows
    has = csr_array((np.ones(rows.size, dtype=np.int64), rows, starts), shape=shape)
    both = (csr_array((weights, rows, starts), shape=shape) @ has.T).toarray()
    return np.diag(both).copy(), both


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


@dataclass(frozen=True)
class Frontier:
    """The plans, from the least exposure to the least loss, as the kernel lists them."""

    parts: Plan
    n_attributes: int
    totals: tuple[int, int]
    starts: Ids
    costs: Ids
    gains: Ids
    firsts: Ids
    rests: Ids

    @property
    def points(self) -> list[tuple[float, float, int]]:
        """Association loss, information exposure and number of tables of every plan."""
        return [
            (float(self.loss(index)), float(self.exposure(index)), len(self.plan(index)))
            for index in self.indices
        ]

    @property
    def indices(self) -> range:
        """The indices of the plans of all attributes."""
        return range(int(self.starts[-2]), int(self.starts[-1]))

    def loss(self, index: int) -> Fraction:
        """The association loss ratio of a plan."""
        return 1 - Fraction(int(self.gains[index]), self.totals[0]) if self.totals[0] else Fraction(0)

    def exposure(self, index: int) -> Fraction:
        """The information exposure ratio of a plan."""
        scale = self.totals[1] * self.n_attributes
        return Fraction(int(self.costs[index]), scale) if scale else Fraction(0)

    def plan(self, index: int) -> Plan:
        """The plan itself."""
        plan: list[Members] = []
        while index:
            plan.append(_united(self.parts, int(self.firsts[index])))
            index = int(self.rests[index])
        return tuple(sorted(plan))

    def best_within(self, beta: Fraction) -> int | None:
        """The plan that loses least among those that expose no more than beta."""
        within = (index for index in self.indices if self.exposure(index) <= beta + TOLERANCE)
        return max(within, default=None)

    def least_exposed(self, alpha: Fraction) -> int | None:
        """The plan that exposes least among those that lose no more than alpha."""
        return min((index for index in self.indices if self.loss(index) <= alpha + TOLERANCE), default=None)


def _united(parts: Plan, mask: int) -> Members:
    """The members of the parts whose bits are set."""
    return tuple(sorted(member for number, part in enumerate(parts) if mask >> number & 1 for member in part))


def frontier_of(
    association: Association,
    parts: Plan,
    fits: Fits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Frontier:
    """Work out the frontier of the plans whose tables put some of `parts` together; without `fits`, of all.

    Claim: for every plan of tables that fit, some plan listed loses no more and exposes no more.
    Why: both ratios are sums over tables, in whole numbers; see the kernel.
    Tested by: tests/claims/test_codip.py
    """
    gains, costs = _weights(association, parts)
    allowed = np.ones(gains.size, dtype=bool) if fits is None else _fitting(parts, fits, progress)
    plans = kernel.frontier(gains, costs, allowed)
    return Frontier(parts, len(association.names), association.totals, *plans)


def _weights(association: Association, parts: Plan) -> tuple[Ids, Ids]:
    """What each set of parts shares as one table, and what it exposes times its attributes."""
    shared = _sums(sums_between(association.shared, parts))
    exposed = _sums(sums_between(association.exposed, parts))
    return shared, exposed * _sums(np.diag([2 * len(part) for part in parts]))


def _sums(between: Ids) -> Ids:
    """For every set of parts, the sum over pairs inside it; `between` counts those inside one part twice."""
    sums = np.zeros(1 << len(between), dtype=np.int64)
    for number, row in enumerate(between):
        low = 1 << number
        holds = np.arange(low)[:, np.newaxis] >> np.arange(number) & 1
        sums[low : 2 * low] = sums[:low] + holds @ row[:number] + row[number] // 2
    return sums


def _fitting(parts: Plan, fits: Fits, progress: Callable[[float], None]) -> NDArray[np.bool_]:
    """Which sets of parts can be anonymized as one table; a set is asked for only if all smaller ones can."""
    n_masks = 1 << len(parts)
    allowed = np.zeros(n_masks, dtype=bool)
    allowed[0] = True
    for mask in range(1, n_masks):
        smaller = (mask ^ 1 << number for number in range(len(parts)) if mask >> number & 1)
        if all(allowed[without] for without in smaller):
            allowed[mask] = fits(_united(parts, mask))
        if mask % 256 == 0:
            progress(mask / n_masks)
    return allowed
