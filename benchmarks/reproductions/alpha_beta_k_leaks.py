"""What (α,β,k) pays for: the groups that k-ℓ leaves open to elimination, and what it takes to close them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.alpha_beta_k_trials import (
    KL,
    OURS,
    Asked,
    Original,
    Trial,
    original_of,
    published,
    short_of,
)
from benchmarks.reproductions.table import counted, markdown

I, KS, LS = 3, (3, 4, 5, 6, 7, 8, 9, 10), (2, 3)
ELIMINATIONS = (1, 2, 3)
REPAIRED = ((3, 2), (5, 2), (5, 3), (10, 2), (10, 3))


@dataclass(frozen=True, repr=False)
class Leaks:
    """One point: k-ℓ, (α,β,k), and (α,β,k) by the paper's letter: its α, from each attribute to the next."""

    asked: Asked
    theirs: Trial
    ours: Trial
    paper: Trial

    @property
    def share(self) -> float:
        """The share of rows in groups of k-ℓ that leak topography."""
        return rows_short(self.theirs)[0] / int(self.theirs.sizes.sum())


def groups_short(trial: Trial, eliminations: int = 1) -> list[int]:
    """How many groups leak each attribute."""
    return [finding.groups_short for finding in short_of(trial, "elimination", eliminations=eliminations)]


def rows_short(trial: Trial) -> list[int]:
    """How many rows are in groups that leak each attribute."""
    return [finding.rows_short for finding in short_of(trial, "elimination", eliminations=1)]


def run(frame: pl.DataFrame) -> list[Leaks]:
    """Small groups, in which leaks are frequent."""
    original = original_of(frame, I)
    return [leaks_at(original, Asked(k, l, I)) for l, k in product(LS, KS)]


def leaks_at(original: Original, asked: Asked) -> Leaks:
    """Publish by all three."""
    theirs, ours = published(original, KL, asked), published(original, OURS, asked)
    # Both divide alike, so that what (α,β,k) finds before it repairs are the leaks of k-ℓ.
    assert ours.notes["groups_before"] == len(theirs.sizes)
    return Leaks(
        asked, theirs, ours, published(original, OURS, asked, pairs="consecutive", alpha_reading="paper")
    )


def table(found: list[Leaks]) -> str:
    """Leaks of k-ℓ, what is left of them by the paper's α, and costs."""
    headings = ["ℓ = β", "k", "groups of k-ℓ", "that leak", "topography / histology / survival"]
    headings += ["rows that leak topography", "still leaking after the paper's α"]
    headings += ["C_DM, k-ℓ", "C_DM, (α,β,k)", "T.DisR, k-ℓ", "T.DisR, paper's α", "T.DisR, (α,β,k)"]
    return markdown(headings, map(_line, found))


def _line(each: Leaks) -> list[object]:
    return [
        each.asked.l,
        each.asked.k,
        counted(len(each.theirs.sizes)),
        counted(each.ours.notes["leaking_before"]),
        _listed(groups_short(each.theirs)),
        f"{100 * each.share:.1f} %",
        _listed(groups_short(each.paper)),
        *(counted(trial.discernibility) for trial in (each.theirs, each.ours)),
        *(f"{trial.t_disr:.4f}" for trial in (each.theirs, each.paper, each.ours)),
    ]


def _listed(counts: list[int]) -> str:
    return " / ".join(map(counted, counts))


def at_points(frame: pl.DataFrame, points: Mapping[str, Iterable[Asked]]) -> str:
    """Over the points of each figure: the groups of k-ℓ, and how many leak the attribute that leaks most.

    With one attribute there is nothing to rule out, so that point is passed over.
    """
    headings = ("figures", "points", "groups of k-ℓ", *(f"leaking, {n} ruled out" for n in ELIMINATIONS))
    return markdown(headings, (_at_points(frame, name, list(asked)) for name, asked in points.items()))


def _at_points(frame: pl.DataFrame, name: str, points: list[Asked]) -> list[object]:
    originals = {asked.i: original_of(frame, asked.i) for asked in points if asked.i > 1}
    trials = [published(originals[asked.i], KL, asked) for asked in points if asked.i in originals]
    leaking = (sum(max(groups_short(trial, n)) for trial in trials) for n in ELIMINATIONS)
    return [name, len(trials), counted(sum(len(trial.sizes) for trial in trials)), *map(counted, leaking)]


def repairs(frame: pl.DataFrame) -> str:
    """What the rule and merging alone take, for one elimination and for more."""
    headings = ["eliminations", "k", "β", "groups", "that leak", "values replaced", "of these hidden"]
    headings += ["mergers beside", "mergers alone", "T.DisR, unrepaired", "by the rule", "by merging alone"]
    return markdown(headings, _repairs(original_of(frame, I)))


def _repairs(original: Original) -> Iterator[list[object]]:
    for eliminations, (k, l) in product(ELIMINATIONS, REPAIRED):
        asked = Asked(k, l, I)
        plain = published(original, KL, asked)
        rule, merge = (
            published(original, OURS, asked, eliminations=eliminations, repair=repair)
            for repair in ("rule", "merge")
        )
        cells = [
            *(rule.notes[key] for key in ("groups_before", "leaking_before")),
            *(sum(rule.notes[key].values()) for key in ("sensitive_values_replaced", "of_these_hidden")),
            *(way.notes["mergers"] for way in (rule, merge)),
        ]
        costs = (f"{trial.t_disr:.4f}" for trial in (plain, rule, merge))
        yield [eliminations, k, l, *map(counted, cells), *costs]


def picture(found: list[Leaks]) -> None:
    """The share of rows of k-ℓ in leaking groups, and what both distort, against k."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for l, style in zip(LS, ("-o", "--s"), strict=True):
            here = [each for each in found if each.asked.l == l]
            ks = [each.asked.k for each in here]
            left.plot(
                ks, [each.share for each in here], style, color=pictures.RED, markersize=4, label=f"ℓ = {l}"
            )
        two = [each for each in found if each.asked.l == LS[0]]
        ks = [each.asked.k for each in two]
        costs = {KL: [each.theirs.t_disr for each in two], OURS: [each.ours.t_disr for each in two]}
        right.plot(ks, costs[KL], "-o", color=pictures.ORANGE, linewidth=4, markersize=6, label=KL)
        right.plot(ks, costs[OURS], "-o", color=pictures.BLUE, markersize=4, label=OURS)
        left.set(title="share of rows whose topography k-ℓ leaks", ylim=(0, None), xlabel="k")
        right.set(title=f"T.DisR, ℓ = β = {LS[0]}", ylim=(0, None), xlabel="k")
        for axis in (left, right):
            axis.legend(fontsize=8)
    pictures.save(figure, "alpha-beta-k-leaks")
