"""De Finetti: buckets together teach what goes with what, and that is used on each of them.

Knows: the quasi-identifiers; everything else is learnt from the release.
How: fits a naive Bayes model to all buckets by EM and weighs the values of the target's buckets by it.
Inside a bucket the sensitive values belong to its rows in an unknown order. The model says how well each goes with
each; the order is weighed by the model, so that every row has one value and every value is used up; and the model is
fitted to that again.
Beliefs that come true no more often than those from buckets alone are no knowledge, and break nothing.
Paper: Kifer, Attacks on privacy and deFinetti's theorem (2009).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known, label_counts
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People, alike
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import tally
from manyveils.attacks.search import labels_of
from manyveils.attacks.sparse_rows import normalized
from manyveils.attacks.tallies import Tally, outcome
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.keys import ranges
from manyveils.reading.views import PublishedView

NAME = "de-finetti"
KNOWS = "the quasi-identifiers, or what a rule gives"
ROUNDS = 12
BALANCINGS = 5
SMOOTHING = 0.5
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, repr=False)
class Learner:
    """Someone who has learnt from a view how often labels go with values."""

    reader: Reader
    view: PublishedView
    model: Mapping[str, Floats]

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """What the buckets say, times how well what is known goes with each value."""
        plain = self.reader.beliefs(people, known, about)
        labels = self._labels(people)
        row_of, firsts = alike([plain.row_of, *labels.values()], people.n)
        before = plain.of(firsts)
        shares = label_counts(self.view, about) / self.view.n_rows
        values = self._values(about, before.n_values)[before.values]
        beliefs = np.where(values >= 0, before.beliefs, 0.0)
        for name, own in labels.items():
            model, label = self.model[name], own[firsts]
            whole = np.where(label >= 0, (model @ shares)[label], 1.0)[before.cases]
            label = label[before.cases]
            beliefs = beliefs * np.where(label >= 0, model[label, values] / whole, 1.0)
        return Beliefs(normalized(before.believing(beliefs), before), row_of)

    def _labels(self, people: People) -> dict[str, Ids]:
        """The label of everybody's value in each attribute of the model whose labels do not overlap."""
        known = self.reader.known_of(people, self.model)
        return {
            name: labels_of(self.view, name, codes)
            for name, codes in known.items()
            if not self.view.cover_of(name).overlaps
        }

    def _values(self, about: str, n: int) -> Ids:
        """The published label of each value of the original; -1 where there is none."""
        labels = labels_of(self.view, about, self.reader.places[about])
        return np.pad(labels, (0, n - labels.size), constant_values=-1)


def attack(scene: Scene) -> Outcome:
    """Learn from all buckets, and use it on each."""
    tallies, alone = [], 0.0
    for aim in scene.aims:
        learner = _learner(scene, aim)
        if learner is not None:
            plain = tally(scene, aim)
            learnt = tally(scene, aim, adversary=learner)
            is_founded = learnt.is_better_than(plain)
            tallies.append(learnt if is_founded else _harmless(learnt))
            alone += plain.n_right
    n = max(sum(tally.targets for tally in tallies), 1)
    reason = "No view has quasi-identifiers and a sensitive attribute in different columns of buckets."
    return outcome(NAME, KNOWS, "estimate", tallies, {"success_without_learning": alone / n}, reason)


def _harmless(learnt: Tally) -> Tally:
    every = learnt.all_rows and _harmless(learnt.all_rows)
    return replace(learnt, broken=0, promised=0, certain=0, all_rows=every)


def _learner(scene: Scene, aim: Aim) -> Learner | None:
    for view in scene.reader.views:
        is_shown = scene.reader.readable_in(view, (aim.about,)) and not view.cover_of(aim.about).is_coarse
        if is_shown and view.n_buckets > 1:
            model = model_of(view, aim.about, scene.reader.readable_in(view, aim.known))
            if model:
                return Learner(scene.reader, view, model)
    return None


@dataclass(frozen=True, repr=False)
class Pairs:
    """Rows of one column beside the values of another in the same bucket.

    `row` is an index into the first, with `lengths` pairs each; `cell` numbers the pairs of bucket and value; `rows`
    and `cells` say how many there are.
    """

    row: Ids
    lengths: Ids
    value: Ids
    cell: Ids
    rows: Floats
    cells: Floats


def model_of(view: PublishedView, about: str, names: tuple[str, ...]) -> Mapping[str, Floats] | None:
    """For each attribute in another column, how often each label goes with each value; None if it is too much work.

    The result has a row per label and a column per published value, and every column sums to one.
    """
    model: dict[str, Floats] = {}
    own = view.column_of(about)
    for column in view.columns:
        known = [name for name in column.attributes if name in names]
        if column is own or not known:
            continue
        pairs = _pairs(column, own, about)
        if pairs is None:
            return None
        model |= _fitted(column, known, pairs, own.covers[about].sizes.size)
    return model


def _pairs(column: PublishedColumn, own: PublishedColumn, about: str) -> Pairs | None:
    n_values = own.covers[about].sizes.size
    cells, cell_of = np.unique(own.buckets * n_values + own.labels[about], return_inverse=True)
    counts = np.bincount(cell_of, weights=own.counts, minlength=cells.size).astype(np.float64)
    starts = np.searchsorted(cells // n_values, column.buckets)
    lengths = np.searchsorted(cells // n_values, column.buckets, side="right") - starts
    if int(lengths.sum()) > MOST_PAIRS:
        return None
    cell = ranges(starts, lengths)
    row = np.repeat(np.arange(column.counts.size), lengths)
    return Pairs(row, lengths, cells[cell] % n_values, cell, column.counts.astype(np.float64), counts)


def _fitted(column: PublishedColumn, names: list[str], pairs: Pairs, n_values: int) -> dict[str, Floats]:
    sizes = {name: column.covers[name].sizes.size for name in names}
    keys = {name: column.labels[name].astype(np.int64)[pairs.row] * n_values + pairs.value for name in names}
    weights = _balanced(pairs.cells[pairs.cell], pairs)
    model: dict[str, Floats] = {}
    for _ in range(ROUNDS):
        likely = pairs.cells[pairs.cell]
        for name in names:
            counts = np.bincount(keys[name], weights=weights, minlength=sizes[name] * n_values)
            smooth = counts.reshape(sizes[name], n_values) + SMOOTHING / sizes[name]
            model[name] = smooth / smooth.sum(axis=0)
            likely *= model[name].ravel()[keys[name]]
        weights = _balanced(likely, pairs)
    return model


def _balanced(weights: Floats, pairs: Pairs) -> Floats:
    """Scale weights until rows and values add up to what is published, nearly."""
    starts = np.cumsum(pairs.lengths) - pairs.lengths
    full = pairs.lengths > 0
    weights, rows = weights.copy(), np.zeros(pairs.rows.size)
    for _ in range(BALANCINGS):
        # The pairs of a row follow each other.
        rows[full] = np.add.reduceat(weights, starts[full])
        weights *= np.repeat(pairs.rows / np.maximum(rows, 1e-300), pairs.lengths)
        cells = np.bincount(pairs.cell, weights=weights, minlength=pairs.cells.size)
        weights *= (pairs.cells / np.maximum(cells, 1e-300))[pairs.cell]
    return weights
