"""What every guarantee asks of a group, written from the definitions, in fractions and plain Python.

A group is a list of (person, value); with a row per person, each person is a number of her own. Nothing is imported
from src.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

Keys = Mapping[str, Any]
Members = Sequence[tuple[Any, str]]
Shares = Mapping[str, Fraction]
# Beyond this, a number that is no ratio of counts is past its bound.
SLACK = 1e-9


def exact(number: float) -> Fraction:
    """The decimal that its author wrote, cut off after nine places."""
    return Fraction(math.floor(Fraction(str(number)) * 10**9), 10**9)


@dataclass(frozen=True)
class Crowd:
    """What is believed of a group: shares of persons who have a value, weights that sum to 1, and the members."""

    members: Members
    shares: Shares
    weights: Shares
    # Nobody, where somebody may stand in several buckets: then the members are the values that she may have.
    n_persons: int

    @classmethod
    def of(cls, members: Members) -> "Crowd":
        """The crowd of a group."""
        values = defaultdict(list)
        for person, value in members:
            values[person].append(value)
        n_persons = len(values)
        shares, weights = Counter[str](), defaultdict[str, Fraction](Fraction)
        for own in values.values():
            shares.update(set(own))
            for value, count in Counter(own).items():
                weights[value] += Fraction(count, len(own) * n_persons)
        return cls(members, {v: Fraction(n, n_persons) for v, n in shares.items()}, weights, n_persons)

    @classmethod
    def of_beliefs(cls, beliefs: Shares) -> "Crowd":
        """The crowd of somebody who has each of some values with a chance."""
        return cls(list(enumerate(beliefs)), beliefs, beliefs, 0)


@dataclass(frozen=True)
class Setting:
    """An attribute's reference, the values that need no protection, order, labels by level, and whether it is a 0/1 attribute."""

    table: Crowd
    insensitive: frozenset[str] = frozenset()
    order: Sequence[str] | None = None
    levels: Sequence[Mapping[str, str]] | None = None
    ground: str | None = None
    is_bit: bool = False
    bit_of: str = ""

    def sensitive(self, values: Iterable[str]) -> list[str]:
        """The values that need protection; of a 0/1 attribute, that it is there."""
        if self.is_bit:
            return [v for v in values if v == "1" and self.bit_of not in self.insensitive]
        return [v for v in values if v not in self.insensitive]


@dataclass(frozen=True)
class Verdict:
    """What is broken, in words, and what could not be judged here."""

    broken: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)


def judge(keys: Keys, crowd: Crowd, setting: Setting) -> Verdict:
    """Judge one group by all keys about values."""
    told = Verdict()
    for name, rule in RULES.items():
        if keys.get(name) is None or (name == "m" and keys.get("epsilon") is None):
            continue
        is_kept = rule(keys, crowd, setting)
        if is_kept is None:
            told.unjudged.append(name)
        elif not is_kept:
            told.broken.append(f"l {keys.get('l_kind') or 'distinct'}" if name == "l" else name)
    return told


def _l(keys: Keys, crowd: Crowd, setting: Setting) -> bool | None:
    l, l_of = keys["l"], keys.get("l_of") or {}
    if setting.is_bit:
        if "l_level" in keys and l_of:
            return None
        l = l_of.get(setting.bit_of, l)
        return all(crowd.shares.get(v, 0) * l <= 1 for v in setting.sensitive(crowd.shares))
    level = keys.get("l_level") or 0
    if level and (setting.levels is None or not crowd.n_persons):
        return None
    if level:
        crowd, setting = _climbed(crowd, setting, min(level, max(len(setting.levels) - 2, 0)))
    need = setting.sensitive(crowd.shares)
    if not need:
        return True
    owed = max(l_of.get(v, l) for v in need)
    match keys.get("l_kind") or "distinct":
        case "frequency":
            return all(crowd.shares[v] * l_of.get(v, l) <= 1 for v in need)
        case "distinct":
            return matching(crowd.members) >= owed
        case "entropy":
            entropy = -sum(float(w) * math.log(w) for w in crowd.weights.values() if w)
            return entropy >= math.log(owed) - SLACK
        case _:
            counts = sorted(crowd.weights.values(), reverse=True)
            return counts[0] < exact(keys["c"]) * sum(counts[owed - 1 :])


def _climbed(crowd: Crowd, setting: Setting, level: int) -> tuple[Crowd, Setting]:
    labels = setting.levels[level]
    told = Crowd.of([(person, labels[value]) for person, value in crowd.members])
    need = {labels[v] for v in setting.table.shares if v not in setting.insensitive}
    return told, Setting(setting.table, frozenset(set(labels.values()) - need))


def matching(members: Members) -> int:
    """How many persons have values that all differ, at most."""
    values: dict[Any, set[str]] = defaultdict(set)
    for person, value in members:
        values[person].add(value)
    owner: dict[str, Any] = {}

    def place(person: Any, seen: set[str]) -> bool:
        for value in values[person]:
            if value not in seen:
                seen.add(value)
                if value not in owner or place(owner[value], seen):
                    owner[value] = person
                    return True
        return False

    return sum(place(person, set()) for person in values)


def _t(keys: Keys, crowd: Crowd, setting: Setting) -> bool | None:
    t = exact(keys["t"])
    if keys.get("n") is not None and not crowd.n_persons:
        return None  # How many rows a belief about slices stands for is not defined.
    if keys.get("n") is not None and crowd.n_persons >= keys["n"]:
        return True
    if keys.get("n") is not None and setting.table.n_persons < keys["n"]:
        return False
    ground = "equal" if setting.is_bit else keys.get("ground") or setting.ground
    one, other = crowd.weights, setting.table.weights
    match ground:
        case "equal":
            return _variation(one, other) <= t
        case "ordered" if setting.order is not None:
            return _cumulated(one, other, setting.order) <= t
        case "hierarchical" if setting.levels is not None:
            below = setting.levels[:-1]
            return (
                sum(_variation(_labelled(one, step), _labelled(other, step)) for step in below) / len(below)
                <= t
            )
        case _:
            return None


def _variation(one: Shares, other: Shares) -> Fraction:
    return (
        sum((abs(one.get(v, Fraction(0)) - other.get(v, Fraction(0))) for v in {*one, *other}), Fraction(0))
        / 2
    )


def _cumulated(one: Shares, other: Shares, order: Sequence[str]) -> Fraction:
    sums, total = Fraction(0), Fraction(0)
    for value in order:
        sums += one.get(value, 0) - other.get(value, 0)
        total += abs(sums)
    return total / max(len(order) - 1, 1)


def _labelled(shares: Shares, step: Mapping[str, str]) -> Shares:
    told = defaultdict[str, Fraction](Fraction)
    for value, share in shares.items():
        told[step[value]] += share
    return told


def _alpha(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    listed = keys.get("alpha_values")

    def is_listed(value: str) -> bool:
        return not listed or (setting.bit_of if setting.is_bit else value) in listed

    return all(
        crowd.shares[v] <= exact(keys["alpha"]) for v in setting.sensitive(crowd.shares) if is_listed(v)
    )


def _link(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    return all(crowd.shares[v] <= exact(keys["epsilon_link"]) for v in setting.sensitive(crowd.shares))


def _beta(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    for value in setting.sensitive(crowd.shares):
        before = setting.table.shares.get(value, Fraction(0))
        if crowd.shares[value] > before:
            gain = (crowd.shares[value] - before) / before if before else math.inf
            if gain > exact(keys["beta"]) or gain > -math.log(before) + SLACK:
                return False
    return True


def _delta(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    for value in setting.sensitive(setting.table.weights):
        share = crowd.weights.get(value, 0)
        if not share or abs(math.log(share / setting.table.weights[value])) >= exact(keys["delta"]) + SLACK:
            return False
    return True


def _e(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    if not setting.sensitive(crowd.shares):
        return True
    own: dict[Any, list[Fraction]] = defaultdict(list)
    for person, value in crowd.members:
        if value:
            own[person].append(Fraction(value))
    spread = max(map(min, own.values())) - min(map(max, own.values())) if own else Fraction(0)
    return max(spread, Fraction(0)) >= exact(keys["e"])


def _m(keys: Keys, crowd: Crowd, setting: Setting) -> bool:
    return all(_near_to(value, keys, crowd) * keys["m"] <= 1 for value in setting.sensitive(crowd.shares))


def _near_to(value: str, keys: Keys, crowd: Crowd) -> Fraction:
    """The share of persons with a value that is near; where someone may stand in several buckets, the belief."""
    if crowd.n_persons:
        persons = {person for person, other in crowd.members if _near(value, other, keys)}
        return Fraction(len(persons), len({person for person, _ in crowd.members}))
    return sum((s for other, s in crowd.shares.items() if _near(value, other, keys)), Fraction(0))


def _near(one: str, other: str, keys: Keys) -> bool:
    return one == other or bool(
        one and other and abs(Fraction(one) - Fraction(other)) <= exact(keys["epsilon"])
    )


RULES: Mapping[str, Callable[[Keys, Crowd, Setting], bool | None]] = {
    "l": _l,
    "t": _t,
    "alpha": _alpha,
    "epsilon_link": _link,
    "beta": _beta,
    "delta": _delta,
    "e": _e,
    "m": _m,
}


def leaks(
    rows: Sequence[Mapping[str, str]],
    name: str,
    others: Sequence[str],
    most: int,
    *,
    is_harmless: Callable[[str], bool],
    is_bit: Callable[[str], bool],
) -> bool:
    """Whether ruling out up to so many values of others leaves one value only; rows are of different persons."""
    items = sorted(
        {(other, row[other]) for row in rows for other in others if not (is_bit(other) and row[other] == "0")}
    )
    for size in range(most + 1):
        for ruled in combinations(items, size):
            left = {row[name] for row in rows if not any(row[other] == value for other, value in ruled)}
            if len(left) == 1 and not is_harmless(next(iter(left))):
                return True
    return False
