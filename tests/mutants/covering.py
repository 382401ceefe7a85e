"""Which tests run through which line, and how long they take: recorded once by coverage, with the test as context."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
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
            node = self._node(f"{case.get('classname')}.{str(case.get('name')).split('[')[0]}")
            told[node] = told.get(node, 0.0) + float(case.get("time") or 0)
        return told

    @cached_property
    def _files(self) -> dict[str, str]:
        """Test files by the ends of their dotted names: coverage leaves out folders that are no packages."""
        files: dict[str, str] = {}
        for path in sorted((self.root / "tests").rglob("test_*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            files |= {".".join(parts[start:]): "/".join(parts) + ".py" for start in range(len(parts))}
        return files

    @cache  # noqa: B019
    def _node(self, name: str) -> str:
        """How pytest calls a test function of a dotted name."""
        module, _, function = name.rpartition(".")
        return f"{self._files[module]}::{function}" if module in self._files else name

    @cache  # noqa: B019
    def _contexts(self, path: Path) -> dict[int, list[str]]:
        return dict(self._data.contexts_by_lineno(str(path)))

    def tests_of(self, path: Path, lines: Iterable[int]) -> list[str]:
        """The tests that run through any of some lines of a file, the quickest first."""
        contexts = self._contexts(path)
        nodes = {self._node(name) for line in lines for name in contexts.get(line, ()) if name}
        return sorted((n for n in nodes if "::" in n), key=lambda node: self.seconds.get(node, USUAL))


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
