"""What the views of a release say about people, as far as a question needs it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.attacks.worlds.covers import Covers, Ids
from manyveils.reading.columns import PublishedColumn, part_of
from manyveils.reading.domains import Domain
from manyveils.release import Release, View

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


def linked(views: Sequence[View]) -> list[list[View]]:
    """The views in groups that share no attribute with each other; inside a group a chain of shared ones joins all."""
    groups: list[list[View]] = []
    for view in views:
        near = [group for group in groups if any({*view.attributes} & {*other.attributes} for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(member for group in near for member in group), view])
    return groups


def strips_of(
    release: Release,
    views: Sequence[View],
    asked: Sequence[str],
    domains: Mapping[str, Domain],
    covers: Mapping[str, Covers],
) -> list[Strip]:
    """The columns of some views without what is neither asked nor shared.

    Leaving out an attribute that one column alone has changes nothing: however people are placed in the rest of the
    column, they can be given its values in equally many ways.
    """
    places = Counter(name for view in views for file in view.files for name in {*file.attributes})
    strips = []
    for number, view in enumerate(views):
        kept = [
            (file, tuple(name for name in file.attributes if name in asked or places[name] > 1))
            for file in view.files
        ]
        kept = [(file, names) for file, names in kept if names]
        for file, names in kept:
            part = part_of(release, view, file, domains, names)
            left_out = release.rows - view.rows
            strips.append(_strip(number, part, covers, has_buckets=len(kept) > 1, left_out=left_out))
    return strips


def _strip(
    view: int, part: PublishedColumn, covers: Mapping[str, Covers], *, has_buckets: bool, left_out: int
) -> Strip:
    buckets = part.buckets if has_buckets else np.zeros_like(part.buckets)
    rows = pl.DataFrame({"#bucket": buckets, "#people": part.counts})
    rows = rows.with_columns(pl.Series(f"#{name}", _sets(part, name, covers)) for name in part.attributes)
    keys = ["#bucket", *(f"#{name}" for name in part.attributes)]
    rows = rows.group_by(keys, maintain_order=True).agg(pl.col("#people").sum())
    if left_out > 0:
        everything = {f"#{name}": covers[name].everything() for name in part.attributes}
        rows = pl.concat(
            [rows, pl.DataFrame({"#bucket": ABSENT, "#people": left_out, **everything}).select(rows.columns)]
        )
    return Strip(
        view,
        rows["#bucket"].to_numpy(),
        {name: rows[f"#{name}"].to_numpy() for name in part.attributes},
        rows["#people"].to_numpy(),
    )


def _sets(part: PublishedColumn, name: str, covers: Mapping[str, Covers]) -> Ids:
    spread = part.spreads[name]
    numbers = [
        covers[name].number(spread.taking(np.array([label])).pairs()[1].tolist())
        for label in range(spread.sizes.size)
    ]
    return np.array(numbers, dtype=np.int64)[part.labels[name]]
