"""What an adversary believes who knows some attributes of a person, in plain Python from the definition.

f_i(t, B) is the share of the rows of bucket B whose known attributes in column i match t; p(t, B) is the product of
these over the columns, over its sum over all buckets; p(s | t, B) is the share of s among the rows that match t in
the protected column; p(t, s) is the sum of p(t, B) · p(s | t, B).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
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
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.release import Release, View
from manyveils.table import Table
from tests.kit.oracles import Hierarchy, Verdict
from tests.kit.reading import texts_of

Row = Mapping[str, str]
Shares = Mapping[str, Fraction]
ROUNDING = 1e-11


@dataclass(frozen=True)
class Belief:
    """What is believed of one target: its rows in the original, the rows it may be, and the share of each value."""

    rows: int
    size: int
    shares: Shares


def beliefs(
    release: Release,
    table: Table,
    view: View,
    known: frozenset[str],
    protected: Mapping[int, tuple[str, ...]],
) -> list[Belief]:
    """The beliefs about every target that some bucket matches; `protected` says which column shows what.

    A value of several attributes is written with blanks between its parts, in the order of `protected`.
    """
    sought = known & frozenset(view.attributes)
    labels = {name: _labels(release, table, view, name) for name in sought}
    targets = Counter(
        tuple((name, labels[name][_text(table, name, row)]) for name in sorted(sought))
        for row in range(table.n_rows)
    )
    columns = [_buckets(release, view, place) for place in range(len(view.files))]
    found = [_belief(dict(target), rows, columns, protected) for target, rows in targets.items()]
    return [belief for belief in found if belief is not None]


def _text(table: Table, name: str, row: int) -> str:
    return table[name].texts[table[name].codes[row]]


def _labels(release: Release, table: Table, view: View, name: str) -> dict[str, frozenset[str]]:
    """The published values that may stand for each original."""
    pairs = release.recodings.get((view.name, name))
    covers: dict[str, set[str]] = defaultdict(set)
    for label, original in pairs.iter_rows() if pairs is not None else ():
        covers[original or ""].add(label or "")
    return {text: frozenset(covers.get(text, {text})) for text in table[name].texts}


def _buckets(release: Release, view: View, place: int) -> dict[str, list[Row]]:
    """The rows of one column, bucket by bucket."""
    file = view.files[place]
    cells = {name: texts_of(release, file.table, name) for name in ("bucket", *file.attributes)}
    buckets: dict[str, list[Row]] = defaultdict(list)
    for row in zip(*cells.values(), strict=True):
        buckets[row[0]].append(dict(zip(cells, row, strict=True)))
    return buckets


def _belief(
    target: Mapping[str, frozenset[str]],
    rows: int,
    columns: Sequence[Mapping[str, list[Row]]],
    protected: Mapping[int, tuple[str, ...]],
) -> Belief | None:
    believed: dict[str, Fraction] = defaultdict(Fraction)
    size = 0
    for bucket in columns[0]:
        matching = [_matching(target, column[bucket]) for column in columns]
        weight = math.prod(
            (Fraction(len(own), len(column[bucket])) for own, column in zip(matching, columns, strict=True)),
            start=Fraction(1),
        )
        if weight:
            size += min(len(matching[place]) for place in protected)
            for value, share in _shares(matching, protected).items():
                believed[value] += weight * share
    total = sum(believed.values())
    return Belief(rows, size, {value: share / total for value, share in believed.items()}) if total else None


def _matching(target: Mapping[str, frozenset[str]], rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if all(row[name] in target[name] for name in row if name in target)]


def _shares(matching: Sequence[list[Row]], protected: Mapping[int, tuple[str, ...]]) -> Shares:
    """The shares of the values in one bucket: the columns are independent."""
    each = [
        Counter(" ".join(row[name] for name in names) for row in matching[place])
        for place, names in protected.items()
    ]
    return {
        " ".join(value for value, _ in pairs): math.prod(
            (Fraction(count, counts.total()) for (_, count), counts in zip(pairs, each, strict=True)),
            start=Fraction(1),
        )
        for pairs in product(*(counts.items() for counts in each))
    }


@dataclass(frozen=True)
class Whole:
    """What a belief is judged against: the shares of the original, order, hierarchy and insensitive values."""

    shares: Shares
    insensitive: frozenset[str]
    domain: Sequence[str]
    levels: Hierarchy
    rows: int

    def sensitive(self, shares: Shares) -> dict[str, Fraction]:
        """The shares of the values that need protection."""
        return {value: share for value, share in shares.items() if value not in self.insensitive}


def judge_belief(guarantee: Guarantee, belief: Belief, whole: Whole) -> Verdict:
    """Judge what is believed of one target; where no value of it needs protection there may be no measure."""
    excepted = not whole.sensitive(belief.shares) and isinstance(guarantee, SPARES_INSENSITIVE)
    return Verdict(kept=True, measure=None) if excepted else JUDGES[type(guarantee)](guarantee, belief, whole)


SPARES_INSENSITIVE = (
    DistinctDiversity,
    FrequencyDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    NumericSpread,
    Proximity,
)


def _size(guarantee: KAnonymity, belief: Belief, whole: Whole) -> Verdict:
    return Verdict(belief.size >= guarantee.k, belief.size)


def _distinct(guarantee: DistinctDiversity, belief: Belief, whole: Whole) -> Verdict:
    return Verdict(len(belief.shares) >= guarantee.l, len(belief.shares))


def _frequency(guarantee: FrequencyDiversity, belief: Belief, whole: Whole) -> Verdict:
    largest = max(whole.sensitive(belief.shares).values())
    return Verdict(largest <= Fraction(1, guarantee.l), float(1 / largest))


def _entropy(guarantee: EntropyDiversity, belief: Belief, whole: Whole) -> Verdict:
    entropy = -sum(float(share) * math.log(share) for share in belief.shares.values())
    return Verdict(entropy >= math.log(guarantee.l) - ROUNDING, math.exp(entropy))


def _recursive(guarantee: RecursiveDiversity, belief: Belief, whole: Whole) -> Verdict:
    falling = sorted(belief.shares.values(), reverse=True)
    tail = sum(falling[guarantee.l - 1 :], Fraction(0))
    return Verdict(falling[0] < guarantee.c * tail, float(falling[0] / tail) if tail else math.inf)


def _capped(guarantee: CappedShare, belief: Belief, whole: Whole) -> Verdict:
    sensitive = whole.sensitive(belief.shares)
    listed = [
        share for value, share in sensitive.items() if not guarantee.values or value in guarantee.values
    ]
    return Verdict(max(listed, default=0) <= guarantee.alpha, float(max(listed, default=0)))


def _linkability(guarantee: Linkability, belief: Belief, whole: Whole) -> Verdict:
    largest = max(whole.sensitive(belief.shares).values(), default=Fraction(0))
    return Verdict(largest <= guarantee.epsilon, float(largest))


def _gain(guarantee: Likeness, belief: Belief, whole: Whole) -> Verdict:
    measures, kept = [], True
    for value, share in whole.sensitive(belief.shares).items():
        before = whole.shares.get(value, Fraction(0))
        gain = (share - before) / before if before else math.inf
        ceiling = -math.log(before) if before else math.inf
        if gain > 0:
            kept = kept and gain <= guarantee.beta and gain <= ceiling
            measures.append(float(gain) * max(1.0, float(guarantee.beta) / ceiling))
        else:
            measures.append(0.0)
    return Verdict(kept, max(measures, default=None))


def _ratio(guarantee: Disclosure, belief: Belief, whole: Whole) -> Verdict:
    expected = whole.sensitive(whole.shares)
    if not set(expected) <= set(belief.shares):
        return Verdict(kept=False, measure=math.inf)
    ratios = [abs(math.log(belief.shares[value] / share)) for value, share in expected.items()]
    return Verdict(max(ratios, default=0.0) < guarantee.delta, max(ratios, default=0.0))


def _spread(guarantee: NumericSpread, belief: Belief, whole: Whole) -> Verdict:
    numbers = [Fraction(value) for value in belief.shares if value]
    spread = max(numbers) - min(numbers) if numbers else Fraction(0)
    return Verdict(spread >= guarantee.e, float(spread))


def _proximity(guarantee: Proximity, belief: Belief, whole: Whole) -> Verdict:
    within = max(
        sum(share for other, share in belief.shares.items() if _are_near(value, other, guarantee.epsilon))
        for value in whole.sensitive(belief.shares)
    )
    return Verdict(within <= Fraction(1, guarantee.m), float(1 / within))


def _are_near(one: str, other: str, epsilon: Fraction) -> bool:
    return one == other or (one != "" and other != "" and abs(Fraction(one) - Fraction(other)) <= epsilon)


def _closeness(guarantee: Closeness, belief: Belief, whole: Whole) -> Verdict:
    distance = _distance(guarantee.ground, belief.shares, whole)
    return Verdict(distance <= guarantee.t, float(distance))


def _superset_closeness(guarantee: SupersetCloseness, belief: Belief, whole: Whole) -> Verdict:
    """The rows that a target may be are their own superset; buckets have no ancestors but the whole."""
    if belief.size >= guarantee.n:
        return Verdict(kept=True, measure=0.0)
    if whole.rows < guarantee.n:
        return Verdict(kept=False, measure=math.inf)
    return _closeness(Closeness(guarantee.t, guarantee.ground), belief, whole)


def _distance(ground: Ground, shares: Shares, whole: Whole) -> Fraction:
    match ground:
        case "equal":
            return _variation(shares, whole.shares)
        case "ordered":
            steps = [_share(shares, value) - _share(whole.shares, value) for value in whole.domain]
            heights = (abs(sum(steps[: place + 1], Fraction(0))) for place in range(len(steps)))
            return sum(heights, Fraction(0)) / max(len(steps) - 1, 1)
        case "hierarchical":
            below_top = whole.levels[:-1]
            each = (
                _variation(_labelled(shares, level), _labelled(whole.shares, level)) for level in below_top
            )
            return sum(each, Fraction(0)) / len(below_top)


def _variation(one: Shares, other: Shares) -> Fraction:
    return sum((abs(_share(one, value) - _share(other, value)) for value in {*one, *other}), Fraction(0)) / 2


def _share(shares: Shares, value: str) -> Fraction:
    return shares.get(value, Fraction(0))


def _labelled(shares: Shares, level: Mapping[str, str]) -> Shares:
    found: dict[str, Fraction] = defaultdict(Fraction)
    for value, share in shares.items():
        found[level[value]] += share
    return found


JUDGES: Mapping[type[Guarantee], Callable[[Any, Belief, Whole], Verdict]] = {
    KAnonymity: _size,
    DistinctDiversity: _distinct,
    FrequencyDiversity: _frequency,
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    CappedShare: _capped,
    Linkability: _linkability,
    Likeness: _gain,
    Disclosure: _ratio,
    NumericSpread: _spread,
    Proximity: _proximity,
    Closeness: _closeness,
    SupersetCloseness: _superset_closeness,
}
