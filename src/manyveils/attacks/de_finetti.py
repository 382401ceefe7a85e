"""De Finetti: buckets together teach what goes with what, and that is used on each of them.

Knows: the quasi-identifiers; everything else is learnt from the release.
How: fits a naive Bayes model to all buckets (`learning`) and weighs the values of the target's buckets by it.
Beliefs that come true no more often than those from buckets alone are no knowledge, and break nothing.
Paper: Kifer, Attacks on privacy and deFinetti's theorem (2009).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.beliefs import Beliefs, normalized
from manyveils.attacks.homogeneity import look
from manyveils.attacks.learning import learnt
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, interval, outcome, tally
from manyveils.reading.matching import numbered
from manyveils.reading.views import PublishedView

NAME = "de-finetti"
KNOWS = "the quasi-identifiers, or what a rule gives"


@dataclass(frozen=True, repr=False)
class Learner:
    """Someone who has learnt from a view how often labels go with values."""

    reader: Reader
    shape: PublishedView
    model: Mapping[str, Floats]

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """What the buckets say, times how well what is known goes with each value."""
        plain = self.reader.of(people, known, about)
        labels = self._labels(people)
        sizes = [each.max(initial=0) + 2 for each in labels.values()]
        of, firsts = numbered(
            [plain.of, *(each + 1 for each in labels.values())], [plain.rows.shape[0], *map(int, sizes)]
        )
        rows = plain.rows[plain.of[firsts]].copy()
        places = self._places(about, rows.shape[1])
        for name, held in labels.items():
            fit = self.model[name][held[firsts]]
            overall = fit @ self._shares(about)
            fit = np.where(held[firsts, np.newaxis] >= 0, fit / overall[:, np.newaxis], 1.0)
            rows *= np.where(places >= 0, fit[:, np.maximum(places, 0)], 0.0)
        return Beliefs(normalized(rows, plain.rows[plain.of[firsts]]), of)

    def _labels(self, people: People) -> dict[str, Ids]:
        found = {}
        for name, codes in self.reader.known_of(people, tuple(self.model)).items():
            spread = self.shape.spread_of(name)
            if not spread.overlaps:
                found[name] = np.where(codes >= 0, spread.label_of[np.maximum(codes, 0)], -1)
        return found

    def _places(self, about: str, n: int) -> Ids:
        """The published label of each value of the original; -1 where there is none."""
        places = self.reader.places[about]
        own = self.shape.spread_of(about).label_of[np.maximum(places, 0)]
        return np.pad(np.where(places >= 0, own, -1), (0, n - places.size), constant_values=-1)

    def _shares(self, about: str) -> Floats:
        part = next(part for part in self.shape.parts if about in part.attributes)
        rows = np.bincount(part.labels[about], weights=part.counts, minlength=part.spreads[about].sizes.size)
        return rows / rows.sum()


def attack(scene: Scene) -> Outcome:
    """Learn from all buckets, and use it on each."""
    tallies, alone = [], 0.0
    for aim in scene.aims:
        learner = _learner(scene, aim)
        if learner is not None:
            found, plain = tally(scene, aim, look, mind=learner), tally(scene, aim, look)
            tallies.append(_founded(found, plain))
            alone += plain.n_right
    n = max(sum(each.targets for each in tallies), 1)
    reason = "No view has quasi-identifiers and a sensitive attribute in different columns of buckets."
    return outcome(NAME, KNOWS, "estimate", tallies, {"success_without_learning": alone / n}, reason)


def _founded(found: Tally, plain: Tally) -> Tally:
    """Nothing is broken by beliefs that come true no more often than those from buckets alone."""
    is_better = found.targets and interval([found])[0] > plain.n_right / found.targets
    return found if is_better else replace(found, broken=0, promised=0, certain=0)


def _learner(scene: Scene, aim: Aim) -> Learner | None:
    for shape in scene.reader.shapes:
        if aim.about not in shape.attributes or aim.about not in scene.reader.readable:
            continue
        names = tuple(
            name for name in aim.known if name in scene.reader.readable and name in shape.attributes
        )
        if shape.n_buckets < 2 or shape.spread_of(aim.about).is_coarse:
            continue
        model = learnt(shape, aim.about, names)
        if model:
            return Learner(scene.reader, shape, model)
    return None
