"""What can be promised of how many people are alike, whatever their values: sizes of groups, and the risks that follow.

Whoever is looked for among n people who look alike is found with a chance of one in n.
"""

from dataclasses import dataclass
from fractions import Fraction

from manyveils.policy.guarantee import Guarantee


class LeastSize(Guarantee):
    """How many people of the data a group needs, and nothing of their values."""

    @property
    def variety(self) -> int:
        """One value is enough."""
        return 1


@dataclass(frozen=True)
class KAnonymity(
    LeastSize, kind="k-anonymity", one_part_heals=True, persons_add=True, worst="smallest", bound="k"
):
    """Every group has at least k rows."""

    k: int

    @property
    def least_rows(self) -> int:
        """At least k rows."""
        return self.k


@dataclass(frozen=True)
class KeyAnonymity(
    LeastSize, kind="key-k-anonymity", one_part_heals=True, persons_add=True, worst="smallest", bound="k"
):
    """Whoever knows some of the quasi-identifiers, and no others, still has k rows or more before her.

    Groups of all quasi-identifiers with so many rows are enough, and more than is asked for.
    """

    k: int
    attributes: tuple[str, ...]

    @property
    def least_rows(self) -> int:
        """At least k rows."""
        return self.k

    @property
    def about(self) -> str:
        """The quasi-identifiers that are known."""
        return "+".join(self.attributes)


class _Risk(LeastSize):
    """A bound on the chance of finding somebody, which groups of so many people keep."""

    risk: Fraction

    @property
    def least_rows(self) -> int:
        """One over the risk, rounded up."""
        return one_over(self.risk)


@dataclass(frozen=True)
class ProsecutorRisk(
    _Risk,
    kind="prosecutor-risk",
    one_part_heals=True,
    persons_add=True,
    bound="risk",
    keys={"risk": "prosecutor_risk"},
):
    """Nobody who is known to be in the data is found with a greater chance: one over the size of her group."""

    risk: Fraction


@dataclass(frozen=True)
class MarketerRisk(
    _Risk,
    kind="marketer-risk",
    one_part_heals=True,
    persons_add=True,
    bound="risk",
    keys={"risk": "marketer_risk"},
):
    """Of all people in the data no greater share is found, on average: the number of groups over that of people.

    Groups of one over the risk are enough, and more than is asked for.
    """

    risk: Fraction


class PopulationSize(Guarantee):
    """How many people of the population look like a group."""

    @property
    def variety(self) -> int:
        """One value is enough."""
        return 1

    @property
    def least_people(self) -> int:
        """How many people of the population every group needs."""
        raise NotImplementedError


@dataclass(frozen=True)
class KMap(PopulationSize, kind="k-map", one_part_heals=True, worst="smallest", bound="k_map"):
    """Every group looks like k people of the population or more."""

    k_map: int

    @property
    def least_people(self) -> int:
        """At least k people."""
        return self.k_map


@dataclass(frozen=True)
class JournalistRisk(
    PopulationSize,
    kind="journalist-risk",
    one_part_heals=True,
    bound="risk",
    keys={"risk": "journalist_risk"},
):
    """Nobody who may be in the data or not is found with a greater chance: one over those in the population who look alike."""

    risk: Fraction

    @property
    def least_people(self) -> int:
        """One over the risk, rounded up."""
        return one_over(self.risk)


def one_over(risk: Fraction) -> int:
    """The fewest people among whom a chance is no greater than a risk.

    >>> one_over(Fraction(3, 10))
    4
    """
    return -(-risk.denominator // risk.numerator)
