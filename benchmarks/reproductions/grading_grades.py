"""How much grades tell of ages: to someone who knows a few people, and to someone who knows nobody."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.reproductions import pictures
from benchmarks.reproductions.grading_adult import SEED, Grading, graded
from benchmarks.reproductions.table import markdown

KNOWN = (0, 1, 2, 5, 10)
DRAWS = 500
NEAR = 5
SPACINGS = ("equal-width", "quantile")
YOUNGEST, OLDEST = 17, 90
Numbers = NDArray[np.float64]
Ages = NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """The different grades in order, the age behind each, and how many rows have it."""

    grades: Numbers
    ages: Ages
    counts: Ages

    @property
    def category(self) -> Ages:
        """The category of every grade, which is its whole part."""
        return self.grades.astype(np.int64)


@dataclass(frozen=True)
class Left:
    """What is left of people's ages to guess, over many draws of known people."""

    spacing: str
    attack: str
    n_known: int
    candidates: float
    near: float
    exact: float


def ladder(ages: pl.Series, grades: pl.Series) -> Ladder:
    """Both columns of the same rows, value by value."""
    found = pl.DataFrame({"age": ages, "grade": grades}).group_by("age", "grade").len().sort("age")
    return Ladder(
        found["grade"].to_numpy(), found["age"].to_numpy(), found["len"].to_numpy().astype(np.int64)
    )


def by_order(ladder: Ladder, known: Ages) -> Ages:
    """How many ages each grade may stand for, if grades have the order of ages, and ages lie from 17 to 90."""
    grades = ladder.grades[known]
    below = np.searchsorted(grades, ladder.grades, side="left")
    above = np.searchsorted(grades, ladder.grades, side="right")
    ages = np.concatenate([[YOUNGEST - 1], ladder.ages[known], [OLDEST + 1]])
    return np.where(above > below, 1, ages[above + 1] - ages[below] - 1)


def by_formula(ladder: Ladder, known: Ages) -> Ages:
    """The same for someone who knows the formula: two people in a category give its ends, and so everyone in it."""
    left = by_order(ladder, known)
    people = np.bincount(ladder.category[known], minlength=ladder.category.max() + 1)
    return np.where(people[ladder.category] >= 2, 1, left)


def by_steps(ladder: Ladder, known: Ages) -> Ages:
    """The same if the smallest step between grades of a category is taken for a year: one person gives the rest."""
    left = by_order(ladder, known)
    people = np.bincount(ladder.category[known], minlength=ladder.category.max() + 1)
    return np.where((people[ladder.category] >= 1) & stepped(ladder), 1, left)


def by_line(ladder: Ladder, known: Ages) -> Ages:
    """The same if all categories are taken for equally wide: then grades lie on one line, which two people give."""
    left = by_order(ladder, known)
    if known.size < 2:
        return left
    ends = known[[0, -1]]
    slope = np.diff(ladder.ages[ends]) / np.diff(ladder.grades[ends])
    guess = np.rint(ladder.ages[ends[0]] + slope * (ladder.grades - ladder.grades[ends[0]]))
    return np.where(guess == ladder.ages, 1, left)


def stepped(ladder: Ladder) -> NDArray[np.bool_]:
    """Whether every age is where the smallest step of its category, taken for a year, puts it."""
    right = np.zeros(ladder.ages.size, dtype=bool)
    for category in np.unique(ladder.category):
        of = np.flatnonzero(ladder.category == category)
        step = np.diff(ladder.grades[of]).min() if of.size > 1 else 1.0
        # The largest value of all is set to 0.999 instead of 1, so steps are rounded.
        years = np.rint((ladder.grades[of] - ladder.grades[of[0]]) / step)
        right[of] = years == ladder.ages[of] - ladder.ages[of[0]]
    return right


ATTACKS: dict[str, Callable[[Ladder, Ages], Ages]] = {
    "order": by_order,
    "order and formula": by_formula,
    "order and steps": by_steps,
    "order and equal widths": by_line,
}


def attacks_on(spacing: str) -> list[str]:
    """Equal widths are tried where they are true."""
    return [attack for attack in ATTACKS if spacing == "equal-width" or ATTACKS[attack] is not by_line]


def drawn(ladder: Ladder, n_known: int, rng: np.random.Generator) -> Ages:
    """The places of the grades of some people, in order and each once."""
    people = np.repeat(np.arange(ladder.ages.size), ladder.counts)
    return np.unique(rng.choice(people, n_known, replace=False))


def run(frame: pl.DataFrame) -> list[Left]:
    """Every attack with growing numbers of known people, drawn from all, on both spacings of categories."""
    return [left for spacing in SPACINGS for left in _lefts(frame, spacing)]


def _lefts(frame: pl.DataFrame, spacing: str) -> Iterator[Left]:
    steps = ladder(frame["age"], graded(frame, grading=Grading(spacing=spacing)).table["age"])
    rng = np.random.Generator(np.random.PCG64(SEED))
    for n_known in KNOWN:
        known = [drawn(steps, n_known, rng) for _ in range(DRAWS)]
        for attack in attacks_on(spacing):
            left = np.stack([ATTACKS[attack](steps, each) for each in known])
            yield _left(spacing, attack, n_known, left, np.broadcast_to(steps.counts, left.shape))


def _left(spacing: str, attack: str, n_known: int, left: Ages, weights: Ages) -> Left:
    return Left(
        spacing,
        attack,
        n_known,
        float(np.average(left, weights=weights)),
        float(np.average(left <= NEAR, weights=weights)),
        float(np.average(left == 1, weights=weights)),
    )


def table(found: list[Left]) -> str:
    """What is left to guess: mean ages per person, people with five or fewer, people with one."""
    headings = [f"{n} known" for n in KNOWN]
    return markdown(("spacing", "attack", "what is told", *headings), _lines(found))


def _lines(found: list[Left]) -> Iterator[tuple[str, ...]]:
    tried = [(spacing, attack) for spacing in SPACINGS for attack in attacks_on(spacing)]
    for spacing, attack in tried:
        line = [each for each in found if (each.spacing, each.attack) == (spacing, attack)]
        yield spacing, attack, "ages left, mean", *(f"{each.candidates:.1f}" for each in line)
        yield spacing, attack, "five or fewer left", *(f"{each.near:.1%}" for each in line)
        yield spacing, attack, "age known", *(f"{each.exact:.1%}" for each in line)


def nobody_known(frame: pl.DataFrame) -> str:
    """Ages read without knowing anybody: by counting grades from 17, and by the ages of other people."""
    return markdown(
        ("categories", "attack", "age right", "within two years", "largest error"), _nobody_lines(frame)
    )


def _nobody_lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    mixed = frame.sample(fraction=1, shuffle=True, seed=SEED)
    published, others = mixed[: frame.height // 2], mixed[frame.height // 2 :]
    for categories, (what, part, guess) in product(
        (1, 5, 20),
        (
            ("counting from 17", frame, lambda ladder: YOUNGEST + np.arange(ladder.grades.size)),
            ("quantiles of others", published, lambda ladder: by_quantiles(ladder, others["age"])),
        ),
    ):
        steps = ladder(part["age"], graded(part, grading=Grading(categories)).table["age"])
        error = np.abs(guess(steps) - steps.ages)
        right, near = (np.average(error <= width, weights=steps.counts) for width in (0, 2))
        yield categories, what, f"{right:.1%}", f"{near:.1%}", int(error.max())


def by_quantiles(ladder: Ladder, others: pl.Series) -> Ages:
    """The age that stands where the middle of each grade's rows stands, among other people of the same population."""
    ends = np.cumsum(ladder.counts)
    middles = (ends - ladder.counts / 2) / ends[-1]
    return np.quantile(others.to_numpy(), middles, method="inverted_cdf").astype(np.int64)


def picture(found: list[Left]) -> None:
    """Ages left to guess, and people whose age is known, against known people."""
    colours = (pictures.BLUE, pictures.GREEN, pictures.ORANGE, pictures.RED)
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 5.6), layout="constrained")
        grid = figure.subplots(2, 2, sharex=True, sharey="row")
        for (place, spacing), (attack, colour) in product(
            enumerate(SPACINGS), zip(ATTACKS, colours, strict=True)
        ):
            if attack not in attacks_on(spacing):
                continue
            line = [each for each in found if (each.spacing, each.attack) == (spacing, attack)]
            for axis, heights in (
                (grid[0][place], [each.candidates for each in line]),
                (grid[1][place], [each.exact for each in line]),
            ):
                axis.plot(KNOWN, heights, "-o", color=colour, label=attack, markersize=4)
        for place, spacing in enumerate(SPACINGS):
            grid[0][place].set(title=f"ages left to guess, mean, {spacing}", ylim=(0, None))
            grid[1][place].set(title=f"age known, {spacing}", xlabel="known people", ylim=(0, 1.02))
            grid[1][place].yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        grid[0][0].legend(fontsize=8)
    pictures.save(figure, "grading-ages")
