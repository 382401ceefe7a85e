"""Figures 4 to 6: what UAD, GD and single-attribute tables lose on discharges as rules become more."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.guardian_trials import (
    GD,
    SINGLE,
    UAD,
    Asked,
    Drawn,
    Errors,
    Original,
    original_of,
    rules_of,
    told,
    tried,
)
from benchmarks.reproductions.table import markdown

RULES = (1, 3, 5, 7, 9)
GD_RULES = (1, 3, 5)
SETS = 5
# Figures 7 to 10 take fewer rule sets, to be done in minutes.
FEWER, FEWER_QUERIES = 3, 600
LHS, L, QD, P, QUERIES = 3, 10, 4, 0.4, 1_000
STYLES = {UAD: ("-o", pictures.BLUE), GD: ("-^", pictures.GREEN), SINGLE: (":", pictures.GREY)}


@dataclass(frozen=True, repr=False)
class Outcome:
    """One method under one setting; a number for each rule set, and the errors of all queries."""

    method: str
    drawn: Drawn
    asked: Asked
    kl: tuple[float, ...]
    errors: Errors
    seconds: tuple[float, ...]
    n_tables: tuple[int, ...]


def run(
    frame: pl.DataFrame, rules: tuple[int, ...] = RULES, n_sets: int = SETS, n_queries: int = QUERIES
) -> list[Outcome]:
    """UAD and single-attribute tables for every number of rules."""
    original, asked = original_of(frame), Asked(QD, P, n_queries // n_sets)
    seeds = range(1, n_sets + 1)
    # The first call compiles.
    tried(original, UAD, rules_of(original, Drawn(RULES[-1], LHS, L), seed=1), L)
    found = [outcome(original, UAD, Drawn(c, LHS, L), asked, seeds) for c in rules]
    return [*found, outcome(original, SINGLE, Drawn(1, LHS, L), asked, seeds)]


def repaired(
    frame: pl.DataFrame, rules: tuple[int, ...] = GD_RULES, n_sets: int = SETS, n_queries: int = QUERIES
) -> list[Outcome]:
    """GD and UAD for the first rule set only, with that rule set's queries."""
    original, asked = original_of(frame), Asked(QD, P, n_queries // n_sets)
    tried(original, GD, rules_of(original, Drawn(1, LHS, L), seed=1), L)
    return [
        outcome(original, method, Drawn(c, LHS, L), asked, range(1, 2)) for c in rules for method in (UAD, GD)
    ]


def outcome(original: Original, method: str, drawn: Drawn, asked: Asked, seeds: Iterable[int]) -> Outcome:
    """Publish and measure once for every rule set; the first release is audited.

    Single-attribute tables are the same whatever the rules are.
    """
    kl, errors, seconds, n_tables = [], [], [], []
    trial = None
    for seed in seeds:
        if trial is None or method != SINGLE:
            trial = tried(original, method, rules_of(original, drawn, seed), drawn.l, audited=trial is None)
            kl.append(trial.kl)
            seconds.append(trial.seconds)
            n_tables.append(len(trial.release.views))
        errors.append(trial.errors(asked, seed))
    return Outcome(method, drawn, asked, tuple(kl), np.concatenate(errors), tuple(seconds), tuple(n_tables))


def table(found: list[Outcome]) -> str:
    """A line for every number of rules: means over rule sets, and the least and the most."""
    single = next(each for each in found if each.method == SINGLE)
    return markdown(
        (
            "rules",
            "tables of UAD",
            "KL, UAD",
            "KL, single-attribute",
            "error, UAD",
            "error, single-attribute",
            "seconds, UAD",
        ),
        (
            (
                each.drawn.c,
                f"{fmean(each.n_tables):.1f}",
                spanned(each.kl),
                f"{single.kl[0]:.1f}",
                told(each.errors),
                told(single.errors),
                spanned(each.seconds, 2),
            )
            for each in found
            if each.method == UAD
        ),
    )


def spanned(values: tuple[float, ...], digits: int = 1) -> str:
    """The mean, and the least and the most.

    >>> spanned((1.0, 2.0, 6.0))
    '3.0 (1.0 to 6.0)'
    """
    return f"{fmean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def repairs(found: list[Outcome]) -> str:
    """GD beside UAD, for one rule set."""
    cells = {(each.drawn.c, each.method): each for each in found}
    return markdown(
        (
            "rules",
            "tables, UAD",
            "tables, GD",
            "KL, UAD",
            "KL, GD",
            "error, UAD",
            "error, GD",
            "seconds, UAD",
            "seconds, GD",
        ),
        (
            (
                c,
                *(cells[c, method].n_tables[0] for method in (UAD, GD)),
                *(f"{cells[c, method].kl[0]:.1f}" for method in (UAD, GD)),
                *(told(cells[c, method].errors) for method in (UAD, GD)),
                *(f"{cells[c, method].seconds[0]:.2g}" for method in (UAD, GD)),
            )
            for c in dict.fromkeys(each.drawn.c for each in found)
        ),
    )


def picture(found: list[Outcome]) -> None:
    """Divergence, error and time against the number of rules."""
    chosen = [each for each in found if each.method == UAD]
    single = next(each for each in found if each.method == SINGLE)
    rules = [each.drawn.c for each in chosen]
    style, colour = STYLES[UAD]
    panels = (
        ("KL divergence, nats", [each.kl for each in chosen], single.kl[0]),
        ("relative error, mean", [(float(each.errors.mean()),) for each in chosen], single.errors.mean()),
        ("seconds", [each.seconds for each in chosen], None),
    )
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(10.5, 3.4), layout="constrained")
        for axis, (title, values, level) in zip(figure.subplots(1, 3), panels, strict=True):
            least, most = ([choose(each) for each in values] for choose in (min, max))
            axis.fill_between(rules, least, most, color=colour, alpha=0.18, linewidth=0)
            axis.plot(rules, [fmean(each) for each in values], style, color=colour, label=UAD, markersize=4)
            if level is not None:
                axis.plot(
                    rules, [level] * len(rules), *STYLES[SINGLE][:1], color=STYLES[SINGLE][1], label=SINGLE
                )
            axis.set(title=title, ylim=(0, None), xlabel="number of rules c", xticks=rules)
        figure.axes[0].legend(fontsize=8)
    pictures.save(figure, "guardian-discharges")
