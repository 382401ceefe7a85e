"""What the columns of views say about people, as far as a question needs it."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids
from manyveils.attacks.worlds.covers import Covers
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.views import PublishedView

ABSENT = -1


def strips_of(
    views: Sequence[PublishedView], question: Sequence[str], covers: Mapping[str, Covers], n_people: int
) -> list[pl.DataFrame]:
    """The columns of some views without what is neither asked nor shared: different rows, with the people in each.

    A row has a bucket of its view, and the number of the set of originals that it leaves open in each attribute.
    People whom a view leaves out are in the bucket ABSENT of it, where everything is open.
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
            sets = {f"set: {name}": _sets(column, name, covers[name]) for name in names}
            buckets = column.buckets if len(needed) > 1 else np.zeros_like(column.buckets)
            rows = pl.DataFrame({f"bucket: {number}": buckets, **sets, "people": column.counts})
            keys = rows.columns[:-1]
            strip = rows.group_by(keys, maintain_order=True).agg(pl.col("people").sum())
            if view.n_rows < n_people:
                absent = [ABSENT, *(covers[name].everything() for name in names), n_people - view.n_rows]
                strip = strip.vstack(pl.DataFrame([absent], schema=strip.schema, orient="row"))
            strips.append(strip)
    return strips


def _sets(column: PublishedColumn, name: str, covers: Covers) -> Ids:
    """The number of the set of originals under the label of each row."""
    cover = column.spreads[name]
    _, originals = cover.pairs()
    sets = np.split(originals, np.cumsum(cover.sizes)[:-1])
    numbers = [covers.number(members.tolist()) for members in sets]
    return np.array(numbers, dtype=np.int64)[column.labels[name]]
