"""What else could be true of persons who came and went: values that could be exchanged while every group keeps what it has.

Whoever reads all releases may know how often each class has each value, and each end of stints. What she reads stays true
if two persons exchange values who are in the same cells, of one class and one end, or several in a ring of classes of
two ends. So whoever could exchange hers for enough other values is certain to nobody.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.policy import Policy, Promise
from manyveils.policy import guarantees as kinds
from manyveils.promises.cells import Cells
from manyveils.promises.entries import Ids, dense, distinct, examples
from manyveils.promises.lacking import Asked, Owed, kinds_of, lacking
from manyveils.promises.parting import Parting, parting
from manyveils.promises.sightings import about_constants
from manyveils.promises.stints import OPEN, Past, Releases, Stints, end_of
from manyveils.table import Table
from manyveils.table.earlier import Earlier
from manyveils.threads import side_by_side

Bools = NDArray[np.bool_]
# Where a promise does not say how many values must be possible.
NEVER_CERTAIN = 2
# The share of persons expected to leave until the next release, where nothing is known of it.
LEAVING = 0.1
# How much more may be asked than is promised.
STRICTEST = 2
# Of so many groups one will have to be mended once those who leave it are known.
FAILS = 1000


@dataclass(frozen=True, repr=False)
class Exchanges:
    """Promises that enough values of attributes that do not change stay possible, whatever is read from all releases.

    Claim: whoever lacks nothing has as many different values as are wanted in worlds that agree with all releases.
    Why: classes and ends keep what they have where values are exchanged within a cell, or between two cells of a class
    and back between two of another with the same ends. Groups are made of classes and ends, so they keep it too; and
    whoever is in several cells exchanges in each of them, with persons who are in no other but for one.
    Tested by: tests/claims/test_exchanges.py
    """

    past: Past
    last: tuple[Ids, Ids]
    n_last: int
    n_all: int
    owed: tuple[Owed, ...]
    # Of whom nobody knows who they are; and who of the table was held back last.
    nameless: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    held_back: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def parted(self, own: tuple[Ids, Ids], n_groups: int) -> Parting:
        """How persons are sorted now; each pair of a person and a group once, by person."""
        return parting(self.last, self.n_last, own, n_groups, self.n_all)

    def then(self, own: tuple[Ids, Ids], n_groups: int) -> Stints:
        """All stints once persons are sorted so; groups of this release are numbered after those of all earlier ones."""
        return self.past.then(own, self.parted(own, n_groups)).every

    def laid_out(self, stints: Stints) -> "Cells":
        """Who is in which cell."""
        both = stints.entries, stints.ends
        sizes = tuple(int(numbers.max(initial=0)) + 1 for numbers in both)
        of_stint, n_cells = dense(both, sizes, stints.persons.size)
        pairs = distinct(stints.persons * max(n_cells, 1) + of_stint)
        some = examples(of_stint, n_cells)
        return Cells(stints.entries[some], stints.ends[some], *np.divmod(pairs, max(n_cells, 1)), self.n_all)

    def lacking(self, cells: "Cells", strictness: int = 0) -> Ids:
        """Of every attribute, how many more values would have to be possible of each person.

        A strictness of 1 also wants that nobody is known well. What is possible now becomes less later: one of 2 does not
        count exchanges by way of other classes where somebody leaves a class now, nor with guests, and wants one value
        more of who comes back, or leaves again.
        """
        if not cells.persons.size or not self.owed:
            return np.zeros((len(self.owed), self.n_all), dtype=np.int64)
        is_open, is_old = cells.ends % 3 == OPEN, cells.ends < end_of(self.past.n_groups, 0)
        rings, sources = np.full(cells.ends.size, True), np.full(cells.ends.size, True)
        if strictness == STRICTEST:
            rings, sources = is_open | is_old, is_old
        is_new = (cells.entries >= self.past.n_groups) | ~(is_open | is_old)
        asked = Asked(rings, sources, is_new, strictness == STRICTEST, strictness > 0)
        owing = side_by_side(lambda own: lacking(kinds_of(cells, own), asked), self.owed, cells.persons.size)
        return np.stack(list(owing))


def exchanges_of(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> Exchanges | None:
    """What must stay possible of attributes that do not change beside earlier releases; nothing where there are none."""
    earlier = table.earlier
    if earlier is None:
        return None
    judged = about_constants(policy, table.of_persons(), promises)
    owed = tuple(
        dict.fromkeys((promise.protects[0], _wanted(promise), promise.guarantee.level) for promise in judged)
    )
    releases = Releases(earlier, {name for name, _, _ in owed})
    _refuse_unfollowed(policy, judged, releases.n_apart)
    return Exchanges(
        releases.past,
        releases.last,
        releases.n_last,
        earlier.n_persons,
        tuple(_owed(policy, table, earlier, *one) for one in owed),
        earlier.hashes.is_null().to_numpy(),
        earlier.held_back,
    )


def _refuse_unfollowed(policy: Policy, judged: tuple[Promise, ...], n_apart: int) -> None:
    """Refuse what is not worked out over several releases: combinations, and persons in several groups of one release."""
    PolicyError.refuse(
        Problem(
            f"{policy.name}: guarantee.joint",
            f"{' and '.join(promise.protects)} are constant, and what several releases tell of a combination is not "
            "worked out.",
            "Drop it from joint.",
        )
        for promise in dict.fromkeys(judged)
        if len(promise.protects) > 1
    )
    if n_apart:
        what = f"{n_apart:,} persons stood in several groups of one earlier release, and nobody works out what that tells."
        remedy = "Begin the chain with a method that keeps all rows of a person in one group: anatomize, slice or separate."
        raise InfeasibleError([Problem(f"{policy.name}: publish.method", what, remedy)])


def n_differing(counts: Ids, wanted: int) -> int:
    """How many persons must leave together to have so many different values but once in FAILS, about.

    >>> n_differing(np.array([50, 30, 20]), 2)
    14
    """
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    if shares.size < wanted:
        return wanted
    n = wanted
    while _fewer(shares * n, wanted) > 1 / FAILS:
        n += 1 + n // 16
    return n


def _fewer(expected: NDArray[np.float64], wanted: int) -> float:
    """The chance that fewer values than wanted are there, each of which is expected so often."""
    chances = np.append(1.0, np.zeros(wanted - 1))
    for absent in np.exp(-expected).tolist():
        chances = chances * absent + np.append(0.0, chances[:-1]) * (1 - absent)
    return float(chances.sum())


def room_to_leave(policy: Policy, table: Table, promises: tuple[Promise, ...], share: float) -> int:
    """How large groups must be for those to differ who leave them, of everybody a share, where something is constant; or 1.

    They should have a value more than they need, since some of them will come back.

    A table may be too small for that: then there are four groups at least.
    """
    judged = about_constants(policy, table.of_persons(), promises)
    n_leaving = max(
        (n_differing(table[promise.protects[0]].counts, _wanted(promise) + 1) for promise in judged),
        default=0,
    )
    return max(min(math.ceil(n_leaving / share), table.n_persons // 4), 1) if share else 1


def _wanted(promise: Promise) -> int:
    """How many values must stay possible by a promise."""
    guarantee = promise.guarantee
    return (
        max(guarantee.variety, NEVER_CERTAIN)
        if isinstance(guarantee, kinds.DistinctDiversity)
        else NEVER_CERTAIN
    )


def _owed(policy: Policy, table: Table, earlier: Earlier, name: str, wanted: int, level: int) -> Owed:
    column, n_values = table[name], earlier.held[name].n_values
    known = earlier.values.get(name)
    values = np.full(earlier.n_persons, -1) if known is None else known.copy()
    assert table.persons is not None
    values[table.persons] = column.codes
    # Whose identity is missing may have been anybody, so that nothing is known of her.
    values[earlier.hashes.is_null().to_numpy()] = -1
    labels = np.arange(n_values)
    if level:
        step = column.levels[min(level, column.levels.highest)]
        above = {line[0]: line[min(level, len(line) - 1)] for line in policy.lines(name) or ()}
        numbers = {label or "": number for number, label in enumerate(step.labels)}
        gone = [numbers.get(above.get(text, "")) for text in earlier.held[name].more]
        if None in gone:
            what = f"{gone.count(None):,} values of earlier releases have no label in its hierarchy."
            raise PolicyError.at(f"{policy.name}: attributes.{name}.hierarchy", what, "Add them.")
        labels = np.append(step.label_of, np.array(gone, dtype=np.int64)).astype(np.int64)
    return Owed(values, labels, wanted)
