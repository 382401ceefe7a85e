"""Every guarantee in plain Python, straight from its definition: slow, short and exact where it can be.

Values are texts, as a table writes them; a missing value is the empty text.
Makers and judges are both tested against this page, and it imports none of their code.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Ground,
    Guarantee,
    KAnonymity,
    KeyAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    ProsecutorRisk,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)

Values = Sequence[str]
Ruled = frozenset[tuple[int, str]]
Hierarchy = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Verdict:
    """Whether a group keeps a guarantee, and by what measure; no measure where the guarantee is not about it."""

    kept: bool
    measure: float | None


@dataclass(frozen=True)
class Setting:
    """What a group is judged against: the table, the values that need no protection, order and hierarchy."""

    table: Values
    insensitive: frozenset[str]
    domain: Values
    levels: Hierarchy
    supersets: Sequence[Values]

    def sensitive(self, values: Values) -> list[str]:
        """The values that need protection."""
        return [value for value in values if value not in self.insensitive]


def holds(
    guarantee: Guarantee,
    group_values: Values,
    table_values: Values,
    *,
    insensitive: Iterable[str] = (),
    domain: Values | None = None,
    levels: Hierarchy | None = None,
    supersets: Sequence[Values] = (),
) -> bool:
    """Say whether a group of values keeps a guarantee.

    `domain` lists all values in order (missing last), `levels` gives each value's label from level 0 (itself) to
    the top, `supersets` are the groups that contain this one besides itself and the table.

    >>> from manyveils.policy.guarantees import DistinctDiversity
    >>> holds(DistinctDiversity(2), ["flu", "flu"], ["flu", "cold"])
    False
    """
    return verdict(
        guarantee,
        group_values,
        table_values,
        insensitive=insensitive,
        domain=domain,
        levels=levels,
        supersets=supersets,
    ).kept


def verdict(
    guarantee: Guarantee,
    group_values: Values,
    table_values: Values,
    *,
    insensitive: Iterable[str] = (),
    domain: Values | None = None,
    levels: Hierarchy | None = None,
    supersets: Sequence[Values] = (),
) -> Verdict:
    """Judge a group of values, as `holds` does, and give the measure in the guarantee's own unit."""
    ordered = list(domain) if domain is not None else sorted({*table_values, *group_values})
    setting = Setting(table_values, frozenset(insensitive), ordered, levels or [], supersets)
    return JUDGES[type(guarantee)](guarantee, group_values, setting)


def leaks(
    rows: Sequence[Sequence[str]],
    eliminations: int,
    insensitive: Iterable[str] = (),
    bits: Iterable[int] = (),
) -> list[Ruled]:
    """Every set of values to rule out, of up to so many, that leaves one value of the first attribute.

    A value is ruled out as (place of its attribute, value); the first attribute's own values are not, and neither is
    the 0 of `bits`, the places of 0/1 columns.

    >>> leaks([("flu", "rich"), ("cold", "poor"), ("cold", "fair")], 1)
    [frozenset({(1, 'rich')})]
    """
    values = {(place, row[place]) for row in rows for place in range(1, len(row))}
    values -= {(place, "0") for place in bits}
    found = []
    for size in range(eliminations + 1):
        for ruled in itertools.combinations(sorted(values), size):
            left = {row[0] for row in rows if not any(row[place] == value for place, value in ruled)}
            if len(left) == 1 and not left <= set(insensitive):
                found.append(frozenset(ruled))
    return found


def _rows(guarantee: KAnonymity | KeyAnonymity, group: Values, setting: Setting) -> Verdict:
    return Verdict(len(group) >= guarantee.k, len(group))


def _chance(guarantee: ProsecutorRisk, group: Values, setting: Setting) -> Verdict:
    chance = Fraction(1, len(group))
    return Verdict(chance <= guarantee.risk, float(chance))


def mean_chance(groups: Iterable[Values]) -> Fraction:
    """The chance of finding a person by her group, averaged over all people.

    >>> mean_chance([["a", "b"], ["c"]])
    Fraction(2, 3)
    """
    chances = [Fraction(1, len(group)) for group in groups for _ in group]
    return sum(chances, Fraction(0)) / max(len(chances), 1)


@dataclass(frozen=True)
class Kinds:
    """What l counts in a group: the kind of every row, the sensitive ones, and the largest l that one of these asks for."""

    every: list[str]
    sensitive: frozenset[str]
    l_of: Mapping[str, int]
    owed: int


def _kinds(
    guarantee: DistinctDiversity | FrequencyDiversity | EntropyDiversity | RecursiveDiversity,
    group: Values,
    setting: Setting,
) -> Kinds:
    """Values, or their labels at `l_level` (the highest below the top, if that is lower); what needs protection counts.

    A label needs protection if one value of the table under it does.
    """
    height = min(guarantee.l_level, max(len(setting.levels) - 2, 0))
    steps = setting.levels or [{value: value for value in setting.domain}]
    originals = {value: _under(value, steps) for value in group}
    labels = {value: {steps[height][original] for original in originals[value]} for value in group}
    shown = {value: value if not height else _only(labels[value]) for value in group}
    counts = Counter(kind for value in group if (kind := shown[value]) is not None)
    commonest = max(counts, key=lambda kind: counts[kind], default="hidden")
    every = [commonest if (kind := shown[value]) is None else kind for value in group]
    asked = [max(dict(guarantee.l_of).get(label, guarantee.l) for label in labels[value]) for value in group]
    l_of = {kind: max(l for own, l in zip(every, asked, strict=True) if own == kind) for kind in every}
    need = {steps[height][value] for value in steps[height] if value not in setting.insensitive}
    sensitive = {
        kind
        for kind, value in zip(every, group, strict=True)
        if _needs(value, labels, originals, need, setting)
    }
    owed = max((l for kind, l in zip(every, asked, strict=True) if kind in sensitive), default=0)
    return Kinds(every, frozenset(sensitive), l_of, owed)


def _needs(
    value: str,
    labels: Mapping[str, set[str]],
    originals: Mapping[str, set[str]],
    need: set[str],
    setting: Setting,
) -> bool:
    """Whether a published value may be one that needs protection, or stands for a label that has one."""
    return bool(setting.sensitive([*originals[value]])) or (len(labels[value]) == 1 and labels[value] <= need)


def _under(value: str, steps: Hierarchy) -> set[str]:
    """The values that a published text may stand for: itself, or all under the label."""
    below = {original for original in steps[0] if any(step[original] == value for step in steps)}
    return {value} if value in steps[0] else below


def _only(labels: set[str]) -> str | None:
    """The label, if it is known."""
    return next(iter(labels)) if len(labels) == 1 else None


def _distinct(guarantee: DistinctDiversity, group: Values, setting: Setting) -> Verdict:
    kinds = _kinds(guarantee, group, setting)
    if not kinds.owed:
        return Verdict(kept=True, measure=None)
    n_kinds = len(set(kinds.every))
    return Verdict(n_kinds >= kinds.owed, n_kinds * guarantee.l / kinds.owed)


def _frequency(guarantee: FrequencyDiversity, group: Values, setting: Setting) -> Verdict:
    kinds = _kinds(guarantee, group, setting)
    if not kinds.owed:
        return Verdict(kept=True, measure=None)
    counts = Counter(kind for kind in kinds.every if kind in kinds.sensitive)
    filled = max(count * kinds.l_of[kind] for kind, count in counts.items())
    return Verdict(filled <= len(group), len(group) * guarantee.l / filled)


def _entropy(guarantee: EntropyDiversity, group: Values, setting: Setting) -> Verdict:
    """H >= log l means n^n >= l^n * product of c^c: both sides are whole numbers."""
    kinds = _kinds(guarantee, group, setting)
    if not kinds.owed:
        return Verdict(kept=True, measure=None)
    counts, n = Counter(kinds.every).values(), len(group)
    kept = n**n >= kinds.owed**n * math.prod(count**count for count in counts)
    worth = math.exp(-sum(count / n * math.log(count / n) for count in counts))
    return Verdict(kept, worth * guarantee.l / kinds.owed)


def _recursive(guarantee: RecursiveDiversity, group: Values, setting: Setting) -> Verdict:
    kinds = _kinds(guarantee, group, setting)
    if not kinds.owed:
        return Verdict(kept=True, measure=None)
    counts = sorted(Counter(kinds.every).values(), reverse=True)
    tail = sum(counts[kinds.owed - 1 :])
    return Verdict(counts[0] < guarantee.c * tail, counts[0] / tail if tail else math.inf)


def _share(guarantee: CappedShare, group: Values, setting: Setting) -> Verdict:
    listed = [
        value for value in setting.sensitive(group) if not guarantee.values or value in guarantee.values
    ]
    return _largest_share(listed, group, guarantee.alpha)


def _linkability(guarantee: Linkability, group: Values, setting: Setting) -> Verdict:
    return _largest_share(setting.sensitive(group), group, guarantee.epsilon)


def _largest_share(values: Values, group: Values, bound: Fraction) -> Verdict:
    share = Fraction(max(Counter(values).values(), default=0), len(group))
    return Verdict(share <= bound, float(share))


def _gain(guarantee: Likeness, group: Values, setting: Setting) -> Verdict:
    gains = {value: _relative_gain(value, group, setting.table) for value in set(setting.sensitive(group))}
    rising = {value: gain for value, gain in gains.items() if gain > 0}
    kept = all(
        gain <= guarantee.beta and gain <= _ceiling(value, setting.table) for value, gain in rising.items()
    )
    on_scale = [
        float(gain) * max(1.0, float(guarantee.beta) / _ceiling(value, setting.table))
        for value, gain in rising.items()
    ]
    return Verdict(kept, max([0.0, *on_scale]) if gains else None)


def _relative_gain(value: str, group: Values, table: Values) -> Fraction | float:
    before = _part(value, table)
    return (_part(value, group) - before) / before if before else math.inf


def _ceiling(value: str, table: Values) -> float:
    before = _part(value, table)
    return -math.log(before) if before else math.inf


def _disclosure(guarantee: Disclosure, group: Values, setting: Setting) -> Verdict:
    of_table = set(setting.sensitive(setting.table))
    if not of_table <= set(group):
        return Verdict(kept=False, measure=math.inf)
    ratios = [abs(math.log(_part(value, group) / _part(value, setting.table))) for value in of_table]
    return Verdict(max(ratios, default=0.0) < guarantee.delta, max(ratios, default=0.0))


def _part(value: str, values: Values) -> Fraction:
    return Fraction(list(values).count(value), len(values))


def _spread(guarantee: NumericSpread, group: Values, setting: Setting) -> Verdict:
    if not setting.sensitive(group):
        return Verdict(kept=True, measure=None)
    numbers = [Fraction(value) for value in group if value]
    spread = max(numbers) - min(numbers) if numbers else Fraction(0)
    return Verdict(spread >= guarantee.e, float(spread))


def _proximity(guarantee: Proximity, group: Values, setting: Setting) -> Verdict:
    if not setting.sensitive(group):
        return Verdict(kept=True, measure=None)
    within = max(sum(_are_near(x, y, guarantee.epsilon) for y in group) for x in setting.sensitive(group))
    return Verdict(within * guarantee.m <= len(group), len(group) / within)


def _are_near(x: str, y: str, epsilon: Fraction) -> bool:
    """Missing values are near each other and far from numbers."""
    return x == y or (x != "" and y != "" and abs(Fraction(x) - Fraction(y)) <= epsilon)


def _closeness(guarantee: Closeness, group: Values, setting: Setting) -> Verdict:
    distance = earth_movers(
        guarantee.ground, group, setting.table, domain=setting.domain, levels=setting.levels
    )
    return Verdict(distance <= guarantee.t, float(distance))


def _superset_closeness(guarantee: SupersetCloseness, group: Values, setting: Setting) -> Verdict:
    large = [values for values in (group, setting.table, *setting.supersets) if len(values) >= guarantee.n]
    distances = [
        earth_movers(guarantee.ground, group, values, domain=setting.domain, levels=setting.levels)
        for values in large
    ]
    nearest = min(distances, default=math.inf)
    return Verdict(nearest <= guarantee.t, float(nearest))


def earth_movers(
    ground: Ground, one: Values, other: Values, *, domain: Values, levels: Hierarchy = ()
) -> Fraction:
    """Give the earth mover's distance between two groups of values.

    >>> earth_movers("ordered", ["1", "1"], ["1", "2", "3", "3"], domain=["1", "2", "3"])
    Fraction(5, 8)
    """
    match ground:
        case "equal":
            return _variation(one, other)
        case "ordered":
            return _ordered(one, other, domain)
        case "hierarchical":
            below_top = levels[:-1]
            return sum(
                (_variation(_labels(one, level), _labels(other, level)) for level in below_top), Fraction(0)
            ) / len(below_top)


def _variation(one: Values, other: Values) -> Fraction:
    return sum((abs(_part(value, one) - _part(value, other)) for value in {*one, *other}), Fraction(0)) / 2


def _ordered(one: Values, other: Values, domain: Values) -> Fraction:
    difference, total = Fraction(0), Fraction(0)
    for value in domain:
        difference += _part(value, one) - _part(value, other)
        total += abs(difference)
    return total / (len(domain) - 1) if len(domain) > 1 else Fraction(0)


def _labels(values: Values, level: Mapping[str, str]) -> list[str]:
    return [level[value] for value in values]


def ancestor_distance(one: str, other: str, levels: Hierarchy) -> Fraction:
    """Give the ground distance of two values: the level of their lowest common ancestor over the height."""
    lowest = next(height for height, level in enumerate(levels) if level[one] == level[other])
    return Fraction(lowest, len(levels) - 1)


JUDGES: Mapping[type[Guarantee], Callable[[Any, Values, Setting], Verdict]] = {
    KAnonymity: _rows,
    KeyAnonymity: _rows,
    ProsecutorRisk: _chance,
    DistinctDiversity: _distinct,
    FrequencyDiversity: _frequency,
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    CappedShare: _share,
    Linkability: _linkability,
    Likeness: _gain,
    Disclosure: _disclosure,
    NumericSpread: _spread,
    Proximity: _proximity,
    Closeness: _closeness,
    SupersetCloseness: _superset_closeness,
}


def fewest_rows(rows, *, most):
    """The fewest rows of a group that have all of up to `most` values which one of its rows has; all rows for no value.

    A row is the set of its values.
    """
    sets = {
        frozenset(some)
        for row in rows
        for size in range(most + 1)
        for some in itertools.combinations(sorted(row), size)
    }
    return min((sum(some <= row for row in rows) for some in sets), default=len(rows))
