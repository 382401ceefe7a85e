"""Sequential: several releases of the same people, each sound, are played off against each other.

Knows: the quasi-identifiers, that the target is in all releases, and that her values did not change.
How: multiplies what each release says of her; a value that one of them rules out is out. Releases that say the same
of somebody may have been made from the same groups, and count once.
Beliefs that come true no more often than those from one release break nothing but where values are ruled out.
Paper: Xiao and Tao, m-invariance (2007); Byun et al. (2006).
"""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known, normalized
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Bools, Floats, People, alike
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import Tally, outcome, tally

NAME = "sequential"
KNOWS = "the quasi-identifiers, or what a rule gives, and that the target is in every release"


@dataclass(frozen=True, repr=False)
class Collector:
    """Someone who has read several releases."""

    readers: tuple[Reader, ...]

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The product of what the releases say, over how common the value is."""
        readers = [reader for reader in self.readers if about in reader.readable]
        beliefs = [reader.beliefs(people, known, about) for reader in readers]
        row_of, firsts = alike([own.row_of for own in beliefs], people.n)
        counts = readers[0].table[about].counts
        share = np.maximum(counts, 1) / max(int(counts.sum()), 1)
        told = [own.rows[own.row_of[firsts], : counts.size] for own in beliefs]
        rows = np.ones((firsts.size, counts.size))
        for number, own in enumerate(told):
            rows *= np.where(_is_new(own, told[:number]), own / share, 1.0)
        return Beliefs(normalized(rows * share, told[0]), row_of)


def _is_new(rows: Floats, earlier: list[Floats]) -> Bools:
    """Which rows differ from those of all earlier releases."""
    is_new = np.ones((rows.shape[0], 1), dtype=bool)
    for before in earlier:
        is_new &= np.abs(rows - before).max(axis=1, keepdims=True, initial=0.0) > TOLERANCE
    return is_new


def attack(scene: Scene) -> Outcome:
    """Guess everybody's value from all releases together."""
    if not scene.others:
        reason = "There is one release only; give others with `others` or --other."
        return Outcome(NAME, KNOWS, "none", reason=reason)
    collector = Collector((scene.reader, *(Reader(release, scene.table) for release in scene.others)))
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    alone = [tally(scene, aim) for aim in aims]
    together = [tally(scene, aim, adversary=collector) for aim in aims]
    tallies = [_founded(both, plain) for both, plain in zip(together, alone, strict=True)]
    n = max(sum(plain.targets for plain in alone), 1)
    details = {
        "releases": 1 + len(scene.others),
        "success_with_one": sum(plain.n_right for plain in alone) / n,
        "certain_with_one": sum(plain.certain for plain in alone),
    }
    return outcome(NAME, KNOWS, "estimate", tallies, details)


def _founded(tally: Tally, plain: Tally) -> Tally:
    """Where beliefs come true no more often than with one release, only what is ruled out for sure counts."""
    if tally.is_better_than(plain):
        return tally
    promised = max(min(tally.promised, tally.certain), plain.promised)
    return replace(tally, broken=max(tally.certain, plain.broken), promised=promised)
