"""CODIP on Census-Income: four quasi-identifiers, fifteen sensitive attributes."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from benchmarks.clock import best
from benchmarks.line import Line, skipped, under, within
from benchmarks.reproductions import census
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils import Policy
from manyveils.engines import judge
from manyveils.methods.codip.association import associate
from manyveils.methods.codip.search import merged_plan
from manyveils.policy.guarantees import exact
from manyveils.table import hold

READS = 5
SECONDS = 30
GUARANTEE = {"k": 2, "t": 0.4}


def codip_policy(search: str, **publish: object) -> Policy:
    """The paper's attributes, k = 2 and t = 0.4."""
    section = {"method": "codip", "search": search, "beta": 0.2, "discernibility": 3.5e9, **publish}
    return Policy(attributes=census.attributes(), guarantee=GUARANTEE, publish=section)


def lines(setting: Setting) -> Iterator[Line]:
    """The whole of CODIP* beside the read of the file, the merges alone, and the exact frontier."""
    if not census.is_here():
        yield skipped("CODIP", census.MISSING)
        return
    file = census.as_csv(setting.folder)
    reading, whole = best(partial(pl.read_csv, file), repetitions=3)
    frame = census.prepared(whole)
    policy = codip_policy("greedy")
    table, restore = hold(frame, policy)
    what = f"CODIP*, {frame.height:,} rows, 15 SAs, 4 QIs"
    making, made = time_method(policy, table)
    yield within(what, making, reading, "Polars read_csv", READS)
    judging, _ = best(partial(judge, sealed(made, table, policy, restore), table, policy), repetitions=2)
    yield within(f"{what}, audit", judging, making, "the method")
    association = associate(table, policy, table.expand(policy.sensitive))
    parts = tuple((each,) for each in range(len(association.names)))
    merging, _ = best(
        partial(merged_plan, association, parts, lambda part: True, exact(1), patient=False), repetitions=3
    )
    yield within(f"{what}, all {len(parts) - 1} merges", merging, making, "the method")
    for search in ("patient", "optimal"):
        seconds, _ = time_method(codip_policy(search), table, repetitions=2)
        yield under(f"CODIP, search = {search}, 15 SAs", seconds, SECONDS)
    seconds, _ = time_method(codip_policy("greedy", anonymizer="mondrian"), table, repetitions=2)
    yield within("CODIP*, Mondrian tables", seconds, reading, "Polars read_csv")
