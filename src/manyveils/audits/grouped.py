"""Findings for a screen: what is broken first, and a hundred values of one attribute as one line with its worst."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manyveils.audits.finding import Audit, Finding


@dataclass(frozen=True)
class Row:
    """The worst of findings that differ only in which value of an attribute they are about."""

    worst: Finding
    about: str
    n_values: int

    def shown(self, field: str) -> Any:
        """One field of the line; the attribute with how many of its values there are."""
        if field == "attribute":
            return f"{self.about} ({self.n_values} values)" if self.n_values > 1 else self.about
        return getattr(self.worst, field)

    def __str__(self) -> str:
        """The line in words, for a terminal without room for a table."""
        finding = self.worst
        verdict = "kept" if finding.kept else ("BROKEN" if finding.promised else "does not hold")
        about = f" of {self.shown('attribute')}" if self.about else ""
        where = f", view {finding.view}" if finding.view else ""
        measured = (
            "nothing could be measured" if finding.measured is None else f"measured {finding.measured:.4g}"
        )
        reading = "" if finding.reading in ("marginal", "release") else f" ({finding.reading})"
        short = f"; {finding.rows_short:,} rows fall short" if finding.rows_short else ""
        needs = "at most" if finding.reading == "release" else "needs"
        return f"{verdict}: {finding.named}{about}{reading}{where}: {needs} {finding.required:.4g}, {measured}{short}"


def grouped(verdict: Audit) -> tuple[Row, ...]:
    """The findings, value by value together: broken promises first, then promises, then what was not promised."""
    homes = {derived: home for home, names in verdict.derived.items() for derived in names}
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in verdict.findings:
        about = "+".join(homes.get(name, name) for name in _names(finding.attribute, homes))
        key = finding.named, about, finding.view, finding.reading, finding.promised, finding.required
        groups.setdefault((*key,), []).append(finding)
    rows = [Row(_worst(findings), str(about), len(findings)) for (_, about, *_), findings in groups.items()]
    return tuple(sorted(rows, key=_rank))


def _names(attribute: str, homes: dict[str, str]) -> Sequence[str]:
    """The attributes of a finding; only whole names of derived ones are looked up, which may hold any sign."""
    return [attribute] if attribute in homes or "+" not in attribute else attribute.split("+")


def _worst(findings: Sequence[Finding]) -> Finding:
    """The one that is not kept, of several the one by which most rows fall short, or else that with the smallest group."""
    return min(
        findings, key=lambda finding: (finding.kept, -finding.rows_short, finding.worst_group_size or 0)
    )


def _rank(row: Row) -> tuple[bool, bool, str]:
    """Broken promises, kept ones, and the others; in each the lines of an attribute stand together."""
    return row.worst.kept or not row.worst.promised, not row.worst.promised, row.about
