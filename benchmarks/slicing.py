"""Slicing: how time and memory grow with the rows, and what the audit takes where sensitive attributes have many values."""

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
from manyveils.datasets import discharges, encounter_policy, encounters
from manyveils.engines import judge
from manyveils.table import hold

OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex", "occupation")
TENTH = 10
GROWTH = 11
AUDIT = 3
READS = 60
MEMORY = 6
FEW_ROWS = 20_000
WIDE_MEMORY = 40


def slicing_policy(columns: int) -> Policy:
    """Seven attributes of Adult, occupation sensitive, l = 5."""
    attributes: dict[str, Any] = {name: {"role": "quasi"} for name in OCC_7} | {
        "occupation": {"role": "sensitive"}
    }
    publish = {"method": "slice", "columns": columns}
    return Policy(attributes=attributes, guarantee={"l": 5, "l_kind": "frequency"}, publish=publish)


def wide_tables() -> Iterator[tuple[str, pl.DataFrame, Policy]]:
    """Tables with several sensitive attributes of many values each."""
    publish = {"method": "slice"}
    yield (
        "encounters, 5 SAs of up to 749 values",
        encounters(),
        encounter_policy(data={"person": "row"}, publish=publish),
    )
    known = ("gender", "pat_age", "race", "county", "thcic")
    secret = ("prn_diag", "diag1", "diag2", "diag3", "hcfa_drg", "apr_drg")
    roles = {name: {"role": "quasi"} for name in known} | {name: {"role": "sensitive"} for name in secret}
    policy = Policy(attributes=roles, guarantee={"l": 2}, publish=publish)
    yield "discharges, 6 SAs of up to 4,000 values", discharges(FEW_ROWS).select(*known, *secret), policy


def _wide(setting: Setting) -> Iterator[Line]:
    """The audit of slices of such tables, and what publishing and auditing the larger one takes of memory."""
    for name, frame, policy in wide_tables():
        file = setting.folder / "wide.csv"
        frame.write_csv(file)
        table, restore = hold(file, policy)
        making, made = time_method(policy, table, repetitions=3)
        judging, _ = best(partial(judge, sealed(made, table, policy, restore), table, policy), repetitions=3)
        what = f"slicing, {frame.height:,} {name}"
        yield within(f"{what}, audit", judging, making, "the method", AUDIT)
        if frame.height > FEW_ROWS:
            yield memory_line(what, policy, file, pl.read_csv(file), at_most=WIDE_MEMORY)


def lines(setting: Setting) -> Iterator[Line]:
    """Slice wide tables, then a million rows and a tenth of them."""
    yield from _wide(setting)
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
