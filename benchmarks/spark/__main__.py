"""Measure Spark and write its part of docs/benchmarks.md: `python -m benchmarks.spark [--hundred] [--only METHOD]`."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.line import Line, seconds, times
from benchmarks.show import show, write_spark
from benchmarks.spark.one import LOCAL
from benchmarks.spark.people import MILLION, POLICIES

ONE, TWO = "local-cluster[1,1,3072]", "local-cluster[2,1,3072]"
DRIVER = 2000
SIZES = (1, 10, 50)
INTRODUCTION = """\
`make bench-spark` measures this table and writes this section.
Rows are generated on Spark and read as parquet; a time is that of `publish` with the audit of what was written, by the wall, once.
Two executors are run once more between two runs of one, and compared with their mean: the machine is shared, and may be half as fast ten minutes later.
Starting Spark and its executors is not in it, and is told apart.
Every method is measured in a run of its own: `python -m benchmarks.spark --only METHOD`.
Executors are processes of one core and 3 GB on the same machine (`local-cluster`).
All processes are bound to as many cores as there are executors, the driver among them: otherwise Java and Python of a single executor would keep two cores busy.
Memory of the driver is that of its Python and its Java process together, at their peaks.
The local engine has the same rows as a Polars frame.
A million rows are so few that they are [brought to the driver](spark.md#small-tables) whole.
"""


@dataclass(frozen=True)
class Taken:
    """What one publication took."""

    seconds: float
    starting: float
    memory: int


def main() -> None:
    """Measure, print and write down."""
    arguments = _arguments()
    millions = (*SIZES, 100) if arguments.hundred else tuple(arguments.millions)
    with tempfile.TemporaryDirectory(prefix="manyveils-bench-") as folder:
        _generate(Path(folder), millions)
        for method in arguments.only or POLICIES:
            lines = list(_lines(method, Path(folder), millions))
            show(lines)
            if set(SIZES) <= set(millions):
                write_spark(INTRODUCTION, method, lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hundred", action="store_true", help="also a hundred million rows")
    parser.add_argument(
        "--millions",
        type=int,
        nargs="+",
        default=SIZES,
        help="millions of rows; other sizes are not written down",
    )
    parser.add_argument("--only", choices=list(POLICIES), nargs="+", help="some methods")
    return parser.parse_args()


def _generate(folder: Path, millions: tuple[int, ...]) -> None:
    code = (
        "import sys; from pathlib import Path; from manyveils.spark.session import session; "
        "from benchmarks.spark.people import write_people; "
        "write_people(session(), int(sys.argv[1]), Path(sys.argv[2]))"
    )
    for each in millions:
        subprocess.run([sys.executable, "-c", code, str(each * MILLION), str(folder / str(each))], check=True)


def _taken(master: str, method: str, folder: Path, millions: int) -> Taken | None:
    """Publish in a process of its own; None if it gave up."""
    arguments = [master, method, str(folder / str(millions)), str(folder / "out")]
    made = subprocess.run(
        [sys.executable, "-m", "benchmarks.spark.one", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        Console(stderr=True).print(
            f"{method}, {millions} million, {master}: {made.stderr[-2000:]}", markup=False
        )
        return None
    found = json.loads(made.stdout.splitlines()[-1])
    taken = Taken(found["seconds"], found["starting"], found["python"] + found["java"])
    Console(stderr=True).print(f"{method}, {millions} million, {master}: {found}", markup=False)
    return taken


def _lines(method: str, folder: Path, millions: tuple[int, ...]) -> Iterator[Line]:
    found = {each: _taken(TWO, method, folder, each) for each in millions}
    for each, taken in found.items():
        what = f"{method}, {each} million rows"
        if taken is None:
            yield Line(what, "gave up", wanted="a release", met=False)
            continue
        fewer = found.get(each // 10) or found.get(10 if each == 50 else 0)
        yield _growth(what, taken, fewer, 5 if each == 50 else 10)
    yield from _driver(method, found)
    yield from _executors(method, folder, found)
    yield from _local(method, folder, found)


def _growth(what: str, taken: Taken, fewer: Taken | None, factor: int) -> Line:
    ours = f"{seconds(taken.seconds)}, {seconds(taken.starting)} to start"
    if fewer is None:
        return Line(what, ours)
    ratio, most = taken.seconds / fewer.seconds, 1.1 * factor
    reference = f"{seconds(fewer.seconds)} with 1/{factor} of the rows"
    return Line(what, ours, reference, f"{times(ratio)} the time", f"≤ {most:g} × the time", ratio <= most)


def _driver(method: str, found: dict[int, Taken | None]) -> Iterator[Line]:
    each, most = list(found.items())[-1]
    if most is not None:
        what = f"{method}, {each} million rows, memory of the driver"
        yield Line(what, f"{most.memory:,} MB", wanted=f"< {DRIVER:,} MB", met=most.memory < DRIVER)


def _executors(method: str, folder: Path, found: dict[int, Taken | None]) -> Iterator[Line]:
    """Two executors between two runs of one, since other work on the machine comes and goes."""
    each = 10 if 10 in found else min(found)
    before, two, after = (_taken(master, method, folder, each) for master in (ONE, TWO, ONE))
    if before is not None and two is not None and after is not None:
        one = (before.seconds + after.seconds) / 2
        ratio = one / two.seconds
        yield Line(
            f"{method}, {each} million rows, two executors on two cores",
            seconds(two.seconds),
            f"{seconds(one)} one on one core",
            f"{ratio:.2f} × faster",
            "≥ 1.6 × faster",
            ratio >= 1.6,
        )


def _local(method: str, folder: Path, found: dict[int, Taken | None]) -> Iterator[Line]:
    for each in (size for size in found if size <= 10):
        spark, here = found[each], _taken(LOCAL, method, folder, each)
        if spark is not None and here is not None:
            yield Line(
                f"{method}, {each} million rows, beside the local engine",
                f"{seconds(spark.seconds)}, {spark.memory:,} MB on the driver",
                f"{seconds(here.seconds)} local, {here.memory:,} MB",
                f"{times(spark.seconds / here.seconds)} the time",
            )


if __name__ == "__main__":
    main()
