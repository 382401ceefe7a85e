"""What is said of a table that something else published besides its promises: what it shows, and what nobody can tell."""

from collections.abc import Iterator, Mapping

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.policy import Policy
from manyveils.release.bare import BareRelease
from manyveils.table import Table
from manyveils.table.persons import how_counted

NO_ORIGINAL = "no original"
OF_ORIGINAL: Mapping[str, str] = {
    "nothing-lost": "whether every cell is what the original says",
    "suppression": "how many persons were left out",
}
OF_RELEASE: Mapping[str, str] = {
    "order-tells-nothing": "a table keeps the order that its maker gave it: sort it before it goes out",
}


def exposure_findings(release: BareRelease) -> Iterator[Finding]:
    """A finding for every attribute that is never published: it must not stand in the table."""
    for name, n_cells in release.exposed.items():
        yield count_of_faults("not-exposed", n_cells, attribute=name)


def not_judged(release: BareRelease) -> tuple[Mapping[str, str], ...]:
    """What is not judged, and why not."""
    gaps = [{"promise": promise, "why": why} for promise, why in OF_RELEASE.items()]
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
