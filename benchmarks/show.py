"""The table on the terminal and in the documentation."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.line import Line
from benchmarks.machine import busy, machine, versions
from benchmarks.peer_process import versions as peers

HEADINGS = ("what", "ours", "reference", "ratio", "wanted", "met?")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
LARGE = "\n## Tables that do not fit\n\n"
SPARK = "\n## Spark\n\n"
METHOD = "\n### "
INTRODUCTION = """\
# Benchmarks

`make bench` measures this table and writes this page.
Every ratio compares two times of the same run on the same machine, each the best of several repetitions after a warm-up.
Computing inside one process is timed as the lesser of wall and processor seconds, on both sides, because other programs share the machine; other processes and writing are timed by the wall.
References run in the fastest form we found: sorting is lazy, and a node is counted by columns or by one packed key, whichever is faster for it.
Kernels are compiled before the clock starts; what compiling costs is told as the first run.
The table is Adult (30,162 rows, ARX's hierarchies); the million rows are 34 copies of it in which one cell of a hundred is replaced by a random value of its column.
A search is the method alone, on a table that is read and coded.
Its reference counts every node of the lattice with a Polars `group_by` over integer columns made beforehand, timed on a random sample of nodes and scaled up (`--whole-lattice` counts them all).
ARX's seconds were measured on another machine and are for orientation only.
Their seven-attribute lattice had 1,080 nodes and ours has 2,160, so those two lines compare different searches.
Surveys, encounters, histories, discharges and the tumour registry are generated.
Peers get a pandas frame and we get the same one; our time is the whole of `publish`, the audit included.
Peers are called with the types their documentation uses, and calls shorter than ten seconds are repeated.
"""


def cells(line: Line) -> tuple[str, ...]:
    """The cells of a line, in the order of the headings."""
    met = {None: "–", True: "yes", False: "no"}[line.met]
    return line.what, line.ours, line.reference, line.ratio, line.wanted, met


def show(lines: Sequence[Line]) -> None:
    """Print one table."""
    table = Table(*HEADINGS, title="manyveils, measured")
    for line in lines:
        table.add_row(*cells(line), style="red" if line.met is False else None)
    Console(width=max(Console().width, 160)).print(table)


def write(lines: Sequence[Line]) -> Path:
    """Write docs/benchmarks.md; sections that are measured apart stay."""
    measured = f"\nMeasured on {machine()}, load average {busy():.0f}.\nWith {versions()}.\nPeers: {peers() or 'none'}.\n\n"
    _, heading, section = PAGE.read_text(encoding="utf-8").partition(LARGE) if PAGE.exists() else ("", "", "")
    _keep(f"{INTRODUCTION}{measured}{_body(lines)}\n{heading}{section}")
    return PAGE


def write_spark(introduction: str, method: str, lines: Sequence[Line]) -> Path:
    """Write what was measured of one method into the section about Spark; other methods' parts stay."""
    before, _, section = PAGE.read_text(encoding="utf-8").partition(SPARK)
    _keep(f"{before}{SPARK}{introduction}" + _parts(section, method, lines, "pyspark"))
    return PAGE


def write_large(introduction: str, size: str, lines: Sequence[Line]) -> Path:
    """Write what was measured of tables of one size into their section; other sizes' parts stay."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(LARGE)
    section, heading, after = rest.partition(SPARK)
    _keep(f"{before}{LARGE}{introduction}{_parts(section, size, lines, 'duckdb')}{heading}{after}")
    return PAGE


def _parts(section: str, name: str, lines: Sequence[Line], library: str) -> str:
    """The parts of a section with one of them written anew."""
    _, *parts = section.split(METHOD)
    found = {part.partition("\n")[0]: part.strip() for part in parts}
    measured = f"Measured on {machine()}, load average {busy():.0f}.\nWith {versions()}, {library} {version(library)}."
    found[name] = f"{name}\n\n{measured}\n\n{_body(lines)}"
    return "".join(f"{METHOD}{part}\n" for part in found.values())


def _body(lines: Sequence[Line]) -> str:
    rows = [HEADINGS, ("---",) * len(HEADINGS), *map(cells, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _keep(text: str) -> None:
    PAGE.write_text(text, encoding="utf-8", newline="\n")
