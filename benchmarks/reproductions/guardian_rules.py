"""Figures 9 and 10: longer left sides, and more diversity."""

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.guardian_discharges import (
    FEWER,
    FEWER_QUERIES,
    LHS,
    QD,
    STYLES,
    L,
    Outcome,
    P,
    outcome,
    spanned,
)
from benchmarks.reproductions.guardian_trials import SINGLE, UAD, Asked, Drawn, original_of, told
from benchmarks.reproductions.table import markdown

LEFTS = (1, 3, 5, 7, 9)
LS = (5, 10, 15, 20)
C = 5


def by_left(
    frame: pl.DataFrame, lefts: tuple[int, ...] = LEFTS, n_sets: int = FEWER, n_queries: int = FEWER_QUERIES
) -> list[Outcome]:
    """UAD for every length of left sides, and single-attribute tables."""
    return _run(frame, [Drawn(C, lhs, L) for lhs in lefts], n_sets, n_queries)


def by_diversity(
    frame: pl.DataFrame, ls: tuple[int, ...] = LS, n_sets: int = FEWER, n_queries: int = FEWER_QUERIES
) -> list[Outcome]:
    """UAD for every l, with the same rules: those whose right sides can be protected with the largest."""
    return _run(frame, [Drawn(C, LHS, l, pool_l=max(ls)) for l in ls], n_sets, n_queries)


def _run(frame: pl.DataFrame, settings: list[Drawn], n_sets: int, n_queries: int) -> list[Outcome]:
    original, asked = original_of(frame), Asked(QD, P, n_queries // n_sets)
    seeds = range(1, n_sets + 1)
    found = [outcome(original, UAD, drawn, asked, seeds) for drawn in settings]
    return [*found, outcome(original, SINGLE, settings[0], asked, seeds)]


def left_table(found: list[Outcome]) -> str:
    """A line for every length of left sides."""
    return _table("attributes on the left", {each.drawn.lhs: each for each in _uad(found)}, found)


def diversity_table(found: list[Outcome]) -> str:
    """A line for every l."""
    return _table("ℓ", {each.drawn.l: each for each in _uad(found)}, found)


def _uad(found: list[Outcome]) -> list[Outcome]:
    return [each for each in found if each.method == UAD]


def _table(heading: str, by_value: dict[int, Outcome], found: list[Outcome]) -> str:
    single = found[-1]
    return markdown(
        (
            heading,
            "tables of UAD",
            "KL, UAD",
            "KL, single-attribute",
            "error, UAD",
            "error, single-attribute",
        ),
        (
            (
                value,
                spanned(each.n_tables),
                spanned(each.kl),
                f"{single.kl[0]:.1f}",
                told(each.errors),
                told(single.errors),
            )
            for value, each in by_value.items()
        ),
    )


def left_picture(found: list[Outcome]) -> None:
    """Error and divergence against the length of left sides."""
    _picture("guardian-left", "attributes on the left", {each.drawn.lhs: each for each in _uad(found)}, found)


def diversity_picture(found: list[Outcome]) -> None:
    """Error and divergence against l."""
    _picture("guardian-diversity", "ℓ", {each.drawn.l: each for each in _uad(found)}, found)


def _picture(name: str, label: str, by_value: dict[int, Outcome], found: list[Outcome]) -> None:
    single = found[-1]
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        errors = {value: (float(each.errors.mean()),) for value, each in by_value.items()}
        _draw(left, errors, float(single.errors.mean()))
        left.set(xlabel=label, title="relative error, mean")
        _draw(right, {value: each.kl for value, each in by_value.items()}, single.kl[0])
        right.set(xlabel=label, title="KL divergence, nats")
        right.legend(fontsize=8)
    pictures.save(figure, name)


def _draw(axis: Axes, values: dict[int, tuple[float, ...]], level: float) -> None:
    places = list(values)
    style, colour = STYLES[UAD]
    axis.fill_between(
        places,
        list(map(min, values.values())),
        list(map(max, values.values())),
        color=colour,
        alpha=0.18,
        linewidth=0,
    )
    means = [sum(each) / len(each) for each in values.values()]
    axis.plot(places, means, style, color=colour, label=UAD, markersize=4)
    style, colour = STYLES[SINGLE]
    axis.plot(places, [level] * len(places), style, color=colour, label=SINGLE)
    axis.set(xticks=places, ylim=(0, None))
