"""What can be promised of a group of rows: one small class per guarantee, which declares everything about it at once.

How it is counted is not among that: methods and audits count in ways of their own, so that a fault in one is seen by
the other. The maker decides it in `promises/decisions.py`, the audit measures it in `audits/`.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from manyveils.policy.sections import GuaranteeKeys

Ground = Literal["equal", "ordered", "hierarchical"]
Worst = Literal["smallest", "largest"]

PRECISION = 10**9
# In the order in which they are defined here and a policy's promises are listed.
GUARANTEES: list[type["Guarantee"]] = []
# The keys that say what l counts.
TERMS = ("l_level", "l_of")
Parameter = int | float | str | list[str] | dict[str, int]


def exact(number: float | int | str | Fraction) -> Fraction:
    """Read a threshold as the decimal its author wrote; past nine decimals it is cut off.

    >>> exact(0.2)
    Fraction(1, 5)
    """
    fraction = Fraction(str(number))
    return fraction if fraction.denominator <= PRECISION else Fraction(int(fraction * PRECISION), PRECISION)


@dataclass(frozen=True)
class Guarantee:
    """Something that can hold for a group of rows; a subclass declares the following in its first line.

    `merging_keeps`: two groups that keep it still keep it as one group.
    `one_part_heals`: a group that breaks it keeps it as soon as it is merged with one that does; only then can a
    coarser table never need more suppression than a finer one.
    `persons_add`: both are true of persons with several rows too; of shares they are not, because the persons of two
    groups may be the same while the holders of a value are others.
    `excepts_harmless`: a group without a sensitive value, or without one that asks for a larger l, keeps it as an
    exception, which merging does not preserve.
    `spares_insensitive`: the 0/1 attribute of a value that needs no protection need not keep it.
    `counts_values`: an attribute with fewer than l values cannot keep it.
    `worst` and `bound`: whether small or large measures are bad, and the threshold they are compared with.
    `keys`: the keys of the policy for its thresholds, where they have other names.
    `only_if`: what other keys of the policy must say for it to be asked for.
    """

    kind: ClassVar[str]
    merging_keeps: ClassVar[bool] = True
    one_part_heals: ClassVar[bool] = False
    persons_add: ClassVar[bool] = False
    numeric_only: ClassVar[bool] = False
    excepts_harmless: ClassVar[bool] = False
    spares_insensitive: ClassVar[bool] = True
    counts_values: ClassVar[bool] = False
    worst: ClassVar[Worst] = "largest"
    bound: ClassVar[str]
    keys: ClassVar[Mapping[str, str]] = {}
    only_if: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls, **declared: object) -> None:
        assert declared.keys() <= Guarantee.__annotations__.keys(), "a misspelt declaration would be lost"
        for name, value in declared.items():
            setattr(cls, name, value)
        if "kind" in declared:
            GUARANTEES.append(cls)

    @classmethod
    def asked(cls, keys: GuaranteeKeys) -> Self | None:
        """The guarantee that the keys of a policy ask for: every threshold needs its key."""
        values = {field: getattr(keys, cls.keys.get(field.name, field.name)) for field in fields(cls)}
        given = {field.name: _read(field.type, value) for field, value in values.items() if value is not None}
        needed = {field.name for field in values if field.default is MISSING}
        is_meant = all(getattr(keys, key) == value for key, value in cls.only_if.items())
        return cls(**given) if is_meant and needed <= given.keys() else None

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The thresholds, as plain numbers for people and manifests; terms of l that were not asked for are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _plain(value) for name, value in values.items() if value or name not in TERMS}

    @property
    def required(self) -> float:
        """The threshold that measures are compared with."""
        return float(getattr(self, self.bound))

    @property
    def least_rows(self) -> int:
        """How many rows a group needs, at least, to keep it."""
        return 1

    @property
    def variety(self) -> int:
        """How many different values a group needs, at least, to keep it."""
        return 2

    @property
    def listed(self) -> tuple[str, ...]:
        """The only values it speaks of, if it does not speak of all."""
        return ()

    @property
    def level(self) -> int:
        """The level of the hierarchy whose labels it counts; at level 0 they are the values."""
        return 0

    @property
    def singled_out(self) -> tuple[str, ...]:
        """The values, or labels of its level, that it asks more or less for than for others."""
        return ()

    @property
    def about(self) -> str:
        """The attribute that it is about, where it protects rows."""
        return ""

    @property
    def terms(self) -> str:
        """What it counts and how, where that is not every value alike, in the words of the policy but for its values."""
        return ""

    def with_ground(self, natural: Ground) -> "Guarantee":
        """The guarantee with the natural ground distance of an attribute, if it needs one and has none."""
        return self

    def for_one_value(self, value: str) -> "Guarantee":
        """What it means for the 0/1 attribute of one value of a multi-valued attribute."""
        return self

    def for_combination(self) -> "Guarantee":
        """What it means for several attributes taken as one."""
        return self

    def most_belief(self, share: float, text: str) -> float:
        """The most that anybody may believe in a value with a share of the table; infinite where it sets no cap."""
        return math.inf


def _read(kind: object, value: Any) -> Any:
    """What a key says, as the type of a threshold."""
    if isinstance(value, dict):
        return tuple(value.items())
    return exact(value) if kind is Fraction else tuple(value) if isinstance(value, list) else value


def _plain(value: object) -> Parameter:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        is_table = any(isinstance(member, tuple) for member in value)
        return dict(value) if is_table else [str(member) for member in value]
    assert isinstance(value, int | float | str)
    return value


@dataclass(frozen=True)
class KAnonymity(
    Guarantee, kind="k-anonymity", one_part_heals=True, persons_add=True, worst="smallest", bound="k"
):
    """Every group has at least k rows."""

    k: int

    @property
    def least_rows(self) -> int:
        """At least k rows."""
        return self.k

    @property
    def variety(self) -> int:
        """One value is enough."""
        return 1


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


WORST: Mapping[str, Worst] = {guarantee.kind: guarantee.worst for guarantee in GUARANTEES}


def asked_by(keys: GuaranteeKeys) -> Iterator[Guarantee]:
    """The guarantees of single attributes that keys ask for; k and eliminations speak of more than one's values."""
    kinds = (kind for kind in GUARANTEES if not issubclass(kind, KAnonymity | Elimination | KnownItems))
    return (guarantee for kind in kinds if (guarantee := kind.asked(keys)) is not None)
