"""What a guarantee declares of itself, and how it is read from the keys of a policy."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
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

    @classmethod
    def told(cls, parameters: Mapping[str, Any]) -> Self:
        """The guarantee with these parameters, as a manifest tells them; another error if they are not its own."""
        kinds: dict[str, Any] = {field.name: field.type for field in fields(cls)}
        for name, value in parameters.items():
            told = {int: int, Fraction: int | float}.get(kinds[name], str | list | dict)
            if not isinstance(value, told) or isinstance(value, bool):
                raise TypeError("not a parameter")
        return cls(**{name: _read(kinds[name], value) for name, value in parameters.items()})

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
    def is_void(self) -> bool:
        """Whether it holds whatever is published."""
        return False

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
