"""What is published in secret, beside what it stands for: pseudonyms by how often they occur, grades by their rank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.people import Bools, Ids, looked_up
from manyveils.attacks.scene import Scene
from manyveils.attacks.sightings import column_with
from manyveils.keys.choices import HIDDEN, choices_of


@dataclass(frozen=True, repr=False)
class Pseudonyms:
    """The pseudonyms of one categorical attribute.

    `counts` says how often each is published, `cells` where it stands among the cells the release speaks of.
    Of each value, `openly` counts the cells that show it, `hidden` the people whose cell is a pseudonym of its own, and
    `all` everybody who has it. So many as `left_out` of them may not be published at all.
    """

    counts: Ids
    cells: Ids
    openly: Ids
    hidden: Ids
    all: Ids
    left_out: int = 0

    def own(self, value: int) -> Ids:
        """What may be a value's own: published as often as it is hidden, or a little less if rows are left out."""
        short = self.hidden[value] - self.counts
        fits = (short >= 0) & (short <= self.left_out) & (self.hidden[value] > 0)
        return np.flatnonzero(fits & (short == short[fits].min(initial=self.left_out)))

    def cell_of(self) -> Ids:
        """The cell of a pseudonym for each value, all different, the commonest value first; -1 where there is none."""
        cells = np.full(self.hidden.size, -1, dtype=np.int64)
        taken = np.zeros(self.counts.size, dtype=bool)
        for value in np.argsort(-self.hidden, kind="stable").tolist():
            free = [pseudonym for pseudonym in self.own(value).tolist() if not taken[pseudonym]]
            if free:
                cells[value] = self.cells[free[0]]
                taken[free[0]] = True
        return cells


def secret_attributes(scene: Scene, *, numeric: bool) -> tuple[str, ...]:
    """The sensitive attributes that are published in secret, of one kind."""
    return tuple(
        name
        for name in scene.release.manifest.secret
        if name in scene.reader.published
        and name in scene.sensitive
        and (scene.table[name].kind == "numeric") == numeric
    )


def published_counts(scene: Scene, name: str) -> Ids:
    """How often each cell that the release speaks of is published."""
    view = next(view for view in scene.reader.views if name in view.attributes)
    _, column = column_with(view, name)
    cover = column.spreads[name]
    rows = np.bincount(column.labels[name], weights=column.counts, minlength=cover.sizes.size)
    counts: Ids = looked_up(rows.astype(np.int64), cover.label_of, 0)
    return counts


def pseudonyms_of(scene: Scene, name: str) -> Pseudonyms:
    """The pseudonyms of an attribute, and the values they hide."""
    attribute, counts = scene.table[name], published_counts(scene, name)
    places = scene.reader.places[name]
    is_pseudonym = counts > 0
    is_pseudonym[places[places >= 0]] = False
    cells = np.flatnonzero(is_pseudonym)
    everybody = {other: scene.table[other].codes for other in scene.table.attributes}
    hidden = np.bincount(attribute.codes[is_hidden(scene, everybody, name)], minlength=attribute.n_values)
    left_out = max(scene.table.n_rows - int(counts.sum()), 0)
    return Pseudonyms(counts[cells], cells, looked_up(counts, places, 0), hidden, attribute.counts, left_out)


def is_hidden(scene: Scene, codes: Mapping[str, NDArray[Any]], name: str) -> Bools:
    """Whose value is published as a pseudonym of its own, of people with given codes: who chose so, and has a value."""
    attribute = scene.table[name]
    missing = attribute.n_values - 1 if attribute.has_missing else -1
    choices = choices_of(scene.policy, scene.table.attributes).of(codes, codes[name].size)
    hidden: Bools = (choices == HIDDEN) & (codes[name] != missing)
    return hidden
