"""Who stands where in a view: the row of the original behind every published line, where somebody has several rows.

The publisher's placements are a witness, not a claim: they are checked line by line and bucket by bucket.
Without them, or if they do not fit, `placing` works out who may stand where from the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.compiling import kernel
from manyveils.reading.evidence import BUCKET, Evidence
from manyveils.reading.keys import EASE, Bools, Ids, Numbers, combined_together, numbered
from manyveils.reading.placing import dealt, dealt_one_way, only_choice, placed
from manyveils.reading.slices import values_for
from manyveils.release import View
from manyveils.release.seal import LEFT_OUT
from manyveils.release.views import ColumnFile
from manyveils.table.levels import Codes
from manyveils.table.order import in_order

How = Literal["said", "follows"]
# Buckets are numbered without gaps; with much larger numbers, something is wrong.
MOST_GAPS = 16


@dataclass(frozen=True, repr=False)
class Standing:
    """The row of the original in each line of every column of a view, by table; `n_rows` are those of the original.

    `how` is "said" where the publisher's placements fit, and "follows" where nothing else fits the files.
    """

    rows: Mapping[str, Ids]
    n_rows: int
    how: How

    @cached_property
    def stands(self) -> Bools:
        """Which rows of the original stand in the view."""
        is_there = np.zeros(self.n_rows, dtype=bool)
        is_there[next(iter(self.rows.values()))] = True
        return is_there


def persons_in(evidence: Evidence, view: View, file: ColumnFile) -> Ids | None:
    """The person of each line of a column; None where every row is a person of its own, or nobody can tell."""
    standing = standing_in(evidence, view)
    if standing is None or evidence.table.persons is None:
        return None
    return evidence.table.persons[standing.rows[file.table]]


def standing_in(evidence: Evidence, view: View) -> Standing | None:
    """Who stands where in a view; None where that cannot be told, or need not be."""
    question = ("standing", view.name, (), ())
    return evidence.remembered(question, lambda: _standing(evidence, view))


def untold_views(evidence: Evidence) -> tuple[str, ...]:
    """The views of which nobody can tell who stands where, where somebody has several rows."""
    if evidence.table.persons is None:
        return ()
    views = (view for view in evidence.release.views if evidence.is_whole(view))
    return tuple(view.name for view in views if standing_in(evidence, view) is None)


def _standing(evidence: Evidence, view: View) -> Standing | None:
    persons = evidence.table.persons
    if (
        persons is None
        or not evidence.is_whole(view)
        or any(evidence.weights(file) is not None for file in view.files)
    ):
        return None
    witness = evidence.release.placements.get(view.name)
    if witness is not None and witness.shape == persons.shape:
        standing = _witnessed(evidence, view, witness, "said")
        if standing is not None:
            return standing
    names = {file.table: shown_of(evidence, file) for file in view.files}
    derived = placed(evidence, view, names, persons)
    return None if derived is None else _witnessed(evidence, view, derived, "follows")


def _witnessed(evidence: Evidence, view: View, witness: NDArray[np.int64], how: How) -> Standing | None:
    """Who stands where if the witness is right; None if a line, or a bucket, is not what the original says.

    Claim: every line of every column gets a row of the original whose values its labels stand for, no row stands in
    two lines of a column, and the rows of a bucket are the same in all columns.
    Why: lines are paired with rows one to one, and each pair is compared; buckets are filled from their own rows.
    Tested by: tests/claims/test_persons_placed.py
    """
    rows = np.flatnonzero(witness != LEFT_OUT)
    lines = {file.table: evidence.frame(file).height for file in view.files}
    if any(n_lines != rows.size for n_lines in lines.values()):
        return None
    if view.bucketed:
        return _in_buckets(evidence, view, rows, witness[rows], how)
    [file] = view.files
    standing = np.full(rows.size, LEFT_OUT, dtype=np.int64)
    inside = (witness[rows] >= 0) & (witness[rows] < rows.size)
    standing[witness[rows[inside]]] = rows[inside]
    if (standing == LEFT_OUT).any() or not _agree(evidence, view, file, standing):
        return None
    return Standing({file.table: standing}, witness.size, how)


def shown_of(evidence: Evidence, file: ColumnFile) -> tuple[str, ...]:
    """The attributes of a column whose originals are known beside it: what labels hide for good is not among them."""
    secret = evidence.release.manifest.secret
    return tuple(name for name in file.attributes if name in evidence.table.attributes and name not in secret)


def _agree(evidence: Evidence, view: View, file: ColumnFile, standing: Ids) -> bool:
    """Whether the labels of every line stand for the values of its row."""
    for name in shown_of(evidence, file):
        cover, labels = evidence.cover(view, file, name), evidence.coded(file, name).codes
        codes = evidence.table[name].codes
        if cover.overlaps:
            is_right = bool(cover.covers(labels, codes[standing].astype(np.int64)).all())
        else:
            is_right = are_labelled(cover.label_of, codes, standing, labels)
        if not is_right:
            return False
    return True


@kernel
def are_labelled(label_of: Ids, codes: Codes, rows: Ids, labels: Numbers) -> bool:
    """Whether rows with such codes have these labels."""
    for line in range(rows.size):
        if label_of[codes[rows[line]]] != labels[line]:
            return False
    return True


@are_labelled.of_many(EASE)
def _all_at_once(label_of: Ids, codes: Codes, rows: Ids, labels: Numbers) -> bool:
    return bool((label_of[codes[rows]] == labels).all())


def _in_buckets(evidence: Evidence, view: View, rows: Ids, witness: Ids, how: How) -> Standing | None:
    """Pair the lines of each bucket with the rows that are said to be in it."""
    buckets = _numbered_buckets(evidence, view, witness)
    if buckets is None:
        return None
    stands = {}
    for file in view.files:
        filled = _filled(evidence, view, file, rows, buckets, how)
        if filled is None:
            return None
        stands[file.table] = filled
    return Standing(stands, evidence.table.n_rows, how)


def _numbered_buckets(evidence: Evidence, view: View, witness: Ids) -> Ids | None:
    """The numbers of published buckets as the evidence has them; None where there is no such bucket."""
    first, *others = (evidence.coded(file, BUCKET).values for file in view.files)
    if not first.dtype.is_integer() or first.null_count() or not all(first.equals(own) for own in others):
        return None
    published = first.to_numpy().astype(np.int64)
    if not published.size or (witness < 0).any():
        return None if witness.size else witness
    if int(published.min()) < 0 or int(published.max()) > MOST_GAPS * witness.size:
        return None
    numbers = np.full(int(published.max()) + 2, -1, dtype=np.int64)
    numbers[published] = np.arange(published.size)
    buckets = numbers[np.minimum(witness, numbers.size - 1)]
    return None if (buckets < 0).any() else buckets


def _filled(
    evidence: Evidence, view: View, file: ColumnFile, rows: Ids, buckets: Ids, how: How
) -> Ids | None:
    """The row of each line of one column, if its buckets hold what their rows have."""
    persons = evidence.table.persons
    assert persons is not None
    names = shown_of(evidence, file)
    lines, _ = evidence.buckets_of(view, file)
    covers = {name: evidence.cover(view, file, name) for name in names}
    if not any(cover.overlaps for cover in covers.values()):
        published = [lines, *(evidence.coded(file, name).codes for name in names)]
        wanted = [
            buckets,
            *(cover.label_of[evidence.table[name].codes[rows]] for name, cover in covers.items()),
        ]
        if any((own < 0).any() for own in wanted):
            return None
        keys = combined_together(zip(wanted, published, strict=True))
        return _paired(keys[: rows.size], keys[rows.size :], rows)
    values = evidence.group_numbers(file, names)
    n_values = int(values.max(initial=0)) + 1
    what, sought = values_for(evidence, view, file, names)
    single = only_choice(sought, int(what.max(initial=0)) + 1)
    if single is not None:
        named = single[what[rows]]
        return (
            None
            if (named < 0).any()
            else _paired(buckets * n_values + named, lines * n_values + values, rows)
        )
    # What may be in several lines of its bucket goes where all find one: only the publisher knows more than the bucket.
    kinds, firsts = numbered([buckets, what[rows]])
    choices = pl.DataFrame(
        {"kind": np.arange(firsts.size), "bucket": buckets[firsts], "what": what[rows][firsts]}
    )
    choices = choices.join(sought, on="what").select(
        "kind", cell=pl.col("bucket") * n_values + pl.col("value")
    )
    cells = lines * n_values + values
    said = how == "said"
    dealt_cells = (
        dealt(kinds, choices, cells) if said else dealt_one_way(kinds, choices, cells, persons[rows])
    )
    return None if dealt_cells is None else _paired(dealt_cells, cells, rows)


def _paired(wanted: Ids, cells: Ids, rows: Ids) -> Ids | None:
    """Rows and lines with equal numbers, one to one; None where they are not as many."""
    by_want, by_cell = in_order(wanted), in_order(cells)
    if not np.array_equal(wanted[by_want], cells[by_cell]):
        return None
    standing = np.empty(rows.size, dtype=np.int64)
    standing[by_cell] = rows[by_want]
    return standing
