"""Someone who has every release of a chain, and knows in which groups everybody was seen.

Of an attribute that does not change she works out all worlds: one value for everybody, also for who is gone, so that
every group of every release has the numbers of values that it shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from manyveils.attacks.adversaries import Reader, shares_of
from manyveils.attacks.all_rows import held_by
from manyveils.attacks.beliefs import Beliefs, Known, spread_out
from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Bools, Floats, Ids, People, alike, looked_up
from manyveils.attacks.scene import Aim, Bound
from manyveils.attacks.sparse_rows import Rows, normalized, stacked
from manyveils.attacks.worlds import How, Limits, Shared, Sighted, TooMany, shared
from manyveils.table import Table
from manyveils.table.earlier import Earlier


@dataclass(frozen=True, repr=False)
class Follower:
    """Someone with all releases of a chain; she remembers what she works out.

    Of what may change she believes what the newest release says, and so of people who are in no release. Where it cannot
    be told who stands where in the newest release, she multiplies what it says with what the others do. If she believes
    `only_counted` worlds, others tell her nothing.
    """

    reader: Reader
    constant: frozenset[str]
    limits: Limits
    only_counted: bool = False
    _shared: dict[tuple[Known, str], Shared | None] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The data of the newest release."""
        return self.reader.table

    @property
    def earlier(self) -> Earlier:
        """Where persons were seen before."""
        assert self.table.earlier is not None
        return self.table.earlier

    def follows(self, about: str) -> bool:
        """Whether an attribute does not change, and earlier releases show it."""
        return about in self.constant and about in self.earlier.held

    def shared(self, known: Known, about: str) -> Shared | None:
        """What all worlds say; None where there are too many kinds of people."""
        if (known, about) not in self._shared:
            try:
                self._shared[known, about] = shared(self.sighted(known, about), self.limits)
            except TooMany:
                self._shared[known, about] = None
        return self._shared[known, about]

    def sighted(self, known: Known, about: str) -> Sighted:
        """The groups that all releases show, with who is in them."""
        earlier, held = self.earlier, self.earlier.held[about]
        is_shown = earlier.is_shown[earlier.groups]
        tells = earlier.is_shown[held.groups]
        persons, groups = [earlier.persons[is_shown]], [earlier.groups[is_shown]]
        of, values, counts = [held.groups[tells]], [held.codes[tells]], [held.weights[tells]]
        n_groups, n_values, releases = earlier.n_groups, held.n_values, [earlier.release_of]
        for rows, group_of in self._newest(known, about):
            stand = np.flatnonzero(group_of >= 0)
            persons.append(self._persons[stand])
            groups.append(group_of[stand] + n_groups)
            of.append(rows.cases + n_groups)
            values.append(rows.values)
            counts.append(rows.beliefs)
            releases.append(np.full(rows.n, int(releases[-1].max(initial=-1)) + 1))
            n_groups, n_values = n_groups + rows.n, max(n_values, rows.n_values)
        return Sighted(
            np.concatenate(persons),
            np.concatenate(groups),
            self.n_persons,
            np.concatenate(of),
            np.concatenate(values),
            np.concatenate(counts),
            n_values,
            np.concatenate(releases),
        )

    @property
    def _persons(self) -> Ids:
        assert self.table.persons is not None
        return self.table.persons

    def is_told(self, about: str) -> bool:
        """Whether it can be told who stands where in the newest release."""
        reader = self.reader
        return all(
            view.name in reader.placed for view in reader.views if about in view.attributes and view.n_rows
        )

    def _newest(self, known: Known, about: str) -> Iterator[tuple[Rows, Ids]]:
        """What groups of the newest release hold, in codes that earlier ones have too, and who is in them."""
        if not self.is_told(about):
            return
        n_own, n_held = self.table[about].n_values, self.earlier.held[about].n_values
        for labels, cover, group_of in held_by(self.reader, known, about):
            rows = Beliefs(spread_out(labels, cover), group_of).in_codes(self.reader.places[about]).rows
            # A value that the data do not have is another one than those of earlier releases.
            place_of = np.arange(rows.n_values)
            place_of[n_own:] += n_held - n_own
            yield rows.placed(place_of, int(place_of.max(initial=-1)) + 1), group_of

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The share of each value over all worlds, for people of the data; of others what a reader believes."""
        plain = self.reader.beliefs(people, known, about)
        worlds = self.shared(known, about) if self.follows(about) and people.rows is not None else None
        if worlds is None:
            return plain
        n_values = max(worlds.rows.n_values, plain.rows.n_values)
        told, read = (rows.placed(np.arange(rows.n_values), n_values) for rows in (worlds.rows, plain.rows))
        set_of = worlds.set_of[self._persons[people.rows]]
        has_set = set_of >= 0
        has_set[has_set] = (told.totals() > 0)[set_of[has_set]]
        if self.only_counted:
            has_set[has_set] = worlds.is_counted[set_of[has_set]] & self.is_told(about)
        both = Beliefs(stacked([told, read]), np.where(has_set, set_of, told.n + plain.row_of))
        return (
            both
            if self.is_told(about) or self.only_counted
            else self._multiplied(both, Beliefs(read, plain.row_of), about)
        )

    def _multiplied(self, told: Beliefs, read: Beliefs, about: str) -> Beliefs:
        row_of, firsts = alike([told.row_of, read.row_of], told.row_of.size)
        rows, shares = told.of(firsts), np.ones(told.rows.n_values)
        own = shares_of(self.table, about)
        shares[: own.size] = np.maximum(own, TOLERANCE)
        gained = read.of(firsts).at(rows.cases, rows.values) / shares[rows.values]
        return Beliefs(normalized(rows.believing(rows.beliefs * gained), rows), row_of)

    def beliefs_by(self, known: Known, about: str) -> How:
        """Whether beliefs are exact or an estimate."""
        worlds = self.shared(known, about)
        return "estimate" if worlds is None or not self.is_told(about) else worlds.beliefs

    def certainty_by(self, known: Known, about: str) -> How:
        """Whether what is certain and what is impossible is known exactly, within bounds, or hardly."""
        worlds = self.shared(known, about)
        return "estimate" if worlds is None or not self.is_told(about) else worlds.certainty

    def is_exact(self, known: Known, about: str) -> bool:
        """Whether all beliefs are shares of worlds that were counted."""
        return self.beliefs_by(known, about) == "exact"

    @property
    def n_persons(self) -> int:
        """How many people were ever seen, or have a row in the data."""
        return max(self.earlier.n_persons, self.table.n_persons)

    @property
    def here(self) -> Bools:
        """Who has a row in the newest release, as far as it can be told."""
        placings = [placing for placed in self.reader.placed.values() for placing in placed]
        if not placings:
            return np.arange(self.n_persons) < self.table.n_persons
        here = np.zeros(self.n_persons, dtype=bool)
        for placing in placings:
            here[placing.persons[placing.kinds >= 0]] = True
        return here

    @property
    def gone(self) -> Bools:
        """Who was seen before and has no row in the newest release."""
        was_seen = np.zeros(self.n_persons, dtype=bool)
        was_seen[self.earlier.persons] = True
        return was_seen & ~self.here

    def of_gone(self, aim: Aim) -> dict[str, int]:
        """Of how many who are gone the value is settled, or some value is believed more than is promised.

        Their values are not in the data, so a value counts that all worlds give them; and every one that needs protection.
        """
        worlds = self.shared(aim.known, aim.about)
        if worlds is None:
            return {"certain_gone": 0, "broken_gone": 0, "promised_gone": 0}
        shares, bound, protected = _of_values(self.table, aim, worlds.rows.n_values)
        rows = worlds.rows
        is_gained = protected[rows.values] & (rows.beliefs > shares[rows.values] + TOLERANCE)
        set_of = worlds.set_of[self.gone & (worlds.set_of >= 0)]

        def n_persons(flags: Bools) -> int:
            has_it = np.bincount(rows.cases[flags], minlength=rows.n) > 0
            return int(has_it[set_of].sum())

        is_broken = is_gained & (rows.beliefs > bound.cap[rows.values] + TOLERANCE)
        return {
            "certain_gone": n_persons(is_gained & (rows.beliefs >= 1 - TOLERANCE)),
            "broken_gone": n_persons(is_broken),
            "promised_gone": n_persons(is_broken & bound.promised[rows.values]),
        }

    def counted(self, known: Known, about: str) -> float:
        """The share of persons whose beliefs are shares of worlds that were counted."""
        worlds = self.shared(known, about)
        if worlds is None:
            return 0.0
        seen = worlds.set_of[worlds.set_of >= 0]
        return (
            float(worlds.is_counted[seen].mean())
            if seen.size and self.is_told(about)
            else float(not seen.size)
        )


def _of_values(table: Table, aim: Aim, n_values: int) -> tuple[Floats, Bound, Bools]:
    """The share of each value, how much may be believed of it, and whether it needs protection, for values that the data do
    not have too.
    """
    codes = np.arange(n_values)
    codes[table[aim.about].n_values :] = -1
    return (
        looked_up(shares_of(table, aim.about), codes, 0.0),
        aim.bounds.of(codes),
        looked_up(~aim.spared, codes, otherwise=True),
    )
