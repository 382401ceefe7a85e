"""Peak memory of a whole publication, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl

from benchmarks.line import Line, times
from manyveils import Policy

FACTOR = 4
MEGABYTE = 1 << 20
# A child inherits its parent's ru_maxrss; VmHWM is the peak of this program alone.
PROGRAM = """
import json, sys
import numba, scipy.sparse
import manyveils as mv
import manyveils.run, manyveils.methods.generalize, manyveils.methods.anatomize, manyveils.methods.slice
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
policy = mv.Policy(**json.load(sys.stdin))
before = peak()
release = mv.publish(sys.argv[1], policy)
print(peak() - before)
"""


def memory_line(what: str, policy: Policy, file: Path, frame: pl.DataFrame, *, at_most: int = FACTOR) -> Line:
    """Set the peak of publishing a file beside the size of its table as Arrow."""
    peak, table = peak_bytes(policy, file), frame.to_arrow().nbytes
    factor = peak / table
    return Line(
        f"{what}, peak memory of publish",
        f"{peak / MEGABYTE:,.0f} MiB",
        f"{table / MEGABYTE:,.0f} MiB as Arrow",
        f"{times(factor)} the size",
        f"< {at_most} × the size",
        factor < at_most,
    )


def peak_bytes(policy: Policy, file: str | Path) -> int:
    """How far the process grows beyond what it holds once everything is imported, the compiler too."""
    sections = policy.model_dump(by_alias=True, exclude_unset=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)],
        input=json.dumps(sections),
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) * 1024
