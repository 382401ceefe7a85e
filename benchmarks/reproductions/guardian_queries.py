"""Figures 7 and 8: how the error of count queries grows with their attributes, and falls with what they ask for."""

from collections.abc import Iterable
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.guardian_discharges import FEWER, FEWER_QUERIES, LHS, QD, STYLES, L, P
from benchmarks.reproductions.guardian_trials import (
    SINGLE,
    UAD,
    Asked,
    Drawn,
    Errors,
    original_of,
    rules_of,
    told,
    tried,
)
from benchmarks.reproductions.table import counted, markdown

QDS = (2, 4, 6, 8, 10)
PS = (0.3, 0.4, 0.5, 0.6, 0.7)
C = 5


@dataclass(frozen=True, repr=False)
class Answered:
    """The errors of one method for one kind of query, over all rule sets."""

    method: str
    qd: int
    p: float
    errors: Errors


def run(
    frame: pl.DataFrame,
    qds: tuple[int, ...] = QDS,
    ps: tuple[float, ...] = PS,
    n_sets: int = FEWER,
    n_queries: int = FEWER_QUERIES,
) -> list[Answered]:
    """Both methods for every number of attributes and every share of values."""
    original, drawn = original_of(frame), Drawn(C, LHS, L)
    kinds = list(dict.fromkeys([*((qd, P) for qd in qds), *((QD, p) for p in ps)]))
    errors: dict[tuple[str, int, float], list[Errors]] = {}
    single = tried(original, SINGLE, rules_of(original, drawn, seed=1), L)
    for seed in range(1, n_sets + 1):
        uad = tried(original, UAD, rules_of(original, drawn, seed), L, audited=seed == 1)
        for qd, p in kinds:
            asked = Asked(qd, p, n_queries // n_sets)
            for method, trial in ((UAD, uad), (SINGLE, single)):
                errors.setdefault((method, qd, p), []).append(trial.errors(asked, seed))
    return [Answered(*key, np.concatenate(each)) for key, each in errors.items()]


def by_attributes(found: list[Answered]) -> str:
    """A line for every number of attributes."""
    return _table("qd", _at_usual_share(found))


def by_share(found: list[Answered]) -> str:
    """A line for every share of values."""
    return _table("p", _at_usual_attributes(found))


def _at_usual_share(found: list[Answered]) -> dict[float, dict[str, Errors]]:
    return _gathered((each.qd, each) for each in found if each.p == P)


def _at_usual_attributes(found: list[Answered]) -> dict[float, dict[str, Errors]]:
    return _gathered((each.p, each) for each in found if each.qd == QD)


def _gathered(pairs: Iterable[tuple[float, Answered]]) -> dict[float, dict[str, Errors]]:
    """The errors of both methods for every value, in order."""
    errors: dict[float, dict[str, Errors]] = {}
    for value, each in sorted(pairs, key=lambda pair: pair[0]):
        errors.setdefault(value, {})[each.method] = each.errors
    return errors


def _table(heading: str, errors: dict[float, dict[str, Errors]]) -> str:
    return markdown(
        (heading, "queries that hold for somebody", "error, UAD", "error, single-attribute"),
        (
            (value, counted(both[UAD].size), told(both[UAD]), told(both[SINGLE]))
            for value, both in errors.items()
        ),
    )


def picture(found: list[Answered]) -> None:
    """The mean error against both."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw(left, _at_usual_share(found))
        left.set(xlabel="attributes of a query qd", title=f"relative error, mean; p = {P}")
        _draw(right, _at_usual_attributes(found))
        right.set(xlabel="share of values p", title=f"relative error, mean; qd = {QD}")
        left.legend(fontsize=8)
    pictures.save(figure, "guardian-queries")


def _draw(axis: Axes, errors: dict[float, dict[str, Errors]]) -> None:
    for method in (UAD, SINGLE):
        style, colour = STYLES[method]
        means = [float(both[method].mean()) for both in errors.values()]
        axis.plot(list(errors), means, style, color=colour, label=method, markersize=4)
    axis.set(xticks=list(errors), ylim=(0, None))
