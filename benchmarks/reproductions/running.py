"""Run the experiments of a page, put what comes out into it, and keep by which code that was made.

What is kept stands beside this file, in `made/`: the figures that the index lists, the seconds that experiments took, and
a digest of every module that had a part in them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.reproductions import index
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.made_by import digest_of, digests

MADE = Path(__file__).parent / "made"
Experiment = Callable[[], Iterable[Figure] | None]


@dataclass(frozen=True)
class Page:
    """A page of docs/reproductions: its name, the modules that are counted besides its scripts, and the methods it uses."""

    name: str
    made_with: tuple[str, ...]
    methods: tuple[str, ...]

    @property
    def file(self) -> Path:
        """Where what was made is kept."""
        return MADE / f"{self.name}.json"

    def digests(self) -> dict[str, str]:
        """What it is made by now."""
        return digests(self.name, self.made_with, self.methods)


def reproduce(page: Page, description: str | None, experiments: Mapping[str, Experiment]) -> None:
    """Run the experiments asked for; once all of them ran on this code, the page was made by it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", choices=tuple(experiments), nargs="+", help="some of the experiments")
    now = page.digests()
    code = digest_of(now)
    for name in parser.parse_args().only or experiments:
        ran = _ran(name, experiments[name]) | {"made_by": code}
        made = kept(page)
        made["experiments"][name] = ran
        made["experiments"] = {
            one: made["experiments"][one] for one in experiments if one in made["experiments"]
        }
        if [one["made_by"] for one in made["experiments"].values()] == [code] * len(experiments):
            made |= {"made_with": page.made_with, "methods": page.methods, "made_by": now}
        page.file.parent.mkdir(exist_ok=True)
        written = json.dumps(made, indent=1, ensure_ascii=False)
        page.file.write_text(f"{written}\n", encoding="utf-8", newline="\n")
    index.write(MADE)


def kept(page: Page) -> dict[str, Any]:
    """What is kept of the last run."""
    if not page.file.exists():
        return {"experiments": {}}
    made: dict[str, Any] = json.loads(page.file.read_text(encoding="utf-8"))
    return made


def _ran(name: str, experiment: Experiment) -> dict[str, Any]:
    start = perf_counter()
    figures = [figure.described() for figure in experiment() or ()]
    seconds = perf_counter() - start
    print(f"{name}: {seconds:.0f} s", file=sys.stderr)
    return {"seconds": round(seconds), "figures": figures}
