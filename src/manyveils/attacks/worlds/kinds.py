"""Kinds of people: every way to stand in all views at once.

A world says of each of the n people in which published row of each view she stands, and which originals she has.
People who stand in the same rows are of one kind, so a world is as good as the number of people of each kind. All
worlds weigh the same; a number of people per kind stands for as many worlds as there are ways to choose who is who.
Seen through one view this is the estimate of `manyveils.reading`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.attacks.worlds.covers import EMPTY, Covers, Ids
from manyveils.attacks.worlds.strips import Strip


class TooMany(Exception):
    """There are more kinds of people than were allowed for."""


@dataclass(frozen=True, repr=False)
class Kinds:
    """The kinds of people that a release allows, and how many people stand in each published row.

    `rows[j]` is the published row (numbered through all columns) of column j in which each kind stands; `sets` are
    the originals left open to it; `ways` is the number of combinations of them.
    """

    rows: tuple[Ids, ...]
    totals: Ids
    sets: Mapping[str, Ids]
    ways: NDArray[np.float64]
    n_views: int

    @property
    def size(self) -> int:
        """How many kinds there are."""
        return self.ways.size


def kinds_of(strips: Sequence[Strip], covers: Mapping[str, Covers], limit: int) -> Kinds:
    """All kinds of people, column by column; `TooMany` as soon as there are more than the limit."""
    starts = np.append(0, np.cumsum([strip.counts.size for strip in strips]))
    left = dict(enumerate(strips))
    found = pl.DataFrame()
    while left:
        place = max(left, key=lambda number: _closeness(left[number], found))
        strip = _frame(left.pop(place), place, int(starts[place]))
        found = _joined(found, strip, covers, limit) if found.width else strip
    sets = {name[5:]: found[name].to_numpy() for name in found.columns if name.startswith("set: ")}
    ways = np.ones(found.height)
    for name, numbers in sets.items():
        ways *= covers[name].sizes[numbers]
    rows = tuple(found[f"row: {place}"].to_numpy() for place in range(len(strips)))
    totals = np.concatenate([strip.counts for strip in strips])
    return Kinds(rows, totals, sets, ways, len({strip.view for strip in strips}))


def _closeness(strip: Strip, found: pl.DataFrame) -> tuple[bool, int, int]:
    """Columns of a view that was begun come first, then those that share most, then short ones."""
    shared = sum(f"set: {name}" in found.columns for name in strip.sets)
    return f"bucket: {strip.view}" in found.columns, shared, -strip.counts.size


def _frame(strip: Strip, place: int, start: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            f"row: {place}": np.arange(start, start + strip.counts.size),
            f"bucket: {strip.view}": strip.buckets,
            **{f"set: {name}": numbers for name, numbers in strip.sets.items()},
        }
    )


def _joined(one: pl.DataFrame, other: pl.DataFrame, covers: Mapping[str, Covers], limit: int) -> pl.DataFrame:
    """Pairs that agree: the same bucket of the same view, and an original in common in every shared attribute."""
    shared = [name for name in one.columns if name in other.columns]
    equal = [name for name in shared if _is_plain(name, one, other, covers)]
    open_ = [name for name in shared if name not in equal]
    keys = [frame.select(shared).unique(maintain_order=True) for frame in (one, other)]
    _refuse(_pairs(keys[0], keys[1], equal), limit)
    how = {"on": equal, "how": "inner", "maintain_order": "left_right"} if equal else {"how": "cross"}
    pairs = keys[0].join(keys[1].rename({name: f"other {name}" for name in open_}), **how)
    for name in open_:
        pairs = _met(pairs, name, covers[name[5:]])
    on_other = {name: name if name in equal else f"other {name}" for name in shared}
    sizes = pairs.join(one.group_by(shared).len("#one"), on=shared) if shared else pairs
    if shared:
        counted = other.group_by(shared).len("#other")
        sizes = sizes.join(counted, left_on=[on_other[name] for name in shared], right_on=shared)
        _refuse(int((sizes["#one"].cast(pl.Int64) * sizes["#other"].cast(pl.Int64)).sum()), limit)
    else:
        _refuse(one.height * other.height, limit)
        return one.join(other, how="cross")
    wide = one.join(pairs, on=shared, how="inner", maintain_order="left_right")
    renamed = other.rename({name: on_other[name] for name in shared})
    wide = wide.join(renamed, on=list(on_other.values()), how="inner", maintain_order="left_right")
    wide = wide.drop([*open_, *(f"other {name}" for name in open_)])
    return wide.rename({f"met {name}": name for name in open_})


def _is_plain(name: str, one: pl.DataFrame, other: pl.DataFrame, covers: Mapping[str, Covers]) -> bool:
    if name.startswith("bucket: "):
        return True
    return all(covers[name[5:]].are_single(frame[name].unique().to_numpy()) for frame in (one, other))


def _pairs(one: pl.DataFrame, other: pl.DataFrame, equal: list[str]) -> int:
    if not equal:
        return one.height * other.height
    both = one.group_by(equal).len("#one").join(other.group_by(equal).len("#other"), on=equal)
    return int((both["#one"].cast(pl.Int64) * both["#other"].cast(pl.Int64)).sum())


def _met(pairs: pl.DataFrame, name: str, covers: Covers) -> pl.DataFrame:
    """Pairs of sets that share something, with what they share."""
    different = pairs.select(name, f"other {name}").unique(maintain_order=True)
    met = [covers.met(one, other) for one, other in different.iter_rows()]
    different = different.with_columns(pl.Series(f"met {name}", met, dtype=pl.Int64))
    different = different.filter(pl.col(f"met {name}") != EMPTY)
    return pairs.join(different, on=[name, f"other {name}"], how="inner", maintain_order="left")


def _refuse(size: int, limit: int) -> None:
    if size > limit:
        raise TooMany
