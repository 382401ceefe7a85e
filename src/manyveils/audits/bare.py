"""What is said of a table that something else published besides its promises: what it shows, and what nobody can tell."""

from collections.abc import Iterator, Mapping

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.reading.bare import Bare
from manyveils.table.persons import how_counted

NO_ORIGINAL = "no original"
OF_ORIGINAL: Mapping[str, str] = {
    "nothing-lost": "whether every cell is what the original says",
    "suppression": "how many persons were left out",
}
OF_RELEASE: Mapping[str, str] = {
    "order-tells-nothing": "a table keeps the order that its maker gave it: sort it before it goes out",
}
CLOSE = ("t", "n", "beta", "delta")


def exposure_findings(bare: Bare) -> Iterator[Finding]:
    """A finding for every attribute that is never published: it must not stand in the table."""
    for name, n_cells in bare.exposed.items():
        yield count_of_faults("not-exposed", n_cells, attribute=name)


def not_judged(bare: Bare) -> tuple[Mapping[str, str], ...]:
    """What is not judged, and why not."""
    gaps = [{"promise": promise, "why": why} for promise, why in OF_RELEASE.items()]
    if not bare.has_original:
        gaps += [
            {"promise": promise, "why": f"{NO_ORIGINAL}: {what}"} for promise, what in OF_ORIGINAL.items()
        ]
    return tuple(gaps)


def persons_of_bare(bare: Bare) -> dict[str, object]:
    """By what persons are counted; rows are, where what tells persons apart is not in the table."""
    counted = how_counted(bare.table, bare.policy)
    if not bare.unnamed:
        return counted
    named = " and ".join(bare.unnamed)
    note = f"Every row is taken as a person of its own: {named} would tell persons apart and is not in the table."
    return counted | {"counted_by": "rows", "is_assumed": True, "note": note}
