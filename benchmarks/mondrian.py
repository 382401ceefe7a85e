"""Mondrian on eight attributes: seconds, and how much of the cells is kept."""

from collections.abc import Iterator
from typing import Any

import manyveils as mv
from benchmarks import adult
from benchmarks.line import Line, at_least, skipped, within
from benchmarks.setting import Setting
from benchmarks.trail import sealed, time_method
from manyveils.table import hold

ARX_LOCAL_RECODING = 1.8
TENTH = 0.1
GRANULARITY = {"sets": 0.975, "hierarchy": 0.943}


def mondrian_policy(labels: str, k: int = 5) -> mv.Policy:
    """Mondrian on the eight attributes."""
    publish: dict[str, Any] = {"method": "generalize", "recoding": "mondrian", "labels": labels}
    return adult.policy(adult.EIGHT, {"k": k}, publish)


def lines(setting: Setting) -> Iterator[Line]:
    """Time both kinds of labels, and measure the releases."""
    if not adult.is_here():
        yield skipped("Mondrian", adult.MISSING)
        return
    frame = adult.read()
    for labels, least in GRANULARITY.items():
        policy = mondrian_policy(labels)
        table, restore = hold(frame, policy)
        ours, made = time_method(policy, table)
        utility = mv.measure(sealed(made, table, policy, restore), frame, policy)
        what = f"Mondrian: 8 attributes, k = 5, {labels}"
        yield within(what, ours, ARX_LOCAL_RECODING, "ARX local recoding, warm, elsewhere", TENTH)
        yield at_least(f"{what}, granularity", utility["granularity"], least)
