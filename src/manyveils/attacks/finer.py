"""Groups of a generalized view, the people in them, and the finer groups that were not published.

Whoever knows everybody's quasi-identifiers can tell who is in which group, and how a finer recoding would split it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manyveils.attacks.beliefs import Known
from manyveils.attacks.people import Ids, People, alike, looked_up
from manyveils.attacks.scene import Scene
from manyveils.attacks.sightings import Sighting, labels_of
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.views import PublishedView
from manyveils.table import Attribute


@dataclass(frozen=True, repr=False)
class Grouped:
    """The published rows of a view of one column and the people in them, group by group.

    `group[i]` is the group of person i, or -1; `row_group` and `row` list every published row with its group.
    """

    view: PublishedView
    group: Ids
    row_group: Ids
    row: Ids

    @property
    def column(self) -> PublishedColumn:
        """The column of the view."""
        return self.view.parts[0]

    @property
    def n_groups(self) -> int:
        """How many groups people are in, at most."""
        return int(self.group.max(initial=-1)) + 1


@dataclass(frozen=True, repr=False)
class Split:
    """A finer grouping of people; `is_whole` says that it stands or falls for the whole table and not group by group."""

    groups: Ids
    n_groups: int
    is_whole: bool


def grouped(scene: Scene, view: PublishedView, known: Known) -> Grouped:
    """Sort people into the groups of a view; groups in which people and rows do not agree are left out."""
    column = view.parts[0]
    group_of_row, _ = alike([column.labels[name] for name in known], column.counts.size)

    def groups(batch: Sighting) -> Ids:
        return _only_group(batch, group_of_row)

    group = scene.reader.sighted(scene.people, view, known).gathered(groups, -1)
    sizes = np.bincount(group_of_row, weights=column.counts)
    agrees = np.bincount(group[group >= 0], minlength=sizes.size) == sizes
    group = np.where(looked_up(agrees, group, otherwise=False), group, -1)
    rows = np.flatnonzero(agrees[group_of_row])
    row = np.repeat(rows, column.counts[rows])
    row = row[np.argsort(group_of_row[row], kind="stable")]
    return Grouped(view, group, group_of_row[row], row)


def _only_group(batch: Sighting, group_of_row: Ids) -> Ids:
    """The one group that each target may be in; -1 where there are several or none."""
    matches = batch.matches[0]
    n = int(matches.combination_of.max(initial=-1)) + 1
    low, high = np.full(n, group_of_row.max(initial=0) + 1), np.full(n, -1)
    np.minimum.at(low, matches.combinations, group_of_row[matches.rows])
    np.maximum.at(high, matches.combinations, group_of_row[matches.rows])
    return np.where(low == high, high, -1)[matches.combination_of]


def splits(scene: Scene, grouping: Grouped, known: Known, k: int) -> Iterator[Split]:
    """The finer groupings that somebody who knows how groups are made expects to have been tried."""
    levels = {name: _level(scene, grouping.view, name) for name in known}
    for name, level in levels.items():
        if None in levels.values():
            yield _in_halves(scene.people, grouping, name, k)
        elif level:
            yield _one_level_down(scene.people, grouping, scene.table[name], level)


def _level(scene: Scene, view: PublishedView, name: str) -> int | None:
    """The level of the hierarchy at which an attribute is published; None where it is not one of them."""
    attribute, places = scene.table[name], scene.reader.places[name]
    if view.cover_of(name).overlaps:
        return None
    shown = (places >= 0) & (attribute.counts > 0)
    labels = labels_of(view, name, places)[shown]
    for level in range(len(attribute.levels)):
        own = attribute.levels[level].label_of[shown]
        n_both = alike([labels, own], labels.size)[1].size
        if n_both == np.unique(labels).size == np.unique(own).size:
            return level
    return None


def _one_level_down(people: People, grouping: Grouped, attribute: Attribute, level: int) -> Split:
    """Full-domain recoding: one attribute by itself one level finer."""
    finer = attribute.levels[level - 1].label_of[people.codes[attribute.name]]
    groups, firsts = alike([grouping.group, finer], people.n)
    return Split(np.where(grouping.group >= 0, groups, -1), firsts.size, is_whole=True)


def _in_halves(people: People, grouping: Grouped, name: str, k: int) -> Split:
    """Local recoding: every group by itself cut in two at the median of an attribute, where both halves keep k rows."""
    codes, group, n = people.codes[name], grouping.group, grouping.n_groups
    inside = group >= 0
    order = np.lexsort((codes, group))
    order = order[inside[order]]
    starts = np.searchsorted(group[order], np.arange(n))
    sizes = np.bincount(group[inside], minlength=n)
    occupied = sizes > 0
    median = np.zeros(n, dtype=np.int64)
    median[occupied] = codes[order[(starts + (sizes - 1) // 2)[occupied]]]
    above = codes > looked_up(median, group, 0)
    n_above = np.bincount(group[inside & above], minlength=n)
    is_cut = np.minimum(n_above, sizes - n_above) >= max(k, 1)
    return Split(
        np.where(looked_up(is_cut, group, otherwise=False), 2 * group + above, -1), 2 * n, is_whole=False
    )
