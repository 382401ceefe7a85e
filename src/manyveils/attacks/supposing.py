"""What is believed of several attributes at once: of one after the other, supposing that the earlier ones are so."""

from dataclasses import dataclass

import numpy as np

from manyveils.attacks.beliefs import Beliefs
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.people import Floats, Ids, People
from manyveils.reading.matching import numbered
from manyveils.table import Table

MOST_SUPPOSED = 1_000_000


@dataclass(frozen=True, repr=False)
class Combinations:
    """The different combinations of some attributes that a table has: the combination of each row, and their codes."""

    names: Known
    of_row: Ids
    codes: dict[str, Ids]
    n: int

    def cut(self, names: Known) -> tuple["Combinations", Ids]:
        """The combinations of the first attributes only, and which of them each combination has."""
        of, firsts = numbered([self.codes[name] for name in names], _sizes(self, names))
        codes = {name: self.codes[name][firsts] for name in names}
        return Combinations(names, of[self.of_row], codes, firsts.size), of


def combinations_of(table: Table, names: Known) -> Combinations:
    """The combinations of some attributes of a table; of no attribute there is one."""
    if not names:
        return Combinations((), np.zeros(table.n_rows, dtype=np.int64), {}, 1)
    of, firsts = numbered(
        [table[name].codes.astype(np.int64) for name in names], [table[name].n_values for name in names]
    )
    return Combinations(
        names, of, {name: table[name].codes[firsts].astype(np.int64) for name in names}, firsts.size
    )


def together(reader: Reader, people: People, known: Known, wanted: Combinations) -> Beliefs:
    """The belief in every combination: in its first attribute, times in the second if the first is so, and so on.

    Where too many cases would have to be supposed, attributes are independent but for what is known.
    """
    if not wanted.names:
        return Beliefs(np.ones((1, 1)), np.zeros(people.n, dtype=np.int64))
    alone = [reader.of(people, known, name) for name in wanted.names]
    of, firsts = numbered([each.of for each in alone], [each.rows.shape[0] for each in alone])
    rows = np.ones((firsts.size, wanted.n))
    for place, name in enumerate(wanted.names):
        shares = _supposing(reader, people, known, wanted, place, firsts)
        if shares is None:
            shares = alone[place].rows[alone[place].of[firsts]][:, wanted.codes[name]]
        rows *= shares
    return Beliefs(rows, of)


def _supposing(
    reader: Reader, people: People, known: Known, wanted: Combinations, place: int, firsts: Ids
) -> Floats | None:
    """The belief in an attribute of every combination for some people, if the attributes before it are so."""
    before, name = wanted.names[:place], wanted.names[place]
    if not before:
        return None
    supposed, of = wanted.cut(before)
    if firsts.size * supposed.n > MOST_SUPPOSED:
        return None
    cases = _cases(people, known, supposed, firsts)
    beliefs = reader.of(cases, (*known, *before), name)
    number = np.arange(firsts.size)[:, np.newaxis] * supposed.n + of[np.newaxis, :]
    shares: Floats = beliefs.rows[beliefs.of[number], wanted.codes[name][np.newaxis, :]]
    return shares


def _cases(people: People, known: Known, supposed: Combinations, firsts: Ids) -> People:
    """Everybody once for each combination, as if she had it."""
    codes = {
        name: np.repeat(people.codes[name][firsts], supposed.n) for name in known if name in people.codes
    }
    codes |= {name: np.tile(each, firsts.size) for name, each in supposed.codes.items()}
    name = f"{people.name} supposing {', '.join(supposed.names)} of {firsts.size}"
    return People(name, codes, firsts.size * supposed.n)


def _sizes(wanted: Combinations, names: Known) -> list[int]:
    return [int(wanted.codes[name].max(initial=0)) + 1 for name in names]
