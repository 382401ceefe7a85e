"""Experiment 4: how the time of slicing grows with rows and with columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from benchmarks import million
from benchmarks.clock import worked
from benchmarks.reproductions import occ, pictures
from benchmarks.reproductions.table import counted, markdown
from benchmarks.trail import make, work_of
from manyveils.release import Drafts
from manyveils.table import hold

ROWS = (10_000, 45_000, 100_000, 450_000)
TENFOLD = {100_000: 10_000, 450_000: 45_000}
COLUMNS = (2, 5)
ALL_COLUMNS = {"OCC-7": (1, 2, 3, 5, 7), "OCC-15": (1, 2, 3, 5, 8, 15)}
COPIES = 10
TURNS = 3
REFERENCE = 45_000


@dataclass(frozen=True)
class Time:
    """Seconds of the method alone."""

    table: str
    n_columns: int
    n_rows: int
    seconds: float


@dataclass(frozen=True)
class Job:
    """The method on a table that is read and coded."""

    table: str
    n_columns: int
    n_rows: int
    make: Callable[[], Drafts]


def run(frame: pl.DataFrame) -> list[Time]:
    """Both tables for growing rows, and for growing numbers of columns on the original's size.

    All jobs are timed in turn, several times over, and the least counts: a busy minute then hits all alike.
    """
    rows = million.replicated(frame, COPIES).sample(fraction=1, shuffle=True, seed=million.SEED)
    wanted = [(table, c, n) for table in occ.TABLES for c in COLUMNS for n in ROWS]
    wanted += [(table, c, REFERENCE) for table in occ.TABLES for c in ALL_COLUMNS[table] if c not in COLUMNS]
    jobs = [_job(rows.head(n), table, c) for table, c, n in wanted]
    # The first call compiles.
    jobs[0].make()
    turns = [[worked(job.make)[0] for job in jobs] for _ in range(TURNS)]
    return [
        Time(job.table, job.n_columns, job.n_rows, min(times))
        for job, times in zip(jobs, zip(*turns, strict=True), strict=True)
    ]


def _job(frame: pl.DataFrame, table: str, n_columns: int) -> Job:
    names = occ.TABLES[table]
    policy = occ.policy(names, {"l": 5, "l_kind": "frequency"}, {"method": "slice", "columns": n_columns})
    held, _ = hold(frame.select(names), policy)
    work = work_of(policy, held)
    return Job(table, n_columns, frame.height, partial(make, policy, work))


def _seconds(found: list[Time], table: str, n_columns: int, n_rows: int) -> float:
    return next(
        each.seconds
        for each in found
        if (each.table, each.n_columns, each.n_rows) == (table, n_columns, n_rows)
    )


def by_rows(found: list[Time]) -> str:
    """Times as multiples of the shortest, and how many times longer ten times the rows take."""
    return markdown(
        (
            "table",
            "columns",
            *(f"{counted(n)} rows" for n in ROWS),
            *(f"{counted(n)} against {counted(TENFOLD[n])} rows" for n in TENFOLD),
        ),
        _row_lines(found),
    )


def _row_lines(found: list[Time]) -> Iterator[tuple[str, ...]]:
    for table in occ.TABLES:
        for c in COLUMNS:
            times = {n: _seconds(found, table, c, n) for n in ROWS}
            multiples = [f"{times[n] / times[ROWS[0]]:.1f}" for n in ROWS]
            yield (
                table,
                str(c),
                *multiples,
                *(f"{times[n] / times[TENFOLD[n]]:.1f} times" for n in TENFOLD),
            )


def by_columns(found: list[Time]) -> str:
    """Times on the original's size as multiples of that of two columns of OCC-7."""
    unit = _seconds(found, "OCC-7", 2, REFERENCE)
    lines = [
        (table, str(c), f"{_seconds(found, table, c, REFERENCE) / unit:.1f}")
        for table in occ.TABLES
        for c in ALL_COLUMNS[table]
    ]
    return markdown(("table", "columns", "time, OCC-7 in two columns being 1"), lines)


def picture(found: list[Time]) -> None:
    """Times against rows beside a straight line, and against columns, as multiples."""
    colours = {"OCC-7": pictures.BLUE, "OCC-15": pictures.ORANGE}
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        unit = _seconds(found, "OCC-7", 2, ROWS[0])
        for table, c in ((table, c) for table in occ.TABLES for c in COLUMNS):
            times = [_seconds(found, table, c, n) / unit for n in ROWS]
            style = "-o" if c == COLUMNS[0] else "--s"
            left.plot(ROWS, times, style, color=colours[table], label=f"{table}, c = {c}", markersize=4)
        left.plot(ROWS, [n / ROWS[0] for n in ROWS], ":", color=pictures.GREY, label="in proportion")
        left.set(xscale="log", yscale="log", xlabel="rows", title="time, OCC-7 with c = 2 at 10,000 rows = 1")
        left.legend(fontsize=7)
        unit = _seconds(found, "OCC-7", 2, REFERENCE)
        for table, columns in ALL_COLUMNS.items():
            times = [_seconds(found, table, c, REFERENCE) / unit for c in columns]
            right.plot(columns, times, "-o", color=colours[table], label=table, markersize=4)
        right.set(ylim=(0, None), xlabel="columns", title="time at 45,000 rows, OCC-7 with c = 2 = 1")
        right.legend(fontsize=7)
    pictures.save(figure, "slicing-time")
