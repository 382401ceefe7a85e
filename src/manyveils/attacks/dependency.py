"""Dependency: what follows from other attributes is learnt with them.

Knows: the quasi-identifiers, and the policy's dependencies with what follows from what (the county of a zip code).
How: what she believes of the attributes on the left, taken together, becomes a belief in what follows, also over
several steps. What the release rules out directly is out.
Paper: paper 002 (versatile publishing); Wang and Liu (2008).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.beliefs import Beliefs, normalized
from manyveils.attacks.homogeneity import look
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import outcome, tally
from manyveils.attacks.supposing import Combinations, combinations_of, together
from manyveils.reading.matching import numbered, ranges
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
        unknown = combinations_of(self.table, tuple(name for name in self.left if name not in known))
        believed = together(self.reader, people, known, unknown)
        direct = self._direct(people, known, about)
        keys = [people.codes[name] + 1 for name in given]
        sizes = [self.table[name].n_values + 1 for name in given]
        of, firsts = numbered(
            [believed.of, direct.of, *keys], [believed.rows.shape[0], direct.rows.shape[0], *sizes]
        )
        held = {name: people.codes[name][firsts] for name in given}
        rows = self._follows(held, unknown, believed.rows[believed.of[firsts]], about)
        instead = direct.rows[direct.of[firsts], : rows.shape[1]]
        return Beliefs(normalized(rows * (instead > 0), instead), of)

    def _direct(self, people: People, known: Known, about: str) -> Beliefs:
        """What the release says of the attribute itself; where it is not shown, what is true of everybody."""
        if about in self.reader.readable:
            return self.reader.of(people, tuple(name for name in known if name != about), about)
        counts = self.table[about].counts
        return Beliefs((counts / max(int(counts.sum()), 1))[np.newaxis, :], np.zeros(people.n, np.int64))

    def _follows(self, held: dict[str, Ids], unknown: Combinations, believed: Floats, about: str) -> Floats:
        """Sum, over what the unknown attributes may be, what follows from them and from what is known."""
        n, n_left, n_values = believed.shape[0], believed.shape[1], self.table[about].n_values
        number, asked = self._numbered(held, n)
        # The different triples of what is known, what is not, and what follows, in order.
        keys = (number * n_left + unknown.of_row) * n_values + self.table[about].codes
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
        for left in dict.fromkeys(_lefts(scene, closed, name, frozenset({name}))):
            aim: Aim = replace(scene.aim(known, name), known=closed)
            tallies.append(tally(scene, aim, look, mind=Deducer(scene.reader, scene.table, left)))
    reason = "Nothing protected follows from attributes that are known or published in the open."
    return outcome(NAME, KNOWS, "estimate", tallies, reason=reason)


def _closure(scene: Scene, known: Known, name: str) -> Known:
    """What is known, with all that follows from it but the protected attribute itself."""
    closed, grew = dict.fromkeys(known), True
    while grew:
        before = len(closed)
        for each in scene.policy.dependencies:
            if {*each.from_} <= {*closed} and each.to != name and each.to in scene.table.attributes:
                closed[each.to] = None
        grew = len(closed) > before
    return tuple(closed)


def _lefts(scene: Scene, known: Known, name: str, met: frozenset[str]) -> Iterator[Known]:
    """The attributes, known or published, from which one follows in one step or in several."""
    for each in scene.policy.dependencies:
        if each.to == name and name in scene.table.attributes and not {*each.from_} & met:
            yield from _grounded(scene, known, tuple(each.from_), met)


def _grounded(scene: Scene, known: Known, left: Known, met: frozenset[str]) -> Iterator[Known]:
    """A left side, with everything that can be neither known nor read replaced by what it follows from."""
    hidden = [one for one in left if one not in known and one not in scene.reader.readable]
    if not hidden:
        yield tuple(dict.fromkeys(left))
        return
    rest = tuple(one for one in left if one != hidden[0])
    for deeper in _lefts(scene, known, hidden[0], met | {hidden[0]}):
        yield from _grounded(scene, known, (*rest, *deeper), met | {hidden[0]})
