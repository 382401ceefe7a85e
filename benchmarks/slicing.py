"""Slicing on seven attributes: how time and memory grow with the rows."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from benchmarks import adult, million
from benchmarks.clock import best
from benchmarks.line import Line, skipped, within
from benchmarks.memory import memory_line
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils import Policy
from manyveils.engines import judge
from manyveils.table import hold

OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex", "occupation")
TENTH = 10
GROWTH = 13
READS = 60
MEMORY = 6


def slicing_policy(columns: int) -> Policy:
    """Seven attributes of Adult, occupation sensitive, l = 5."""
    attributes: dict[str, Any] = {name: {"role": "quasi"} for name in OCC_7} | {
        "occupation": {"role": "sensitive"}
    }
    publish = {"method": "slice", "columns": columns}
    return Policy(attributes=attributes, guarantee={"l": 5, "l_kind": "frequency"}, publish=publish)


def lines(setting: Setting) -> Iterator[Line]:
    """Slice a million rows and a tenth of them."""
    if not adult.is_here():
        yield skipped("slicing", adult.MISSING)
        return
    whole = million.replicated(adult.read(), adult.COPIES).select(OCC_7)
    file = setting.folder / "seven.csv"
    whole.write_csv(file)
    reading, frame = best(partial(pl.read_csv, file), repetitions=3)
    for columns in (2, 3):
        policy = slicing_policy(columns)
        what = f"million rows: slicing, {len(OCC_7)} attributes, {columns} columns, l = 5"
        table, restore = hold(file, policy)
        making, made = time_method(policy, table, repetitions=2)
        tenth, _ = hold(whole.sample(whole.height // TENTH, seed=1), policy)
        short, _ = time_method(policy, tenth, repetitions=3)
        judging, _ = best(partial(judge, sealed(made, table, policy, restore), table, policy), repetitions=2)
        yield within(what, making, reading, "Polars read_csv", READS)
        yield within(f"{what}, beside a tenth of the rows", making, short, "a tenth of the rows", GROWTH)
        yield within(f"{what}, audit", judging, making, "the method")
    yield memory_line("million rows: slicing", slicing_policy(2), file, frame, at_most=MEMORY)
