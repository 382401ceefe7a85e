"""What is believed of several attributes at once: of one after the other, supposing that the earlier ones are so."""

from dataclasses import dataclass

import numpy as np

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known
from manyveils.attacks.people import Floats, Ids, People, alike
from manyveils.table import Table

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


def together(reader: Reader, people: People, known: Known, wanted: Combinations) -> Beliefs:
    """The belief in every combination: in its first attribute, times in the second if the first is so, and so on.

    Where too many cases would have to be supposed, attributes are independent but for what is known.
    """
    if not wanted.names:
        return Beliefs(np.ones((1, 1)), np.zeros(people.n, dtype=np.int64))
    alone = [reader.beliefs(people, known, name) for name in wanted.names]
    row_of, firsts = alike([beliefs.row_of for beliefs in alone], people.n)
    rows = np.ones((firsts.size, wanted.n))
    for index, (name, beliefs) in enumerate(zip(wanted.names, alone, strict=True)):
        shares = _supposing(reader, people, known, wanted, index, firsts) if index else None
        if shares is None:
            shares = beliefs.rows[beliefs.row_of[firsts]][:, wanted.codes[name]]
        rows *= shares
    return Beliefs(rows, row_of)


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
    shares: Floats = beliefs.rows[beliefs.row_of[case], wanted.codes[name][np.newaxis, :]]
    return shares


def _cases(people: People, known: Known, supposed: dict[str, Ids], firsts: Ids, n: int) -> People:
    """Some people once for each of n combinations, as if they had it."""
    codes = {name: np.repeat(people.codes[name][firsts], n) for name in known if name in people.codes}
    codes |= {name: np.tile(own, firsts.size) for name, own in supposed.items()}
    name = f"{people.name} supposing {', '.join(supposed)} of {firsts.size}"
    return People(name, codes, firsts.size * n)
