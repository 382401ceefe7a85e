"""Cut all rows at the top into parts that can be made one by one, decided from counts alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.cuts import best_cut
from manyveils.methods.generalize.cutting import Cutting, Labels, cutting_of
from manyveils.promises.entries import Ids
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import needed, watch
from manyveils.promises.work import Work
from manyveils.table import Table
from manyveils.table.attributes import Attribute, tally

Side = NDArray[np.bool_]


@dataclass(frozen=True, repr=False, eq=False)
class Cut:
    """Part `part` is cut: rows whose code of `column` is not in `left` become part `new`."""

    part: int
    new: int
    column: str
    left: Side


@dataclass(frozen=True, repr=False)
class Cuts:
    """Cuts one after another, from one part on.

    Claim: rows of two parts differ in a column in which no value stands in both.
    Why: they were parted by some cut, and a cut sends all rows with one value to one side.
    Tested by: tests/claims/test_parting.py
    """

    each: tuple[Cut, ...] = ()

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return 1 + len(self.each)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that rows are cut by."""
        return tuple(dict.fromkeys(cut.column for cut in self.each))

    def parts_of(self, codes: Mapping[str, NDArray[np.integer]], n_rows: int) -> Ids:
        """The part of every row; a cut looks at the rows of its own part alone, so many cuts cost little more than few."""
        members = {0: np.arange(n_rows)}
        for cut in self.each:
            rows = members[cut.part]
            stays = cut.left[codes[cut.column][rows]]
            members[cut.part], members[cut.new] = rows[stays], rows[~stays]
        parts = np.empty(n_rows, dtype=np.int64)
        for part, rows in members.items():
            parts[rows] = part
        return parts


# Counts of some columns in every part: rows with weights, and the part of each.
Counted = Callable[[tuple[str, ...], Cuts], tuple[Table, Ids]]


@dataclass(frozen=True, repr=False, eq=False)
class Proposal:
    """A cut along one column, and how much less the rows of the part would lose."""

    part: int
    column: str
    left: Side
    gain: float


@dataclass(frozen=True, repr=False)
class Parting:
    """Rows to be cut into parts of at most `most_rows`, and how they are counted."""

    work: Work
    labels: Labels
    beside: tuple[str, ...]
    most_rows: int
    counted: Counted

    def cuts(self) -> Cuts:
        """Cut every part that is too large along the column that gains most, if both sides keep every promise.

        A part that no cut makes smaller stays as it is.
        """
        cuts, open_ = Cuts(), self._proposals(Cuts(), [0])
        while open_:
            tried = [
                max(open_, key=lambda proposal: (proposal.part == part, proposal.gain))
                for part in _parts(open_)
            ]
            fine = self._kept(_after(cuts, tried))
            accepted = [
                proposal
                for new, proposal in enumerate(tried, cuts.n_parts)
                if fine[proposal.part] and fine[new]
            ]
            fresh = [*_parts(accepted), *range(cuts.n_parts, cuts.n_parts + len(accepted))]
            cuts = _after(cuts, accepted)
            left = [proposal for proposal in open_ if proposal.part not in fresh and proposal not in tried]
            open_ = left + self._proposals(cuts, fresh)
        return cuts

    def _proposals(self, cuts: Cuts, parts: Sequence[int]) -> list[Proposal]:
        """The best cut along every column, of those among some parts that are too large."""
        cutting, proposals = self._cutting(), []
        for index, name in enumerate(self.work.quasi if parts else ()):
            table, owners = self.counted((name,), cuts)
            assert table.weights is not None
            for part in parts:
                rows = owners == part
                counts = tally(table[name].codes[rows], table.weights[rows], table[name].n_values)
                if counts.sum() > self.most_rows:
                    proposals.append(
                        _proposal(cutting, index, table[name], counts, part, self.most_rows // 4)
                    )
        return [proposal for proposal in proposals if proposal.gain > 0]

    def _cutting(self) -> Cutting:
        # Only what the values lose is asked, not which rows have them.
        nobody = np.zeros(0, dtype=np.intp)
        attributes = tuple(self.work.table[name].taking(nobody) for name in self.work.quasi)
        return cutting_of(attributes, tuple(map(self.work.n_leaves, self.work.quasi)), self.labels)

    def _kept(self, cuts: Cuts) -> Side:
        """Which parts keep every promise."""
        work, fine = self.work, np.ones(cuts.n_parts, dtype=bool)
        for promise in work.promises:
            table, owners = self.counted(needed(promise, work.table, self.beside), cuts)
            watches = watch((promise,), table, self.beside)
            fine &= kept_by_groups(watches, owners, cuts.n_parts, table.weights)
        return fine


def _parts(proposals: Iterable[Proposal]) -> list[int]:
    return list(dict.fromkeys(proposal.part for proposal in proposals))


def _after(cuts: Cuts, proposals: Sequence[Proposal]) -> Cuts:
    more = (
        Cut(proposal.part, new, proposal.column, proposal.left)
        for new, proposal in enumerate(proposals, cuts.n_parts)
    )
    return Cuts((*cuts.each, *more))


def _proposal(
    cutting: Cutting, index: int, column: Attribute, counts: Ids, part: int, least: int
) -> Proposal:
    present = np.flatnonzero(counts)
    scratch = np.zeros(cutting.numbers.size + 1, dtype=np.int64)
    arguments = (present, counts[present], index, scratch, max(least, 1), False)
    gain, level, cut, _ = best_cut(*arguments, *cutting.measures)
    left = np.arange(column.n_values) <= cut if level < 0 else column.levels[level].label_of == cut
    return Proposal(part, column.name, left, float(gain))
