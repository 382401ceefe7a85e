"""Appendix B of the paper to the letter: one 0/1 variable per row, and the largest group that the condition allows."""

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from benchmarks.reproductions.guardian_trials import MULTI, Drawn, original_of, rules_of, tried
from benchmarks.reproductions.table import counted, markdown

LHS, L, SEED, LIMIT = 3, 2, 1, 120.0
RULES = (2, 3, 5)


def table(frame: pl.DataFrame) -> str:
    """For one rule set of each size: the rows of the largest group, by the program and by ours, and the time of both."""
    headings = (
        "rules",
        "sensitive attributes",
        "rows by the program",
        "seconds",
        "rows by ours",
        "seconds, ours",
    )
    return markdown(headings, _lines(frame))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    original = original_of(frame)
    for c in RULES:
        rules = rules_of(original, Drawn(c, LHS, L), SEED)
        names = sorted({str(rule["protect"]) for rule in rules})
        if len(names) < 2:
            continue
        started = perf_counter()
        n_rows = largest_group(frame, names)
        taken = perf_counter() - started
        ours = tried(original, MULTI, rules, L, audited=False)
        shown = frame.height - ours.release.suppressed
        yield c, len(names), counted(n_rows), f"{taken:.1f}", counted(shown), f"{ours.seconds:.2f}"


def largest_group(frame: pl.DataFrame, names: list[str]) -> int:
    """The most rows in which no value has more than one l-th of those that agree in all other sensitive attributes."""
    parts = [constraints(frame, name, [other for other in names if other != name]) for name in names]
    found = milp(
        -np.ones(frame.height),
        constraints=LinearConstraint(vstack(parts), -np.inf, 0.0),
        integrality=np.ones(frame.height),
        bounds=Bounds(0, 1),
        options={"time_limit": LIMIT},
    )
    return round(-found.fun) if found.fun is not None else 0


def constraints(frame: pl.DataFrame, name: str, others: list[str]) -> csr_array:
    """A line for every value beside every combination of the others: l times its rows less all rows of the combination."""
    lines = _numbered(frame, others)
    cells = _numbered(frame, [*others, name])
    n_lines, n_cells = int(lines.max()) + 1, int(cells.max()) + 1
    line_of_cell = np.zeros(n_cells, dtype=np.int64)
    line_of_cell[cells] = lines
    rows = np.arange(frame.height)
    own = csr_array((np.full(rows.size, float(L)), (cells, rows)), shape=(n_cells, rows.size))
    line = csr_array((np.ones(rows.size), (lines, rows)), shape=(n_lines, rows.size))
    return csr_array(own - line[line_of_cell])


def _numbered(frame: pl.DataFrame, names: list[str]) -> NDArray[np.int64]:
    """The combination of values that each row has, as a number."""
    return frame.select(pl.struct(names).rank("dense").cast(pl.Int64)).to_series().to_numpy() - 1
