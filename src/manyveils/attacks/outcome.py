"""What attacks achieved: counts and shares only, never a person and never a cell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

How = Literal["exact", "estimate", "simulation", "bound", "none"]
Standing = Literal["nothing learnt", "within bounds", "broken", "does not apply"]


@dataclass(frozen=True)
class Outcome:
    """What one attack achieved.

    `success` is the share of targets it gets right, `baseline` what the best guess without the release gets, `control`
    what the same attack gets of people who are not in the data (None where it makes no sense to ask).
    `low` and `high` are a 95 % interval of `success`.
    `broken` counts targets whose true value is believed more than `bound` says and more than without the release,
    `certain` those of whom it is certain; `worst` is the strongest belief in a true value.
    `means` says in words what happened to that share of targets.
    Where an attack does not apply, `reason` says why and there are no numbers.
    """

    name: str
    knows: str
    how: How
    targets: int = 0
    success: float | None = None
    baseline: float | None = None
    control: float | None = None
    low: float | None = None
    high: float | None = None
    broken: int = 0
    certain: int = 0
    worst: float | None = None
    bound: str = ""
    by_attribute: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    means: str = "Right for"

    @property
    def applies(self) -> bool:
        """Whether there was anything to attack."""
        return not self.reason

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether people in the data are found out more often than by guessing, and than people outside."""
        if self.low is None:
            return False
        return self.low > max(self.baseline or 0.0, self.control or 0.0)

    @property
    def standing(self) -> Standing:
        """How the release fares."""
        if not self.applies:
            return "does not apply"
        if self.broken:
            return "broken"
        return "within bounds" if self.is_better_than_guessing else "nothing learnt"

    @property
    def verdict(self) -> str:
        """The outcome in plain words."""
        if not self.applies:
            return f"Does not apply: {self.reason}"
        assert self.success is not None
        rates = f"{self.means} {_percent(self.success)} of {self.targets:,} targets; guessing gets {_percent(self.baseline)}"
        if self.control is not None:
            rates += f", and of people outside the data {_percent(self.control)}"
        return f"{_OPENINGS[self.standing]} {rates}.{self._harm()}"

    def _harm(self) -> str:
        if not self.broken and not self.certain:
            return ""
        certain = f", {self.certain:,} of them certain" if self.certain else ""
        return f" {self.broken:,} targets are beyond the bound{certain}."

    def describe(self) -> dict[str, object]:
        """The outcome as plain values for JSON."""
        return {
            "knows": self.knows,
            "how": self.how,
            "applies": self.applies,
            "reason": self.reason,
            "standing": self.standing,
            "success": self.success,
            "baseline": self.baseline,
            "control": self.control,
            "interval": None if self.low is None else [self.low, self.high],
            "targets": self.targets,
            "broken": self.broken,
            "certain": self.certain,
            "worst": self.worst,
            "bound": self.bound,
            "by_attribute": {name: dict(each) for name, each in self.by_attribute.items()},
            "details": dict(self.details),
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        return f"<Outcome of {self.name}: {self.verdict}>"


_OPENINGS: Mapping[Standing, str] = {
    "nothing learnt": "Learns nothing about people in the data.",
    "within bounds": "Learns something, within the bounds.",
    "broken": "Knows some people better than the bound.",
}


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{100 * share:.3g} %"


@dataclass(frozen=True, repr=False)
class Attacks(Mapping[str, Outcome]):
    """The outcome of every attack on one release, by name."""

    method: str
    outcomes: Mapping[str, Outcome]

    def __getitem__(self, name: str) -> Outcome:
        return self.outcomes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def standing(self, standing: Standing) -> tuple[str, ...]:
        """The attacks that ended in one way."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome.standing == standing)

    @property
    def verdict(self) -> str:
        """What the release protects against and what it does not, in plain words."""
        said = [
            ("Nothing is learnt by", self.standing("nothing learnt")),
            ("Something is learnt, within the bounds, by", self.standing("within bounds")),
            ("The release does not protect against", self.standing("broken")),
            ("There is nothing to attack for", self.standing("does not apply")),
        ]
        return " ".join(f"{start} {', '.join(names)}." for start, names in said if names)

    def describe(self) -> dict[str, object]:
        """All outcomes as plain values for JSON."""
        return {
            "method": self.method,
            "verdict": self.verdict,
            "attacks": {name: outcome.describe() for name, outcome in self.outcomes.items()},
        }

    def __repr__(self) -> str:
        return f"<Attacks on a release by {self.method}: {self.verdict}>"
