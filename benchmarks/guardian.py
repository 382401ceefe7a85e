"""Guardian tables on synthetic discharges: both decompositions, and count queries on what is published."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from benchmarks.clock import best, worked
from benchmarks.line import Line, noted, under, within
from benchmarks.random_rules import protectable, random_rules
from benchmarks.setting import Setting
from benchmarks.trail import make, sealed, time_method, work_of
from manyveils import Policy
from manyveils.datasets import discharges
from manyveils.engines import judge
from manyveils.table import hold
from manyveils.utility.comparison import Comparison
from manyveils.utility.distribution import estimated, random_queries

READS = 10
MINUTES = 5
QUERY_SECONDS = 10
N_RULES, LEFT, L = 5, 3, 10
N_QUERIES = 1000


def guardian_policy(frame: pl.DataFrame, decompose: str) -> Policy:
    """Five random rules with three attributes on the left, l = 10."""
    rules = random_rules(frame.columns, N_RULES, LEFT, seed=1, allowed=protectable(frame, L))
    roles = {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns}
    publish = {"method": "guardian", "decompose": decompose}
    return Policy(attributes=roles, guarantee={"l": L}, rules=rules, publish=publish)


def seconds_of_queries(comparison: Comparison) -> float:
    """Seconds for a thousand counts from the release, with reading it; the questions are drawn before."""
    queries = list(random_queries(comparison, N_QUERIES, n_attributes=4, share=0.4, seed=1))
    return worked(lambda: [estimated(comparison, masks) for masks in queries])[0]


def lines(setting: Setting) -> Iterator[Line]:
    """UAD beside the read of the file, GD, queries and the audit."""
    file = setting.folder / "discharges.csv"
    frame = discharges()
    frame.write_csv(file)
    reading, _ = best(partial(pl.read_csv, file), repetitions=3)
    what = f"discharges, {frame.height:,} rows, {frame.width} attributes, {N_RULES} rules, l = {L}"
    policy = guardian_policy(frame, "uad")
    table, restore = hold(frame, policy)
    making, made = time_method(policy, table, repetitions=3)
    yield within(f"UAD, {what}", making, reading, "Polars read_csv", READS)
    release = sealed(made, table, policy, restore)
    judging, _ = best(partial(judge, release, table, policy), repetitions=2)
    yield within(f"UAD, {what}, audit", judging, making, "the method")
    asking = seconds_of_queries(Comparison(release, table, policy))
    yield under(f"UAD, {what}, 1,000 count queries", asking, QUERY_SECONDS)
    policy = guardian_policy(frame, "gd")
    repairing, made = worked(partial(make, policy, work_of(policy, table)))
    yield under(f"GD, {what}", repairing, MINUTES * 60)
    release = sealed(made, table, policy, restore)
    asking = seconds_of_queries(Comparison(release, table, policy))
    yield noted(f"GD, {what}, 1,000 count queries", asking)
