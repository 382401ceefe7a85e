"""Someone who knows all rows of a target: what does not change must fit every group that she is seen in.

Knows: what the adversary she is made of knows, of every row of the target.
How: for an attribute that does not change, b(v) is proportional to p(v) and, for every group, to its share of v over
p(v). Where it can be told which rows are about whom, the groups are those that somebody with several rows stands in,
though others may fit as well: this is the worst case. About what may change each row tells by itself, and so does the
only row that somebody has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array, vstack

from manyveils.attacks.adversaries import Adversary, Reader, shares_of
from manyveils.attacks.beliefs import Beliefs, Known, spread_out
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.sparse_rows import Rows, normalized, stacked
from manyveils.reading.cover import Cover
from manyveils.reading.keys import numbered
from manyveils.table import Table

Groups = tuple[Rows, Ids]


@dataclass(frozen=True, repr=False)
class AllRows:
    """Someone who knows all rows of every target; she remembers what she works out."""

    adversary: Adversary
    table: Table
    constant: frozenset[str]
    _beliefs: dict[object, Beliefs] = field(default_factory=dict)

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """What fits all groups that each person is seen in."""
        if people.persons is None or about not in self.constant:
            return self.adversary.beliefs(people, known, about)
        question = (people.name, known, about)
        if question not in self._beliefs:
            self._beliefs[question] = self._combined(people, known, about)
        return self._beliefs[question]

    def _combined(self, people: People, known: Known, about: str) -> Beliefs:
        shares = shares_of(self.table, about)
        plain = self.adversary.beliefs(people, known, about)
        rows = plain.rows.among(shares.size)
        groups = self._standing(people, known, about) or [(rows, plain.row_of)]
        both, has_one = together(groups, people, shares), people.summed(np.ones(people.n)) == 1
        assert people.persons is not None
        row_of = np.where(has_one[people.persons], plain.row_of + both.rows.n, both.row_of)
        return Beliefs(stacked([both.rows, rows]), row_of)

    def _standing(self, people: People, known: Known, about: str) -> list[Groups] | None:
        """The groups that everybody stands in, view by view, if a reader can be told them."""
        if not isinstance(self.adversary, Reader) or not self.stands(about) or people.rows is None:
            return None
        return standing(self.adversary, people.rows, known, about)

    def stands(self, about: str) -> bool:
        """Whether it can be told where everybody stands in the views that show an attribute."""
        reader = self.adversary
        return isinstance(reader, Reader) and all(
            view.name in reader.placed for view in reader.views if about in view.attributes and view.n_rows
        )


def standing(reader: Reader, rows: Ids, known: Known, about: str) -> list[Groups]:
    """For every view that shows an attribute the shares of its groups, and the group of each of some rows; -1 for none.

    Everybody in a group weighs 1.
    """
    found = []
    for labels, cover, groups in held_by(reader, known, about):
        own = Beliefs(spread_out(labels.shares(), cover), groups).in_codes(reader.places[about])
        found.append((own.rows.among(reader.table[about].n_values), groups[rows]))
    return found


def held_by(reader: Reader, known: Known, about: str) -> Iterator[tuple[Rows, Cover, Ids]]:
    """For every view that shows an attribute how many of each group have each label, and the group of every row, or -1."""
    for view in reader.views:
        if about not in view.attributes or not view.n_rows:
            continue
        placing = next(own for own in reader.placed[view.name] if about in own.column.attributes)
        column, names = (
            placing.column,
            tuple(name for name in reader.readable_in(view, known) if name != about),
        )
        of_row, groups = placing.groups(names)
        counts = placing.counts(placing.shares(groups))
        shape = int(of_row.max(initial=-1)) + 1, column.covers[about].sizes.size
        labels = Rows.of(csr_array((counts, (of_row, column.labels[about])), shape=shape))
        yield labels, column.covers[about], groups


def together(groups: Sequence[Groups], people: People, shares: Floats) -> Beliefs:
    """b(v) of everybody, in proportion to p(v)·Π p_G(v)/p(v) over the different groups G that her rows are in.

    Claim: of people in one group only it is what that group shows, and of people in none what is true of everybody.
    Why: p(v) stands once in the product, and once for every group beneath it.
    Tested by: tests/attacks/test_persons.py
    """
    assert people.persons is not None
    everybody = Rows.of(shares[np.newaxis, :])
    rows = stacked([*(own for own, _ in groups), everybody])
    persons, indices = [], []
    before = 0
    for own, group_of in groups:
        inside = group_of >= 0
        persons.append(people.persons[inside])
        indices.append(group_of[inside] + before)
        before += own.n
    # Who is in no group is like everybody, whose row is the last.
    unseen = np.setdiff1d(np.arange(people.n_persons), np.concatenate(persons))
    owners = np.concatenate([*persons, unseen])
    index = np.concatenate([*indices, np.full(unseen.size, before)])
    _, firsts = numbered([owners, index])
    # Numbers are in the order of owners, so the groups of a person follow each other.
    lengths = np.bincount(owners[firsts], minlength=people.n_persons)
    alike, kinds = in_the_same(index[firsts], lengths)
    order = np.argsort(-lengths[kinds], kind="stable")
    gains = rows.believing(
        np.divide(
            rows.beliefs, shares[rows.values], where=shares[rows.values] > 0, out=np.zeros(rows.beliefs.size)
        )
    )
    believed = _multiplied(rows, gains, index[firsts], lengths, kinds[order])
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return Beliefs(believed, place[alike][people.persons])


def in_the_same(index: Ids, lengths: Ids) -> tuple[Ids, Ids]:
    """A number for people who are in the same groups, and somebody of each number.

    Groups stand person by person, `lengths` of each.

    >>> [array.tolist() for array in in_the_same(np.array([4, 4, 7, 4]), np.array([1, 2, 1]))]
    [[0, 1, 0], [0, 1]]
    """
    starts = np.cumsum(lengths) - lengths
    alike = lengths.copy()
    for step in range(int(lengths.max(initial=0))):
        going = np.flatnonzero(lengths > step)
        alike[going] = numbered([alike[going], index[starts[going] + step]])[0]
    return numbered([lengths, alike])


def _multiplied(rows: Rows, gains: Rows, index: Ids, lengths: Ids, kinds: Ids) -> Rows:
    """The product over the groups of each of some people, who stand in the order of how many they are, most first."""
    starts = np.cumsum(lengths) - lengths
    left, done = Rows(rows.matrix[index[starts[kinds]]]), []
    for step in range(1, int(lengths.max(initial=1))):
        n_left = int((lengths[kinds] > step).sum())
        done.append(left.matrix[n_left:])
        before = Rows(left.matrix[:n_left])
        more = gains.matrix[index[starts[kinds[:n_left]] + step]]
        left = normalized(Rows.of(before.matrix.multiply(more)), before)
    return Rows(csr_array(vstack([left.matrix, *reversed(done)], format="csr"))).shares()
