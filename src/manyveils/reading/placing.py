"""Where rows stand in a view, worked out from its files and the original alone.

Claim: what is worked out is so; where rows of different persons could stand in each other's place, nothing is told.
Why: whoever has a row with values that are not published is out with all rows; once as many rows are left of all
values as are published, they are the published ones; and rows are put where no other way is left.
Tested by: tests/claims/test_persons_placed.py
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from manyveils.reading.dealing import in_buckets
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Ids
from manyveils.reading.slices import values_for
from manyveils.release import View
from manyveils.release.seal import LEFT_OUT
from manyveils.table.order import in_order

MOST_CHOICES = 30_000_000


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


def placed(evidence: Evidence, view: View, names: Mapping[str, tuple[str, ...]], persons: Ids) -> Ids | None:
    """Where each row of the original stands in a view, as placements say it; None where there is not just one way."""
    if any(names[file.table] != file.attributes for file in view.files):
        # Of lines that differ in labels which hide for good, nobody can tell whose they are.
        return None
    found = [values_for(evidence, view, file, names[file.table]) for file in view.files]
    singles = [only_choice(sought, int(what.max(initial=0)) + 1) for what, sought in found]
    if any(single is None for single in singles):
        return _placed_by_flow(evidence, view, names, found, persons) if not view.bucketed else None
    wanted = [single[what] for single, (what, _) in zip(singles, found, strict=True) if single is not None]
    values = [evidence.group_numbers(file, names[file.table]) for file in view.files]
    is_in = _published(wanted, values, persons)
    if is_in is None:
        return None
    rows = np.flatnonzero(is_in)
    wanted = [own[rows] for own in wanted]
    stands = in_buckets(evidence, view, wanted, values) if view.bucketed else _lines(wanted[0], values[0])
    if stands is None:
        return None
    placement = np.full(persons.size, LEFT_OUT, dtype=np.int64)
    placement[rows] = stands
    return placement


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
    persons: Ids,
) -> Ids | None:
    """The lines of all rows where labels overlap and nobody is left out, if there is just one way."""
    [file], [(what, sought)] = view.files, found
    values = evidence.group_numbers(file, names[file.table])
    if what.size != values.size:
        return None
    wanted = dealt_one_way(what, sought.select(kind="what", cell="value"), values, persons)
    return None if wanted is None else _lines(wanted, values)


def dealt_one_way(kinds: Ids, choices: pl.DataFrame, cells: Ids, persons: Ids) -> Ids | None:
    """A cell for every row, as `dealt` has it, if no other way tells something else of persons."""
    found = dealt(kinds, choices, cells)
    return found if found is not None and _is_only_way(kinds, choices, found, persons) else None


def _is_only_way(kinds: Ids, choices: pl.DataFrame, cells: Ids, persons: Ids) -> bool:
    """Whether rows could not be dealt to cells in another way that tells something else of persons.

    Claim: if they could, rows of different persons who are alike stand in several cells, or there is a ring of cells
    each of which has a row that fits the next.
    Why: the difference of two ways to fill all cells is made of rings.
    Tested by: tests/claims/test_persons_placed.py
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    used = pl.DataFrame({"kind": kinds, "cell": cells, "person": persons})
    each = used.group_by("kind").agg(pl.col("cell").n_unique(), pl.col("person").n_unique())
    if each.filter((pl.col("cell") > 1) & (pl.col("person") > 1)).height:
        return False
    filled = used.select("kind", "cell").unique()
    steps = filled.join(choices, on="kind", suffix="_next").filter(pl.col("cell") != pl.col("cell_next"))
    n = int(max(cells.max(initial=-1), steps["cell_next"].max() or 0)) + 1
    ends = steps["cell"].to_numpy(), steps["cell_next"].to_numpy()
    graph = sparse.csr_array((np.ones(steps.height, dtype=np.int8), ends), shape=(n, n))
    n_rings, _ = connected_components(graph, directed=True, connection="strong")
    return bool(n_rings == n)


def _published(wanted: list[Ids], values: list[Ids], persons: Ids) -> Bools | None:
    """The rows of those who are published, if as many seek each value in each column as there are lines with it.

    Rows that seek what is not published are out; if others are not as many as the lines, so are all rows of their
    persons. Of others who seek what too few lines have, those go of whom all rows do; None where it could be others.
    """
    lines = [
        np.bincount(own, minlength=int(want.max(initial=0)) + 1)
        for own, want in zip(values, wanted, strict=True)
    ]
    is_nowhere = np.zeros(persons.size, dtype=bool)
    for own, want in zip(lines, wanted, strict=True):
        is_nowhere |= (want < 0) | (own[want] == 0)
    if not any(own.any() for own in _surplus(wanted, lines, ~is_nowhere)):
        return ~is_nowhere
    is_out = np.zeros(int(persons.max(initial=-1)) + 1, dtype=bool)
    is_out[persons[is_nowhere]] = True
    is_in = ~is_out[persons]
    surplus = _surplus(wanted, lines, is_in)
    if any((own < 0).any() for own in surplus):
        return None
    if any(own.any() for own in surplus):
        is_in &= ~_may_leave(wanted, surplus, persons, is_in)[persons]
    return None if any(own.any() for own in _surplus(wanted, lines, is_in)) else is_in


def _surplus(wanted: list[Ids], lines: list[Ids], is_in: Bools) -> list[Ids]:
    """How many rows more seek each value than there are lines with it."""
    return [
        np.bincount(want[is_in], minlength=own.size) - own for own, want in zip(lines, wanted, strict=True)
    ]


def _may_leave(wanted: list[Ids], surplus: list[Ids], persons: Ids, is_in: Bools) -> Bools:
    """Persons all of whose rows seek what there is too little of: if any are out, they are among these."""
    rows = np.flatnonzero(is_in)
    leaves = np.bincount(persons, minlength=int(persons.max()) + 1) > 0
    leaves[persons[~is_in]] = False
    for own, want in zip(surplus, wanted, strict=True):
        leaves[persons[rows[own[want[rows]] == 0]]] = False
    return leaves
