"""Figure 7: how many tables CODIP* makes of more and more sensitive attributes."""

from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.codip_plans import searched, short
from benchmarks.reproductions.table import markdown
from manyveils.methods.codip.association import Association, Members, Plan

ALPHA = BETA = Fraction(3, 10)
DRAWS, SEED = 20, 1
SMALLEST = 2


@dataclass(frozen=True)
class Sized:
    """The plans for some number of attributes: for the first ones in order, and for random ones."""

    n_attributes: int
    added: str
    in_order: tuple[int, float, float]
    drawn: tuple[int, ...]
    lossy: int


def run(association: Association) -> list[Sized]:
    """Every number of attributes, in the policy's order and drawn at random."""
    rng = np.random.default_rng(SEED)
    whole = len(association.names)
    found = []
    for size in range(SMALLEST, whole + 1):
        draws = [tuple(sorted(rng.permutation(whole)[:size].tolist())) for _ in range(DRAWS)]
        parts = [part_of(association, members) for members in draws]
        plans = [searched(part, BETA) for part in parts]
        lossy = sum(part.loss(plan) > ALPHA for part, plan in zip(parts, plans, strict=True))
        first = part_of(association, tuple(range(size)))
        added = short(association.names[size - 1])
        in_order = _point(first, searched(first, BETA))
        found.append(Sized(size, added, in_order, tuple(len(plan) for plan in plans), lossy))
    return found


def part_of(association: Association, members: Members) -> Association:
    """The association among some of the attributes; ratios need no more than its proportions."""
    block = np.ix_(members, members)
    names = tuple(association.names[member] for member in members)
    return Association(
        names, association.information[block], association.shared[block], association.exposed[block]
    )


def _point(association: Association, plan: Plan) -> tuple[int, float, float]:
    return len(plan), float(association.loss(plan)), float(association.exposure(plan))


def table(found: list[Sized]) -> str:
    """A line for every number of attributes."""
    return markdown(
        (
            "s",
            "attribute added",
            "N, in order",
            "Γα",
            "Γβ",
            f"N, mean of {DRAWS} random sets",
            "least",
            "most",
            "sets with Γα > 0.3",
        ),
        map(_line, found),
    )


def _line(each: Sized) -> tuple[object, ...]:
    n_tables, loss, exposure = each.in_order
    added = f"the first {SMALLEST}" if each.n_attributes == SMALLEST else each.added
    ratios = (f"{loss:.3f}", f"{exposure:.3f}")
    drawn = (f"{fmean(each.drawn):.1f}", min(each.drawn), max(each.drawn))
    return (each.n_attributes, added, n_tables, *ratios, *drawn, each.lossy)


def picture(found: list[Sized]) -> None:
    """The number of tables in order and at random, with the span of random sets."""
    sizes = [each.n_attributes for each in found]
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(6.5, 3.4), layout="constrained")
        axis = figure.subplots()
        least, most = ([choose(each.drawn) for each in found] for choose in (min, max))
        axis.fill_between(
            sizes, least, most, color=pictures.ORANGE, alpha=0.18, linewidth=0, label="least to most"
        )
        means = [fmean(each.drawn) for each in found]
        axis.plot(
            sizes, means, "--s", color=pictures.ORANGE, markersize=4, label=f"mean of {DRAWS} random sets"
        )
        ordered = [each.in_order[0] for each in found]
        axis.plot(sizes, ordered, "-o", color=pictures.BLUE, markersize=4, label="in the policy's order")
        axis.set(xlabel="number of sensitive attributes s", ylabel="number of tables N", xticks=sizes)
        axis.set_ylim(0, None)
        axis.legend(fontsize=8, loc="lower right")
    pictures.save(figure, "codip-attributes")
