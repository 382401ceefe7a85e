"""Judging a published table of a million rows: k, l and t of two attributes, beside reading it."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl

import manyveils as mv
from benchmarks.clock import best
from benchmarks.line import Line, within
from benchmarks.setting import Setting

ROWS = 1_000_000
SEED = 20260101
FEW = 5
# Labels of quasi-identifiers, and how many different ones each has.
QUASI = {"age": 8, "workclass": 4, "education": 4, "marital": 3, "race": 2, "sex": 2, "country": 2}
SENSITIVE = {"occupation": 14, "salary": 10}
READ = "Polars read_csv"


def lines(setting: Setting) -> Iterator[Line]:
    """Judge a csv file, and a dataframe."""
    file = setting.folder / "bare.csv"
    table().write_csv(file)
    reading, frame = best(partial(pl.read_csv, file), repetitions=FEW)
    from_file, _ = best(partial(mv.check, file, policy()), repetitions=FEW)
    from_frame, _ = best(partial(mv.check, frame, policy()), repetitions=FEW)
    what = "a bare table of 1,000,000 rows, k, l and t of two attributes"
    yield within(f"{what}, from a dataframe", from_frame, reading, READ, 3)
    yield within(f"{what}, from a csv file, reading included", from_file, reading, READ)


def table() -> pl.DataFrame:
    """Labels of seven quasi-identifiers, as another tool writes them, and two sensitive attributes."""
    rng = np.random.default_rng(SEED)
    columns = {}
    for name, n_values in (QUASI | SENSITIVE).items():
        labels = pl.Series([f"[{10 * value}; {10 * value + 10}[ {name}" for value in range(n_values)])
        columns[name] = labels.gather(rng.choice(n_values, ROWS, p=rng.dirichlet(np.full(n_values, 5.0))))
    return pl.DataFrame(columns)


def policy() -> mv.Policy:
    """What is asked of it."""
    roles = {**dict.fromkeys(QUASI, "quasi"), **dict.fromkeys(SENSITIVE, "sensitive")}
    return mv.Policy(
        data={"person": "row"},
        attributes={name: {"role": role} for name, role in roles.items()},
        guarantee={"k": 2, "l": 2, "t": 0.5},
    )
