"""Kinds of people: every way to stand in all views at once.

A world says of each of the n people in which published row of each view she stands, and which originals she has.
People who stand in the same rows are of one kind, so a world is as good as the number of people of each kind. All
worlds weigh the same; a number of people per kind stands for as many worlds as there are ways to choose who is who.
Seen through one view this is the estimate of `manyveils.reading`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.attacks.people import Floats, Ids

EMPTY = -1


class TooMany(Exception):
    """There are more kinds of people than were allowed for."""


class Covers:
    """The sets of originals that labels of one attribute may stand for; equal sets have one number."""

    def __init__(self, n_originals: int) -> None:
        self.n_originals = n_originals
        self.sets: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._shared: dict[tuple[int, int], int] = {}

    def number(self, originals: Iterable[int]) -> int:
        """The number of a set; a new one gets the next."""
        members = frozenset(originals)
        if members not in self._numbers:
            self._numbers[members] = len(self.sets)
            self.sets.append(members)
        return self._numbers[members]

    def everything(self) -> int:
        """The number of the set of all originals."""
        return self.number(range(self.n_originals))

    def shared(self, left: int, right: int) -> int:
        """The number of what two sets share, EMPTY if it is nothing."""
        pair = (min(left, right), max(left, right))
        if pair not in self._shared:
            members = self.sets[left] & self.sets[right]
            self._shared[pair] = self.number(members) if members else EMPTY
        return self._shared[pair]

    @property
    def sizes(self) -> Ids:
        """How many originals each set has."""
        return np.array([len(members) for members in self.sets], dtype=np.int64)

    def are_single(self, numbers: Ids) -> bool:
        """Whether every one of these sets has one original."""
        return all(len(self.sets[number]) == 1 for number in np.unique(numbers))

    def members(self, numbers: Ids) -> pl.DataFrame:
        """The originals of some sets, row by row, and the share that each has of its set: set, original, share."""
        pairs = [
            (number, original, 1 / len(self.sets[number]))
            for number in np.unique(numbers).tolist()
            for original in sorted(self.sets[number])
        ]
        schema = {"set": pl.Int64, "original": pl.Int64, "share": pl.Float64}
        return pl.DataFrame(pairs, schema=schema, orient="row")


@dataclass(frozen=True, repr=False)
class Kinds:
    """The kinds of people that a release allows, and how many people stand in each published row.

    `rows[j]` is the published row (numbered through all columns) of column j in which each kind stands; `sets` are
    the originals left open to it; `ways` is the number of combinations of them.
    """

    rows: tuple[Ids, ...]
    totals: Ids
    sets: Mapping[str, Ids]
    ways: Floats

    @property
    def size(self) -> int:
        """How many kinds there are."""
        return self.ways.size


def kinds_of(strips: Sequence[pl.DataFrame], covers: Mapping[str, Covers], limit: int) -> Kinds:
    """All kinds of people, column by column; `TooMany` as soon as there are more than the limit."""
    totals = np.concatenate([strip["people"].to_numpy() for strip in strips])
    ends = np.cumsum([strip.height for strip in strips]).tolist()
    left = [
        strip.drop("people").with_columns(pl.int_range(end - strip.height, end).alias(f"row: {number}"))
        for number, (strip, end) in enumerate(zip(strips, ends, strict=True))
    ]
    kinds = pl.DataFrame()
    while left:
        closest = max(left, key=lambda strip: _closeness(strip, kinds))
        left = [strip for strip in left if strip is not closest]
        kinds = _joined(kinds, closest, covers, limit) if kinds.width else closest
    sets = {name[5:]: kinds[name].to_numpy() for name in kinds.columns if name.startswith("set: ")}
    ways = np.ones(kinds.height)
    for name, numbers in sets.items():
        ways *= covers[name].sizes[numbers]
    rows = tuple(kinds[f"row: {number}"].to_numpy() for number in range(len(strips)))
    return Kinds(rows, totals, sets, ways)


def _closeness(strip: pl.DataFrame, kinds: pl.DataFrame) -> tuple[bool, int, int]:
    """Columns of a view that was begun come first, then those that share most, then short ones."""
    shared = [name for name in strip.columns if name in kinds.columns]
    return strip.columns[0] in shared, len(shared), -strip.height


def _joined(
    left: pl.DataFrame, right: pl.DataFrame, covers: Mapping[str, Covers], limit: int
) -> pl.DataFrame:
    """Pairs that agree: the same bucket of the same view, and an original in common in every shared attribute."""
    shared = [name for name in left.columns if name in right.columns]
    if not shared:
        _refuse(left.height * right.height, limit)
        return left.join(right, how="cross")
    equal = [name for name in shared if _is_plain(name, left, right, covers)]
    open_ = [name for name in shared if name not in equal]
    others = {name: f"other {name}" for name in open_}
    right = right.rename(others)
    on_right = [others.get(name, name) for name in shared]
    keys = left.select(shared).unique(maintain_order=True), right.select(on_right).unique(maintain_order=True)
    _refuse(_n_pairs(*keys, equal), limit)
    how = {"on": equal, "how": "inner", "maintain_order": "left_right"} if equal else {"how": "cross"}
    pairs = keys[0].join(keys[1], **how)
    for name in open_:
        pairs = _met(pairs, name, covers[name[5:]])
    counts = pairs.join(left.group_by(shared).len("#left"), on=shared)
    _refuse(_product(counts.join(right.group_by(on_right).len("#right"), on=on_right)), limit)
    wide = left.join(pairs, on=shared, how="inner", maintain_order="left_right")
    wide = wide.join(right, on=on_right, how="inner", maintain_order="left_right")
    return wide.drop(open_, *others.values()).rename({f"met {name}": name for name in open_})


def _is_plain(name: str, left: pl.DataFrame, right: pl.DataFrame, covers: Mapping[str, Covers]) -> bool:
    if name.startswith("bucket: "):
        return True
    return all(covers[name[5:]].are_single(frame[name].unique().to_numpy()) for frame in (left, right))


def _n_pairs(left: pl.DataFrame, right: pl.DataFrame, equal: list[str]) -> int:
    """How many pairs of rows agree."""
    if not equal:
        return left.height * right.height
    return _product(left.group_by(equal).len("#left").join(right.group_by(equal).len("#right"), on=equal))


def _product(counts: pl.DataFrame) -> int:
    return int((counts["#left"].cast(pl.Int64) * counts["#right"].cast(pl.Int64)).sum())


def _met(pairs: pl.DataFrame, name: str, covers: Covers) -> pl.DataFrame:
    """Pairs of sets that share something, with what they share."""
    different = pairs.select(name, f"other {name}").unique(maintain_order=True)
    shared = [covers.shared(left, right) for left, right in different.iter_rows()]
    different = different.with_columns(pl.Series(f"met {name}", shared, dtype=pl.Int64))
    different = different.filter(pl.col(f"met {name}") != EMPTY)
    return pairs.join(different, on=[name, f"other {name}"], how="inner", maintain_order="left")


def _refuse(size: int, limit: int) -> None:
    if size > limit:
        raise TooMany
