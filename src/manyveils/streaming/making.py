"""Parts made one by one where not all rows fit: as on Spark, by the same code, one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.joining import Joined, noted
from manyveils.methods.parting import Cuts
from manyveils.methods.parts import TOLERATED, cuts_of, maker_of, refuse_as_one_group
from manyveils.promises.work import Work, of_rows
from manyveils.release import Draft
from manyveils.release.dealing import keys_of
from manyveils.release.packing import Numbers, Packing
from manyveils.release.plan import FromRows
from manyveils.release.seal import (
    BUCKET,
    OutgoingColumn,
    OutgoingView,
    coded_values,
    in_order,
    rewritten,
    type_name,
)
from manyveils.streaming.carrying import Unsorted
from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.divided import divided
from manyveils.streaming.held import Counts, Held
from manyveils.streaming.rows import Number, Rows, Writing, narrow
from manyveils.table import Attribute, Table

Ids = NDArray[np.int64]


def made_in_parts(
    held: Held, work: Work, plan: FromRows, counts: Counts, rng: np.random.Generator
) -> tuple[OutgoingView, dict[str, object]]:
    """The view whose rows are made part by part, and notes on them; `rng` numbers the buckets."""
    assert plan.parts is not None
    refuse_as_one_group(work, plan.parts)
    most = held.part_rows
    cuts, largest = cuts_of(work, plan.parts, most, counts.in_parts)
    if largest > TOLERATED * most:
        raise InfeasibleError([_too_large(held, work, largest)])
    names = tuple(dict.fromkeys(name for column in plan.parts.columns for name in column))
    maker = maker_of(held, work, plan)
    told, n_made = [], 0
    with Writing(held.folder / "made", [BUCKET, *(f"m{place}" for place in range(len(names)))]) as writing:
        making = _Making(held, {name: _Field(held.sketch[name]) for name in names}, writing)
        for part, numbers in enumerate(_rows_in_parts(held, cuts)):
            table, draft, notes = maker.made(part, numbers)
            making.add(draft, table)
            told.append(noted(draft, notes))
            n_made += table.n_rows
            work.progress(of_rows("making", held.rows.n_rows), n_made / held.rows.n_rows)
    parts = Joined(tuple(told))
    return making.view(parts, rng), parts.notes_beside(plan.parts)


def _too_large(held: Held, work: Work, largest: int) -> Problem:
    n_bytes = held.bytes_for(largest)
    what = f"{largest:,} rows cannot be cut further by quasi-identifiers without breaking a promise, and need some "
    remedy = 'Give so much memory, use more or finer quasi-identifiers, or recoding = "full-domain".'
    return Problem(work.policy.name, f"{what}{n_bytes / 10**9:.2g} GB.", remedy)


def _rows_in_parts(held: Held, cuts: Cuts) -> Iterator[dict[str, Numbers]]:
    """The rows of every part as numbers of raw values, in an order that does not depend on the source's."""
    fields = held.fields(tuple(held.sketch.attributes))
    ranks = {name: _ranked(held, name) for name in fields}
    packing = Packing((cuts.n_parts, *(known.size for _, known in ranks.values())))

    def batches() -> Iterator[Sequence[Number]]:
        for batch in held.rows.batches(fields):
            table, n_rows = held.table_of(batch, cuts.columns), len(batch[fields[0]])
            parts = cuts.parts_of({name: table[name].codes for name in cuts.columns}, n_rows)
            yield [parts, *(rank[batch[name]] for name, (rank, _) in ranks.items())]

    with divided(packing, batches(), held.folder / "parts", held.room) as parts:
        for rows in parts:
            numbers = packing.unpacked([np.repeat(key, rows.times) for key in rows.keys])[1:]
            told = zip(ranks.items(), numbers, strict=True)
            yield {name: known[own] for (name, (_, known)), own in told}


def _ranked(held: Held, field: str) -> tuple[Ids, Ids]:
    """The rank of each number of a field by the codes it stands for, and a number of each rank."""
    columns = [one for name, one in held.sketch.attributes.items() if held.field(name) == field]
    keys = keys_of([column.codes for column in columns], [column.n_values for column in columns])
    _, numbers, ranks = np.unique(keys, return_index=True, return_inverse=True)
    return ranks, numbers


@dataclass(repr=False)
class _Field:
    """What is published of an attribute by all parts: numbers of originals, and above them those of labels."""

    column: Attribute
    labels: Dictionary = field(default_factory=lambda: Dictionary("label", pl.String()))
    # The originals that stand as they are in each part without labels.
    plain: dict[int, Ids] = field(default_factory=dict)

    def numbered(self, part: int, draft: Draft, table: Table) -> Number:
        """The numbers of a part's rows."""
        codes, values = coded_values(draft, self.column.name, table)
        if self.column.name not in draft.recodings:
            self.plain[part] = np.unique(codes).astype(np.int64)
            return codes.astype(narrow(self.column.n_values))
        numbers = self.labels.numbered(values.cast(pl.String)).astype(np.int64) + self.column.n_values
        return numbers[codes].astype(narrow(self.column.n_values + len(self.labels)))

    @cached_property
    def values(self) -> pl.Series:
        """The value of each number; where some part has labels, all are texts."""
        domain = self.column.domain
        return domain.cast(pl.String).append(self.labels.values) if len(self.labels) else domain

    def shown_in(self, parts: Sequence[int]) -> list[str | None]:
        """The originals that stand as they are in some parts."""
        codes = np.unique(np.concatenate([self.plain[part] for part in parts]))
        return self.column.domain.cast(pl.String).gather(codes).to_list()


@dataclass(repr=False)
class _Making:
    """The published rows of parts, as numbers on disk."""

    held: Held
    fields: dict[str, _Field]
    writing: Writing
    n_parts: int = 0
    n_buckets: int = 0

    def add(self, draft: Draft, table: Table) -> None:
        """Write what one more part publishes."""
        numbers = [known.numbered(self.n_parts, draft, table) for known in self.fields.values()]
        buckets = np.zeros(len(draft.rows), dtype=np.int64) if draft.buckets is None else draft.buckets
        written = zip(self.writing.fields, [buckets + self.n_buckets, *numbers], strict=True)
        if len(draft.rows):
            self.writing.add(dict(written), len(draft.rows))
        self.n_buckets += int(buckets.max(initial=-1)) + 1
        self.n_parts += 1

    def view(self, parts: Joined, rng: np.random.Generator) -> OutgoingView:
        """The parts together."""
        rows = self.writing.rows
        shuffle = rng.permutation(self.n_buckets) if parts.bucketed else None
        columns = tuple(self._column(rows, names, shuffle) for names in parts.columns)
        covers = parts.covers(lambda name, some: self.fields[name].shown_in(some))
        return OutgoingView(parts.view, columns, rows.n_rows, parts.bucketed, covers, forget=rows.forget)

    def _column(self, rows: Rows, names: tuple[str, ...], shuffle: Ids | None) -> OutgoingColumn:
        places = dict(zip(self.fields, self.writing.fields[1:], strict=True))
        ordered = {name: in_order(self.fields[name].values) for name in names}
        values = {name: rewritten(in_turn).alias(name) for name, (_, in_turn) in ordered.items()}
        beside = [] if shuffle is None else [BUCKET]

        def batches() -> Iterator[Sequence[Number]]:
            for batch in rows.batches([*beside, *(places[name] for name in names)]):
                ranks = [rank[batch[places[name]]] for name, (rank, _) in ordered.items()]
                yield ranks if shuffle is None else [shuffle[batch[BUCKET]], *ranks]

        def shown(numbers: Sequence[Numbers]) -> list[pl.Series]:
            told = zip(values.items(), numbers[len(beside) :], strict=True)
            fields = [own.gather(rank).alias(name) for (name, own), rank in told]
            return [pl.Series(name, numbers[0], dtype=pl.Int64) for name in beside] + fields

        sizes = [len(own) for own in values.values()]
        schema = dict.fromkeys(beside, pl.Int64()) | {name: own.dtype for name, own in values.items()}
        types = {name: type_name(own.dtype) for name, own in values.items()}
        packing = Packing((self.n_buckets, *sizes) if beside else tuple(sizes))
        return OutgoingColumn(names, types, Unsorted(packing, schema, batches, shown))
