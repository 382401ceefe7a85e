"""Break the judge, the maker's arithmetic and the reading in places drawn by a seed, and run the tests that go through them.

N says how many mutants are drawn, SEED which, TESTS which tests are recorded, KEPT where the copy of the tree stays.
Who survives is told with what was changed: a test is missing, or the change changes nothing.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic

from tests.mutants.covering import DATA, PACKAGES, Covering, node_of, record
from tests.mutants.mutations import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
COPIED = (
    "src",
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
    "constraints.txt",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Makefile",
)
USUAL_TESTS = (
    "tests/claims tests/fuzz tests/foreign tests/trail/test_judge_not_fooled.py tests/trail/test_tampering.py"
)
# Seconds for all tests of a mutant, and for those that are expected to take less together.
LIMIT, ENOUGH = 240, 60


def main() -> int:
    """Draw, break, test and tell."""
    n_mutants, seed = int(os.environ.get("N", "100")), int(os.environ.get("SEED", "1"))
    tree = Path(os.environ.get("KEPT", ROOT / ".cache" / "mutants"))
    if not (tree / DATA).is_file():
        _copy(tree)
        record(tree, os.environ.get("TESTS", USUAL_TESTS).split())
    covering, told = Covering(tree), Counter[str]()
    files = [file for name in PACKAGES for file in sorted((tree / "src" / "manyveils" / name).rglob("*.py"))]
    mutants = [mutant for file in files for mutant in mutants_of(tree, file.relative_to(tree))]
    drawn = Random(seed).sample(mutants, min(n_mutants, len(mutants)))
    print(f"{len(drawn)} of {len(mutants)} mutants in {len(files)} files, seed {seed}", flush=True)
    for mutant in drawn:
        verdict = _verdict(tree, mutant, covering)
        told[verdict] += 1
        if verdict != "killed":
            print(f"{verdict}: {mutant.told((tree / mutant.path).read_bytes())}", flush=True)
    print(", ".join(f"{n} {verdict}" for verdict, n in told.most_common()))
    return 0


def _copy(tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)


def _verdict(tree: Path, mutant: Mutant, covering: Covering) -> str:
    names = covering.tests_of(mutant.path, mutant.lines)
    if not names:
        return "not run by a test"
    seconds, chosen = 0.0, []
    for name in names:
        seconds += covering.seconds.get(name, 1.0)
        if chosen and seconds > ENOUGH:
            break
        chosen.append(node_of(tree, name))
    source = (tree / mutant.path).read_bytes()
    (tree / mutant.path).write_bytes(mutant.applied(source))
    try:
        is_kept = _passes(tree, chosen)
    finally:
        (tree / mutant.path).write_bytes(source)
    if is_kept is None:
        return "killed"
    return "killed" if not is_kept else f"survived {len(chosen)} of {len(names)} tests"


def _passes(tree: Path, nodes: list[str]) -> bool | None:
    """Whether tests pass; nothing where they do not end."""
    run = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", *nodes]
    environment = {
        **os.environ,
        "PYTHONPATH": "src",
        "PYTHONDONTWRITEBYTECODE": "1",
        "POLARS_MAX_THREADS": "1",
    }
    started = monotonic()
    try:
        done = subprocess.run(
            run,
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    # A test that is not there, or a wrong call of pytest, says nothing of a mutant.
    assert done.returncode in (0, 1, 2), (
        done.returncode,
        done.stdout.decode()[-2000:],
        monotonic() - started,
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
