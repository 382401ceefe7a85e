"""How long it takes until something happens: importing, asking for help, a small publication."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.clock import best, children_seconds, waited
from benchmarks.line import Line, noted, seconds, under
from benchmarks.setting import Setting
from manyveils.datasets import write_hospital

COMMAND = Path(sys.executable).with_name("manyveils")
IMPORT = "from time import perf_counter as now; start = now(); import manyveils; {}; print(now() - start)"


def lines(setting: Setting) -> Iterator[Line]:
    """Time processes from their start."""
    yield under("import manyveils", _import_seconds("pass"), 0.3)
    yield noted("import manyveils and everything publish needs", _import_seconds("manyveils.publish"))
    yield under("manyveils --help", best(partial(_run, ["--help"]), timed=waited)[0], 0.5)
    yield from _publications(setting.folder)


def _publications(folder: Path) -> Iterator[Line]:
    policy = write_hospital(folder / "hospital")
    arguments = ["publish", str(policy), "--out", str(folder / "small"), "--force"]
    cache = Path(tempfile.mkdtemp(dir=folder))
    first, computing = waited(partial(_run, arguments, cache))
    line = noted("manyveils publish, 1,000 rows, first run", first)
    yield line.with_ours(f"{seconds(computing)} of processor time")
    second, computing = best(partial(_run, arguments, cache), repetitions=5, timed=waited)
    line = under("manyveils publish, 1,000 rows, second run", second, 0.8)
    yield line.with_ours(f"{seconds(computing)} of processor time")


def _run(arguments: list[str], cache: Path | None = None) -> float:
    """Run the command; processor seconds it took, which other programs on the machine change less."""
    before = children_seconds()
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    subprocess.run([str(COMMAND), *arguments], check=True, capture_output=True, env=environment)
    return children_seconds() - before


def _import_seconds(then: str) -> float:
    program = [sys.executable, "-c", IMPORT.format(then)]
    runs = [subprocess.run(program, check=True, capture_output=True, text=True) for _ in range(6)]
    return min(float(run.stdout) for run in runs)
