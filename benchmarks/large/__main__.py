"""Measure tables that do not fit: `python -m benchmarks.large [--millions 10] [--memory 2GB] [--only full-domain]`."""

import argparse
import filecmp
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.large.one import IN_MEMORY
from benchmarks.large.people import MILLION, POLICIES, write_people
from benchmarks.line import Line, seconds, times
from benchmarks.show import show, write_large
from manyveils.streaming.room import read_size

MEGABYTE = 1 << 20
# So many million rows are done in memory too.
MOST_HELD = 10
INTRODUCTION = """\
`make bench-large` measures this table and writes this section; `MILLIONS=100 MEMORY=8GB` says how large.
Ten attributes: five quasi-identifiers, two sensitive attributes (anatomy: one) and neutral ones, with which nearly every published row differs from all others.
Every piece of work is done once, in a process of its own; a publication includes its audit.
Times are those of the processors, since the machine is shared, with the time by the wall beside them; DuckDB groups by six columns, and sorts by all ten and writes, with the same memory and two threads.
The peak is the kernel's (`VmHWM`).
"""


@dataclass(frozen=True)
class Taken:
    """What one piece of work took."""

    wall: float
    processor: float
    peak: int

    def __str__(self) -> str:
        return f"{seconds(self.processor)} ({seconds(self.wall)} by the wall), {self.peak:,} MB"


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, default=10)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--only", choices=list(POLICIES), nargs="+", default=list(POLICIES))
    parser.add_argument("--folder", type=Path, help="for files, which are deleted")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="manyveils-bench-", dir=arguments.folder) as folder:
        data = Path(folder) / "people.parquet"
        write_people(int(arguments.millions * MILLION), data)
        size = f"{arguments.millions:g} million rows, {arguments.memory}"
        reference = _reference(data, arguments.memory, arguments.millions)
        beside = [Line(name, "–", str(taken or "gave up")) for name, taken in reference.items()]
        for method in arguments.only:
            lines = [*beside, *_of_method(method, data, arguments.millions, arguments.memory, reference)]
            show(lines)
            write_large(INTRODUCTION, f"{method}, {size}", lines)


def _taken(work: str, data: Path, out: Path, memory: str) -> Taken | None:
    """Do it in a process of its own; nothing if it gave up."""
    arguments = [sys.executable, "-m", "benchmarks.large.one", work, str(data), str(out), memory]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    console = Console(stderr=True)
    if done.returncode:
        console.print(f"{work}: {done.stderr[-2000:]}", markup=False)
        return None
    found = json.loads(done.stdout.splitlines()[-1])
    console.print(f"{work}, {memory}: {found}", markup=False)
    return Taken(found["wall"], found["processor"], found["peak"])


def _reference(data: Path, memory: str, millions: float) -> dict[str, Taken | None]:
    """What others take to group by six columns, and to sort by all and write."""
    aside, reference = data.with_name("reference"), dict[str, Taken | None]()
    # Polars keeps to no limit, and sorts in some 300 MB for each million rows.
    for library in ("DuckDB", "Polars streaming") if millions <= MOST_HELD else ("DuckDB",):
        for work in ("group", "sort and write"):
            name = f"{library}, {work}"
            reference[name] = _taken(name, data, aside, memory)
            Path(f"{aside}.parquet").unlink(missing_ok=True)
    return reference


def _of_method(
    method: str, data: Path, millions: float, memory: str, reference: Mapping[str, Taken | None]
) -> Iterator[Line]:
    here, there = data.with_name("in-memory"), data.with_name("streamed")
    ours = _taken(method, data, there, memory)
    if ours is None:
        yield Line(method, "gave up", wanted="a release", met=False)
        return
    most = read_size(memory).n_bytes // MEGABYTE
    yield Line(f"{method}, peak", f"{ours.peak:,} MB", wanted=f"≤ {most:,} MB", met=ours.peak <= most)
    group, sort = reference["DuckDB, group"], reference["DuckDB, sort and write"]
    if group is not None and sort is not None:
        beside = group.processor + sort.processor
        ratio = ours.processor / beside
        told = f"{seconds(beside)} DuckDB, group, and sort and write"
        yield Line(method, str(ours), told, f"{times(ratio)} the time", "≤ 5 × the time", ratio <= 5)
    if millions > MOST_HELD:
        return
    local = _taken(method, data, here, IN_MEMORY)
    if local is not None:
        ratio = ours.processor / local.processor
        yield Line(f"{method}, beside all rows in memory", str(ours), str(local), f"{times(ratio)} the time")
        is_same = all(
            filecmp.cmp(path, there / path.relative_to(here), shallow=False)
            for path in here.rglob("*")
            if path.is_file()
        )
        yield Line(f"{method}, bytes of the release", "the same" if is_same else "others", met=is_same)


if __name__ == "__main__":
    main()
