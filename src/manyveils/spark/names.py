"""Names of columns that Spark takes for one."""

from collections import Counter
from collections.abc import Iterable

from manyveils.errors import DataError, Problem


def alike(names: Iterable[str]) -> set[str]:
    """The names that differ from another in case alone."""
    names = list(names)
    shared = Counter(map(str.lower, names))
    return {name for name in names if shared[name.lower()] > 1}


def refuse_alike(columns: Iterable[str]) -> None:
    """Refuse columns of the data that Spark takes for one."""
    if found := sorted(alike(columns)):
        raise DataError(
            Problem("data", f"Spark takes column {name!r} and another for one.", "Rename one of them.")
            for name in found
        )
