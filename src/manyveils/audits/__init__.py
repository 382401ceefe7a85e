"""Whether a release keeps its promises, re-derived from the released tables and the original alone.

The audit shares no counting code with the methods, so that one fault cannot blind both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from manyveils.audits.absent import absence_findings
from manyveils.audits.bare import bare_findings, exposure_findings, not_judged, persons_counted
from manyveils.audits.content import Descents, TornBuckets, content_findings, loss_findings
from manyveils.audits.finding import Audit, Finding
from manyveils.audits.judge import worst_columns
from manyveils.audits.secrets import secret_findings
from manyveils.audits.together import columns_judged
from manyveils.audits.truth import Batches, form_findings, forms_told, truth_findings
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.licence import Licence, licensed
from manyveils.reading.persons import untold_views
from manyveils.reading.secrets import as_published
from manyveils.release import Release
from manyveils.release.bare import BareRelease
from manyveils.table import Table
from manyveils.table.persons import how_counted

__all__ = ["Audit", "Elsewhere", "Evidence", "Finding", "Judged", "Licence", "audit", "judged"]


class Judged(NamedTuple):
    """What an audit found, and all that it read for that."""

    audit: Audit
    evidence: Evidence


@dataclass(frozen=True, repr=False)
class Elsewhere:
    """Rows that are not here: falls in their order and torn buckets, the original, and how many files are not as written.

    `forms` are those that are marked and those of which nobody can tell.
    """

    descents: Descents
    torn_buckets: TornBuckets
    rows: Batches
    forms: tuple[int, int]

    def content(self, evidence: Evidence, n_claims: int) -> Iterator[Finding]:
        """The findings about columns, recodings, order and buckets."""
        return content_findings(evidence, n_claims, descents=self.descents, torn_buckets=self.torn_buckets)


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
    elsewhere: Elsewhere | None = None,
) -> Judged:
    """Judge every promise of the policy on a release; `levels` adds findings at other thresholds, unpromised.

    `licence` says what the policy's method may claim; other claims of the manifest are not believed. `elsewhere` looks at
    rows where they are, if here are only different ones with their counts.
    """
    if isinstance(release, BareRelease):
        return _judged_bare(release, table, policy, levels or {})
    as_read = release
    release, n_refused = licensed(release, table, policy, licence)
    evidence = Evidence(release, as_published(release, table), policy)
    found = Audit(
        (
            *worst_columns(columns_judged(evidence, levels or {})),
            *absence_findings(evidence),
            *(
                content_findings(evidence, n_refused)
                if elsewhere is None
                else elsewhere.content(evidence, n_refused)
            ),
            *loss_findings(evidence),
            *truth_findings(evidence, None if elsewhere is None else elsewhere.rows),
            *(form_findings(as_read) if elsewhere is None else forms_told(*elsewhere.forms)),
            *secret_findings(Evidence(release, table, policy)),
        ),
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
