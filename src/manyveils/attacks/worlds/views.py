"""The views of a release that a question needs, and what their columns say about people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids
from manyveils.attacks.worlds.kinds import Covers
from manyveils.reading.columns import PublishedColumn, read_column
from manyveils.reading.views import PublishedView
from manyveils.release import Release

ABSENT = -1


def whole_views(release: Release) -> tuple[PublishedView, ...]:
    """The views of a release, with an attribute that stands in several columns in each of them."""
    estimate = release.reading.estimate
    views = []
    for published, view in zip(release.views, estimate.views, strict=True):
        if len(view.attributes) < sum(len(file.attributes) for file in published.files):
            columns = [
                read_column(release, published, file, estimate.domains, file.attributes)
                for file in published.files
            ]
            view = replace(view, columns=tuple(columns))
        views.append(view)
    return tuple(views)


def linked(views: Sequence[PublishedView]) -> list[list[PublishedView]]:
    """The views in groups that share no attribute with each other; inside a group a chain of shared ones joins all."""
    groups: list[list[PublishedView]] = []
    for view in views:
        near = [group for group in groups if {*view.attributes} & _attributes(group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(member for group in near for member in group), view])
    return groups


def _attributes(views: Sequence[PublishedView]) -> set[str]:
    return {name for view in views for name in view.attributes}


def telling(views: Sequence[PublishedView], question: Sequence[str], n_people: int) -> list[PublishedView]:
    """The views without those that change nothing about what is asked.

    Claim: beliefs, what is certain and what is impossible are the same without them.
    Why: such a view shares with the others only attributes that stand as they are in one column of it, and in one
    column of another view. Both then fix how many people have each combination of them, the same in every world; so
    every world of the others goes with equally many ways to stand in this view, and nothing else in it is asked about.
    Tested by: tests/attacks/test_worlds.py
    """
    left = list(views)
    for view in sorted(views, key=lambda view: len(view.attributes)):
        rest = [member for member in left if member is not view]
        if rest and _changes_nothing(view, rest, question, n_people):
            left = rest
    return left


def _changes_nothing(
    view: PublishedView, rest: Sequence[PublishedView], question: Sequence[str], n_people: int
) -> bool:
    shared = {*view.attributes} & _attributes(rest)
    if not shared or not {*question} & {*view.attributes} <= shared:
        return False
    return _fixes(view, shared, n_people) and any(_fixes(member, shared, n_people) for member in rest)


def _fixes(view: PublishedView, names: set[str], n_people: int) -> bool:
    """Whether a view shows some attributes of everybody as they are, in one column and nowhere else in it."""
    showing = [column for column in view.columns if names & {*column.attributes}]
    if view.n_rows != n_people or len(showing) != 1 or not names <= {*showing[0].attributes}:
        return False
    return not any(showing[0].covers[name].is_coarse for name in names)


def strips_of(
    views: Sequence[PublishedView], question: Sequence[str], covers: Mapping[str, Covers], n_people: int
) -> list[pl.DataFrame]:
    """The columns of some views without what is neither asked nor shared: different rows, with the people in each.

    A row has a bucket of its view, and the number of the set of originals that it leaves open in each attribute.
    People whom a view leaves out are in the bucket ABSENT of it, where everything is open.
    Leaving out an attribute that one column alone has changes nothing: however people are placed in the rest of the
    column, they can be given its values in equally many ways.
    """
    n_columns = Counter(name for view in views for column in view.columns for name in column.attributes)
    strips = []
    for number, view in enumerate(views):
        needed = [
            (column, [name for name in column.attributes if name in question or n_columns[name] > 1])
            for column in view.columns
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
    cover = column.covers[name]
    _, originals = cover.pairs()
    sets = np.split(originals, np.cumsum(cover.sizes)[:-1])
    numbers = [covers.number(members.tolist()) for members in sets]
    return np.array(numbers, dtype=np.int64)[column.labels[name]]
