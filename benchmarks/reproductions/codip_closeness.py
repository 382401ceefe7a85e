"""Figure 8: the best closeness of plans within limits of discernibility, for k = 2."""

from collections.abc import Mapping

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.codip_plans import plans_of, works_for
from benchmarks.reproductions.table import markdown
from manyveils.methods.codip.anonymizers import FullDomain
from manyveils.methods.codip.association import Association, Plan

LIMITS = (2.5e9, 3.0e9, 3.5e9, 4.0e9, 4.5e9)
TABLES = (1, 2, 4, 6, 15)
K = 2
COLOURS = (pictures.RED, pictures.ORANGE, pictures.BLUE, pictures.GREEN, pictures.GREY)

Best = Mapping[int, Mapping[float, float]]


def run(frame: pl.DataFrame, association: Association) -> Best:
    """For every number of tables and every limit, the best closeness of the plan of CODIP*."""
    plans = plans_of(association)
    anonymizer = FullDomain(works_for(frame, (K,))[K], None)
    found: dict[int, dict[float, float]] = {}
    for n_tables in TABLES:
        best = {limit: closest(anonymizer, association, plans[n_tables], limit) for limit in LIMITS}
        found[n_tables] = {limit: value for limit, value in best.items() if value is not None}
    return found


def closest(anonymizer: FullDomain, association: Association, plan: Plan, limit: float) -> float | None:
    """The closeness of a plan whose tables are each generalized as suits them best; None if none is fine enough."""
    tables = [tuple(association.names[member] for member in part) for part in plan]
    best = [anonymizer.best_closeness(names, limit) for names in tables]
    values = [value for value in best if value is not None]
    return max(values) if len(values) == len(best) else None


def improvement(found: Best, n_tables: int, limit: float) -> float:
    """How much closer than one table a plan is, as a share of that table's distance."""
    return 1 - found[n_tables][limit] / found[1][limit]


def table(found: Best) -> str:
    """Closeness, with the improvement over one table behind it."""
    headings = ("tables", *(f"d_m = {limit / 1e9:.1f}·10⁹" for limit in LIMITS))
    lines = [(str(n_tables), *(_cell(found, n_tables, limit) for limit in LIMITS)) for n_tables in TABLES]
    return markdown(headings, lines)


def _cell(found: Best, n_tables: int, limit: float) -> str:
    if limit not in found[n_tables]:
        return "no table"
    shown = f"{found[n_tables][limit]:.3f}"
    return shown if n_tables == 1 else f"{shown} ({improvement(found, n_tables, limit):.0%})"


def picture(found: Best) -> None:
    """The closeness, and the improvement over one table."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for place, n_tables in enumerate(TABLES):
            values = [found[n_tables].get(limit, 0.0) for limit in LIMITS]
            _bars(left, place, len(TABLES), values, n_tables)
            if n_tables > 1:
                shares = [100 * improvement(found, n_tables, limit) for limit in LIMITS]
                _bars(right, place - 1, len(TABLES) - 1, shares, n_tables)
        left.set(title="(a) best closeness, k = 2", ylabel="t")
        right.set(title="(b) improvement over one table", ylabel="percent")
        for axis in (left, right):
            axis.set_xticks(range(len(LIMITS)), [f"{limit / 1e9:.1f}" for limit in LIMITS])
            axis.set_xlabel("limit of discernibility d_m, in 10⁹")
        left.legend(fontsize=8)
    pictures.save(figure, "codip-closeness")


def _bars(axis: Axes, place: int, n_places: int, values: list[float], n_tables: int) -> None:
    width = 0.8 / n_places
    lefts = [limit + (place - (n_places - 1) / 2) * width for limit in range(len(values))]
    axis.bar(lefts, values, width, color=COLOURS[TABLES.index(n_tables)], label=f"N = {n_tables}")
