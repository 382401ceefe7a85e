"""Views that are ready to be written: for each published column its rows, in no order, and how they are to be described."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.methods.dealt import Dealt
from manyveils.methods.leveled import Leveled
from manyveils.promises.work import Work
from manyveils.release.seal import BUCKET, published_recodings, type_name
from manyveils.spark.apply import Ranked, bucketed, leveled, spark_type
from manyveils.spark.counts import PART
from manyveils.spark.deal import Dealer, dealt
from manyveils.spark.held import Held
from manyveils.spark.joined import Joined
from manyveils.spark.parts import NOTE
from manyveils.spark.scramble import scrambled
from manyveils.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, repr=False)
class ReadyColumn:
    """One column: its attributes, its rows (the bucket first, if there are any), and the types of its attributes.

    Where there are `values`, rows have their ranks.
    """

    attributes: tuple[str, ...]
    rows: "DataFrame"
    types: Mapping[str, str]
    values: Mapping[str, pl.Series] | None = None


def _ranked_column(made: Ranked) -> ReadyColumn:
    types = {name: type_name(each.dtype) for name, each in made.values.items()}
    return ReadyColumn(tuple(made.values), made.rows, types, made.values)


@dataclass(frozen=True, repr=False)
class Ready:
    """One view."""

    name: str
    columns: tuple[ReadyColumn, ...]
    bucketed: bool
    n_rows: int
    recodings: Mapping[tuple[str, str], pl.DataFrame] = field(default_factory=dict)
    enforces: Mapping[str, Any] | None = None
    n_buckets: int = 0
    forget: Callable[[], object] = lambda: None


def ready_leveled(held: Held, work: Work, view: Leveled) -> Ready:
    """A table whose attributes stand at levels."""
    table = _beside(held, work, view)
    draft = replace(view, columns=tuple(table.attributes)).drafted(table)
    n_rows = int(table.weights[draft.rows].sum()) if table.weights is not None else len(draft.rows)
    view = replace(view, columns=_without_lost(view, draft.rows, table))
    column = _ranked_column(leveled(held, view))
    return Ready(view.name, (column,), False, n_rows, published_recodings(draft), view.enforces)


def _beside(held: Held, work: Work, view: Leveled) -> Table:
    """Counts that tell which rows and values of a view are published."""
    bits = {bit for bits in held.sketch.derived.values() for bit in bits}
    lost = tuple(name for name in view.columns if name in bits) if len(view.lost) else ()
    return work.counts((*view.levels, *lost))


def _without_lost(view: Leveled, rows: Any, table: Table) -> tuple[str, ...]:
    """The columns without 0/1 columns of values that only suppressed rows have: their names would tell."""
    kept = {
        name
        for name in view.columns
        if name not in table.attributes or table[name].absence < 0 or np.any(table[name].codes[rows])
    }
    return tuple(name for name in view.columns if name in kept)


def ready_dealt(held: Held, work: Work, view: Dealt) -> Ready:
    """Columns inside buckets that rows are dealt to."""
    streams = work.streams.apart(view.name)
    dealer = Dealer(view, streams.secret("spark.order"), streams.secret("spark.buckets"))
    placed, forget = dealt(held, dealer)
    try:
        columns = tuple(
            _ranked_column(bucketed(held, placed, attributes, view.lookups)) for attributes in view.columns
        )
        return Ready(
            view.name,
            columns,
            True,
            placed.count(),
            enforces=view.enforces,
            n_buckets=dealer.n_buckets,
            forget=forget,
        )
    except BaseException:
        forget()
        raise


def ready_parts(held: Held, work: Work, parts: Joined) -> Ready:
    """What was made part by part; attributes that no part has recoded have their own type again."""
    key, columns = work.streams.secret("spark.buckets"), []
    for attributes in parts.columns:
        types = {
            name: pl.String() if name in parts.recoded else held.sketch[name].domain.dtype
            for name in attributes
        }
        fields = {parts.fields()[name]: spark_type(types[name]) for name in attributes}
        rows = _numbered(parts, list(fields), key)
        chosen = rows.select(
            *([BUCKET] if parts.bucketed else []), *(rows[each].cast(kind) for each, kind in fields.items())
        )
        columns.append(
            ReadyColumn(attributes, chosen, {name: type_name(kind) for name, kind in types.items()})
        )
    return Ready(
        parts.view,
        tuple(columns),
        parts.bucketed,
        parts.n_rows,
        parts.covers(),
        n_buckets=int(parts.first_buckets[-1]),
        forget=parts.rows.unpersist,
    )


def _numbered(parts: Joined, fields: Sequence[str], key: bytes) -> "DataFrame":
    """Some fields of the published rows, with buckets that are numbered through all parts, and scrambled."""
    rows = parts.rows.where(parts.rows[NOTE].isNull()).select(PART, BUCKET, *fields)
    if not parts.bucketed:
        return rows
    first = parts.first_buckets

    def number(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            before = first[batch.column(PART).to_numpy()]
            buckets = scrambled(before + batch.column(BUCKET).to_numpy(), int(first[-1]), key)
            place = batch.schema.get_field_index(BUCKET)
            yield batch.set_column(place, BUCKET, pa.array(buckets))

    return rows.mapInArrow(number, rows.schema)
