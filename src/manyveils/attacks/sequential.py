"""Sequential: several releases of the same people, each sound, are played off against each other.

Knows: the quasi-identifiers, that the target is in all releases, and that her values did not change.
How: multiplies what each release says of her; a value that one of them rules out is out. Releases that say the same
of somebody may have been made from the same groups, and count once.
Beliefs that come true no more often than those from one release break nothing but where values are ruled out.
Paper: Xiao and Tao, m-invariance (2007); Byun et al. (2006).
"""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.beliefs import ALMOST, Beliefs, normalized
from manyveils.attacks.homogeneity import look
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Bools, Floats, People
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import Tally, interval, outcome, tally
from manyveils.reading.matching import numbered
from manyveils.table import Table

NAME = "sequential"
KNOWS = "the quasi-identifiers, or what a rule gives, and that the target is in every release"


@dataclass(frozen=True, repr=False)
class Collector:
    """Someone who has read several releases."""

    readers: tuple[Reader, ...]
    table: Table

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """The product of what the releases say, over how common the value is."""
        found = [reader.of(people, known, about) for reader in self.readers if about in reader.readable]
        of, firsts = numbered([each.of for each in found], [each.rows.shape[0] for each in found])
        n_values = self.table[about].n_values
        counts = self.table[about].counts
        share = np.maximum(counts, 1) / max(int(counts.sum()), 1)
        said = [each.rows[each.of[firsts], :n_values] for each in found]
        rows = np.ones((firsts.size, n_values))
        for place, each in enumerate(said):
            rows *= np.where(_is_new(each, said[:place]), each / share, 1.0)
        return Beliefs(normalized(rows * share, said[0]), of)


def _is_new(rows: Floats, earlier: list[Floats]) -> Bools:
    """Which rows differ from those of all earlier releases."""
    new = np.ones((rows.shape[0], 1), dtype=bool)
    for other in earlier:
        new &= np.abs(rows - other).max(axis=1, keepdims=True, initial=0.0) > ALMOST
    return new


def attack(scene: Scene) -> Outcome:
    """Guess everybody's value from all releases together."""
    if not scene.others:
        return Outcome(
            NAME, KNOWS, "none", reason="There is one release only; give others with `others` or --other."
        )
    collector = Collector((scene.reader, *(Reader(each, scene.table) for each in scene.others)), scene.table)
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    alone = [tally(scene, aim, look) for aim in aims]
    tallies = [
        _founded(tally(scene, aim, look, mind=collector), plain)
        for aim, plain in zip(aims, alone, strict=True)
    ]
    n = max(sum(each.targets for each in alone), 1)
    details = {
        "releases": 1 + len(scene.others),
        "success_with_one": sum(each.n_right for each in alone) / n,
        "certain_with_one": sum(each.certain for each in alone),
    }
    return outcome(NAME, KNOWS, "estimate", tallies, details)


def _founded(found: Tally, plain: Tally) -> Tally:
    """Where beliefs come true no more often than with one release, only what is ruled out for sure counts."""
    if found.targets and interval([found])[0] > plain.n_right / found.targets:
        return found
    sure = max(found.certain, plain.broken)
    return replace(found, broken=sure, promised=max(min(found.promised, found.certain), plain.promised))
