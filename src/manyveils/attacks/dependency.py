"""Dependency: what follows from an attribute is learnt with it.

Knows: the quasi-identifiers, and the policy's dependencies with what follows from what (the county of a zip code).
How: what she believes of the attributes on the left becomes a belief in what follows; at most one of them may be
unknown to her. What the release rules out directly is out.
Paper: paper 002 (versatile publishing); Wang and Liu (2008).
"""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.beliefs import Beliefs, normalized
from manyveils.attacks.homogeneity import look
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import outcome, tally
from manyveils.estimate.matching import numbered, ranges
from manyveils.table import Table

NAME = "dependency"
KNOWS = "the quasi-identifiers, or what a rule gives, and what follows from what"


@dataclass(frozen=True, repr=False)
class Deducer:
    """Someone who knows what follows from some attributes."""

    reader: Reader
    table: Table
    left: Known

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """What follows from what is known and believed of the left side."""
        given = tuple(name for name in self.left if name in known)
        unknown = tuple(name for name in self.left if name not in known)
        if unknown:
            believed = self.reader.of(people, known, unknown[0])
        else:
            believed = Beliefs(np.ones((1, 1)), np.zeros(people.n, dtype=np.int64))
        keys = [people.codes[name] + 1 for name in given]
        sizes = [self.table[name].n_values + 1 for name in given]
        of, firsts = numbered([believed.of, *keys], [believed.rows.shape[0], *sizes])
        held = {name: people.codes[name][firsts] for name in given}
        rows = self._follows(held, unknown, believed.rows[believed.of[firsts]], about)
        if about in self.reader.published:
            direct = self.reader.of(people, tuple(n for n in known if n != about), about)
            instead = direct.rows[direct.of[firsts], : rows.shape[1]]
            rows = normalized(rows * (instead > 0), instead)
        else:
            counts = self.table[about].counts
            rows = normalized(rows, (counts / max(int(counts.sum()), 1))[np.newaxis, :])
        return Beliefs(rows, of)

    def _follows(self, held: dict[str, Ids], unknown: Known, believed: Floats, about: str) -> Floats:
        """Sum, over the values the unknown attribute may have, what follows from it and from what is known."""
        n, n_left, n_values = believed.shape[0], believed.shape[1], self.table[about].n_values
        number, asked = self._numbered(held, n)
        left = self.table[unknown[0]].codes if unknown else 0
        # The different triples of what is known, what is not, and what follows, in order.
        keys = (number * n_left + left) * n_values + self.table[about].codes
        triples, counts = np.unique(keys, return_counts=True)
        _, pair = np.unique(triples // n_values, return_inverse=True)
        shares = counts / np.bincount(pair, weights=counts)[pair]
        groups = triples // (n_values * n_left)
        starts = np.searchsorted(groups, asked)
        lengths = np.searchsorted(groups, asked, side="right") - starts
        picked, target = ranges(starts, lengths), np.repeat(np.arange(n), lengths)
        weights = shares[picked] * believed[target, triples[picked] // n_values % n_left]
        places = target * n_values + triples[picked] % n_values
        flat = np.bincount(places, weights=weights, minlength=n * n_values).astype(np.float64)
        return flat.reshape(n, n_values)

    def _numbered(self, held: dict[str, Ids], n: int) -> tuple[Ids, Ids]:
        """One number for what is known, alike for the rows of the table and for n targets."""
        n_rows = self.table.n_rows
        if not held:
            return np.zeros(n_rows, dtype=np.int64), np.zeros(n, dtype=np.int64)
        both = [np.concatenate([self.table[name].codes, codes]) + 1 for name, codes in held.items()]
        numbers, _ = numbered(both, [self.table[name].n_values + 1 for name in held])
        return numbers[:n_rows], numbers[n_rows:]


def attack(scene: Scene) -> Outcome:
    """Let what follows be learnt through what it follows from."""
    if not scene.policy.dependencies:
        return Outcome(NAME, KNOWS, "none", reason="The policy names no dependency.")
    tallies = []
    for known, name in scene.asked:
        closed = _closure(scene, known, name)
        for left in _usable(scene, closed, name):
            aim: Aim = replace(scene.aim(known, name), known=closed)
            tallies.append(tally(scene, aim, look, mind=Deducer(scene.reader, scene.table, left)))
    reason = (
        "Nothing protected follows from attributes of which all but one are known and that one is published."
    )
    return outcome(NAME, KNOWS, "estimate", tallies, reason=reason)


def _closure(scene: Scene, known: Known, name: str) -> Known:
    """What is known, with all that follows from it but the protected attribute itself."""
    closed, grew = dict.fromkeys(known), True
    while grew:
        before = len(closed)
        for each in scene.policy.dependencies:
            if {*each.from_} <= {*closed} and each.to != name and each.to in scene.table.columns:
                closed[each.to] = None
        grew = len(closed) > before
    return tuple(closed)


def _usable(scene: Scene, known: Known, name: str) -> list[Known]:
    """The left sides from which an attribute follows, with at most one attribute that is not known."""
    found = []
    for each in scene.policy.dependencies:
        left = tuple(each.from_)
        unknown = [one for one in left if one not in known]
        there = all(one in scene.table.columns for one in (*left, name))
        if each.to == name and there and len(unknown) <= 1 and {*unknown} <= scene.reader.readable:
            found.append(left)
    return found
