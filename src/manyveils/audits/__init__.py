"""Whether a release keeps its promises, re-derived from the released tables and the original alone.

The audit shares no counting code with the methods, so that one fault cannot blind both.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from manyveils.audits.absent import absence_findings
from manyveils.audits.bare import bare_findings, exposure_findings, not_judged, persons_counted
from manyveils.audits.claims import claim_findings
from manyveils.audits.content import content_findings, loss_findings
from manyveils.audits.everybody import everybody_findings
from manyveils.audits.finding import Audit, Finding
from manyveils.audits.judge import worst_columns
from manyveils.audits.secrets import secret_findings
from manyveils.audits.together import columns_judged
from manyveils.audits.truth import form_findings, is_as_published, truth_findings
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.licence import Licence, licensed
from manyveils.reading.persons import untold_views
from manyveils.reading.secrets import as_published
from manyveils.release import Release
from manyveils.release.bare import BareRelease
from manyveils.table import Table
from manyveils.table.persons import how_counted
from manyveils.threads import side_by_side

__all__ = ["Audit", "Evidence", "Finding", "Judged", "Licence", "audit", "judged"]


class Judged(NamedTuple):
    """What an audit found, and all that it read for that."""

    audit: Audit
    evidence: Evidence


def audit(
    release: Release,
    table: Table,
    policy: Policy,
    *,
    licence: Licence = Licence(),  # noqa: B008
    levels: Mapping[str, float] | None = None,
) -> Audit:
    """Judge every promise of the policy on a release, as `judged` does."""
    return judged(release, table, policy, licence, levels).audit


def judged(
    release: Release,
    table: Table,
    policy: Policy,
    licence: Licence = Licence(),  # noqa: B008
    levels: Mapping[str, float] | None = None,
) -> Judged:
    """Judge every promise of the policy on a release; `levels` adds findings at other thresholds, unpromised.

    `licence` says what the policy's method may claim; other claims of the manifest are not believed.
    """
    if isinstance(release, BareRelease):
        return _judged_bare(release, table, policy, levels or {})
    as_read = release
    release, n_refused = licensed(release, table, policy, licence)
    evidence = Evidence(release, as_published(release, table), policy)
    steps: tuple[Callable[[], Iterable[Finding]], ...] = (
        lambda: worst_columns(columns_judged(evidence, levels or {})),
        lambda: absence_findings(evidence),
        lambda: everybody_findings(evidence),
        lambda: content_findings(evidence, n_refused),
        lambda: loss_findings(evidence),
        lambda: truth_findings(evidence),
        lambda: claim_findings(evidence, is_unchanged=is_as_published(as_read)),
        lambda: form_findings(as_read),
        lambda: secret_findings(Evidence(release, table, policy)),
    )
    found = Audit(
        tuple(own for step in side_by_side(lambda step: tuple(step()), steps, table.n_rows) for own in step),
        table.derived,
        how_counted(table, policy),
        untold_views(evidence),
    )
    return Judged(found, evidence)


def _judged_bare(release: BareRelease, table: Table, policy: Policy, levels: Mapping[str, float]) -> Judged:
    """Judge a table that something else published: what it gives away, and what of it the original explains."""
    evidence = Evidence(release, table, policy)
    found = Audit(
        (
            *bare_findings(evidence, levels),
            *exposure_findings(release),
            *(() if release.is_alone else (*loss_findings(evidence), *truth_findings(evidence))),
        ),
        table.derived,
        persons_counted(release, table, policy),
        untold_views(evidence),
        not_judged=not_judged(release),
    )
    return Judged(found, evidence)
