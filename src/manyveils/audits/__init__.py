"""Whether a release keeps its promises, re-derived from the released tables and the original alone.

The audit shares no counting code with the methods, so that one fault cannot blind both.
"""

from collections.abc import Iterator, Mapping

from manyveils.audits.content import content_findings
from manyveils.audits.evidence import Evidence
from manyveils.audits.finding import Audit, Finding
from manyveils.audits.judge import judge
from manyveils.audits.levels import at_levels
from manyveils.audits.losses import loss_findings
from manyveils.audits.secrets import secret_findings
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.release.secrets import as_published
from manyveils.table import Table, resolve

__all__ = ["Audit", "Finding", "audit"]


def audit(
    release: Release, table: Table, policy: Policy, *, levels: Mapping[str, float] | None = None
) -> Audit:
    """Judge every promise of the policy on a release; `levels` adds findings at other thresholds, unpromised."""
    evidence = Evidence(release, as_published(release, table), policy)
    return Audit((*_findings(evidence, levels or {}), *secret_findings(release, table, policy)))


def _findings(evidence: Evidence, levels: Mapping[str, float]) -> Iterator[Finding]:
    promises = resolve(evidence.policy, evidence.table)
    wondered = tuple(at_levels(promises, levels))
    for promise in promises:
        yield from judge(evidence, promise, promised=True)
    for promise in wondered:
        yield from judge(evidence, promise, promised=False)
    yield from content_findings(evidence)
    yield from loss_findings(evidence)
