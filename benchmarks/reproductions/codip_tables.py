"""Figure 6: what more tables lose of the association, and what they take from the join threat."""

from itertools import pairwise

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.codip_plans import plans_of
from benchmarks.reproductions.table import markdown
from manyveils.methods.codip.association import Association

Line = tuple[int, float, float]


def run(association: Association) -> list[Line]:
    """Number of tables, association loss and reduction of the join threat, from the one-table plan on."""
    return [
        (n_tables, float(association.loss(plan)), 1 - float(association.exposure(plan)))
        for n_tables, plan in sorted(plans_of(association).items())
    ]


def table(found: list[Line]) -> str:
    """Both ratios, and what each further table adds to them."""
    steps = [("", "")] + [
        (f"+ {after[1] - before[1]:.4f}", f"+ {after[2] - before[2]:.4f}")
        for before, after in pairwise(found)
    ]
    lines = [
        (n_tables, f"{loss:.4f}", more_lost, f"{reduced:.4f}", more_reduced)
        for (n_tables, loss, reduced), (more_lost, more_reduced) in zip(found, steps, strict=True)
    ]
    return markdown(
        ("tables", "association loss Γα", "step", "reduction of the join threat 1 − Γβ", "step"), lines
    )


def picture(found: list[Line]) -> None:
    """Both against the number of tables; the baseline is one table."""
    numbers, losses, reductions = zip(*found, strict=True)
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(6.5, 3.4), layout="constrained")
        axis = figure.subplots()
        axis.plot(
            numbers,
            reductions,
            "-s",
            color=pictures.GREEN,
            markersize=4,
            label="reduction of the join threat",
        )
        axis.plot(numbers, losses, "-o", color=pictures.BLUE, markersize=4, label="association loss")
        axis.annotate("one table, the baseline", (1, 0), xytext=(1.5, 0.03), fontsize=8, color=pictures.GREY)
        axis.set(xlabel="number of tables N", ylim=(-0.03, 1.05), xticks=numbers)
        axis.legend(fontsize=8, loc="upper left")
    pictures.save(figure, "codip-tables")
