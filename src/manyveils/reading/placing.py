"""Where rows stand in a view, worked out from its files and the original alone.

Claim: where labels, or what is known, leave a row one place only, it is put there; where rows of different persons are
interchangeable, they are put where the files allow it, rows of one person together if they can be.
Why: whoever has a row with values that are not published is out with all rows; once as many rows are left of all
values as are published, they are the published ones.
Tested by: tests/claims/test_persons_placed.py
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from manyveils.reading.dealing import in_buckets
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Ids, ranges
from manyveils.reading.slices import values_for
from manyveils.release import View
from manyveils.release.seal import LEFT_OUT
from manyveils.table.attributes import in_order

MOST_CHOICES = 30_000_000
MOST_ROUNDS = 100


def only_choice(sought: pl.DataFrame, n_kinds: int) -> Ids | None:
    """The one value that fits each kind of row, -1 where none does; None where some have several."""
    kinds, values = sought["what"].to_numpy(), sought["value"].to_numpy()
    if np.bincount(kinds, minlength=n_kinds).max(initial=0) > 1:
        return None
    single = np.full(n_kinds, -1, dtype=np.int64)
    single[kinds] = values
    return single


def dealt(kinds: Ids, choices: pl.DataFrame, cells: Ids) -> Ids | None:
    """A cell for every row so that each cell is filled with as many rows as it has; None where there is no such way.

    `kinds` numbers rows that are alike, `choices` lists the cells each kind may be in (kind, cell), and `cells` has
    the cell of every line.
    """
    from scipy import sparse  # Takes longer to load than most views to judge.
    from scipy.sparse.csgraph import maximum_flow

    numbers, capacity = np.unique(cells, return_counts=True)
    choices = choices.filter(pl.col("cell").is_in(numbers))
    supply = np.bincount(kinds)
    owner, cell = choices["kind"].to_numpy(), np.searchsorted(numbers, choices["cell"].to_numpy())
    n_kinds, n_cells = supply.size, numbers.size
    source, sink = n_kinds + n_cells, n_kinds + n_cells + 1
    starts = np.concatenate([np.full(n_kinds, source), owner, n_kinds + np.arange(n_cells)])
    ends = np.concatenate([np.arange(n_kinds), n_kinds + cell, np.full(n_cells, sink)])
    most = np.concatenate([supply, supply[owner], capacity]).astype(np.int32)
    flow = maximum_flow(sparse.csr_array((most, (starts, ends)), shape=(sink + 1, sink + 1)), source, sink)
    if flow.flow_value != kinds.size:
        return None
    moved = flow.flow[:n_kinds, n_kinds:source].tocoo()
    taken = moved.data > 0
    by_kind = np.lexsort((moved.col[taken], moved.row[taken]))
    dealt_cells = np.repeat(numbers[moved.col[taken][by_kind]], moved.data[taken][by_kind])
    found = np.empty(kinds.size, dtype=np.int64)
    found[in_order(kinds)] = dealt_cells
    return found


def placed(
    evidence: Evidence, view: View, names: Mapping[str, tuple[str, ...]], persons: Ids
) -> tuple[Ids, bool] | None:
    """Where each row of the original stands in a view, as placements say it, and whether nothing else fits.

    None where no way is found.
    """
    found = [values_for(evidence, view, file, names[file.table]) for file in view.files]
    singles = [only_choice(sought, int(what.max(initial=0)) + 1) for what, sought in found]
    if any(single is None for single in singles):
        lines = None if view.bucketed else _placed_by_flow(evidence, view, names, found)
        return None if lines is None else (lines, False)
    wanted = [single[what] for single, (what, _) in zip(singles, found, strict=True) if single is not None]
    values = [evidence.group_numbers(file, names[file.table]) for file in view.files]
    published = _published(wanted, values, persons)
    if published is None:
        return None
    is_in, nobody_chosen = published
    rows = np.flatnonzero(is_in)
    wanted = [own[rows] for own in wanted]
    placement = np.full(persons.size, LEFT_OUT, dtype=np.int64)
    if not view.bucketed:
        placement[rows] = _lines(wanted[0], values[0])
        return placement, nobody_chosen
    dealt_rows = in_buckets(evidence, view, wanted, values, persons[rows])
    if dealt_rows is None:
        return None
    placement[rows], is_forced = dealt_rows
    return placement, nobody_chosen and is_forced


def _lines(wanted: Ids, values: Ids) -> Ids:
    """The lines of rows that seek values of which as many are published."""
    lines = np.empty(wanted.size, dtype=np.int64)
    lines[in_order(wanted)] = in_order(values)
    return lines


def _placed_by_flow(
    evidence: Evidence,
    view: View,
    names: Mapping[str, tuple[str, ...]],
    found: list[tuple[Ids, pl.DataFrame]],
) -> Ids | None:
    """The lines of all rows where labels overlap and nobody is left out."""
    [file], [(what, sought)] = view.files, found
    values = evidence.group_numbers(file, names[file.table])
    if what.size != values.size:
        return None
    wanted = dealt(what, sought.select(kind="what", cell="value"), values)
    return None if wanted is None else _lines(wanted, values)


def _published(wanted: list[Ids], values: list[Ids], persons: Ids) -> tuple[Bools, bool] | None:
    """The rows of those who are published, if as many seek each value in each column as there are lines with it.

    Rows that seek what is not published are out; if others are not as many as the lines, so are all rows of their
    persons. Of others who seek what too few lines have, those go of whom all rows do; the second answer is whether
    there was nobody to choose so.
    """
    lines = [
        np.bincount(own, minlength=int(want.max(initial=0)) + 1)
        for own, want in zip(values, wanted, strict=True)
    ]
    is_nowhere = np.zeros(persons.size, dtype=bool)
    for own, want in zip(lines, wanted, strict=True):
        is_nowhere |= (want < 0) | (own[want] == 0)
    if not any(own.any() for own in _surplus(wanted, lines, ~is_nowhere)):
        return ~is_nowhere, True
    is_out = np.zeros(int(persons.max(initial=-1)) + 1, dtype=bool)
    is_out[persons[is_nowhere]] = True
    for n_rounds in range(MOST_ROUNDS):
        is_in = ~is_out[persons]
        surplus = _surplus(wanted, lines, is_in)
        if any((own < 0).any() for own in surplus):
            return None
        if not any(own.any() for own in surplus):
            return is_in, n_rounds == 0
        leaving = _leaving(wanted, surplus, persons, is_in)
        if not leaving.any():
            return None
        is_out |= leaving
    return None


def _surplus(wanted: list[Ids], lines: list[Ids], is_in: Bools) -> list[Ids]:
    """For each column, how many more of some rows seek each value than there are lines with it."""
    return [
        np.bincount(want[is_in], minlength=own.size) - own for own, want in zip(lines, wanted, strict=True)
    ]


def _leaving(wanted: list[Ids], surplus: list[Ids], persons: Ids, is_in: Bools) -> Bools:
    """Persons, in their order, whose rows all seek what there is too little of, no more of them than that."""
    rows = np.flatnonzero(is_in)
    rows = rows[in_order(persons[rows])]
    leaves = np.bincount(persons, minlength=int(persons.max()) + 1) > 0
    leaves[persons[~is_in]] = False
    for own, want in zip(surplus, wanted, strict=True):
        leaves[persons[rows[own[want[rows]] == 0]]] = False
    for own, want in zip(surplus, wanted, strict=True):
        mine = rows[leaves[persons[rows]]]
        by_value = mine[in_order(want[mine])]
        counts = np.bincount(want[by_value], minlength=own.size)
        rank = ranges(np.zeros(own.size, dtype=np.int64), counts)
        leaves[persons[by_value[rank >= own[want[by_value]]]]] = False
    return leaves
