"""Whether a release can have been made from a table at all: attacks on other people's data would find nothing."""

from collections.abc import Iterator

from manyveils.attacks.minds import Reader
from manyveils.errors import InputError, Problem
from manyveils.reading.domains import TOP
from manyveils.release import Release
from manyveils.table import Table

REMEDY = "Give the data that the release was made from."


def refuse_strange(releases: dict[str, Release], table: Table) -> None:
    """Refuse releases that share no attribute with the data, or no value of one."""
    problems = [each for where, release in releases.items() for each in _problems(where, release, table)]
    if problems:
        raise InputError(dict.fromkeys(problems))


def _problems(where: str, release: Release, table: Table) -> Iterator[Problem]:
    reader = Reader(release, table)
    if not reader.published:
        yield Problem(where, "it has no attribute in common with the data.", REMEDY)
    domains = release.reading.estimate.domains
    for name in sorted(reader.readable):
        is_shown = domains[name].texts not in ((), (TOP,))
        if is_shown and table[name].n_values and (reader.places[name] < 0).all():
            # The name of a 0/1 column holds a value of the data, so the attribute it comes from is named.
            yield Problem(f"{where}: {table.home(name)}", "no value of the data stands in it.", REMEDY)
