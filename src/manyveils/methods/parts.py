"""Rows cut at the top, and each part made by itself by the local method: the parts together are the release.

What is decided at the top is decided from counts; a part that is made again gets the same rows and the same seed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from manyveils.methods.parting import Cuts, Parting
from manyveils.promises.entries import Ids
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import needed, watch_counts
from manyveils.promises.work import Work, silent
from manyveils.release import Draft
from manyveils.release.plan import FromRows, InParts
from manyveils.table import Table
from manyveils.table.attributes import tally
from manyveils.table.counting import TooManyError
from manyveils.table.sketch import Numbered, Raw, Sketch

# A part that no cut makes smaller may have so many times the rows that were asked for.
TOLERATED = 4
# Counts of some columns in every part, where not all quasi-identifiers can be counted together.
Counted = Callable[[tuple[str, ...], Cuts], tuple[Table, Ids]]


@dataclass(frozen=True, repr=False)
class Wholes:
    """Counts of some columns over all people, for those who see a part only."""

    tables: tuple[Table, ...]
    sketch: Sketch

    def __call__(self, names: tuple[str, ...]) -> Table:
        """A table in which some columns can be counted together."""
        if len(names) < 2:
            return self.sketch.alone(names)
        tables = [table for table in self.tables if set(names) <= set(table.attributes)]
        if not tables:
            raise LookupError(f"{len(names)} columns were not counted together")
        return tables[0]


def _wholes(work: Work) -> Wholes:
    """What promises about several columns at once are compared with."""
    needs = [
        needed(replace(promise, conditional=False), work.table, work.sensitive) for promise in work.promises
    ]
    tables = tuple(work.counts(names) for names in dict.fromkeys(needs) if len(names) > 1)
    assert isinstance(work.table, Sketch)
    return Wholes(tables, work.table)


def refuse_as_one_group(work: Work, parts: InParts) -> None:
    """Refuse what not even all rows as one group keep."""
    watches = watch_counts(work, work.promises, parts.beside)
    if breaks_as_one_group(watches, work.table.n_people):
        raise refuse(work, watches)


def cuts_of(work: Work, parts: InParts, most_rows: int, counted: Counted) -> tuple[Cuts, int]:
    """Where rows are cut into parts of some `most_rows`, and how many the largest of them has."""
    n_people = work.table.n_people
    if n_people <= most_rows or not work.quasi:
        return Cuts(), n_people
    counting = _Counting(work, counted)
    cuts = Parting(work, parts.labels, parts.beside, most_rows, counting).cuts()
    table, part_of = counting((), cuts)
    return cuts, int(tally(part_of, table.weights, cuts.n_parts).max())


@dataclass(frozen=True, repr=False)
class _Counting:
    """Counts in parts: of combinations with quasi-identifiers where they fit, or else of rows where these are."""

    work: Work
    beyond: Counted
    _too_many: set[tuple[str, ...]] = field(default_factory=set)

    def __call__(self, names: tuple[str, ...], cuts: Cuts) -> tuple[Table, Ids]:
        """Counts of some columns, and the part of each combination."""
        if names not in self._too_many:
            try:
                table = self.work.counts((*self.work.quasi, *names))
                codes = {name: table[name].codes for name in cuts.columns}
                return table, cuts.parts_of(codes, table.n_rows)
            except TooManyError:
                self._too_many.add(names)
        return self.beyond(names, cuts)


@dataclass(frozen=True, repr=False)
class Maker:
    """What is needed to make a part: the publication without its rows, and what is told of all of them."""

    held: Numbered
    work: Work
    plan: FromRows
    wholes: Wholes

    def made(self, part: int, raw: Mapping[str, Raw]) -> tuple[Table, Draft, Mapping[str, object]]:
        """The rows of one part, which are in an order of their own, the view that is made of them, and notes on it."""
        table, streams = self._table(raw), self.work.streams.apart(f"part {part}")
        drafts = self.plan.make(replace(self.work, table=table, streams=streams))
        [draft] = drafts.views
        return table, draft, drafts.notes

    def _table(self, raw: Mapping[str, Raw]) -> Table:
        sketch = self.held.sketch
        table = self.held.table_of(raw, tuple(sketch.attributes))
        columns = {
            name: replace(column, of_all=sketch[name].counts) for name, column in table.attributes.items()
        }
        return replace(table, attributes=columns, reference=self.wholes)


def maker_of(held: Numbered, work: Work, plan: FromRows) -> Maker:
    """What makes the parts, wherever their rows are."""
    # Counting is over, and what counts is not sent along.
    alone = replace(work, progress=silent, counted=None, table=Table({}, 0))
    return Maker(held, alone, plan, _wholes(work))
