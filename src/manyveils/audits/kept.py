"""What a table keeps as it stands: the strongest promises that could be made of it, read off an audit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from manyveils.audits.finding import Audit

# Promises that any table keeps: an audit of them measures how much more it keeps.
WEAKEST: Mapping[str, float] = {"k": 1, "l": 1, "t": 1.0}
KINDS: Mapping[str, str] = {"distinct-l-diversity": "l", "t-closeness": "t"}


@dataclass(frozen=True)
class KeptOf:
    """The largest l (distinct values) and the smallest t of one sensitive attribute, in one reading."""

    attribute: str
    reading: str
    l: float | None = None
    t: float | None = None


@dataclass(frozen=True)
class Kept:
    """The largest k of a table, and what holds of each sensitive attribute: as it is, and for who knows the others."""

    k: float | None
    attributes: tuple[KeptOf, ...]

    def describe(self) -> dict[str, object]:
        """The same as plain values."""
        return asdict(self)


def kept_of(verdict: Audit) -> Kept:
    """What an audit of the weakest promises measured."""
    sizes = (finding.measured for finding in verdict.findings if finding.promise == "k-anonymity")
    told: dict[tuple[str, str], dict[str, float | None]] = {}
    for finding in verdict.findings:
        if finding.promise in KINDS:
            measures = told.setdefault((finding.attribute, finding.reading), {})
            measures[KINDS[finding.promise]] = finding.measured
    attributes = (KeptOf(name, reading, **measures) for (name, reading), measures in told.items())
    return Kept(next(sizes, None), tuple(attributes))
