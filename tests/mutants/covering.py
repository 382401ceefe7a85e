"""Which tests run through which line, and how long they take, as it was recorded once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

PACKAGES = ("audits", "promises", "reading")
DATA, TIMES, SETTINGS = "mutants.coverage", "mutants.json", "mutants.ini"


@dataclass(frozen=True)
class Covering:
    """What was recorded in a tree."""

    root: Path

    @cached_property
    def _data(self) -> Any:
        from coverage import CoverageData

        data = CoverageData(str(self.root / DATA))
        data.read()
        return data

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test takes."""
        told: dict[str, float] = json.loads((self.root / TIMES).read_text(encoding="utf-8"))
        return told

    @cache  # noqa: B019
    def _contexts(self, path: Path) -> dict[int, list[str]]:
        return dict(self._data.contexts_by_lineno(str(path)))

    def tests_of(self, path: Path, lines: Iterable[int]) -> list[str]:
        """The tests that run through any of some lines of a file, the quickest first."""
        contexts = self._contexts(path)
        tests = {name for line in lines for name in contexts.get(line, ()) if name}
        return sorted(tests, key=self.seconds.__getitem__)


def record(root: Path, tests: Sequence[str]) -> None:
    """Run tests once, and keep who ran through what."""
    sources = "\n".join(f"    src/manyveils/{package}" for package in PACKAGES)
    settings = f"[run]\nrelative_files = true\ndata_file = {DATA}\nsource =\n{sources}\n"
    (root / SETTINGS).write_text(settings, encoding="utf-8")
    run = ["-m", "coverage", "run", f"--rcfile={SETTINGS}", "-m", "pytest", "-n", "0"]
    plugins = ["-p", "no:cacheprovider", "-p", "tests.mutants.recording"]
    environment = {**os.environ, "PYTHONPATH": f"src{os.pathsep}."}
    subprocess.run([sys.executable, *run, *plugins, *tests], cwd=root, env=environment, check=True)
