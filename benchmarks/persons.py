"""A million rows of 300,000 persons beside the same rows taken as persons: publishing and its audit."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import manyveils as mv
from benchmarks.clock import best
from benchmarks.line import Line, within
from benchmarks.setting import Setting
from manyveils import Policy
from manyveils.datasets import hospital
from manyveils.engines import judge
from manyveils.table import hold

ROWS, PERSONS = 1_000_000, 300_000
FEW_ROWS, FEW_PERSONS = 100_000, 30_000
SEED = 20261118
MOST_TIMES = 1.5
METHODS: dict[str, Mapping[str, Any]] = {
    "full-domain, 2 %": {"method": "generalize", "suppression": 0.02},
    "Mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomy, 2 %": {"method": "anatomize", "suppression": 0.02},
    "slicing": {"method": "slice"},
}
ATTRIBUTES: dict[str, Any] = {
    "person": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20, 40]}},
    "sex": {"role": "quasi"},
    "zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "job": {"role": "quasi"},
    "month": {"role": "quasi"},
    "diagnosis": {"role": "sensitive"},
    "insurance": {"role": "sensitive"},
}


def lines(setting: Setting) -> Iterator[Line]:
    """Publishing and the audit alone, method by method, for persons and for rows."""
    n_rows, n_persons = (FEW_ROWS, FEW_PERSONS) if setting.quick else (ROWS, PERSONS)
    file = setting.folder / "persons.parquet"
    visited(n_rows, n_persons).write_parquet(file)
    for name, publish in METHODS.items():
        times = {person: _times(file, policy_of(person, publish)) for person in ("row", "person")}
        what = f"{n_rows:,} rows of {n_persons:,} persons: {name}"
        for step, ours, rows in zip(("publish", "audit"), times["person"], times["row"], strict=True):
            yield within(f"{what}, {step}", ours, rows, "rows as persons", MOST_TIMES)


def visited(n_rows: int, n_persons: int) -> pl.DataFrame:
    """Rows of persons, of whom the same is known in every row except the month; what is sensitive differs."""
    rng = np.random.default_rng(SEED)
    known, others = hospital(n_persons), hospital(n_rows, seed=2)
    person = rng.integers(n_persons, size=n_rows)
    quasi = known.select("age", "sex", "zipcode", "job")[person]
    return quasi.with_columns(
        person=pl.Series(person),
        month=pl.Series(rng.integers(1, 13, n_rows)),
        diagnosis=others["diagnosis"].str.split("|").list.first(),
        insurance=others["insurance"],
    )


def policy_of(person: str, publish: Mapping[str, Any]) -> Policy:
    """Five quasi-identifiers and two sensitive attributes, k = 5 and l = 3."""
    return Policy(
        data={"person": person}, attributes=ATTRIBUTES, guarantee={"k": 5, "l": 3}, publish=dict(publish)
    )


def _times(file: Path, policy: Policy) -> tuple[float, float]:
    """Seconds to read, publish and audit a file, and to audit the release alone."""
    making, release = best(partial(mv.publish, file, policy, 1), repetitions=2)
    table, _ = hold(file, policy)
    judging, _ = best(partial(judge, release, table, policy), repetitions=2)
    return making, judging
