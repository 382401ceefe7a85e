"""The algorithms on a coarse registry, where Exponential-ℓ has a release by the letter of Definition 1."""

from collections.abc import Callable, Iterable

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.alpha_beta_k_classes import coarse_original, coarsened
from benchmarks.reproductions.alpha_beta_k_trials import (
    BY_SIZE,
    EXPONENTIAL,
    K_ALONE,
    KL,
    OURS,
    Asked,
    Trial,
    short_of,
    tried,
)
from benchmarks.reproductions.table import counted, markdown
from manyveils.datasets.registry import SENSITIVE

ALGORITHMS = (OURS, KL, K_ALONE, EXPONENTIAL, BY_SIZE)
STYLES = {
    BY_SIZE: (":", pictures.RED, 1.5),
    EXPONENTIAL: ("-D", pictures.RED, 1.5),
    KL: ("-o", pictures.ORANGE, 4.0),
    OURS: ("-o", pictures.BLUE, 1.5),
    K_ALONE: ("--", pictures.GREY, 1.5),
}
K, DIVERSITIES, DRAWN_L = 20, (2, 3, 4), 4
NO_RELEASE = "none"

Found = dict[tuple[Asked, str], Trial | None]


def run(frame: pl.DataFrame) -> Found:
    """Every algorithm for two, three and four values in a group, and one to six attributes."""
    coarse = coarsened(frame)
    originals = {i: coarse_original(coarse, i) for i in range(1, len(SENSITIVE) + 1)}
    points = [Asked(K, l, i) for l in DIVERSITIES for i in originals]
    return {
        (asked, algorithm): tried(originals[asked.i], algorithm, asked)
        for asked in points
        for algorithm in ALGORITHMS
    }


def table(found: Found) -> str:
    """Groups that fall short of what they are not asked for, and the discernibility of every algorithm."""
    headings = ["ℓ", "i", "groups, k-ℓ", "that leak", "groups, k alone", "with fewer than ℓ values"]
    headings += [f"C_DM, {algorithm}" for algorithm in ALGORITHMS]
    return markdown(headings, (_line(found, asked) for asked in _points(found)))


def _line(found: Found, asked: Asked) -> list[object]:
    return [
        asked.l,
        asked.i,
        _cell(found[asked, KL], lambda trial: counted(len(trial.sizes))),
        _cell(found[asked, OURS], lambda trial: counted(trial.notes["leaking_before"])),
        _cell(found[asked, K_ALONE], lambda trial: counted(len(trial.sizes))),
        _cell(found[asked, K_ALONE], lambda trial: counted(_short_of_values(trial, asked.l))),
        *(_cell(found[asked, each], lambda trial: counted(trial.discernibility)) for each in ALGORITHMS),
    ]


def _short_of_values(trial: Trial, l: int) -> int:
    """The groups with too few values of the attribute that is worst off."""
    return max(finding.groups_short for finding in short_of(trial, "distinct-l-diversity", l=l))


def distortion(found: Found) -> str:
    """The groups of Exponential-ℓ, and T.DisR of every algorithm."""
    headings = ["ℓ", "i", "ℓ^i", "smallest group, Exponential-ℓ", "groups, Exponential-ℓ"]
    headings += [f"T.DisR, {algorithm}" for algorithm in ALGORITHMS]
    return markdown(headings, (_distortions(found, asked) for asked in _points(found)))


def _distortions(found: Found, asked: Asked) -> list[object]:
    return [
        asked.l,
        asked.i,
        counted(asked.l**asked.i),
        _cell(found[asked, EXPONENTIAL], lambda trial: counted(min(trial.sizes))),
        _cell(found[asked, EXPONENTIAL], lambda trial: counted(len(trial.sizes))),
        *(_cell(found[asked, each], lambda trial: f"{trial.t_disr:.4f}") for each in ALGORITHMS),
    ]


def _points(found: Found) -> Iterable[Asked]:
    return dict.fromkeys(asked for asked, _ in found)


def _cell(trial: Trial | None, told: Callable[[Trial], str]) -> str:
    return NO_RELEASE if trial is None else told(trial)


def picture(found: Found) -> None:
    """Discernibility and distortion against the number of attributes."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw(left, found, lambda trial: trial.discernibility)
        _draw(right, found, lambda trial: trial.t_disr)
        left.set(yscale="log", title=f"discernibility, k = {K}, ℓ = {DRAWN_L}")
        right.set(ylim=(0, None), title=f"T.DisR, k = {K}, ℓ = {DRAWN_L}")
        for axis in (left, right):
            axis.set(xlabel="number of sensitive attributes i", xticks=range(1, len(SENSITIVE) + 1))
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(STYLES), fontsize=8)
    pictures.save(figure, "alpha-beta-k-coarse")


def _draw(axis: Axes, found: Found, height: Callable[[Trial], float]) -> None:
    for algorithm, (style, colour, width) in STYLES.items():
        points = [
            (asked.i, height(trial))
            for (asked, by), trial in found.items()
            if by == algorithm and asked.l == DRAWN_L and trial is not None
        ]
        axis.plot(
            *zip(*points, strict=True),
            style,
            color=colour,
            linewidth=width,
            markersize=2.5 + width,
            label=algorithm,
        )
