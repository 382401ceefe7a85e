"""Do the experiments of the (α,β,k) paper again: python -m benchmarks.reproductions.alpha_beta_k [--only NAME]."""

from collections.abc import Iterable
from functools import partial

import polars as pl

from benchmarks.reproductions import (
    alpha_beta_k_coarse,
    alpha_beta_k_compared,
    alpha_beta_k_exponential,
    alpha_beta_k_figures,
    alpha_beta_k_leaks,
)
from benchmarks.reproductions.alpha_beta_k_figures import SWEEPS
from benchmarks.reproductions.alpha_beta_k_trials import ROWS, SEED
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce
from manyveils.datasets import tumours

PAGE = DOCS / "alpha-beta-k.md"
MADE = Page(
    "alpha-beta-k",
    ("methods.alpha_beta_k", "datasets.papers", "datasets.registry"),
    ("alpha-beta-k", "generalize"),
)
Figures = Iterable[Figure]


def _figures(frame: pl.DataFrame) -> Figures:
    found = {name: alpha_beta_k_figures.run(frame, sweep) for name, sweep in SWEEPS.items()}
    for name, sweep in SWEEPS.items():
        put(PAGE, f"{name}-c", alpha_beta_k_figures.discernibility(sweep, found[name], frame.height))
        put(PAGE, f"{name}-d", alpha_beta_k_figures.distortion(sweep, found[name]))
    alpha_beta_k_figures.picture((sweep, found[name]) for name, sweep in SWEEPS.items())
    return [
        figure(number, sweep, found[name])
        for start, figure in (
            (1, alpha_beta_k_compared.by_discernibility),
            (4, alpha_beta_k_compared.by_distortion),
        )
        for number, (name, sweep) in enumerate(SWEEPS.items(), start)
    ]


def _points(frame: pl.DataFrame) -> None:
    points = {f"{n} and {n + 3}": sweep.asked for n, sweep in enumerate(SWEEPS.values(), start=1)}
    put(PAGE, "points", alpha_beta_k_leaks.at_points(frame, points))


def _leaks(frame: pl.DataFrame) -> None:
    found = alpha_beta_k_leaks.run(frame)
    put(PAGE, "leaks", alpha_beta_k_leaks.table(found))
    alpha_beta_k_leaks.picture(found)


def _repairs(frame: pl.DataFrame) -> None:
    put(PAGE, "repairs", alpha_beta_k_leaks.repairs(frame))


def _exponential(frame: pl.DataFrame) -> None:
    put(PAGE, "kept", alpha_beta_k_exponential.table(frame))


def _coarse(frame: pl.DataFrame) -> None:
    found = alpha_beta_k_coarse.run(frame)
    put(PAGE, "coarse-c", alpha_beta_k_coarse.table(found))
    put(PAGE, "coarse-d", alpha_beta_k_coarse.distortion(found))
    alpha_beta_k_coarse.picture(found)


def _worked() -> Figures:
    return [alpha_beta_k_compared.table_1(), alpha_beta_k_compared.worked()]


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    frame = tumours(ROWS, seed=SEED)
    on_registry = {
        "figures": _figures,
        "points": _points,
        "exponential": _exponential,
        "coarse": _coarse,
        "leaks": _leaks,
        "repairs": _repairs,
    }
    experiments = {name: partial(run, frame) for name, run in on_registry.items()}
    reproduce(MADE, __doc__, {"worked": _worked, **experiments})


if __name__ == "__main__":
    main()
