"""The optimal full-domain search beside a group_by for every node, and beside ARX."""

from collections.abc import Iterator

from benchmarks import adult
from benchmarks.cases import Case, K, adult_cases, hospital_case
from benchmarks.line import Line, faster, within
from benchmarks.optimum import optimum
from benchmarks.polars_lattice import label_columns, time_nodes
from benchmarks.setting import Setting
from benchmarks.trail import time_method
from manyveils.datasets import hospital
from manyveils.release import Drafts
from manyveils.table import Table, hold

MANY_TIMES = 30
OTHER_MACHINE = "ARX, warm, elsewhere"


def lines(setting: Setting) -> Iterator[Line]:
    """Compare every case on the table as it is."""
    frame = adult.read() if adult.is_here() else hospital(30_000)
    for case in adult_cases() if adult.is_here() else [hospital_case()]:
        table, _ = hold(frame, case.policy)
        ours, made = time_method(case.policy, table)
        yield from compare(case, table, ours, made, sampled=setting.sampled_nodes, arx=case.arx)
        if not setting.quick:
            yield optimum(case, table, made)


def compare(
    case: Case, table: Table, ours: float, made: Drafts, *, sampled: int | None, arx: float | None
) -> Iterator[Line]:
    """Set the method's time beside Polars on a sample of nodes, and beside ARX's known seconds."""
    what = f"search: {case.name}"
    told = f"{made.notes['nodes_checked']:,} of {made.notes['nodes']:,} nodes checked"
    if case.beside_polars:
        reference, beside = _time_polars(case, table, sampled)
        yield faster(what, ours, reference, beside, MANY_TIMES).with_ours(told)
    if arx is not None:
        yield within(what, ours, arx, OTHER_MACHINE, case.arx_share).with_ours(told)


def _time_polars(case: Case, table: Table, sampled: int | None) -> tuple[float, str]:
    """Seconds for the whole lattice, and how they were found."""
    labels = label_columns(case.policy, table, K)
    nodes = labels.nodes(sampled)
    total = time_nodes(labels, nodes)
    if len(nodes) == labels.n_nodes:
        return total, "Polars group_by per node"
    return total * labels.n_nodes / len(nodes), f"Polars group_by per node (scaled from {len(nodes)} nodes)"
