"""What can be promised of a group of rows: one small value per guarantee.

A guarantee says nothing about how it is counted.
Methods and audits count in ways of their own, so that a fault in one is seen by the other.

`merging_keeps`: two groups that keep it still keep it as one group.
`one_part_heals`: a group that breaks it keeps it as soon as it is merged with one that does;
only then can a coarser table never need more suppression than a finer one.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar, Literal

Ground = Literal["equal", "ordered", "hierarchical"]

PRECISION = 10**9


def exact(number: float | int | str | Fraction) -> Fraction:
    """Read a threshold as the decimal its author wrote; past nine decimals it is cut off.

    >>> exact(0.2)
    Fraction(1, 5)
    """
    fraction = Fraction(str(number))
    return fraction if fraction.denominator <= PRECISION else Fraction(int(fraction * PRECISION), PRECISION)


@dataclass(frozen=True)
class Guarantee:
    """Something that can hold for a group of rows."""

    kind: ClassVar[str]
    merging_keeps: ClassVar[bool] = True
    one_part_heals: ClassVar[bool] = False
    numeric_only: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, int | float | str | list[str]]:
        """The thresholds, as plain numbers for people and manifests."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: object) -> int | float | str | list[str]:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        return [str(member) for member in value]
    assert isinstance(value, int | float | str)
    return value


@dataclass(frozen=True)
class KAnonymity(Guarantee):
    """Every group has at least k rows."""

    kind: ClassVar[str] = "k-anonymity"
    one_part_heals: ClassVar[bool] = True
    k: int


@dataclass(frozen=True)
class DistinctDiversity(Guarantee):
    """Every group has at least l different values (p-sensitivity is the same)."""

    kind: ClassVar[str] = "distinct-l-diversity"
    one_part_heals: ClassVar[bool] = True
    l: int


@dataclass(frozen=True)
class FrequencyDiversity(Guarantee):
    """No value fills more than one l-th of a group."""

    kind: ClassVar[str] = "frequency-l-diversity"
    l: int


@dataclass(frozen=True)
class EntropyDiversity(Guarantee):
    """The entropy of every group is at least log l."""

    kind: ClassVar[str] = "entropy-l-diversity"
    l: int


@dataclass(frozen=True)
class RecursiveDiversity(Guarantee):
    """The commonest value has fewer than c times the rows of the l-th commonest and rarer ones together."""

    kind: ClassVar[str] = "recursive-c-l-diversity"
    c: Fraction
    l: int


@dataclass(frozen=True)
class Closeness(Guarantee):
    """The distribution in every group is within earth mover's distance t of the whole table's."""

    kind: ClassVar[str] = "t-closeness"
    t: Fraction
    ground: Ground


@dataclass(frozen=True)
class SupersetCloseness(Guarantee):
    """Every group is within distance t of some natural superset with at least n rows."""

    kind: ClassVar[str] = "n-t-closeness"
    merging_keeps: ClassVar[bool] = False
    n: int
    t: Fraction
    ground: Ground


@dataclass(frozen=True)
class CappedShare(Guarantee):
    """No listed value fills more than the share alpha of a group; an empty list means every value."""

    kind: ClassVar[str] = "alpha-k-anonymity"
    alpha: Fraction
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class NumericSpread(Guarantee):
    """The values of every group are spread over at least e."""

    kind: ClassVar[str] = "k-e-anonymity"
    one_part_heals: ClassVar[bool] = True
    numeric_only: ClassVar[bool] = True
    e: Fraction


@dataclass(frozen=True)
class Proximity(Guarantee):
    """Around any value of a group, at most one m-th of its rows lie within epsilon."""

    kind: ClassVar[str] = "epsilon-m-anonymity"
    merging_keeps: ClassVar[bool] = False
    numeric_only: ClassVar[bool] = True
    epsilon: Fraction
    m: int


@dataclass(frozen=True)
class Likeness(Guarantee):
    """No value gains more than the factor beta over its share in the table, nor more than -ln of that share."""

    kind: ClassVar[str] = "beta-likeness"
    beta: Fraction


@dataclass(frozen=True)
class Disclosure(Guarantee):
    """The share of every value stays within the factor e^delta of its share in the table."""

    kind: ClassVar[str] = "delta-disclosure"
    delta: Fraction


@dataclass(frozen=True)
class Linkability(Guarantee):
    """Knowing the group, no value can be named with more confidence than epsilon."""

    kind: ClassVar[str] = "linkability"
    epsilon: Fraction


@dataclass(frozen=True)
class Elimination(Guarantee):
    """Ruling out so many values of other attributes, or fewer, never leaves one value only ((α,β,k)'s α).

    Merging keeps it: what is left of a group is nothing or two values, so together it is nothing or two as well.
    """

    kind: ClassVar[str] = "elimination"
    eliminations: int
    ruled_out: tuple[str, ...]


@dataclass(frozen=True)
class Promise:
    """A guarantee for those who know `given`, about `protects` taken as one attribute.

    `protects` is empty where the guarantee speaks of rows alone (k-anonymity).
    `conditional` adds the other sensitive attributes to what is known.
    """

    guarantee: Guarantee
    given: tuple[str, ...]
    protects: tuple[str, ...] = ()
    insensitive: frozenset[str] = frozenset()
    conditional: bool = False
    is_rule: bool = False

    @property
    def merging_keeps(self) -> bool:
        """Whether two groups that keep the promise keep it as one.

        Groups without a sensitive value keep entropy and recursive diversity as an exception,
        and an exception does not survive merging.
        """
        excepted = isinstance(self.guarantee, EntropyDiversity | RecursiveDiversity) and bool(
            self.insensitive
        )
        return self.guarantee.merging_keeps and not excepted

    @property
    def one_part_heals(self) -> bool:
        """Whether merging with one good group mends any group."""
        return self.guarantee.one_part_heals and not self.conditional and not self.insensitive

    @property
    def minds_company(self) -> bool:
        """Whether it matters which other sensitive attributes stand beside the protected one."""
        return self.conditional or isinstance(self.guarantee, Elimination)

    @property
    def subject(self) -> str:
        """What is protected, in one word or several joined by `+`."""
        return "+".join(self.protects)

    def describe(self) -> dict[str, object]:
        """The promise as the public manifest lists it."""
        described: dict[str, object] = {"kind": self.guarantee.kind, "parameters": self.guarantee.parameters}
        if self.is_rule:
            return described | {"rule": {"given": list(self.given), "protect": self.subject}}
        if self.protects:
            described |= (
                {"attribute": self.protects[0]}
                if len(self.protects) == 1
                else {"attributes": list(self.protects)}
            )
        return described | ({"conditional": True} if self.conditional else {})
