"""What is published in secret, beside what it stands for: codes by how often they occur, grades by their rank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.attacks.people import Bools, Ids
from manyveils.attacks.scene import Scene

HIDDEN = 3
DEFAULT = 3


@dataclass(frozen=True, repr=False)
class Codes:
    """The codes of one categorical column.

    `counts` says how often each code is published, `places` where it stands among the cells the release speaks of.
    Of each value, `openly` counts the cells that show it, `hidden` the people whose cell is a code of its own, and
    `all` everybody who has it. So many as `left_out` of them may not be published at all.
    """

    counts: Ids
    places: Ids
    openly: Ids
    hidden: Ids
    all: Ids
    left_out: int = 0

    def own(self, value: int) -> Ids:
        """The codes that may be a value's own: published as often as it is hidden, or a little less if rows are left out."""
        short = self.hidden[value] - self.counts
        fits = (short >= 0) & (short <= self.left_out) & (self.hidden[value] > 0)
        return np.flatnonzero(fits & (short == short[fits].min(initial=self.left_out)))

    def code_of(self) -> Ids:
        """A code of its own for each value, the commonest first; -1 where there is none."""
        found = np.full(self.hidden.size, -1, dtype=np.int64)
        taken = np.zeros(self.counts.size, dtype=bool)
        for value in np.argsort(-self.hidden, kind="stable").tolist():
            free = [code for code in self.own(value).tolist() if not taken[code]]
            if free:
                found[value] = free[0]
                taken[free[0]] = True
        return found


def secret_columns(scene: Scene, *, numeric: bool) -> tuple[str, ...]:
    """The sensitive columns that are published in secret, of one kind."""
    secret = [name for name in scene.release.manifest.secret if name in scene.reader.published]
    return tuple(
        name
        for name in secret
        if name in scene.sensitive and (scene.table[name].kind == "numeric") == numeric
    )


def published_counts(scene: Scene, name: str) -> Ids:
    """How often each cell that the release speaks of is published."""
    view, file = next(
        (view, file) for view in scene.release.views for file in view.files if name in file.attributes
    )
    assert view.rows >= 0
    cells = scene.release.frames[file.table][name].cast(pl.String).fill_null("")
    place = scene.release.reading.estimate.domains[name].code
    counted = cells.value_counts()
    counts = np.zeros(len(place), dtype=np.int64)
    texts, numbers = counted[name].to_list(), counted["count"].to_list()
    for text, count in zip(texts, numbers, strict=True):
        counts[place[text]] = count
    return counts


def codes_of(scene: Scene, name: str) -> Codes:
    """The codes of a column, and the values they hide."""
    column, cells = scene.table[name], published_counts(scene, name)
    places = scene.reader.places[name]
    openly = np.where(places >= 0, cells[np.maximum(places, 0)], 0)
    is_code = np.ones(cells.size, dtype=bool)
    is_code[places[places >= 0]] = False
    found = np.flatnonzero(is_code & (cells > 0))
    everybody = {each: held.codes for each, held in scene.table.attributes.items()}
    hidden = np.bincount(column.codes[is_hidden(scene, everybody, name)], minlength=column.n_values)
    left_out = scene.table.n_rows - int(cells.sum())
    return Codes(cells[found], found, openly, hidden, column.counts, max(left_out, 0))


def is_hidden(scene: Scene, codes: Mapping[str, NDArray[Any]], name: str) -> Bools:
    """Whose value is published as a code of its own, of people with given codes: who chose so, and has a value."""
    column = scene.table[name]
    missing = column.n_values - 1 if column.has_missing else -1
    hidden: Bools = (_choices(scene, codes, codes[name].size) == HIDDEN) & (codes[name] != missing)
    return hidden


def _choices(scene: Scene, codes: Mapping[str, NDArray[Any]], n: int) -> Ids:
    """What everybody chose: 1, 2 or 3."""
    options = scene.policy.publish.options
    default = int(options.get("default_choice", DEFAULT))
    names = [name for name in scene.policy.having("choice") if name in codes]
    if not names:
        return np.full(n, default, dtype=np.int64)
    texts = scene.table[names[0]].texts
    meant = [int(float(text)) if text.removesuffix(".0") in ("1", "2", "3") else default for text in texts]
    return np.array(meant, dtype=np.int64)[codes[names[0]]]
