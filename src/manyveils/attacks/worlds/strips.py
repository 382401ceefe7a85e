"""What the columns of views say about people, as far as a question needs it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids
from manyveils.attacks.worlds.covers import Covers
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.views import PublishedView

ABSENT = -1


@dataclass(frozen=True, repr=False)
class Strip:
    """One published column: its different rows, bucket by bucket, with the number of people in each.

    `sets` are the originals that a row leaves open in each attribute. People whom a view leaves out are in the
    bucket ABSENT of it, where everything is open.
    """

    view: int
    buckets: Ids
    sets: Mapping[str, Ids]
    counts: Ids


def strips_of(
    views: Sequence[PublishedView], question: Sequence[str], covers: Mapping[str, Covers], n_people: int
) -> list[Strip]:
    """The columns of some views without what is neither asked nor shared.

    Leaving out an attribute that one column alone has changes nothing: however people are placed in the rest of the
    column, they can be given its values in equally many ways.
    """
    n_columns = Counter(name for view in views for column in view.parts for name in column.attributes)
    strips = []
    for number, view in enumerate(views):
        needed = [
            (column, [name for name in column.attributes if name in question or n_columns[name] > 1])
            for column in view.parts
        ]
        needed = [(column, names) for column, names in needed if names]
        for column, names in needed:
            rows = _rows(column, names, covers, has_buckets=len(needed) > 1)
            strips.append(_strip(number, rows, covers, n_people - view.n_rows))
    return strips


def _rows(
    column: PublishedColumn, names: list[str], covers: Mapping[str, Covers], *, has_buckets: bool
) -> pl.DataFrame:
    """The different rows of some attributes of a column, with the people in each."""
    buckets = column.buckets if has_buckets else np.zeros_like(column.buckets)
    sets = {f"set: {name}": _sets(column, name, covers[name]) for name in names}
    rows = pl.DataFrame({"bucket": buckets, **sets, "people": column.counts})
    return rows.group_by("bucket", *sets, maintain_order=True).agg(pl.col("people").sum())


def _strip(view: int, rows: pl.DataFrame, covers: Mapping[str, Covers], left_out: int) -> Strip:
    names = [column.removeprefix("set: ") for column in rows.columns[1:-1]]
    if left_out > 0:
        everything = {f"set: {name}": covers[name].everything() for name in names}
        rows = rows.vstack(pl.DataFrame({"bucket": ABSENT, **everything, "people": left_out}))
    sets = {name: rows[f"set: {name}"].to_numpy() for name in names}
    return Strip(view, rows["bucket"].to_numpy(), sets, rows["people"].to_numpy())


def _sets(column: PublishedColumn, name: str, covers: Covers) -> Ids:
    """The number of the set of originals under the label of each row."""
    cover = column.spreads[name]
    ends = zip(cover.starts[:-1].tolist(), cover.starts[1:].tolist(), strict=True)
    numbers = [covers.number(cover.originals[start:end].tolist()) for start, end in ends]
    return np.array(numbers, dtype=np.int64)[column.labels[name]]
