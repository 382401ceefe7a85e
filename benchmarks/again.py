"""A generation of a million people beside its first publication: a quarter later, with the release before in mind."""

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import manyveils as mv
from benchmarks.clock import waited
from benchmarks.line import Line, within
from benchmarks.setting import Setting
from manyveils import Policy
from manyveils.datasets import insured, insured_policy
from manyveils.publishing import publish_to

PEOPLE, FEW = 1_000_000, 20_000
SEED = 1
MOST_TIMES = 2.0
REPETITIONS = 2
APART = [["age", "sex"], ["zipcode"], ["tissue"], ["condition"], ["therapy"]]
METHODS: dict[str, Mapping[str, Any]] = {
    "anatomy, 2 %": {"method": "anatomize", "suppression": 0.02},
    "slicing": {"method": "slice", "columns": APART, "suppression": 0.02},
    "Mondrian": {"method": "generalize", "recoding": "mondrian", "suppression": 0.02},
    "separate": {"method": "separate"},
}


def lines(setting: Setting) -> Iterator[Line]:
    """Publishing into a folder, audit and ledger included, method by method."""
    n = FEW if setting.quick else PEOPLE
    files = quarters(setting.folder, n)
    for name in METHODS:
        what = f"{n:,} people published again: {name}"
        try:
            first, again = times(name, files, setting.folder / "again")
        except mv.ManyveilsError as error:
            yield Line(what, f"refused: {type(error).__name__}", met=False)
            continue
        yield within(what, again, first, "its first publication", MOST_TIMES)


def quarters(folder: Path, n: int) -> tuple[Path, Path]:
    """Two quarters of a registry, in files."""
    files = folder / "quarter-1.parquet", folder / "quarter-2.parquet"
    for number, file in enumerate(files, start=1):
        insured(n, number).write_parquet(file)
    return files


def times(name: str, files: tuple[Path, Path], folder: Path) -> tuple[float, float]:
    """Seconds of the first publication and of the next one; the least of some, in turn, since machines are shared."""
    policy = insured_policy(publish=dict(METHODS[name]))
    _both(policy, files, folder)
    turns = [_both(policy, files, folder) for _ in range(REPETITIONS)]
    first, again = (min(seconds) for seconds in zip(*turns, strict=True))
    return first, again


def _both(policy: Policy, files: tuple[Path, Path], folder: Path) -> tuple[float, float]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    publish = partial(publish_to, policy, seed=SEED)
    first, published = waited(partial(publish, folder / "release-1", data=files[0]))
    again, _ = waited(partial(publish, folder / "release-2", data=files[1], after=[published.folder]))
    return first, again
