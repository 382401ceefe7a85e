"""What a release gives away beyond its promises, in words: to those who know more than the promises speak of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from manyveils.audits.finding import BOUND, Finding

Reading = Literal["conditional", "sightings", "absent", "everybody"]
WHO: Mapping[str, str] = {
    "conditional": "Someone who knows the other sensitive values of a person",
    "sightings": "Someone who finds a person in several groups, and takes {about} not to change,",
    "everybody": "Someone who knows the quasi-identifiers of all people",
    "absent": "Someone who knows how common each {about} is among all, and that a person was left out,",
}
REMEDIES: Mapping[str, str] = {
    "conditional": "conditional = true in the policy would promise it.",
    "sightings": "constant = true for the attribute would promise it.",
    "everybody": "everybody = true in the policy would promise it.",
    "absent": "absent = true in the policy would promise it, and suppression = 0 leaves nobody out.",
}


@dataclass(frozen=True)
class Beyond:
    """What someone who knows more learns of one attribute; `rows` fall short of what is promised against others."""

    about: str
    reading: str
    rows: int
    of: int
    is_certain: bool

    @property
    def what(self) -> str:
        """The consequence in a sentence."""
        certainly = f"is certain of {self.about} for some people, and " if self.is_certain else ""
        who = WHO[self.reading].format(about=self.about)
        better = f"knows {self.about} better than others are promised to"
        return f"{who} {certainly}{better} in {self.rows:,} of {self.of:,} rows."

    @property
    def remedy(self) -> str:
        """What would promise that it cannot happen."""
        return f"This was not promised; {REMEDIES[self.reading]}"

    def describe(self) -> dict[str, object]:
        """The consequence as plain values for JSON."""
        return asdict(self) | {"what": self.what, "remedy": self.remedy}


def beyond(findings: Iterable[Finding], n_rows: int, named: Callable[[str], str]) -> tuple[Beyond, ...]:
    """What is not kept and was not promised, the heaviest first: certain before likely, many rows before few.

    `named` gives an attribute as the policy names it. Of several values and views, the worst speaks.
    """
    worst: dict[tuple[str, str], Beyond] = {}
    for finding in findings:
        is_bound = finding.terms.endswith(BOUND)
        if (
            finding.promised
            or finding.kept
            or finding.reading not in WHO
            or is_bound
            or not finding.rows_short
        ):
            continue
        about, reading = named(finding.attribute), finding.reading
        # Diversity of one is a single value that is left.
        is_certain = finding.promise.endswith("diversity") and (finding.measured or 0) <= 1
        told = Beyond(about, reading, finding.rows_short, n_rows, is_certain)
        before = worst.get((about, reading))
        if before is not None:
            rows, sure = max(before.rows, told.rows), before.is_certain or is_certain
            told = Beyond(about, reading, rows, n_rows, sure)
        worst[about, reading] = told
    return tuple(sorted(worst.values(), key=lambda told: (not told.is_certain, -told.rows)))
