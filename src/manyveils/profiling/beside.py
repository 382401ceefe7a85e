"""Hierarchy files that lie beside the data, named as ARX names them: adult_hierarchy_age.csv beside adult.csv."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from manyveils.errors import PolicyError
from manyveils.policy.hierarchies import line_problems, read_lines
from manyveils.profiling.facts import Facts
from manyveils.table.kinds import as_number


def hierarchies_beside(path: Path, facts: Mapping[str, Facts]) -> dict[str, str]:
    """The name of the hierarchy file of each column that has one; only files that are sound and list every value."""
    return {name: file for name, file in _named(path, facts) if _fits(path.parent / file, facts[name])}


def _named(path: Path, facts: Mapping[str, Facts]) -> Iterator[tuple[str, str]]:
    stem = path.name.partition(".")[0]
    for name in facts:
        file = f"{stem}_hierarchy_{name}.csv"
        if "/" not in file and (path.parent / file).is_file():
            yield name, file


def _fits(file: Path, facts: Facts) -> bool:
    try:
        lines = read_lines(file)
    except PolicyError:
        return False
    if facts.attribute is None or any(True for _ in line_problems(lines)):
        return False
    listed = {line[0] for line in lines}
    numbers = {number for text in listed if (number := as_number(text)) is not None}
    return all(not text or text in listed or as_number(text) in numbers for text in facts.attribute.texts)
