"""What is said of a table that something else published besides its promises: what it shows, and what nobody can tell."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.audits.judge import judge_promised, known_besides, worst_columns
from manyveils.audits.levels import at_levels
from manyveils.audits.together import columns_judged
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Elimination, KnownItems
from manyveils.reading.candidates import is_any, with_candidates
from manyveils.reading.evidence import Evidence
from manyveils.release.bare import BareRelease
from manyveils.table import Table, resolve
from manyveils.table.persons import how_counted

MISSING_ANY = "missing = any"
ABSENT = "the table does not have it, so nothing of it can be learnt"
NO_ORIGINAL = "no original"
OF_ORIGINAL: Mapping[str, str] = {
    "nothing-lost": "whether every cell is what the original says",
    "rows-true": "whether every row is a row of the original",
    "suppression": "how many persons were left out",
}
OF_RELEASE: Mapping[str, str] = {
    "order-tells-nothing": "a table keeps the order that its maker gave it: sort it before it goes out",
}


def bare_findings(evidence: Evidence, levels: Mapping[str, float]) -> Iterator[Finding]:
    """The findings about all promises; where a missing cell may be any value, that is what is promised.

    The other reading, in which missing is a value of its own, is then shown beside it.
    """
    told = worst_columns(columns_judged(evidence, levels))
    promises = resolve(evidence.policy, evidence.table, is_made=True)
    if not reads_missing_as_any(evidence, promises):
        yield from told
        return
    yield from _of_candidates(evidence, promises, promised=True)
    yield from _of_candidates(evidence, at_levels(promises, levels), promised=False)
    yield from (replace(finding, promised=False) for finding in told)


def _of_candidates(evidence: Evidence, promises: Iterable[Promise], *, promised: bool) -> Iterator[Finding]:
    """The findings about promises in the reading in which a missing cell may be any value."""
    for promise in promises:
        for finding in judge_promised(candidates_for(evidence, promise), promise):
            terms = ", ".join(filter(None, (finding.terms, MISSING_ANY)))
            yield replace(finding, promised=promised, terms=terms)


def reads_missing_as_any(evidence: Evidence, promises: Iterable[Promise]) -> bool:
    """Whether the policy says that a missing cell may be any value, and some known cell is missing."""
    known = tuple(dict.fromkeys(name for promise in promises for name in promise.given))
    return evidence.policy.data.missing == "any" and is_any(evidence, known)


def candidates_for(evidence: Evidence, promise: Promise) -> Evidence:
    """The evidence in which whose row may be whose is told by candidates, as far as a promise looks at it."""
    if not is_any(evidence, promise.given):
        return evidence
    beside = {*promise.protects, *known_besides(evidence, promise), *_ruled_out(promise, evidence)}
    known, shown = tuple(sorted(promise.given)), tuple(sorted(beside))
    return evidence.remembered(
        ("candidates", "", known, shown), lambda: with_candidates(evidence, known, shown)
    )


def _ruled_out(promise: Promise, evidence: Evidence) -> tuple[str, ...]:
    """The attributes besides what is protected that a promise looks at."""
    if isinstance(promise.guarantee, KnownItems):
        return evidence.table.derived[promise.guarantee.attribute]
    if isinstance(promise.guarantee, Elimination):
        return evidence.table.expand(promise.guarantee.ruled_out)
    return ()


def exposure_findings(release: BareRelease) -> Iterator[Finding]:
    """A finding for every attribute that is never published: it must not stand in the table."""
    for name, n_cells in release.exposed.items():
        yield count_of_faults("not-exposed", n_cells, attribute=name)


def not_judged(release: BareRelease) -> tuple[Mapping[str, str], ...]:
    """What is not judged, and why not."""
    gaps = [{"promise": f"any about {name}", "why": ABSENT} for name in release.absent]
    gaps += [{"promise": promise, "why": why} for promise, why in OF_RELEASE.items()]
    if release.is_alone:
        gaps += [
            {"promise": promise, "why": f"{NO_ORIGINAL}: {what}"} for promise, what in OF_ORIGINAL.items()
        ]
    return tuple(gaps)


def persons_counted(release: BareRelease, table: Table, policy: Policy) -> dict[str, object]:
    """By what persons are counted; rows are, where what tells persons apart is not in the table."""
    counted = how_counted(table, policy)
    if not release.unnamed:
        return counted
    named = " and ".join(release.unnamed)
    note = f"Every row is taken as a person of its own: {named} would tell persons apart and is not in the table."
    return counted | {"counted_by": "rows", "is_assumed": True, "note": note}
