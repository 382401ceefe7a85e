"""Figures 1 to 3: what each method loses on Adult as rules become more, and how long it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.random_rules import protectable
from benchmarks.reproductions import pictures
from benchmarks.reproductions.guardian_suppression import in_one_group, with_hidden_rows
from benchmarks.reproductions.guardian_trials import (
    GD,
    MULTI,
    MULTI_SMALL,
    SINGLE,
    UAD,
    Asked,
    Drawn,
    Errors,
    Original,
    Rules,
    Trial,
    original_of,
    rules_of,
    told,
    tried,
)
from benchmarks.reproductions.table import counted, markdown

METHODS = (MULTI, MULTI_SMALL, UAD, GD, SINGLE)
RULES = tuple(range(1, 10))
SETS = 20
LHS, L, QD, P, QUERIES = 3, 2, 3, 0.4, 1_000
STYLES = {
    MULTI: ("-s", pictures.RED),
    MULTI_SMALL: ("--s", pictures.ORANGE),
    UAD: ("-o", pictures.BLUE),
    GD: ("-^", pictures.GREEN),
    SINGLE: (":", pictures.GREY),
}


@dataclass(frozen=True, repr=False)
class Outcome:
    """One method with one number of rules, over all rule sets."""

    method: str
    c: int
    kl: tuple[float, ...]
    errors: Errors
    seconds: tuple[float, ...]
    n_hidden: tuple[int, ...]


class Publisher:
    """Publishes one table by many rule sets; what depends on less than the rules is made once."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self._made: dict[object, Trial] = {}

    def by(self, method: str, rules: Rules) -> Trial:
        """The release by rules; multi-SA looks at their right sides only, and single-attribute at nothing."""
        if method in (UAD, GD):
            return tried(self.original, method, rules, L)
        rights = frozenset(rule["protect"] for rule in rules)
        key = (method, frozenset() if method == SINGLE else rights)
        if key not in self._made:
            trial = tried(self.original, method, rules, L)
            self._made[key] = with_hidden_rows(in_one_group(trial) if method == MULTI else trial)
        return self._made[key]


def run(
    frame: pl.DataFrame, rules: tuple[int, ...] = RULES, n_sets: int = SETS, n_queries: int = QUERIES
) -> list[Outcome]:
    """Every method with the same rule sets and the same queries, which are shared out over the rule sets."""
    original = original_of(frame)
    # The first calls compile.
    for method in METHODS:
        tried(original, method, rules_of(original, Drawn(2, LHS, L), seed=1), L)
    publisher, asked = Publisher(original), Asked(QD, P, n_queries // n_sets)
    found = []
    for c in rules:
        sets = {seed: rules_of(original, Drawn(c, LHS, L), seed) for seed in range(1, n_sets + 1)}
        found += [_outcome(publisher, method, c, sets, asked) for method in METHODS]
    return found


def _outcome(publisher: Publisher, method: str, c: int, sets: dict[int, Rules], asked: Asked) -> Outcome:
    trials = {seed: publisher.by(method, rules) for seed, rules in sets.items()}
    return Outcome(
        method,
        c,
        tuple(trial.kl for trial in trials.values()),
        np.concatenate([trial.errors(asked, seed) for seed, trial in trials.items()]),
        tuple(trial.seconds for trial in trials.values()),
        tuple(trial.n_hidden for trial in trials.values()),
    )


def pool(frame: pl.DataFrame) -> str:
    """How common the most common value of each attribute is, and whether rules may protect it."""
    allowed = protectable(frame, L)
    return markdown(
        ("attribute", "values", "most common value", "share", f"can be protected with ℓ = {L}"),
        (_commonest(frame[name], allowed) for name in frame.columns),
    )


def _commonest(values: pl.Series, allowed: list[str]) -> tuple[object, ...]:
    value, count = values.value_counts(sort=True).row(0)
    share = f"{100 * count / len(values):.1f} %"
    return values.name, values.n_unique(), value, share, "yes" if values.name in allowed else "no"


def losses(found: list[Outcome]) -> str:
    """The mean divergence of every method."""
    return _by_rules(found, lambda each: f"{fmean(each.kl):.3f}")


def errors(found: list[Outcome]) -> str:
    """The mean relative error of every method, and the median in brackets."""
    return _by_rules(found, lambda each: told(each.errors))


def times(found: list[Outcome]) -> str:
    """The mean seconds of every method."""
    return _by_rules(found, lambda each: f"{fmean(each.seconds):.2g}")


def hidden(found: list[Outcome]) -> str:
    """How many rows multi-SA must hide the sensitive values of."""
    chosen = [each for each in found if each.method == MULTI]
    return markdown(
        ("rules", "rows hidden, mean", "least", "most"),
        (
            (each.c, counted(fmean(each.n_hidden)), counted(min(each.n_hidden)), counted(max(each.n_hidden)))
            for each in chosen
        ),
    )


def _by_rules(found: list[Outcome], cell: Callable[[Outcome], str]) -> str:
    cells = {(each.c, each.method): cell(each) for each in found}
    rules = dict.fromkeys(each.c for each in found)
    return markdown(
        ("rules", *METHODS),
        ((c, *(cells[c, method] for method in METHODS)) for c in rules),
    )


def picture(found: list[Outcome]) -> None:
    """Divergence, error and time against the number of rules."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(10.5, 3.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        _draw(left, found, lambda each: fmean(each.kl))
        left.set(title="KL divergence, nats", ylim=(0, None))
        _draw(middle, found, lambda each: float(each.errors.mean()))
        middle.set(title="relative error, mean", ylim=(0, None))
        _draw(right, [each for each in found if each.method != SINGLE], lambda each: fmean(each.seconds))
        right.set(title="seconds", yscale="log")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(METHODS), fontsize=8)
    pictures.save(figure, "guardian-adult")


def _draw(axis: Axes, found: list[Outcome], height: Callable[[Outcome], float]) -> None:
    for method in dict.fromkeys(each.method for each in found):
        chosen = [each for each in found if each.method == method]
        style, colour = STYLES[method]
        rules = [each.c for each in chosen]
        axis.plot(rules, [height(each) for each in chosen], style, color=colour, label=method, markersize=4)
    axis.set(xlabel="number of rules c", xticks=rules)
