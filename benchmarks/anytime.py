"""Tables with many quasi-identifiers: the best node within a limit, and how far from the optimum it can be."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import polars as pl

from benchmarks.clock import best, worked
from benchmarks.line import Line, checked, noted, within
from benchmarks.memory import MEGABYTE, peak_bytes
from benchmarks.setting import Setting
from benchmarks.trail import make, sealed, work_of
from manyveils import Policy
from manyveils.datasets import survey, survey_policy
from manyveils.engines import judge
from manyveils.table import hold

QUESTIONS = (20, 37, 60)
# Rows and quasi-identifiers of the tables of ARX's benchmark of heuristics, which are not ours to pass on.
SHAPES = {"psychology test": (73_489, 16), "credit cards": (30_000, 24), "census": (68_725, 30)}
SHAPE_CHECKS = 1_000
CLOSED_QUESTIONS, ENOUGH_CHECKS = 10, 100_000
READ = "Polars read_csv"


@dataclass(frozen=True)
class Wide:
    """A survey, and how it is published."""

    name: str
    n_rows: int
    n_questions: int
    policy: Policy


def lines(setting: Setting) -> Iterator[Line]:
    """Search surveys of more and more questions; quickly, a small one."""
    if setting.quick:
        yield from _searched(_survey(20, 2_000, {"check_limit": 500}), setting)
        return
    for n_questions in QUESTIONS:
        yield from _searched(_survey(n_questions, 20_000, {}), setting)
    yield _closed()
    for name, (n_rows, n_questions) in SHAPES.items():
        yield from _searched(_shaped(name, n_rows, n_questions), setting)


def _survey(n_questions: int, n_rows: int, options: dict[str, int]) -> Wide:
    publishing = {"method": "generalize", "suppression": 0.05, **options}
    return Wide("survey", n_rows, n_questions, survey_policy(n_questions, publish=publishing))


def _shaped(name: str, n_rows: int, n_questions: int) -> Wide:
    """As that benchmark asks: k = 5, and any row may be left out."""
    publishing = {"method": "generalize", "suppression": 1.0, "check_limit": SHAPE_CHECKS}
    policy = survey_policy(n_questions, guarantee={"k": 5}, publish=publishing)
    return Wide(f"survey of the shape of {name}", n_rows, n_questions, policy)


def _searched(wide: Wide, setting: Setting) -> Iterator[Line]:
    frame, file = survey(wide.n_rows, wide.n_questions), setting.folder / "survey.csv"
    frame.write_csv(file)
    reading, _ = best(partial(pl.read_csv, file), repetitions=3)
    table, restore = hold(file, wide.policy)
    seconds, made = worked(partial(make, wide.policy, work_of(wide.policy, table)))
    what = f"anytime: {wide.name}, {wide.n_rows:,} rows, {wide.n_questions} quasi-identifiers"
    yield within(what, seconds, reading, READ).with_ours(
        _told(dict(made.notes), table.n_rows * wide.n_questions)
    )
    judging, audit = worked(partial(judge, sealed(made, table, wide.policy, restore), table, wide.policy))
    assert audit.kept
    yield noted(f"{what}, audit", judging)
    peak = peak_bytes(wide.policy, file)
    yield Line(f"{what}, peak memory of publish", f"{peak / MEGABYTE:,.0f} MiB")


def _told(notes: dict[str, object], n_cells: int) -> str:
    """The loss, what it is at least, and what that took."""
    cost, least, nodes = (float(str(notes[name])) for name in ("cost", "cost_at_least", "nodes"))
    found = f"loss {cost / n_cells:.4f}, at least {least / n_cells:.4f} (gap {float(str(notes['gap'])):.0%})"
    return f"{found}, {notes['nodes_checked']:,} of {nodes:.2g} nodes checked"


def _closed() -> Line:
    """The optimum by the exact search and by the anytime search, which must know it for one."""
    exact, anytime = (
        dict(
            make(
                wide.policy, work_of(wide.policy, hold(survey(20_000, CLOSED_QUESTIONS), wide.policy)[0])
            ).notes
        )
        for wide in (
            _survey(CLOSED_QUESTIONS, 20_000, {}),
            _survey(CLOSED_QUESTIONS, 20_000, {"check_limit": ENOUGH_CHECKS}),
        )
    )
    costs = [float(str(notes["cost"])) for notes in (exact, anytime)]
    return checked(
        f"anytime: survey, {CLOSED_QUESTIONS} quasi-identifiers, gap closed",
        f"{costs[1]:,.1f}, {anytime['nodes_checked']:,} nodes checked",
        f"{costs[0]:,.1f} by the exact search, {exact['nodes_checked']:,} nodes checked",
        met=bool(anytime["is_optimal"]) and abs(costs[0] - costs[1]) <= 1e-9 * costs[0],
    )
