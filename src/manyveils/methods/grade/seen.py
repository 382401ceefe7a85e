"""A publication as those see it who come after grading: labels stand in place of values."""

from collections.abc import Callable
from dataclasses import replace

from manyveils.methods.labelling import Lookups, labelled, needed
from manyveils.promises.work import Work
from manyveils.table import Table

Counted = Callable[[tuple[str, ...]], Table]


def seen(work: Work, lookups: Lookups) -> Work:
    """The same work with labels in place of values, in the table and in what is counted of it."""
    if work.counted is None:
        return replace(work, table=labelled(work.table, lookups))
    counted = _counted(work, lookups)
    columns = {name: counted((name,))[name] for name in lookups}
    table = replace(work.table, attributes={**work.table.attributes, **columns})
    return replace(work, table=table, counted=counted)


def _counted(work: Work, lookups: Lookups) -> Counted:
    """Counts of labels; the same question gets the same table."""
    found: dict[frozenset[str], Table] = {}

    def counted(names: tuple[str, ...]) -> Table:
        key = frozenset(names)
        if key not in found:
            found[key] = labelled(work.counts(needed(names, lookups)), lookups)
        return found[key]

    return counted
