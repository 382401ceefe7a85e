"""What is published as it is and singles people out: neutral attributes, alone or with up to two others."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.linting.finding import Doubt
from manyveils.policy import Policy
from manyveils.table import Table

Names = tuple[str, ...]
Codes = NDArray[np.int64]

# A share of the persons, and a number of them; fewer are the odd ones of any table.
SHARE, FEW = 0.05, 4
NEARLY_ALL = 0.95
MOST_TOGETHER = 3
# So few rows, and then more of them, refute a combination before all rows are asked.
SAMPLES = (4_096, 65_536)
# A sample singles out at least as many as all rows do; this far below, chance is no excuse.
FAR_BELOW = 0.5
ALONE = 'Set role = "quasi" if anyone may know it of a person, or role = "drop" to leave it out'
TOGETHER = 'Set role = "quasi" for what anyone may know of a person, or role = "drop" for what is not needed'


@dataclass(frozen=True, repr=False)
class _Rows:
    """Some rows: their codes by attribute, how many people each stands for, and whose they are."""

    codes: Mapping[str, Codes]
    sizes: Mapping[str, int]
    weights: NDArray[np.int64] | None
    persons: Codes | None
    n_persons: int

    def singled_out(self, names: Names) -> int:
        """How many persons have values in these attributes that nobody else has."""
        groups, n_groups = self._numbered(names)
        if self.persons is not None:
            return _persons_alone(groups, n_groups, self.persons)
        if self.weights is None:
            return int((np.bincount(groups, minlength=n_groups) == 1).sum())
        return int((np.bincount(groups, weights=self.weights, minlength=n_groups) == 1).sum())

    def _numbered(self, names: Names) -> tuple[Codes, int]:
        """A number per row that is equal for rows alike in these attributes."""
        groups, n_groups = self.codes[names[0]], self.sizes[names[0]]
        for name in names[1:]:
            groups, n_groups = groups * self.sizes[name] + self.codes[name], n_groups * self.sizes[name]
            # Numbers far beyond the number of rows are numbered again, so that counting them takes little room.
            if n_groups > 4 * len(groups) + 1_000:
                groups = np.unique(groups, return_inverse=True)[1]
                n_groups = int(groups.max(initial=-1)) + 1
        return groups, n_groups


def _persons_alone(groups: Codes, n_groups: int, persons: Codes) -> int:
    """How many persons have a group of rows to themselves."""
    least, greatest = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -1)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    present, owners = groups[order][starts], persons[order]
    least[present], greatest[present] = (
        np.minimum.reduceat(owners, starts),
        np.maximum.reduceat(owners, starts),
    )
    return int(np.unique(least[least == greatest]).size)


def singling(table: Table, policy: Policy, spared: frozenset[str] = frozenset()) -> Iterator[Doubt]:
    """A doubt for every neutral attribute that singles out a twentieth of the persons, and for combinations that do.

    Where there are rules, their methods decide what stands together, and only what tells nearly all persons apart by
    itself is in doubt; attributes of rules are left to them. An attribute stands in one combination at most that is not
    accepted, the first that is found, and in none if it is in doubt by itself.
    """
    in_rules = {name for rule in policy.rules for name in (*rule.given, rule.protect)}
    names = [name for name in policy.having("neutral") if name in table.attributes and name not in in_rules]
    accepted = {about[0] for kind, about in policy.accepted if kind == "neutral-unique" and len(about) == 1}
    together = []
    for name in (name for name in names if name not in spared):
        n_alone = _whole(table, (name,)).singled_out((name,))
        if _is_many(n_alone, table.n_persons, NEARLY_ALL if policy.rules else SHARE):
            yield _doubt((name,), n_alone, table)
        else:
            together.append(name)
    if table.n_rows and not policy.rules:
        # First what nobody has accepted; what is accepted is found for the record.
        yield from _combined(table, [name for name in together if name not in accepted], policy)
        yield from _combined(table, together, policy, among=accepted)


def _is_many(n_alone: int, n_persons: int, share: float = SHARE) -> bool:
    return n_alone > max(FEW, share * n_persons)


def _doubt(names: Names, n_alone: int, table: Table) -> Doubt:
    who = f"{n_alone:,} of {table.n_persons:,} persons"
    if len(names) == 1:
        what = f"it is published as it is, and {who} are the only ones with their value."
        return Doubt("neutral-unique", names, what, ALONE)
    what = f"they are published as they are, and {who} are the only ones with their values in these together."
    return Doubt("neutral-unique", names, what, TOGETHER)


def _combined(
    table: Table, names: Sequence[str], policy: Policy, among: AbstractSet[str] | None = None
) -> Iterator[Doubt]:
    """Pairs, then threes, each attribute in one at most; those that the policy accepts are found and stay.

    With `among`, only combinations that have one of these attributes.
    """
    if len(names) < 2 or (among is not None and among.isdisjoint(names)):
        return
    samples = [*_samples(table, names), _whole(table, tuple(names))]
    # Those with most values first: they find soonest, and what is found is not looked at again.
    left = sorted(names, key=lambda name: -table[name].n_values)
    for size in range(2, MOST_TOGETHER + 1):
        taken: set[str] = set()
        for combination in combinations(left, size):
            if not taken.isdisjoint(combination) or (among is not None and among.isdisjoint(combination)):
                continue
            if n_alone := _found(combination, samples, table):
                in_order = tuple(name for name in names if name in combination)
                yield _doubt(in_order, n_alone, table)
                # What is accepted of one combination says nothing of others.
                is_accepted = among is None and ("neutral-unique", in_order) in policy.accepted
                taken.update(() if is_accepted else combination)
        left = [name for name in left if name not in taken]


def _found(combination: Names, samples: Sequence[_Rows], table: Table) -> int:
    """How many persons a combination singles out, if they are many; a sample may refute that."""
    most = 1
    for name in combination:
        most *= table[name].n_values
    if not _is_many(most, table.n_persons):
        return 0
    n_alone = 0
    for rows in samples:
        n_alone = rows.singled_out(combination)
        is_whole = rows is samples[-1]
        if not _is_many(n_alone, round(rows.n_persons * (1 if is_whole else FAR_BELOW))):
            return 0
    return n_alone


def _whole(table: Table, names: Names) -> _Rows:
    sizes = {name: table[name].n_values for name in names}
    codes = {name: table[name].codes.astype(np.int64) for name in names}
    weights = next((table[name].weights for name in names), None)
    return _Rows(codes, sizes, weights, table.persons, table.n_persons)


def _samples(table: Table, names: Sequence[str]) -> Iterator[_Rows]:
    """The rows of some persons, drawn alike every time; which ones decides on speed only."""
    if table.weights is not None:
        return
    shuffled = np.random.Generator(np.random.PCG64(0)).permutation(table.n_persons)
    whole = _whole(table, tuple(names))
    for size in (size for size in SAMPLES if size < table.n_persons):
        drawn = np.zeros(table.n_persons, dtype=bool)
        drawn[shuffled[:size]] = True
        rows = np.flatnonzero(drawn if table.persons is None else drawn[table.persons])
        codes = {name: column[rows] for name, column in whole.codes.items()}
        persons = None if table.persons is None else table.persons[rows]
        yield _Rows(codes, whole.sizes, None, persons, size)
