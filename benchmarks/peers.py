"""Peers from PyPI on the same work: pandas in, release out, and the check of a release."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import manyveils as mv
from benchmarks import adult
from benchmarks.clock import best
from benchmarks.line import Line, faster, seconds, skipped
from benchmarks.mondrian import mondrian_policy
from benchmarks.peer_process import call, install
from benchmarks.setting import Setting

DATA = str(adult.FOLDER / "adult.csv")
TWO_SENSITIVE: dict[str, dict[str, Any]] = {"occupation": {}, "salary-class": {}}
# Together these ask for everything pycanon checks.
CHECKS: tuple[dict[str, Any], ...] = (
    {"k": 5, "l": 2, "t": 0.9, "alpha": 0.9, "beta": 1.0, "delta": 1.0},
    {"l": 2, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 2.0},
)


def lines(setting: Setting) -> Iterator[Line]:
    """Set every peer beside our counterpart."""
    reason = install() if adult.is_here() else adult.MISSING
    if reason:
        yield skipped("peers", reason)
        return
    frame = pd.read_csv(DATA, sep=";")
    yield _anjana("k", frame, adult.policy(adult.EIGHT, {"k": 5}, _optimal()))
    diverse = adult.policy(adult.SEVEN, {"k": 5, "l": 3}, _optimal(), {"occupation": {}})
    yield _anjana("l", frame, diverse)
    yield _anonypy(frame)
    yield _pycanon(frame, setting.folder)


def _optimal() -> dict[str, Any]:
    return {"method": "generalize", "objective": "discernibility", "suppression": 0.02}


def _anjana(model: str, frame: pd.DataFrame, policy: mv.Policy) -> Line:
    what = "publish: " + (
        "8 attributes, k = 5, 2 %" if model == "k" else "7 attributes, k = 5, l = 3 on one SA, 2 %"
    )
    ours, release = best(partial(mv.publish, frame, policy), repetitions=3)
    line = _beside(what, ours, "anjana, greedy", call("anjana", DATA, str(adult.FOLDER), model))
    return line.with_ours(f"discernibility {mv.measure(release, frame, policy)['discernibility']:,.0f}")


def _anonypy(frame: pd.DataFrame) -> Line:
    ours, _ = best(partial(mv.publish, frame, mondrian_policy("sets")), repetitions=3)
    return _beside("publish: Mondrian, 8 attributes, k = 5", ours, "anonypy", call("anonypy", DATA))


def _pycanon(frame: pd.DataFrame, folder: Path) -> Line:
    publish = {"method": "generalize", "recoding": "mondrian", "labels": "hierarchy"}
    made_by = adult.policy(adult.SEVEN, {"k": 5, "l": 2}, publish, TWO_SENSITIVE)
    release = mv.publish(frame, made_by)
    file = folder / "release.csv"
    release.frames["main"].write_csv(file)
    policies = [adult.policy(adult.SEVEN, asked, publish, TWO_SENSITIVE) for asked in CHECKS]
    ours, _ = best(lambda: [mv.audit(release, frame, policy) for policy in policies], repetitions=3)
    return _beside("audit: nine models, two SAs", ours, "pycanon", call("pycanon", str(file)))


def _beside(what: str, ours: float, peer: str, told: dict[str, Any] | str) -> Line:
    if isinstance(told, str):
        return Line(what, seconds(ours), f"{peer}: {told}")
    cost = f", discernibility {told['discernibility']:,}" if "discernibility" in told else ""
    return faster(what, ours, told["seconds"], f"{peer}{cost}")
