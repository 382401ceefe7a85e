"""Do the experiments of the grading paper again: python -m benchmarks.reproductions.grading [--only NAME]."""

import sys
from collections.abc import Iterable
from functools import partial

import polars as pl

from benchmarks.reproductions import (
    grading_accuracy,
    grading_adult,
    grading_breaches,
    grading_codes,
    grading_compared,
    grading_distributions,
    grading_grades,
    grading_time,
    grading_weka,
    occ,
)
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce

PAGE = DOCS / "grading.md"
MADE = Page(
    "grading",
    ("methods.grade", "datasets.papers"),
    ("generalize", "grade"),
)
Figures = Iterable[Figure]


def _accuracy(frame: pl.DataFrame) -> Figures:
    found = grading_accuracy.run(frame)
    put(PAGE, "accuracy", grading_accuracy.table(found))
    put(PAGE, "key", grading_accuracy.key_table(found))
    grading_accuracy.picture(found)
    return grading_compared.table_5(found)


def _choices(frame: pl.DataFrame) -> None:
    put(PAGE, "choices", grading_accuracy.by_choices(frame))


def _weka(frame: pl.DataFrame) -> None:
    put(PAGE, "weka", grading_weka.table(frame))


def _distributions(frame: pl.DataFrame) -> Figures:
    hidden = grading_adult.graded(frame)
    put(PAGE, "workclass", grading_distributions.workclass_table(frame, hidden))
    put(PAGE, "education", grading_distributions.education_table(frame, hidden))
    put(PAGE, "losses", grading_distributions.losses(frame, hidden))
    grading_distributions.workclass_picture(frame, hidden)
    grading_distributions.education_picture(frame, hidden)
    return grading_compared.distributions(frame, hidden)


def _breaches(frame: pl.DataFrame) -> None:
    found = grading_breaches.run(frame)
    put(PAGE, "proximity", grading_breaches.proximity(found))
    put(PAGE, "divergence", grading_breaches.divergence(found))
    put(PAGE, "alone", grading_breaches.alone(frame))
    grading_breaches.picture(found)


def _grades(frame: pl.DataFrame) -> None:
    found = grading_grades.run(frame)
    put(PAGE, "grades", grading_grades.table(found))
    put(PAGE, "nobody", grading_grades.nobody_known(frame))
    grading_grades.picture(found)


def _codes(frame: pl.DataFrame) -> None:
    put(PAGE, "codes", grading_codes.table(frame))
    put(PAGE, "people", grading_codes.by_known_people(frame))


def _time(frame: pl.DataFrame) -> None:
    put(PAGE, "time", grading_time.table(frame))


def _worked() -> Figures:
    return [*grading_compared.tables_1_to_4(), grading_compared.figure_2()]


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    if not occ.is_here():
        sys.exit(f"Nothing was reproduced: {occ.MISSING}.")
    frame = grading_adult.read()
    on_adult = {
        "accuracy": _accuracy,
        "choices": _choices,
        "distributions": _distributions,
        "breaches": _breaches,
        "grades": _grades,
        "codes": _codes,
        "time": _time,
    }
    if grading_weka.is_here():
        on_adult["weka"] = _weka
    else:
        print(f"Nothing is done with Weka: {grading_weka.MISSING}.", file=sys.stderr)
    experiments = {name: partial(run, frame) for name, run in on_adult.items()}
    reproduce(MADE, __doc__, {"worked": _worked, **experiments})


if __name__ == "__main__":
    main()
