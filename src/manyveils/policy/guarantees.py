"""What can be promised of a group of rows: one small class per guarantee, which declares everything about it at once.

How it is counted is not among that: methods and audits count in ways of their own, so that a fault in one is seen by
the other. The maker decides it in `promises/decisions.py`, the audit measures it in `audits/`.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from manyveils.policy.guarantee import GUARANTEES as GUARANTEES
from manyveils.policy.guarantee import Ground as Ground
from manyveils.policy.guarantee import Guarantee as Guarantee
from manyveils.policy.guarantee import Parameter as Parameter
from manyveils.policy.guarantee import Worst as Worst
from manyveils.policy.guarantee import exact as exact
from manyveils.policy.sections import GuaranteeKeys
from manyveils.policy.sizes import JournalistRisk as JournalistRisk
from manyveils.policy.sizes import KAnonymity as KAnonymity
from manyveils.policy.sizes import KeyAnonymity as KeyAnonymity
from manyveils.policy.sizes import KMap as KMap
from manyveils.policy.sizes import LeastSize as LeastSize
from manyveils.policy.sizes import MarketerRisk as MarketerRisk
from manyveils.policy.sizes import PopulationSize as PopulationSize
from manyveils.policy.sizes import ProsecutorRisk as ProsecutorRisk


class Diverse(Guarantee):
    """l of any kind: of values or of labels at a level, and of other strength for values that are listed.

    What a group owes is the largest l among the values that occur in it and need protection; for the frequency kind
    every value owes its own.
    """

    l: int
    l_level: int
    l_of: tuple[tuple[str, int], ...]

    @property
    def level(self) -> int:
        """The level that is asked for."""
        return self.l_level

    @property
    def singled_out(self) -> tuple[str, ...]:
        """The values with an l of their own."""
        return tuple(value for value, _ in self.l_of)

    @property
    def terms(self) -> str:
        """The level, and the largest l of a value."""
        level = f"l_level = {self.l_level}" if self.l_level else ""
        listed = f"l_of up to {max(l for _, l in self.l_of)}" if self.l_of else ""
        return ", ".join(filter(None, (level, listed)))

    @property
    def strongest(self) -> int:
        """The largest l that any value asks for."""
        return max([self.l, *(l for _, l in self.l_of)])

    @property
    def weakest(self) -> int:
        """The smallest l that any value asks for."""
        return min([self.l, *(l for _, l in self.l_of)])

    def l_for(self, value: str) -> int:
        """The l that a value asks for."""
        return dict(self.l_of).get(value, self.l)

    def for_all_alike(self) -> "Guarantee":
        """The same with the largest l for every value: what holds then holds with `l_of`."""
        return replace(self, l=self.strongest, l_of=())  # type: ignore[call-arg]

    def for_one_value(self, value: str) -> Guarantee:
        """The value may not be given to anybody with more than 1/l certainty."""
        return FrequencyDiversity(self.l_for(value))

    def for_combination(self) -> Guarantee:
        """Combinations need no l of their own: what a value owes in a group, all combinations with it owe no more."""
        return replace(self, l_of=())  # type: ignore[call-arg]


@dataclass(frozen=True)
class Diversity(Diverse, worst="smallest", bound="l"):
    """How many values stay possible in a group; the kinds of l differ in how they are counted."""

    l: int
    l_level: int = 0
    l_of: tuple[tuple[str, int], ...] = ()

    @property
    def variety(self) -> int:
        """At least l values."""
        return self.strongest


@dataclass(frozen=True)
class DistinctDiversity(
    Diversity,
    kind="distinct-l-diversity",
    only_if={"l_kind": "distinct"},
    one_part_heals=True,
    persons_add=True,
    counts_values=True,
):
    """Every group has at least l different values (p-sensitivity is the same)."""


@dataclass(frozen=True)
class FrequencyDiversity(Diversity, kind="frequency-l-diversity", only_if={"l_kind": "frequency"}):
    """No value fills more than one l-th of a group."""

    @property
    def is_void(self) -> bool:
        """Every value is as rare as l = 1 asks."""
        return self.strongest == 1

    def most_belief(self, share: float, text: str) -> float:
        """One l-th, with the l of the value."""
        return 1 / self.l_for(text)


@dataclass(frozen=True)
class EntropyDiversity(
    Diversity,
    kind="entropy-l-diversity",
    only_if={"l_kind": "entropy"},
    excepts_harmless=True,
    counts_values=True,
):
    """The entropy of every group is at least log l."""


@dataclass(frozen=True)
class RecursiveDiversity(
    Diverse,
    kind="recursive-c-l-diversity",
    excepts_harmless=True,
    counts_values=True,
    bound="c",
    only_if={"l_kind": "recursive"},
):
    """The commonest value has fewer than c times the rows of the l-th commonest and rarer ones together."""

    c: Fraction
    l: int
    l_level: int = 0
    l_of: tuple[tuple[str, int], ...] = ()

    @property
    def variety(self) -> int:
        """So many that the rarer ones can outweigh the commonest."""
        return self.strongest + int(1 / self.c)


class _Distance(Guarantee, spares_insensitive=False, bound="t"):
    """An earth mover's distance; an empty ground stands for the attribute's natural one, which only the data can tell."""

    def with_ground(self, natural: Ground) -> Guarantee:
        """The ground that was asked for, or the natural one."""
        return self if self.parameters["ground"] else replace(self, ground=natural)  # type: ignore[call-arg]

    def for_one_value(self, value: str) -> Guarantee:
        """Two values are as far apart as any two."""
        return self.for_combination()

    def for_combination(self) -> Guarantee:
        """Any two combinations are as far apart as any other two."""
        return replace(self, ground="equal")  # type: ignore[call-arg]


@dataclass(frozen=True)
class Closeness(_Distance, kind="t-closeness", only_if={"n": None}):
    """The distribution in every group is within earth mover's distance t of the whole table's."""

    t: Fraction
    ground: Ground = ""  # type: ignore[assignment]

    def most_belief(self, share: float, text: str) -> float:
        """With the equal ground, no share rises by more than t."""
        return min(share + float(self.t), 1.0) if self.ground == "equal" else math.inf


@dataclass(frozen=True)
class SupersetCloseness(_Distance, kind="n-t-closeness", merging_keeps=False):
    """Every group is within distance t of some natural superset with at least n rows."""

    n: int
    t: Fraction
    ground: Ground = ""  # type: ignore[assignment]


@dataclass(frozen=True)
class CappedShare(Guarantee, kind="alpha-k-anonymity", bound="alpha", keys={"values": "alpha_values"}):
    """No listed value fills more than the share alpha of a group; an empty list means every value."""

    alpha: Fraction
    values: tuple[str, ...] = ()

    @property
    def variety(self) -> int:
        """So many that none need fill more than alpha."""
        return -(-self.alpha.denominator // self.alpha.numerator)

    @property
    def listed(self) -> tuple[str, ...]:
        """The values that are capped."""
        return self.values

    def for_one_value(self, value: str) -> Guarantee:
        """The value is a listed one, or it would not be judged."""
        return replace(self, values=())

    def for_combination(self) -> Guarantee:
        """Combinations are all capped."""
        return replace(self, values=())

    def most_belief(self, share: float, text: str) -> float:
        """The share alpha, for a value that is listed."""
        return float(self.alpha) if not self.values or text in self.values else math.inf


@dataclass(frozen=True)
class Likeness(Guarantee, kind="beta-likeness", bound="beta"):
    """No value gains more than the factor beta over its share in the table, nor more than -ln of that share."""

    beta: Fraction

    def most_belief(self, share: float, text: str) -> float:
        """The share and its largest gain."""
        gain = min(float(self.beta), -math.log(max(share, 1e-300)))
        return min(share * (1 + gain), 1.0)


@dataclass(frozen=True)
class Disclosure(Guarantee, kind="delta-disclosure", bound="delta"):
    """The share of every value stays within the factor e^delta of its share in the table."""

    delta: Fraction

    def most_belief(self, share: float, text: str) -> float:
        """The share times the factor."""
        return min(share * math.exp(min(float(self.delta), 700.0)), 1.0)


@dataclass(frozen=True)
class NumericSpread(
    Guarantee, kind="k-e-anonymity", one_part_heals=True, numeric_only=True, worst="smallest", bound="e"
):
    """The values of every group are spread over at least e."""

    e: Fraction


@dataclass(frozen=True)
class Proximity(
    Guarantee, kind="epsilon-m-anonymity", merging_keeps=False, numeric_only=True, worst="smallest", bound="m"
):
    """Around any value of a group, at most one m-th of its rows lie within epsilon."""

    epsilon: Fraction
    m: int


@dataclass(frozen=True)
class Linkability(Guarantee, kind="linkability", bound="epsilon", keys={"epsilon": "epsilon_link"}):
    """Knowing the group, no value can be named with more confidence than epsilon."""

    epsilon: Fraction

    @property
    def variety(self) -> int:
        """So many that none need be named with more than epsilon."""
        return -(-self.epsilon.denominator // self.epsilon.numerator)

    def most_belief(self, share: float, text: str) -> float:
        """The confidence epsilon."""
        return float(self.epsilon)


@dataclass(frozen=True)
class Elimination(Guarantee, kind="elimination", persons_add=True, worst="smallest", bound="eliminations"):
    """Ruling out so many values of other attributes, or fewer, never leaves one value only ((α,β,k)'s α).

    Merging keeps it: what is left of a group is nothing or two values, so together it is nothing or two as well.
    """

    eliminations: int
    ruled_out: tuple[str, ...]


@dataclass(frozen=True)
class AlphaDifference(Elimination, kind="alpha-difference", merging_keeps=False, persons_add=False):
    """Of no value of another attribute that occurs more than once, all values but one stand beside it (α = nS - nS' ≠ 1).

    It is the paper's own α, and weaker than what is left: values that stand beside the one ruled out may also be left.
    Merging can break it, since two groups may have the one value in common that each of them has elsewhere.
    """


@dataclass(frozen=True)
class KnownItems(Guarantee, kind="k-m-anonymity", worst="smallest", bound="k"):
    """Whoever knows a group, and up to so many values that a person has of an attribute, still has k rows or more before her.

    It is (k, k^m)-anonymity: merging keeps it, because what two groups have k times or not at all, they have so together.
    """

    k: int
    known_items: int
    attribute: str

    @property
    def about(self) -> str:
        """The attribute."""
        return self.attribute


# These speak of rows, or of more than one attribute's values.
ABOUT_ROWS = (LeastSize, PopulationSize, Elimination, KnownItems)
# What no group keeps or breaks by its own rows alone.
OF_ALL_GROUPS = (KeyAnonymity, MarketerRisk, PopulationSize)
WORST: Mapping[str, Worst] = {guarantee.kind: guarantee.worst for guarantee in GUARANTEES}


def asked_by(keys: GuaranteeKeys) -> Iterator[Guarantee]:
    """The guarantees of single attributes that keys ask for; k and eliminations speak of more than one's values."""
    kinds = (kind for kind in GUARANTEES if not issubclass(kind, ABOUT_ROWS))
    return (guarantee for kind in kinds if (guarantee := kind.asked(keys)) is not None)
