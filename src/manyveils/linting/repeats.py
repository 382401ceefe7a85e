"""Identifiers that repeat where the policy counts every row as a person."""

from collections.abc import Iterator

from manyveils.linting.finding import Doubt
from manyveils.plain import toml_text
from manyveils.table import Table


def repeats(table: Table) -> Iterator[Doubt]:
    """A doubt for every identifier with a value twice; the policy has decided, so none is refused."""
    for column in table.repeating:
        what = f"{column.n_present:,} rows have {column.n_different:,} different values of it, "
        what += 'and person = "row" counts every row as a person of its own.'
        remedy = f"Write person = {toml_text(column.name)} in [data] if it tells persons apart"
        yield Doubt("identifier-repeats", (column.name,), what, remedy, is_void=False)
