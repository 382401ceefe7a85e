"""A million rows, step by step: reading, the method, sealing, writing, the audit."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks import adult, million
from benchmarks.cases import adult_cases
from benchmarks.clock import best, waited
from benchmarks.line import Line, noted, skipped, within
from benchmarks.memory import memory_line
from benchmarks.mondrian import mondrian_policy
from benchmarks.search import compare
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils import Policy
from manyveils.engines import judge
from manyveils.table import hold

SAMPLED_NODES = 40
FEW = 3
READ, SORT = "Polars read_csv", "Polars sort by all columns"


@dataclass(frozen=True)
class Job:
    """A method on a million rows, and how many times the reference's time it may take."""

    name: str
    policy: Policy
    beside: str
    at_most: float


def jobs() -> list[Job]:
    """Anatomy beside sorting, Mondrian beside reading."""
    anatomize = {"method": "anatomize"}
    diverse, two_sensitive = {"l": 3}, {"occupation": {}, "salary-class": {"l": 2}}
    one = adult.policy(adult.SEVEN, {"l": 3, "l_kind": "frequency"}, anatomize, {"occupation": {}})
    two = adult.policy(adult.SEVEN, diverse, anatomize, two_sensitive)
    return [
        Job("anatomy, one SA, frequency l = 3", one, SORT, 3),
        Job("anatomy, two SAs, distinct l = 3 and 2", two, SORT, 3),
        Job("Mondrian, 8 attributes, k = 5, sets", mondrian_policy("sets"), READ, 20),
        Job("Mondrian, 8 attributes, k = 5, hierarchy", mondrian_policy("hierarchy"), READ, 20),
    ]


def lines(setting: Setting) -> Iterator[Line]:
    """Replicate Adult to a million rows, and time every step on it."""
    if not adult.is_here():
        yield skipped("a million rows", adult.MISSING)
        return
    file = setting.folder / "million.csv"
    million.replicated(adult.read(), adult.COPIES).write_csv(file)
    reading, frame = best(partial(pl.read_csv, file), repetitions=FEW)
    sorting, _ = best(partial(_sorted, frame), repetitions=FEW)
    references = {READ: reading, SORT: sorting}
    for job in jobs():
        yield from _steps(job, file, references, setting.folder)
        yield memory_line(f"million rows: {job.name}", job.policy, file, frame)
    yield from _searches(file)


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    # The lazy sort gives the same rows as the eager one in a quarter of the time.
    return frame.lazy().sort(frame.columns).collect()


def _steps(job: Job, file: Path, references: dict[str, float], folder: Path) -> Iterator[Line]:
    what = f"million rows: {job.name}"
    holding, (table, restore) = best(partial(hold, file, job.policy), repetitions=1)
    making, made = time_method(job.policy, table, repetitions=FEW)
    sealing, release = best(partial(sealed, made, table, job.policy, restore), repetitions=FEW)
    judging, _ = best(partial(judge, release, table, job.policy), repetitions=FEW)
    writing, _ = waited(lambda: release.save(folder / "release", force=True))
    yield within(what, making, references[job.beside], job.beside, job.at_most)
    yield within(f"{what}, audit", judging, making, "the method", 1)
    yield within(f"{what}, reading and coding", holding, references[READ], READ)
    yield noted(f"{what}, sealing", sealing)
    yield noted(f"{what}, writing", writing)


def _searches(file: Path) -> Iterator[Line]:
    for case in adult_cases():
        table, _ = hold(file, case.policy)
        ours, made = time_method(case.policy, table, repetitions=2)
        for line in compare(case, table, ours, made, sampled=SAMPLED_NODES, arx=case.arx_million):
            yield line.about(f"million rows: {line.what}")
