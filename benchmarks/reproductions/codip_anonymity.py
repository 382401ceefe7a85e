"""Figure 9: how many plans reach a closeness, and how many k-anonymizations there are, against k."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import census, pictures
from benchmarks.reproductions.codip_closeness import closest
from benchmarks.reproductions.codip_plans import Hierarchies, plans_of, works_for
from benchmarks.reproductions.table import markdown
from manyveils.methods import Work
from manyveils.methods.codip.anonymizers import FullDomain
from manyveils.methods.codip.association import Association
from manyveils.methods.generalize.lattice import Counted, lattice_of
from manyveils.methods.generalize.objectives import squares
from manyveils.methods.generalize.passing import Test, passing

KS = (2, 5, 10, 20, 50, 100)
LIMIT = 3.5e9
TABLES = range(2, 8)
THRESHOLDS = (0.4, 0.37)
PAPER_PLANS = {0.4: (6, 6, 6, 6, 0, 0), 0.37: (2, 2, 2, 2, 0, 0)}
PAPER_NODES = (46, 28, 18, 14, 5, 1)
PAPER_ONE_TABLE = (0.42, 0.42, 0.42, 0.42, 0.52, 0.52)


@dataclass(frozen=True)
class Judged:
    """What one k leaves: generalizations within the limit and in all, and the best closeness of each plan.

    `apart` is the closeness of one table without the household's attributes.
    """

    k: int
    within: int
    in_all: int
    closeness: Mapping[int, float | None]
    apart: float | None

    @property
    def one_table(self) -> float | None:
        """The closeness of the one-table plan."""
        return self.closeness[1]

    def plans(self, t: float) -> int:
        """How many plans of two to seven tables are at least as close as t."""
        return sum(_is_within(self.closeness[n_tables], t) for n_tables in TABLES)


def _is_within(closeness: float | None, t: float) -> bool:
    return closeness is not None and closeness <= t


def run(
    frame: pl.DataFrame, association: Association, hierarchies: Hierarchies = census.HIERARCHIES
) -> list[Judged]:
    """Every k, by one choice of hierarchies."""
    plans = plans_of(association)
    found = []
    for k, work in works_for(frame, KS, hierarchies).items():
        anonymizer = FullDomain(work, None)
        closeness = {
            n_tables: closest(anonymizer, association, plans[n_tables], LIMIT) for n_tables in (1, *TABLES)
        }
        household = work.table.derived[census.HOUSEHOLD]
        others = tuple(name for name in work.sensitive if name not in household)
        apart = anonymizer.best_closeness(others, LIMIT)
        found.append(Judged(k, *anonymizations(work, k), closeness, apart))
    return found


def anonymizations(work: Work, k: int) -> tuple[int, int]:
    """How many generalizations have classes of k rows and more: within the limit of discernibility, and in all."""
    columns = tuple(work.table[name] for name in work.quasi)
    lattice = lattice_of(columns, work.table, ())

    def is_anonymous(counted: Counted) -> bool:
        return bool(counted.sizes.min() >= k)

    def is_fine(counted: Counted) -> bool:
        return squares(counted.sizes) <= LIMIT

    tests = [Test(is_anonymous, rises=True), Test(is_fine, rises=False)]
    anonymous, fine = passing(lattice, tests, np.ones(lattice.shape, dtype=bool))
    return int((anonymous & fine).sum()), int(anonymous.sum())


def table(found: list[Judged]) -> str:
    """The paper's numbers beside ours."""
    headings = ["k", "k-anonymizations: paper", "ours within d_m", "ours without d_m"]
    headings += ["one table: paper", "ours"]
    for t in THRESHOLDS:
        headings += [f"plans with t = {t}: paper", "ours"]
    return markdown(headings, (_line(place, each) for place, each in enumerate(found)))


def _line(place: int, each: Judged) -> list[object]:
    cells: list[object] = [each.k, PAPER_NODES[place], each.within, each.in_all]
    cells += [f"{PAPER_ONE_TABLE[place]:.2f}", told(each.one_table)]
    for t in THRESHOLDS:
        cells += [PAPER_PLANS[t][place], each.plans(t)]
    return cells


def by_plan(found: list[Judged]) -> str:
    """The best closeness of every plan, for every k."""
    headings = ("tables", *(f"k = {each.k}" for each in found))
    lines = [
        (str(n_tables), *(told(each.closeness[n_tables]) for each in found)) for n_tables in (1, *TABLES)
    ]
    apart = ("1, without the household", *(told(each.apart) for each in found))
    return markdown(headings, [*lines, apart])


def told(closeness: float | None) -> str:
    """A closeness in three digits, if there is a table to have one."""
    return "no table" if closeness is None else f"{closeness:.3f}"


def picture(found: list[Judged]) -> None:
    """The number of plans and of generalizations against k, the paper's dashed."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        # Where both thresholds give the same, the wider line shows below the other.
        for t, colour, width in zip(THRESHOLDS, (pictures.BLUE, pictures.ORANGE), (4.0, 1.5), strict=True):
            _draw(left, PAPER_PLANS[t], f"t = {t}, paper", colour, "--")
            _draw(left, [each.plans(t) for each in found], f"t = {t}, ours", colour, "-", width)
        _draw(right, PAPER_NODES, "paper", pictures.GREY, "--")
        _draw(right, [each.in_all for each in found], "ours without d_m", pictures.GREEN, "-")
        _draw(right, [each.within for each in found], "ours within d_m", pictures.BLUE, "-")
        left.set(title="(a) plans of two to seven tables that reach t")
        right.set(title="(b) k-anonymizations")
        for axis in (left, right):
            axis.set_xticks(range(len(KS)), [str(k) for k in KS])
            axis.set_xlabel("k")
            axis.legend(fontsize=8)
    pictures.save(figure, "codip-anonymity")


def _draw(
    axis: Axes, numbers: Sequence[int], label: str, colour: str, style: str, width: float = 1.5
) -> None:
    marker = "s" if style == "--" else "o"
    size = 2.5 + width
    places = range(len(KS))
    axis.plot(
        places, numbers, style, marker=marker, color=colour, linewidth=width, markersize=size, label=label
    )
