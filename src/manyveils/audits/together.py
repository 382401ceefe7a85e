"""Findings about parts of a release, and what they add up to.

A part holds whole groups: rows that someone cannot tell apart are in one part.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from manyveils.audits.finding import Finding
from manyveils.audits.judge import judge_columns, worst_columns
from manyveils.audits.levels import at_levels
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import WORST
from manyveils.reading.evidence import Evidence
from manyveils.release import Release
from manyveils.release.bare import BareRelease
from manyveils.table import Table, resolve
from manyveils.threads import side_by_side

Subject = tuple[object, ...]


def promise_findings(
    release: Release, table: Table, policy: Policy, levels: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """The findings about the promises in one part of a release, column by column, for `together`.

    The manifest lists every view with the rows that this part has of it; a view without rows here has an empty table.
    `table` is the original as the public sees it (`as_published`): its rows are those whom slices of this part may
    hold, and its `whole` counts all people.
    """
    return tuple(columns_judged(Evidence(release, table, policy), levels or {}))


def columns_judged(evidence: Evidence, levels: Mapping[str, float]) -> Iterator[Finding]:
    """The findings about all promises, and about promises at other levels, column by column."""
    # Promises are about all people, even where few of them are in this part.
    everyone = replace(evidence.table, n_rows=evidence.n_people, weights=None)
    promises = resolve(evidence.policy, everyone, is_made=isinstance(evidence.release, BareRelease))
    unpromised = tuple(at_levels(promises, levels))
    asked = [*((promise, True) for promise in promises), *((promise, False) for promise in unpromised)]

    def found(one: tuple[Promise, bool]) -> list[Finding]:
        promise, promised = one
        return list(judge_columns(evidence, promise, promised=promised))

    yield from chain.from_iterable(side_by_side(found, asked, evidence.n_people))


def together(parts: Iterable[Sequence[Finding]]) -> tuple[Finding, ...]:
    """The findings that those about the parts add up to, in the order in which an audit of all rows has them.

    Claim: they are what the audit finds in all rows at once, if every group is in one part as a whole.
    Why: a group is measured by its own rows and by counts of all people; the worst of all groups is the worst of
    the parts' worst, and everything else is a sum.
    Tested by: tests/claims/test_audit_parts.py
    """
    sums: dict[Subject, Finding] = {}
    for part in parts:
        for subject, finding in _numbered(part):
            sums[subject] = _added(sums[subject], finding) if subject in sums else finding
    return tuple(worst_columns(_without_idle(tuple(sums.values()))))


def _numbered(part: Sequence[Finding]) -> Iterator[tuple[Subject, Finding]]:
    """Tell findings about the same view apart by their order: rules and columns may share all that is written."""
    counts: Counter[Subject] = Counter()
    for finding in part:
        subject = (*_promise(finding), finding.view)
        yield (*subject, counts[subject]), finding
        counts[subject] += 1


def _promise(finding: Finding) -> Subject:
    return finding.named, finding.attribute, finding.reading, finding.promised, finding.required


def _without_idle(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out what says that nothing is shown, if another part shows it."""
    shown = {_promise(finding) for finding in findings if finding.view}
    return (finding for finding in findings if finding.view or _promise(finding) not in shown)


def _added(first: Finding, second: Finding) -> Finding:
    for finding in (first, second):
        if not finding.kept and not finding.groups:
            return finding
    return replace(
        min(first, second, key=_badness),
        kept=first.kept and second.kept,
        groups=first.groups + second.groups,
        groups_short=first.groups_short + second.groups_short,
        rows_short=first.rows_short + second.rows_short,
    )


def _badness(finding: Finding) -> tuple[bool, float, int]:
    """Sorts the worst first: what is not measured comes last, and of equal measures the smallest group comes first."""
    measured, size = finding.measured, finding.worst_group_size
    if measured is None or size is None:
        return True, 0.0, 0
    return False, measured if WORST[finding.promise] == "smallest" else -measured, size
