"""What attacks achieved: counts and shares only, never a person and never a cell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Any, Literal

from manyveils.plain import as_table

TOLERANCE = 1e-9

How = Literal["exact", "estimate", "simulation", "bound", "none"]
Standing = Literal["nothing learnt", "within bounds", "not promised", "broken", "does not apply"]

OPENINGS: Mapping[Standing, str] = {
    "nothing learnt": "Learns nothing about people in the data.",
    "within bounds": "Learns something, within the bounds.",
    "not promised": "Knows some people well, and no promise caps this.",
    "broken": "Knows some people better than a promised bound.",
}
SENTENCES: Mapping[Standing, str] = {
    "nothing learnt": "Nothing is learnt by",
    "within bounds": "Something is learnt, within the bounds, by",
    "broken": "The release does not protect against, beyond a promised bound,",
    "not promised": "It does not protect against, where no promise caps this,",
    "does not apply": "There is nothing to attack for",
}


@dataclass(frozen=True)
class Measure:
    """What `success` is a share of, in words; `is_mean` says that it is the mean of a quantity and not of hits.

    `sentence` has places for success, targets and baseline.
    """

    name: str
    sentence: str
    is_mean: bool = False
    openings: Mapping[Standing, str] = field(default_factory=lambda: OPENINGS)


GUESSED_RIGHT = Measure(
    "share of targets guessed right", "Right for {success} of {targets} targets; guessing gets {baseline}"
)


@dataclass(frozen=True)
class Outcome:
    """What one attack achieved.

    `success` is the share of targets it gets right, or what `measure` says; `baseline` what the best guess without the
    release gets, `control` what the same attack gets of people who are not in the data (None where it makes no sense to
    ask) and `control_unsure` how far that may be off. `low` and `high` are a 95 % interval of `success`.
    `broken` counts targets whose true value is believed more than `bound` says and more than without the release;
    for `promised` of them the policy promises that bound, and for the others it promises none.
    `certain` counts those of whom it is certain; `worst` is the strongest belief in a true value.
    `is_foreseen` says that the promises speak of adversaries who know as much.
    Where an attack does not apply, `reason` says why and there are no numbers.
    """

    name: str
    knows: str
    how: How
    targets: int = 0
    success: float | None = None
    baseline: float | None = None
    control: float | None = None
    control_unsure: float = 0.0
    low: float | None = None
    high: float | None = None
    broken: int = 0
    promised: int = 0
    certain: int = 0
    worst: float | None = None
    bound: str = ""
    by_attribute: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    measure: Measure = GUESSED_RIGHT
    is_foreseen: bool = False

    @property
    def applies(self) -> bool:
        """Whether there was anything to attack."""
        return not self.reason

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether people in the data are found out more often than by guessing, and than people outside."""
        if self.success is None or self.low is None:
            return False
        # People outside are a sample too, often a small one.
        unsure = hypot(self.success - self.low, self.control_unsure)
        beyond_control = self.success - (self.control or 0.0) > unsure + TOLERANCE
        return self.low > (self.baseline or 0.0) + TOLERANCE and beyond_control

    @property
    def standing(self) -> Standing:
        """How the release fares."""
        if not self.applies:
            return "does not apply"
        if self.broken or self.certain:
            return "broken" if self.promised else "not promised"
        return "within bounds" if self.is_better_than_guessing else "nothing learnt"

    @property
    def verdict(self) -> str:
        """The outcome in plain words."""
        if not self.applies:
            return f"Does not apply: {self.reason}"
        rates = self.measure.sentence.format(
            success=_percent(self.success), targets=f"{self.targets:,}", baseline=_percent(self.baseline)
        )
        if self.control is not None:
            rates += f", and of people outside the data {_percent(self.control)}"
        return f"{self.measure.openings[self.standing]} {rates}.{self._harm()}"

    def _harm(self) -> str:
        counts = []
        if self.promised:
            beyond = "" if self.is_foreseen else ", by someone who knows more than the promise speaks of"
            counts.append(f"{self.promised:,} are beyond a promised bound{beyond}")
        if self.broken > self.promised:
            counts.append(f"{self.broken - self.promised:,} are known well where no promise caps it")
        if self.certain:
            counts.append(f"{self.certain:,} for certain")
        return f" Of the targets, {'; '.join(counts)}." if counts else ""

    def describe(self) -> dict[str, object]:
        """The outcome as plain values for JSON."""
        return {
            "knows": self.knows,
            "how": self.how,
            "applies": self.applies,
            "reason": self.reason,
            "standing": self.standing,
            "measures": self.measure.name,
            "success": self.success,
            "baseline": self.baseline,
            "control": self.control,
            "interval": None if self.low is None else [self.low, self.high],
            "targets": self.targets,
            "broken": self.broken,
            "promised": self.promised,
            "certain": self.certain,
            "worst": self.worst,
            "bound": self.bound,
            "by_attribute": {name: dict(numbers) for name, numbers in self.by_attribute.items()},
            "details": dict(self.details),
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        return f"<Outcome of {self.name}: {self.verdict}>"


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
        sentences = [(start, self.standing(standing)) for standing, start in SENTENCES.items()]
        return " ".join(f"{start} {', '.join(names)}." for start, names in sentences if names)

    def describe(self) -> dict[str, object]:
        """All outcomes as plain values for JSON."""
        return {
            "method": self.method,
            "verdict": self.verdict,
            "attacks": {name: outcome.describe() for name, outcome in self.outcomes.items()},
        }

    def _repr_html_(self) -> str:
        header = ["attack", "success", "guessing", "control", "targets", "broken", "certain", "standing"]
        rows = []
        for name, outcome in self.outcomes.items():
            if outcome.applies:
                shares = map(_percent, (outcome.success, outcome.baseline, outcome.control))
                rows.append(
                    [name, *shares, outcome.targets, outcome.broken, outcome.certain, outcome.standing]
                )
        return as_table(f"Attacks on a release by {self.method}", header, rows, note=self.verdict)

    def __repr__(self) -> str:
        return f"<Attacks on a release by {self.method}: {self.verdict}>"
