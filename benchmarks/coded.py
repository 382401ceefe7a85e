"""Tables of codes by the hundred: encounters with coded attributes, and histories with a set of codes in a cell."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks.clock import best
from benchmarks.line import Line, noted, within
from benchmarks.memory import MEGABYTE, peak_bytes
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils import Policy
from manyveils.datasets import code_tree, encounter_policy, encounters, histories, history_policy
from manyveils.datasets.codes import SEPARATOR
from manyveils.engines import judge
from manyveils.table import hold

MOST_MEGABYTES, MOST_TIMES = 1_500, 10
FEW = 3
METHODS: dict[str, Mapping[str, Any]] = {
    "full-domain, 2 %": {"method": "generalize", "suppression": 0.02},
    "Mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomy, 2 %": {"method": "anatomize", "suppression": 0.02},
    "slicing": {"method": "slice"},
    "CODIP": {"method": "codip"},
    "guardian": {"method": "guardian"},
    "(α,β,k)": {"method": "alpha-beta-k"},
    "separate": {"method": "separate"},
}


def lines(setting: Setting) -> Iterator[Line]:
    """Anatomy of encounters, and every method on sets of 717 codes beside the 18 chapters of the same codes."""
    yield from _encounters(setting)
    frame = histories()
    fine, coarse = setting.folder / "codes.csv", setting.folder / "chapters.csv"
    frame.write_csv(fine)
    frame.with_columns(_chapters(frame["diagnoses"])).write_csv(coarse)
    for name, publish in METHODS.items():
        yield from _histories(name, publish, str(fine), str(coarse))
    known = {"k": 5, "l": 2, "known_items": 2}
    policy = history_policy(publish=METHODS["Mondrian"], guarantee=known)
    seconds, release = best(partial(mv.publish, fine, policy, 1), repetitions=1)
    line = noted("sets of 717 codes: Mondrian, two known codes, publish", seconds)
    yield line.with_ours(f"{release.notes['share_of_values_hidden']:.0%} of codes hidden")


def _encounters(setting: Setting) -> Iterator[Line]:
    file, policy = setting.folder / "encounters.csv", encounter_policy(data={"person": "row"})
    frame = encounters()
    frame.write_csv(file)
    reading, _ = best(partial(pl.read_csv, file), repetitions=FEW)
    table, restore = hold(file, policy)
    making, made = time_method(policy, table, repetitions=FEW)
    judging, _ = best(partial(judge, sealed(made, table, policy, restore), table, policy), repetitions=FEW)
    what = f"{frame.height:,} encounters, five coded attributes: anatomy, k = 5, l = 2, 2 %"
    yield within(what, making, reading, "Polars read_csv", 40)
    yield within(f"{what}, audit", judging, making, "the method", 2)


def _histories(name: str, publish: Mapping[str, Any], fine: str, coarse: str) -> Iterator[Line]:
    policy = history_policy(publish=publish)
    times = {}
    for file, asked in ((fine, policy), (coarse, _without_hierarchy(policy))):
        times[file], _ = best(partial(mv.publish, file, asked, 1), repetitions=1)
    what = f"sets of 717 codes: {name}, publish"
    yield within(what, times[fine], times[coarse], "18 chapters instead", MOST_TIMES)
    peak = peak_bytes(policy, fine) / MEGABYTE
    yield Line(
        f"{what}, peak memory",
        f"{peak:,.0f} MiB",
        wanted=f"< {MOST_MEGABYTES:,} MiB",
        met=peak < MOST_MEGABYTES,
    )


def _without_hierarchy(policy: Policy) -> Policy:
    """The policy of chapters, whose names are no codes."""
    attributes = policy.model_dump(by_alias=True, exclude_unset=True)["attributes"]
    attributes["diagnoses"].pop("hierarchy")
    return policy.replaced(attributes=attributes)


def _chapters(cells: pl.Series) -> pl.Series:
    """The chapters of the codes in each cell, each once."""
    chapter_of = {
        code: name for name, blocks in code_tree().items() for codes in blocks.values() for code in codes
    }
    listed = cells.str.split(SEPARATOR).list.eval(pl.element().replace_strict(chapter_of).unique().sort())
    return listed.list.join(SEPARATOR).alias(cells.name)
