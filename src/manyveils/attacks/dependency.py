"""Dependency: what follows from other attributes is learnt with them.

Knows: the quasi-identifiers, and the policy's dependencies with what follows from what (the county of a zip code).
How: what she believes of the attributes on the left, taken together, becomes a belief in what follows, also over
several steps. What the release rules out directly is out.
Paper: paper 002 (versatile publishing); Wang and Liu (2008).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.adversaries import Ignorant, Reader
from manyveils.attacks.beliefs import Beliefs, Known
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People, alike
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import tally
from manyveils.attacks.sparse_rows import Rows, normalized
from manyveils.attacks.tallies import outcome
from manyveils.reading.keys import ranges
from manyveils.table import Table

NAME = "dependency"
KNOWS = "the quasi-identifiers, or what a rule gives, and what follows from what"
MOST_SUPPOSED = 1_000_000


@dataclass(frozen=True, repr=False)
class Combinations:
    """The different combinations of some attributes that a table has: the combination of each row, and their codes."""

    names: Known
    of_row: Ids
    codes: dict[str, Ids]
    n: int


def combinations_of(table: Table, names: Known) -> Combinations:
    """The combinations of some attributes of a table; of no attribute there is one."""
    of_row, firsts = alike([table[name].codes for name in names], table.n_rows)
    codes = {name: table[name].codes[firsts].astype(np.int64) for name in names}
    return Combinations(names, of_row, codes, firsts.size if names else 1)


@dataclass(frozen=True, repr=False)
class Deducer:
    """Someone who knows what follows from some attributes."""

    reader: Reader
    left: Known

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """What follows from what is known and believed of the left side."""
        given = tuple(name for name in self.left if name in known)
        unknown = combinations_of(self.reader.table, tuple(name for name in self.left if name not in known))
        believed = together(self.reader, people, known, unknown)
        direct = self._direct(people, known, about)
        row_of, firsts = alike(
            [believed.row_of, direct.row_of, *(people.codes[name] for name in given)], people.n
        )
        codes = {name: people.codes[name][firsts] for name in given}
        instead, follows = direct.of(firsts), self._follows(codes, unknown, believed.of(firsts), about)
        instead = instead.among(follows.n_values)
        beliefs = np.where(instead.beliefs > 0, follows.at(instead.cases, instead.values), 0.0)
        return Beliefs(normalized(instead.believing(beliefs), instead), row_of)

    def _direct(self, people: People, known: Known, about: str) -> Beliefs:
        """What the release says of the attribute itself; where it is not shown, what is true of everybody."""
        if about in self.reader.readable:
            return self.reader.beliefs(people, tuple(name for name in known if name != about), about)
        return Ignorant(self.reader.table).beliefs(people, known, about)

    def _follows(self, codes: dict[str, Ids], unknown: Combinations, believed: Rows, about: str) -> Rows:
        """Sum, over what the unknown attributes may be, what follows from them and from what is known."""
        table = self.reader.table
        n, n_left = believed.n, believed.n_values
        n_values, n_rows = table[about].n_values, table.n_rows
        # One number for what is known, the same for the rows of the table and for the targets.
        both = [np.concatenate([table[name].codes, own]) for name, own in codes.items()]
        numbers, _ = alike(both, n_rows + n)
        number, wanted = numbers[:n_rows], numbers[n_rows:]
        # The different triples of what is known, what is not, and what follows, in order.
        keys = (number * n_left + unknown.of_row) * n_values + table[about].codes
        triples, counts = np.unique(keys, return_counts=True)
        _, pair = np.unique(triples // n_values, return_inverse=True)
        shares = counts / np.bincount(pair, weights=counts)[pair]
        groups = triples // (n_values * n_left)
        starts = np.searchsorted(groups, wanted)
        lengths = np.searchsorted(groups, wanted, side="right") - starts
        picked, target = ranges(starts, lengths), np.repeat(np.arange(n), lengths)
        weights = shares[picked] * believed.at(target, triples[picked] // n_values % n_left)
        return Rows.from_cells(target, triples[picked] % n_values, weights, (n, n_values))


def together(reader: Reader, people: People, known: Known, wanted: Combinations) -> Beliefs:
    """The belief in every combination: in its first attribute, times in the second if the first is so, and so on.

    Where too many cases would have to be supposed, attributes are independent but for what is known.
    """
    if not wanted.names:
        return Beliefs(Rows.of(np.ones((1, 1))), np.zeros(people.n, dtype=np.int64))
    alone = [reader.beliefs(people, known, name) for name in wanted.names]
    row_of, firsts = alike([beliefs.row_of for beliefs in alone], people.n)
    rows = np.ones((firsts.size, wanted.n))
    for index, (name, beliefs) in enumerate(zip(wanted.names, alone, strict=True)):
        shares = _supposing(reader, people, known, wanted, index, firsts) if index else None
        if shares is None:
            shares = beliefs.of(firsts).dense()[:, wanted.codes[name]]
        rows *= shares
    return Beliefs(Rows.of(rows), row_of)


def _supposing(
    reader: Reader, people: People, known: Known, wanted: Combinations, index: int, firsts: Ids
) -> Floats | None:
    """The belief in an attribute of every combination for some people, if the attributes before it are so."""
    before, name = wanted.names[:index], wanted.names[index]
    number_of, places = alike([wanted.codes[earlier] for earlier in before], wanted.n)
    if firsts.size * places.size > MOST_SUPPOSED:
        return None
    supposed = {earlier: wanted.codes[earlier][places] for earlier in before}
    cases = _cases(people, known, supposed, firsts, places.size)
    beliefs = reader.beliefs(cases, (*known, *before), name)
    case = np.arange(firsts.size)[:, np.newaxis] * places.size + number_of[np.newaxis, :]
    return beliefs.rows.at(beliefs.row_of[case], wanted.codes[name][np.newaxis, :])


def _cases(people: People, known: Known, supposed: dict[str, Ids], firsts: Ids, n: int) -> People:
    """Some people once for each of n combinations, as if they had it."""
    codes = {name: np.repeat(people.codes[name][firsts], n) for name in known if name in people.codes}
    codes |= {name: np.tile(own, firsts.size) for name, own in supposed.items()}
    name = f"{people.name} supposing {', '.join(supposed)} of {firsts.size}"
    return People(name, codes, firsts.size * n)


def attack(scene: Scene) -> Outcome:
    """Let what follows be learnt through what it follows from."""
    if not scene.policy.dependencies:
        return Outcome(NAME, KNOWS, "none", reason="The policy names no dependency.")
    tallies = []
    for known, name in scene.protections:
        closed = _closure(scene, known, name)
        for left in dict.fromkeys(_lefts(scene, closed, name, frozenset({name}))):
            aim = replace(scene.aim(known, name), known=closed)
            tallies.append(tally(scene, aim, adversary=Deducer(scene.reader, left)))
    reason = "Nothing protected follows from attributes that are known or published in the open."
    return outcome(NAME, KNOWS, "estimate", tallies, reason=reason)


def _closure(scene: Scene, known: Known, name: str) -> Known:
    """What is known, with all that follows from it but the protected attribute itself."""
    closed, n_before = dict.fromkeys(known), -1
    while len(closed) > n_before:
        n_before = len(closed)
        for rule in scene.policy.dependencies:
            if {*rule.from_} <= {*closed} and rule.to != name and rule.to in scene.table.attributes:
                closed[rule.to] = None
    return tuple(closed)


def _lefts(scene: Scene, known: Known, name: str, met: frozenset[str]) -> Iterator[Known]:
    """The attributes, known or published, from which one follows in one step or in several."""
    for rule in scene.policy.dependencies:
        if rule.to == name and name in scene.table.attributes and not {*rule.from_} & met:
            yield from _grounded(scene, known, tuple(rule.from_), met)


def _grounded(scene: Scene, known: Known, left: Known, met: frozenset[str]) -> Iterator[Known]:
    """A left side, with everything that can be neither known nor read replaced by what it follows from."""
    hidden = next((name for name in left if name not in known and name not in scene.reader.readable), None)
    if hidden is None:
        yield tuple(dict.fromkeys(left))
        return
    rest = tuple(name for name in left if name != hidden)
    for deeper in _lefts(scene, known, hidden, met | {hidden}):
        yield from _grounded(scene, known, (*rest, *deeper), met | {hidden})
