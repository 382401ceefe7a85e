"""Measure everything, print one table, and write it to docs/benchmarks.md."""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from benchmarks import (
    adult,
    again,
    alpha_beta_k,
    anytime,
    attacks,
    bare,
    bulk,
    coded,
    codip,
    compare,
    guardian,
    init,
    mondrian,
    peers,
    persons,
    report,
    search,
    show,
    slicing,
    starting,
)
from benchmarks.line import Line
from benchmarks.setting import Setting

PARTS: dict[str, Callable[[Setting], Iterator[Line]]] = {
    "search": search.lines,
    "anytime": anytime.lines,
    "mondrian": mondrian.lines,
    "million": bulk.lines,
    "coded": coded.lines,
    "persons": persons.lines,
    "again": again.lines,
    "slicing": slicing.lines,
    "codip": codip.lines,
    "guardian": guardian.lines,
    "alpha-beta-k": alpha_beta_k.lines,
    "attacks": attacks.lines,
    "bare": bare.lines,
    "compare": compare.lines,
    "init": init.lines,
    "report": report.lines,
    "starting": starting.lines,
    "peers": peers.lines,
}
BROKE_OFF = "broke off"
QUICK = ("search", "anytime", "mondrian", "starting")


def main() -> None:
    """Run the parts asked for; only a whole run is written down."""
    arguments = _arguments()
    if not adult.is_here():
        Console(stderr=True).print(f"{adult.MISSING}: using the generated hospital table where that will do.")
    names = [arguments.only] if arguments.only else QUICK if arguments.quick else tuple(PARTS)
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(Path(folder), quick=arguments.quick, whole_lattice=arguments.whole_lattice)
        lines = [line for name in names for line in _told(name, setting)]
    show.show(lines)
    broken = [line for line in lines if line.ours.startswith(BROKE_OFF)]
    if broken:
        sys.exit("A part broke off; nothing was written down.")
    if tuple(names) == tuple(PARTS) and adult.is_here():
        show.write(lines)


def _told(name: str, setting: Setting) -> Iterator[Line]:
    """The lines of a part, each told on stderr as soon as it is known."""
    console = Console(stderr=True)
    for line in _measured(name, setting):
        console.print(
            f"{line.what}: {line.ours}; {line.reference}; {line.ratio}", highlight=False, soft_wrap=True
        )
        yield line


def _measured(name: str, setting: Setting) -> Iterator[Line]:
    """The lines of a part; a part that breaks off says so in a line of its own, and the others go on."""
    try:
        yield from PARTS[name](setting)
    except Exception as error:
        traceback.print_exc()
        yield Line(name, f"{BROKE_OFF}: {type(error).__name__}", met=False)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small version without peers, under a minute")
    parser.add_argument("--only", choices=tuple(PARTS), help="one part of the table")
    parser.add_argument("--whole-lattice", action="store_true", help="time the reference on all nodes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
