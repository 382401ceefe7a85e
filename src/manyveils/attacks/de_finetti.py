"""De Finetti: buckets together teach what goes with what, and that is used on each of them.

Knows: the quasi-identifiers; everything else is learnt from the release.
How: fits a naive Bayes model to all buckets (`learning`) and weighs the values of the target's buckets by it.
Beliefs that come true no more often than those from buckets alone are no knowledge, and break nothing.
Paper: Kifer, Attacks on privacy and deFinetti's theorem (2009).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known, label_shares, normalized
from manyveils.attacks.learning import learnt
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People, alike
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, outcome, tally
from manyveils.attacks.sightings import labels_of
from manyveils.reading.views import PublishedView

NAME = "de-finetti"
KNOWS = "the quasi-identifiers, or what a rule gives"


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
        before = plain.rows[plain.row_of[firsts]]
        shares, values = label_shares(self.view, about), self._values(about, before.shape[1])
        rows = before
        for name, own in labels.items():
            fit = self.model[name][own[firsts]]
            fit = np.where(own[firsts, np.newaxis] >= 0, fit / (fit @ shares)[:, np.newaxis], 1.0)
            rows = rows * np.where(values >= 0, fit[:, np.maximum(values, 0)], 0.0)
        return Beliefs(normalized(rows, before), row_of)

    def _labels(self, people: People) -> dict[str, Ids]:
        """The label of everybody's value in each attribute of the model whose labels do not overlap."""
        known = self.reader.known_of(people, self.model)
        return {
            name: labels_of(self.view, name, codes)
            for name, codes in known.items()
            if not self.view.spread_of(name).overlaps
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
            tallies.append(_founded(tally(scene, aim, adversary=learner), plain))
            alone += plain.n_right
    n = max(sum(tally.targets for tally in tallies), 1)
    reason = "No view has quasi-identifiers and a sensitive attribute in different columns of buckets."
    return outcome(NAME, KNOWS, "estimate", tallies, {"success_without_learning": alone / n}, reason)


def _founded(tally: Tally, plain: Tally) -> Tally:
    """Nothing is broken by beliefs that come true no more often than those from buckets alone."""
    return tally if tally.is_better_than(plain) else replace(tally, broken=0, promised=0, certain=0)


def _learner(scene: Scene, aim: Aim) -> Learner | None:
    for view in scene.reader.views:
        is_shown = scene.reader.readable_in(view, (aim.about,)) and not view.spread_of(aim.about).is_coarse
        if is_shown and view.n_buckets > 1:
            model = learnt(view, aim.about, scene.reader.readable_in(view, aim.known))
            if model:
                return Learner(scene.reader, view, model)
    return None
