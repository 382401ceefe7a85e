"""Figures 1 to 6: discernibility and distortion of the three algorithms against ℓ, k and the number of attributes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.alpha_beta_k_trials import (
    BY_SIZE,
    EXPONENTIAL,
    FULL_DOMAIN,
    K_ALONE,
    KL,
    OURS,
    Asked,
    Trial,
    original_of,
    tried,
)
from benchmarks.reproductions.table import counted, markdown
from manyveils.datasets.registry import SENSITIVE

ALGORITHMS = (OURS, KL, EXPONENTIAL, BY_SIZE, K_ALONE, FULL_DOMAIN)
STYLES = {
    BY_SIZE: ("-s", pictures.RED, 1.5),
    FULL_DOMAIN: ("--^", pictures.GREY, 1.5),
    # Where both are the same, the wider line shows below the other.
    KL: ("-o", pictures.ORANGE, 4.0),
    OURS: ("-o", pictures.BLUE, 1.5),
}
NO_RELEASE = "none"


@dataclass(frozen=True)
class Sweep:
    """One parameter that changes while the others stay."""

    name: str
    asked: tuple[Asked, ...]
    value: Callable[[Asked], int]


BY_L = Sweep("ℓ", tuple(Asked(40, l, 3) for l in (2, 4, 6, 8, 10, 12, 14, 16, 18)), lambda asked: asked.l)
BY_K = Sweep(
    "k", tuple(Asked(k, 5, 3) for k in (5, 10, 20, 40, 60, 80, 100, 150, 200)), lambda asked: asked.k
)
BY_I = Sweep("i", tuple(Asked(20, 8, i + 1) for i in range(len(SENSITIVE))), lambda asked: asked.i)
SWEEPS = {"l": BY_L, "k": BY_K, "i": BY_I}

Found = dict[tuple[Asked, str], Trial | None]


def run(frame: pl.DataFrame, sweep: Sweep) -> Found:
    """Every algorithm at every point; the table is coded once for each number of attributes."""
    originals = {i: original_of(frame, i) for i in {asked.i for asked in sweep.asked}}
    return {
        (asked, algorithm): tried(originals[asked.i], algorithm, asked)
        for asked in sweep.asked
        for algorithm in ALGORITHMS
    }


def discernibility(sweep: Sweep, found: Found, n_rows: int) -> str:
    """C_DM of every algorithm, and the least that groups large enough for Exponential-ℓ can have."""
    headings = (sweep.name, *ALGORITHMS[:3], "Exponential-ℓ, at least", *ALGORITHMS[3:])
    return markdown(headings, (_discernibilities(sweep, found, asked, n_rows) for asked in sweep.asked))


def _discernibilities(sweep: Sweep, found: Found, asked: Asked, n_rows: int) -> list[object]:
    cells = _cells(found, asked, lambda trial: counted(trial.discernibility))
    least = counted(n_rows * asked.smallest) if asked.smallest <= n_rows else NO_RELEASE
    return [sweep.value(asked), *cells[:3], least, *cells[3:]]


def distortion(sweep: Sweep, found: Found) -> str:
    """T.DisR of every algorithm, and the share of what could be distorted that (α,β,k) distorts."""
    headings = (sweep.name, *ALGORITHMS, "(α,β,k), of a table of `*`")
    return markdown(headings, (_distortions(sweep, found, asked) for asked in sweep.asked))


def _distortions(sweep: Sweep, found: Found, asked: Asked) -> list[object]:
    cells = _cells(found, asked, lambda trial: f"{trial.t_disr:.4f}")
    ours = found[asked, OURS]
    assert ours is not None
    return [sweep.value(asked), *cells, f"{ours.distortion_ratio:.4f}"]


def _cells(found: Found, asked: Asked, told: Callable[[Trial], str]) -> list[str]:
    trials = (found[asked, algorithm] for algorithm in ALGORITHMS)
    return [NO_RELEASE if trial is None else told(trial) for trial in trials]


def picture(all_found: Iterable[tuple[Sweep, Found]]) -> None:
    """Discernibility above, distortion below; a column for every parameter."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(10.5, 6), layout="constrained")
        above, below = figure.subplots(2, 3, sharex="col")
        for number, (sweep, found) in enumerate(all_found):
            _draw(above[number], sweep, found, lambda trial: trial.discernibility)
            _draw(below[number], sweep, found, lambda trial: trial.t_disr)
            above[number].set(yscale="log", title=f"figure {number + 1}: discernibility")
            below[number].set(
                ylim=(0, None), title=f"figure {number + 4}: distortion ratio", xlabel=sweep.name
            )
        handles, labels = above[-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(STYLES), fontsize=8)
    pictures.save(figure, "alpha-beta-k-figures")


def _draw(axis: Axes, sweep: Sweep, found: Found, height: Callable[[Trial], float]) -> None:
    for algorithm, (style, colour, width) in STYLES.items():
        points = [(sweep.value(asked), found[asked, algorithm]) for asked in sweep.asked]
        drawn = [(place, height(trial)) for place, trial in points if trial is not None]
        places, heights = zip(*drawn, strict=True) if drawn else ((), ())
        axis.plot(
            places, heights, style, color=colour, linewidth=width, markersize=2.5 + width, label=algorithm
        )
