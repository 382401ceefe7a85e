"""Every guarantee for persons with several rows, in plain Python: slow, and straight from the definition.

A group is a list of pairs: whose row it is, and its value as text. The table is another such list.
With one row per person every function says what `oracles` says. It imports none of the makers' or judges' code.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Guarantee,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
)

Row = tuple[Hashable, str]
Rows = Sequence[Row]
Distribution = dict[str, Fraction]


def persons(group: Rows) -> set[Hashable]:
    """The different persons of a group."""
    return {person for person, _ in group}


def holders(group: Rows, value: str) -> set[Hashable]:
    """The persons with a value in at least one of their rows in the group."""
    return {person for person, own in group if own == value}


def share(group: Rows, value: str) -> Fraction:
    """Holders of a value over persons."""
    return Fraction(len(holders(group, value)), len(persons(group)))


def distribution(group: Rows) -> Distribution:
    """Each person weighs 1, spread evenly over her rows in the group."""
    rows_of: dict[Hashable, int] = {}
    for person, _ in group:
        rows_of[person] = rows_of.get(person, 0) + 1
    weights: Distribution = {}
    for person, value in group:
        weights[value] = weights.get(value, Fraction(0)) + Fraction(1, rows_of[person])
    return {value: weight / len(rows_of) for value, weight in weights.items()}


def matched(group: Rows) -> int:
    """The edges of a maximum matching between persons and the values in their rows."""
    values_of: dict[Hashable, list[str]] = {}
    for person, value in dict.fromkeys(group):
        values_of.setdefault(person, []).append(value)
    holder: dict[str, Hashable] = {}

    def placed(person: Hashable, tried: set[str]) -> bool:
        for value in values_of[person]:
            if value not in tried:
                tried.add(value)
                if value not in holder or placed(holder[value], tried):
                    holder[value] = person
                    return True
        return False

    return sum(placed(person, set()) for person in values_of)


def spread(group: Rows) -> float:
    """The largest of everybody's least number, less the smallest of everybody's greatest."""
    numbers: dict[Hashable, list[float]] = {}
    for person, value in group:
        if value:
            numbers.setdefault(person, []).append(float(value))
    if not numbers:
        return 0.0
    return max(map(min, numbers.values())) - min(map(max, numbers.values()))


def alike(group: Rows, epsilon: float, among: Iterable[str]) -> int:
    """The most persons with a value within epsilon of one value; what is no number is near its like only."""

    def near(one: str, other: str) -> bool:
        return one == other if not one or not other else abs(float(one) - float(other)) <= epsilon

    return max((len({p for p, other in group if near(value, other)}) for value in among), default=0)


def distance(
    group: Distribution, table: Distribution, domain: Sequence[str], *, is_ordered: bool
) -> Fraction:
    """The earth mover's distance with the equal or the ordered ground; the domain is in order."""
    differences = [group.get(value, Fraction(0)) - table.get(value, Fraction(0)) for value in domain]
    if not is_ordered:
        return sum(map(abs, differences), Fraction(0)) / 2
    total, run = Fraction(0), Fraction(0)
    for difference in differences:
        run += difference
        total += abs(run)
    return total / max(len(domain) - 1, 1)


def keeps(
    guarantee: Guarantee,
    group: Rows,
    table: Rows,
    domain: Sequence[str],
    insensitive: Collection[str] = frozenset(),
) -> bool:
    """Whether a group keeps a guarantee; `l_level`, `l_of` and the hierarchical ground are not spoken of."""
    if isinstance(guarantee, KAnonymity):
        return len(persons(group)) >= guarantee.k
    sensitive = sorted({value for _, value in group} - set(insensitive))
    if not sensitive and not isinstance(guarantee, Closeness | Disclosure):
        return True
    return _RULES[type(guarantee)](guarantee, group, table, domain, sensitive, insensitive)


def _entropy(guarantee: EntropyDiversity, group: Rows, *_: object) -> bool:
    shares = [float(weight) for weight in distribution(group).values()]
    return -sum(p * math.log(p) for p in shares) >= math.log(guarantee.l) - 1e-9


def _recursive(guarantee: RecursiveDiversity, group: Rows, *_: object) -> bool:
    weights = sorted(distribution(group).values(), reverse=True)
    return weights[0] < guarantee.c * sum(weights[guarantee.l - 1 :], Fraction(0))


def _likeness(
    guarantee: Likeness, group: Rows, table: Rows, domain: object, sensitive: list[str], *_: object
) -> bool:
    for value in sensitive:
        here, there = share(group, value), share(table, value)
        bound = min(float(guarantee.beta), -math.log(there))
        if here > there and float((here - there) / there) > bound + 1e-9:
            return False
    return True


def _disclosure(
    guarantee: Disclosure,
    group: Rows,
    table: Rows,
    domain: object,
    sensitive: object,
    insensitive: Collection[str],
) -> bool:
    here, there = distribution(group), distribution(table)
    for value in set(there) - set(insensitive):
        if value not in here or abs(math.log(here[value] / there[value])) >= float(guarantee.delta) - 1e-12:
            return False
    return True


def _closeness(guarantee: Closeness, group: Rows, table: Rows, domain: Sequence[str], *_: object) -> bool:
    is_ordered = guarantee.ground == "ordered"
    return distance(distribution(group), distribution(table), domain, is_ordered=is_ordered) <= guarantee.t


_RULES: dict[type[Guarantee], Callable[..., bool]] = {
    DistinctDiversity: lambda g, group, *_: matched(group) >= g.l,
    FrequencyDiversity: lambda g, group, t, d, sensitive, i: all(
        share(group, value) <= Fraction(1, g.l) for value in sensitive
    ),
    CappedShare: lambda g, group, t, d, sensitive, i: all(
        share(group, value) <= g.alpha for value in sensitive if not g.values or value in g.values
    ),
    Linkability: lambda g, group, t, d, sensitive, i: all(
        share(group, value) <= g.epsilon for value in sensitive
    ),
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    Likeness: _likeness,
    Disclosure: _disclosure,
    Closeness: _closeness,
    NumericSpread: lambda g, group, *_: spread(group) >= g.e,
    Proximity: lambda g, group, t, d, sensitive, i: (
        alike(group, float(g.epsilon), sensitive) * g.m <= len(persons(group))
    ),
}


def withstands(
    group: Sequence[tuple[Hashable, str, Sequence[str]]],
    eliminations: int,
    insensitive: Collection[str] = frozenset(),
) -> bool:
    """Whether ruling out so many values of the others, or fewer, leaves nothing, or two persons with two values.

    A row is its person, its value, and its values of the other attributes. What is left and harmless does not count.
    """
    ruled = {(place, value) for _, _, others in group for place, value in enumerate(others)}
    for size in range(eliminations + 1):
        for out in combinations(sorted(ruled), size):
            left = [(p, v) for p, v, others in group if not set(enumerate(others)) & set(out)]
            values = {value for _, value in left}
            if left and not values <= set(insensitive) and matched(left) < 2:
                return False
    return True


def seen(groups: Sequence[Rows], table: Rows) -> Distribution:
    """What someone believes of a person who is seen in several groups: b(v) in proportion to p(v)·Π p_G(v)/p(v)."""
    there = distribution(table)
    heres = [distribution(group) for group in groups]
    raw = {
        value: weight
        * math.prod((here.get(value, Fraction(0)) / weight for here in heres), start=Fraction(1))
        for value, weight in there.items()
    }
    total = sum(raw.values(), Fraction(0))
    return {value: weight / total for value, weight in raw.items() if weight} if total else {}
