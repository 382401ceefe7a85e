"""Groups of a generalized view, the people in them, and the finer groups that were not published.

Whoever knows everybody's quasi-identifiers can tell who is in which group, and how a finer recoding would split it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manyveils.attacks.people import Ids, People
from manyveils.attacks.scene import Scene
from manyveils.attacks.sightings import Sighting
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.matching import numbered
from manyveils.reading.views import PublishedView


@dataclass(frozen=True, repr=False)
class Grouped:
    """The published rows of a view and the people in them, group by group.

    `group[i]` is the group of person i, or -1; `row_group` and `row` list every published row with its group.
    """

    shape: PublishedView
    part: PublishedColumn
    group: Ids
    row_group: Ids
    row: Ids


@dataclass(frozen=True, repr=False)
class Split:
    """A finer grouping of people; `whole` says that it stands or falls for the whole table and not group by group."""

    groups: Ids
    n_groups: int
    whole: bool


def grouped(scene: Scene, people: People, shape: PublishedView, asked: tuple[str, ...]) -> Grouped:
    """Sort people into the groups of a view; groups in which people and rows do not agree are left out."""
    part = shape.parts[0]
    row_class, _ = numbered(
        [part.labels[name].astype(np.int64) for name in asked],
        [part.spreads[name].sizes.size for name in asked],
    )
    sighted = scene.reader.sighted(people, shape, asked)
    found = [_classes(each, row_class) for each in sighted.each]
    group = np.concatenate([*found, [-1]])[sighted.of]
    sizes = np.bincount(row_class, weights=part.counts)
    inside = np.bincount(group[group >= 0], minlength=sizes.size)
    agrees = inside == sizes
    group = np.where((group >= 0) & agrees[np.maximum(group, 0)], group, -1)
    rows = np.flatnonzero(agrees[row_class])
    row = np.repeat(rows, part.counts[rows])
    order = np.argsort(row_class[row], kind="stable")
    return Grouped(shape, part, group, row_class[row][order], row[order])


def _classes(sighting: Sighting, row_class: Ids) -> Ids:
    """The one group that each target may be in; -1 where there are several or none."""
    matches = sighting.matches[0]
    n = int(matches.combination_of.max(initial=-1)) + 1
    low, high = np.full(n, row_class.max(initial=0) + 1), np.full(n, -1)
    np.minimum.at(low, matches.combinations, row_class[matches.rows])
    np.maximum.at(high, matches.combinations, row_class[matches.rows])
    return np.where(low == high, high, -1)[matches.combination_of]


def splits(
    scene: Scene, people: People, grouping: Grouped, asked: tuple[str, ...], k: int
) -> Iterator[Split]:
    """The finer groupings that somebody who knows how groups are made expects to have been tried."""
    levels = {name: _level(scene, grouping, name) for name in asked}
    if all(level is not None for level in levels.values()):
        yield from _one_level_down(scene, people, grouping, levels)
    else:
        yield from _in_halves(scene, people, grouping, asked, k)


def _level(scene: Scene, grouping: Grouped, name: str) -> int | None:
    """The level of the hierarchy at which an attribute is published; None where it is not one of them."""
    spread, column = grouping.part.spreads[name], scene.table[name]
    if spread.overlaps:
        return None
    places = scene.reader.places[name]
    shown = (places >= 0) & (column.counts > 0)
    labels = spread.label_of[np.maximum(places, 0)][shown]
    for level in range(len(column.levels)):
        own = column.levels[level].label_of[shown]
        both = np.unique(np.stack([labels, own.astype(np.int64)]), axis=1).shape[1]
        if both == np.unique(labels).size == np.unique(own).size:
            return level
    return None


def _one_level_down(
    scene: Scene, people: People, grouping: Grouped, levels: dict[str, int | None]
) -> Iterator[Split]:
    """Full-domain recoding: every attribute by itself one level finer."""
    for name, level in levels.items():
        if level:
            finer = scene.table[name].levels[level - 1].label_of[people.codes[name]].astype(np.int64)
            groups, firsts = numbered([grouping.group + 1, finer], _sizes(grouping.group + 1, finer))
            yield Split(np.where(grouping.group >= 0, groups, -1), firsts.size, whole=True)


def _in_halves(
    scene: Scene, people: People, grouping: Grouped, asked: tuple[str, ...], k: int
) -> Iterator[Split]:
    """Local recoding: every group by itself cut in two at the median of an attribute, where both halves keep k rows."""
    inside = grouping.group >= 0
    n = int(grouping.group.max(initial=-1)) + 1
    for name in asked:
        codes = people.codes[name]
        order = np.lexsort((codes, grouping.group))
        order = order[inside[order]]
        starts = np.searchsorted(grouping.group[order], np.arange(n))
        sizes = np.bincount(grouping.group[inside], minlength=n)
        there = sizes > 0
        median = np.zeros(n, dtype=np.int64)
        median[there] = codes[order[(starts + (sizes - 1) // 2)[there]]]
        above = codes > median[np.maximum(grouping.group, 0)]
        high = np.bincount(grouping.group[inside & above], minlength=n)
        cut = (np.minimum(high, sizes - high) >= max(k, 1))[np.maximum(grouping.group, 0)] & inside
        yield Split(np.where(cut, 2 * grouping.group + above, -1), 2 * n, whole=False)


def _sizes(*columns: Ids) -> list[int]:
    return [int(each.max(initial=0)) + 1 for each in columns]
