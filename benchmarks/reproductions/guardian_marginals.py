"""Multi-SA when whoever reads it takes hidden values to be distributed as the shown ones, attribute by attribute."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np
import polars as pl

from benchmarks.reproductions.guardian_methods import LHS, SETS, L
from benchmarks.reproductions.guardian_suppression import in_one_group, with_hidden_rows
from benchmarks.reproductions.guardian_trials import (
    GD,
    MULTI,
    Drawn,
    Rules,
    Trial,
    original_of,
    rules_of,
    tried,
)
from benchmarks.reproductions.table import counted, markdown

RULES = (2, 3, 5, 9)


def table(frame: pl.DataFrame) -> str:
    """KL of multi-SA's one group by both readings of what is hidden, beside GD."""
    headings = (
        "rules",
        "rows hidden, mean",
        "KL, hidden values equally likely",
        "KL, hidden values as shown ones",
        "KL, GD",
    )
    return markdown(headings, _lines(frame))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    original = original_of(frame)
    made: dict[frozenset[str], tuple[float, float, int]] = {}
    for c in RULES:
        sets = [rules_of(original, Drawn(c, LHS, L), seed) for seed in range(1, SETS + 1)]
        for rules in sets:
            rights = _rights(rules)
            if rights not in made:
                group = in_one_group(tried(original, MULTI, rules, L))
                made[rights] = (with_hidden_rows(group).kl, as_shown(group, frame), group.release.suppressed)
        even, shown, hidden = (fmean(made[_rights(rules)][place] for rules in sets) for place in range(3))
        gd = fmean(tried(original, GD, rules, L, audited=False).kl for rules in sets)
        yield c, counted(hidden), f"{even:.3f}", f"{shown:.3f}", f"{gd:.3f}"


def _rights(rules: Rules) -> frozenset[str]:
    return frozenset(str(rule["protect"]) for rule in rules)


def as_shown(trial: Trial, frame: pl.DataFrame) -> float:
    """KL from the original to one group of shown rows, and of the others their quasi-identifiers times the shown shares."""
    [view] = trial.release.views
    known, sensitive = (list(file.attributes) for file in view.files)
    if not trial.release.suppressed:
        return trial.kl
    shown_known, shown = (trial.release.frames[file.table] for file in view.files)
    every = frame.group_by(known).len("rows")
    left = every.join(shown_known.group_by(known).len("shown"), on=known, how="left").with_columns(
        hidden=pl.col("rows").cast(pl.Float64) - pl.col("shown").fill_null(0)
    )
    cells = frame.group_by([*known, *sensitive]).len("people").join(left, on=known)
    cells = cells.join(shown.group_by(sensitive).len("alike"), on=sensitive, how="left").fill_null(0)
    for name in sensitive:
        shares = shown.group_by(name).len(f"share of {name}")
        cells = cells.join(shares, on=name, how="left").fill_null(0)
    n, n_shown = frame.height, shown.height
    # Whoever reads it knows of values that are never shown, and counts each once more.
    shares = (
        (cells[f"share of {name}"].to_numpy() + 1) / (n_shown + frame[name].n_unique()) for name in sensitive
    )
    product = np.prod([*shares], axis=0)
    together = cells["shown"].to_numpy() * cells["alike"].to_numpy() / n_shown
    estimate = (together + cells["hidden"].to_numpy() * product) / n
    people = cells["people"].to_numpy() / n
    return float((people * np.log(people / estimate)).sum())
