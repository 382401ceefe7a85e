"""Which tests run through which line, and how long they take: recorded once by coverage, with the test as context."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

PACKAGES = ("audits", "promises", "reading")
DATA, TIMES, SETTINGS = "mutants.coverage", "mutants.xml", "mutants.ini"
# A time for tests that were not timed.
USUAL = 1.0


@dataclass(frozen=True)
class Covering:
    """What was recorded in a tree."""

    root: Path

    @cached_property
    def _data(self):  # type: ignore[no-untyped-def]
        from coverage import CoverageData

        data = CoverageData(str(self.root / DATA))
        data.read()
        return data

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test function takes, with all its parameters."""
        told: dict[str, float] = {}
        for case in ElementTree.parse(self.root / TIMES).iter("testcase"):
            name = f"{case.get('classname')}.{str(case.get('name')).split('[')[0]}"
            told[name] = told.get(name, 0.0) + float(case.get("time") or 0)
        return told

    def tests_of(self, path: Path, lines: Iterable[int]) -> list[str]:
        """The tests that run through any of some lines of a file, the quickest first."""
        contexts = self._data.contexts_by_lineno(str(path))
        names = {name for line in lines for name in contexts.get(line, ()) if name}
        return sorted(names, key=lambda name: self.seconds.get(name, USUAL))


def record(root: Path, tests: Sequence[str]) -> None:
    """Run tests once, and keep who ran through what."""
    sources = "\n".join(f"    src/manyveils/{package}" for package in PACKAGES)
    settings = f"[run]\ndynamic_context = test_function\nrelative_files = true\ndata_file = {DATA}\nsource =\n{sources}\n"
    (root / SETTINGS).write_text(settings, encoding="utf-8")
    run = [
        "-m",
        "coverage",
        "run",
        f"--rcfile={SETTINGS}",
        "-m",
        "pytest",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": "src"}
    subprocess.run(
        [sys.executable, *run, f"--junitxml={TIMES}", *tests], cwd=root, env=environment, check=True
    )


def node_of(root: Path, name: str) -> str:
    """How pytest calls a test function that coverage names by its modules."""
    parts = name.split(".")
    for stop in range(len(parts) - 1, 0, -1):
        path = Path(*parts[:stop]).with_suffix(".py")
        if (root / path).is_file():
            return "::".join((path.as_posix(), *parts[stop:]))
    raise LookupError(name)
