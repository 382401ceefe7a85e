"""The time it takes to grade the table, as a multiple of reading it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import manyveils as mv
from benchmarks.clock import best
from benchmarks.reproductions.grading_adult import CHOICE, MAIN, SEED, attributes, chosen
from benchmarks.reproductions.table import markdown
from benchmarks.trail import time_method
from manyveils.publishing import publish_to
from manyveils.table import hold

PAPER = 28.0


def table(frame: pl.DataFrame) -> str:
    """Seconds, and multiples of what Polars needs to read the table."""
    asked = mv.Policy(attributes={**attributes(), CHOICE: {"role": "choice"}}, publish={"method": "grade"})
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "adult.csv", Path(folder) / "release"
        frame.with_columns(chosen(frame, MAIN)).write_csv(file)
        held, _ = hold(file, asked)
        steps: dict[str, Callable[[], object]] = {
            "read_csv of Polars": partial(pl.read_csv, file),
            "read, grade, seal and audit": partial(mv.publish, file, asked, seed=SEED),
            "the same, written and audited as files": partial(
                publish_to, asked, out, data=file, seed=SEED, force=True
            ),
        }
        seconds = {what: best(step)[0] for what, step in steps.items()}
        seconds["grade alone, the table in memory"] = time_method(asked, held)[0]
    reading = seconds["read_csv of Polars"]
    rows = [(what, f"{time:.3f} s", f"{time / reading:.1f}") for what, time in seconds.items()]
    return markdown(
        ("step", "time", "multiple of reading"), [("paper", f"{PAPER:.0f} s", "not given"), *rows]
    )
