"""Figure 5: information exposure against association loss, of CODIP*, its patient kind and the best plans."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.codip_plans import merges_of, plans_of, searched, short
from benchmarks.reproductions.table import markdown
from manyveils.methods.codip.association import Association, Frontier, Members, Plan, frontier_of

PAPER = (0.19, 0.15)
BETAS = tuple(Fraction(each, 100) for each in (60, 50, 40, 30, 20, 15, 10, 5, 2))
STEPS = 200
Point = tuple[float, float, int]


@dataclass(frozen=True)
class Ratios:
    """Association, and the frontier of all plans."""

    association: Association
    frontier: Frontier

    def point(self, plan: Plan) -> Point:
        """Association loss, information exposure and number of tables."""
        return float(self.association.loss(plan)), float(self.association.exposure(plan)), len(plan)

    def best(self, beta: Fraction) -> Point:
        """The same of the plan that loses least within beta."""
        place = self.frontier.best_within(beta)
        assert place is not None
        return self.point(self.frontier.plan(place))

    def patient(self) -> list[Point]:
        """The plans of the patient search as beta falls from 1 to 0."""
        betas = (Fraction(step, STEPS) for step in range(STEPS, -1, -1))
        return sorted({self.point(searched(self.association, beta, patient=True)) for beta in betas})


def run(association: Association) -> Ratios:
    """Work out the frontier."""
    return Ratios(association, frontier_of(association, tuple(plans_of(association)[len(association.names)])))


def steps(found: Ratios) -> str:
    """Every merge of CODIP*, and what the best plan would lose that exposes no more."""
    headings = ("tables", "merged", "Γα", "Γβ", "least Γα of any plan within this Γβ", "its tables")
    return markdown(headings, _steps(found))


def _steps(found: Ratios) -> Iterator[tuple[str, ...]]:
    told = ["every attribute by itself", *_told_merges(found.association)]
    for merged, plan in zip(told, plans_of(found.association).values(), strict=True):
        loss, exposure, n_tables = found.point(plan)
        best, _, its_tables = found.best(found.association.exposure(plan))
        yield str(n_tables), merged, f"{loss:.4f}", f"{exposure:.4f}", f"{best:.4f}", str(its_tables)


def _told_merges(association: Association) -> Iterator[str]:
    """In words: a table is called after the attribute it began with."""
    began: dict[Members, str] = {}
    before = plans_of(association)
    for merge in merges_of(association):
        n_before = len(merge.plan) + 1
        parts = [part for part in before[n_before] if set(part) <= set(merge.members)]
        large, little = sorted(parts, key=len, reverse=True)
        joining = ", ".join(short(association.names[member]) for member in little)
        first = began.setdefault(large, short(association.names[large[0]]))
        began[merge.members] = first
        yield f"{joining} to the table of {first}" if len(large) > 1 else f"{first} and {joining}"


def by_beta(found: Ratios) -> str:
    """What the three searches lose at the same beta."""
    headings = ("β", "CODIP*: tables", "Γα", "Γβ", "patient: tables", "Γα", "Γβ", "best: tables", "Γα", "Γβ")
    return markdown(headings, (_line(found, beta) for beta in BETAS))


def _line(found: Ratios, beta: Fraction) -> tuple[str, ...]:
    greedy, patient = (
        found.point(searched(found.association, beta, patient=patient)) for patient in (False, True)
    )
    cells = (
        (str(n_tables), f"{loss:.4f}", f"{exposure:.4f}")
        for loss, exposure, n_tables in (greedy, patient, found.best(beta))
    )
    return (f"{float(beta):g}", *(cell for three in cells for cell in three))


def picture(found: Ratios) -> None:
    """All plans at once, and the part that matters, larger."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.8), layout="constrained")
        whole, part = figure.subplots(1, 2)
        for axis in (whole, part):
            _draw(axis, found)
            axis.set(xlabel="association loss Γα", ylabel="information exposure Γβ")
        whole.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), title="all plans")
        part.set(xlim=(0, 0.3), ylim=(0, 0.62), title="part of it, with the number of tables of CODIP*")
        _number(part, found)
        whole.legend(fontsize=8)
    pictures.save(figure, "codip-ratios")


def _draw(axis: Axes, found: Ratios) -> None:
    losses, exposures, _ = zip(*found.frontier.points, strict=True)
    label = f"best plans ({len(losses)})"
    axis.step(losses, exposures, where="pre", color=pictures.GREY, linewidth=1.2, label=label)
    losses, exposures, _ = zip(*found.patient(), strict=True)
    axis.plot(losses, exposures, "s", color=pictures.ORANGE, markersize=3.5, label="patient search")
    greedy = [found.point(plan) for plan in plans_of(found.association).values()]
    losses, exposures, _ = zip(*greedy, strict=True)
    axis.plot(losses, exposures, "-o", color=pictures.BLUE, markersize=4, linewidth=1, label="CODIP*")
    axis.plot(*PAPER, "x", color=pictures.RED, markersize=8, markeredgewidth=2, label="paper's text")


def _number(axis: Axes, found: Ratios) -> None:
    # Four and five tables nearly coincide, and the paper's mark stands at eight.
    aside = {4: (-8, -9), 8: (-8, -10)}
    for n_tables, plan in plans_of(found.association).items():
        loss, exposure, _ = found.point(plan)
        if loss < 0.3 and exposure < 0.62:
            axis.annotate(
                str(n_tables),
                (loss, exposure),
                xytext=aside.get(n_tables, (6, 3)),
                textcoords="offset points",
                fontsize=8,
                color=pictures.BLUE,
            )
