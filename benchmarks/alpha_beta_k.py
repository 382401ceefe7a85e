"""(α,β,k) on a million records of the tumour registry: six quasi-identifiers, three sensitive attributes."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from benchmarks.clock import best
from benchmarks.line import Line, within
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils import Policy
from manyveils.datasets import tumour_sections, tumours
from manyveils.datasets.registry import QUASI, SENSITIVE
from manyveils.engines import judge
from manyveils.table import Table, hold

ROWS, TENTH = 1_000_000, 10
READS = 25
N_SENSITIVE = 3
USUAL, LEAKY = (5, 3), (3, 2)
NAMES = (*QUASI, *SENSITIVE[:N_SENSITIVE])


def alpha_beta_k_policy(k: int, beta: int, **publish: object) -> Policy:
    """The registry's hierarchies, and nothing but what is published."""
    attributes = tumour_sections(N_SENSITIVE)["attributes"]
    section = {"method": "alpha-beta-k", "k": k, "beta": beta, **publish}
    return Policy(attributes={name: attributes[name] for name in NAMES}, publish=section)


def lines(setting: Setting) -> Iterator[Line]:
    """The method beside the read of the file, its growth and its audit; then two eliminations."""
    file = setting.folder / "tumours.csv"
    whole = tumours(ROWS, seed=1).select(NAMES)
    whole.write_csv(file)
    reading, _ = best(partial(pl.read_csv, file), repetitions=3)
    tenth, _ = hold(whole.head(ROWS // TENTH), alpha_beta_k_policy(*USUAL))
    for k, beta in (USUAL, LEAKY):
        policy = alpha_beta_k_policy(k, beta)
        what = f"million rows: (α,β,k), {len(QUASI)} QIs, {N_SENSITIVE} SAs, k = {k}, β = {beta}"
        table, restore = hold(file, policy)
        making, made = time_method(policy, table, repetitions=3)
        short, _ = time_method(policy, tenth, repetitions=3)
        judging, _ = best(partial(judge, sealed(made, table, policy, restore), table, policy), repetitions=2)
        share = made.notes["leaking_before"] / made.notes["groups_before"]
        yield within(what, making, reading, "Polars read_csv", READS).with_ours(
            f"{share:.1%} of groups leaked"
        )
        yield within(f"{what}, beside a tenth of the rows", making, short, "a tenth of the rows")
        yield within(f"{what}, audit", judging, making, "the method")
    yield from _two_eliminations(tenth)


def _two_eliminations(table: Table) -> Iterator[Line]:
    for k, beta in (USUAL, LEAKY):
        one, two = (
            time_method(alpha_beta_k_policy(k, beta, eliminations=n), table, repetitions=3)[0] for n in (1, 2)
        )
        what = f"(α,β,k), {table.n_rows:,} rows, k = {k}, β = {beta}, two eliminations"
        yield within(what, two, one, "one elimination")
