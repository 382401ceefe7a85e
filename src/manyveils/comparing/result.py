"""What came of one configuration: counts, shares and times, never a cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manyveils.comparing.configurations import Configuration
from manyveils.plain import plain

DESCRIBED = [
    "rows",
    "suppressed",
    "keeps_policy",
    "risk",
    "worst_attack",
    "utility",
    "attacks",
    "secret",
    "seconds",
    "notes",
]


@dataclass(frozen=True)
class Result:
    """A configuration that was published, audited, measured and attacked; or the reason why it was not.

    `keeps_policy` says whether the release keeps all that the policy file promises, whatever was varied.
    `secret` are the attributes that only the key can read: the measures leave them out.
    """

    configuration: Configuration
    refusal: str = ""
    rows: int = 0
    suppressed: int = 0
    keeps_policy: bool = False
    utility: Mapping[str, Any] = field(default_factory=dict)
    attacks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    secret: tuple[str, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The configuration's name."""
        return self.configuration.name

    @property
    def published(self) -> bool:
        """Whether there is a release, which then keeps what its own configuration promises."""
        return not self.refusal

    @property
    def gains(self) -> dict[str, float]:
        """What each attack that applies gets right beyond guessing and beyond non-members, as a share of targets.

        What it gets right of non-members too is knowledge about everybody, which no release could prevent.
        """
        return {
            name: max(0.0, outcome["success"] - max(outcome["baseline"] or 0.0, outcome["control"] or 0.0))
            for name, outcome in self.attacks.items()
            if outcome["success"] is not None
        }

    @property
    def risk(self) -> float | None:
        """The greatest gain of any attack; None if none was tried."""
        return max(self.gains.values(), default=0.0) if self.attacks else None

    @property
    def worst_attack(self) -> str:
        """The attack that gains most."""
        gains = self.gains
        return max(gains, key=lambda name: gains[name], default="")

    def describe(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        document = {**self.configuration.describe(), "published": self.published}
        if not self.published:
            return document | {"refusal": self.refusal}
        # What is published is kept: a broken promise would have been a refusal.
        return document | {"kept": True} | {name: plain(getattr(self, name)) for name in DESCRIBED}
