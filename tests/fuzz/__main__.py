"""Run cases: FUZZ how many, SEED which, by how many WORKERS; cases that fail are made small and kept in a folder.

With the path of a case file, that case alone is run again.
"""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from tests.fuzz.cases import Case, draw
from tests.fuzz.running import LIMIT, Outcome, Worker, run_all
from tests.fuzz.shrinking import shrunk


def main(arguments: Sequence[str]) -> int:
    """Run, print a summary, and tell by the exit status whether something was found."""
    if arguments:
        return sum(_again(Path(path)) for path in arguments)
    n_cases, seed, first, n_workers = (
        int(os.environ.get(*key))
        for key in (("FUZZ", "1000"), ("SEED", "1"), ("FIRST", "0"), ("WORKERS", "2"))
    )
    kept = Path(os.environ.get("FINDINGS", ".cache/fuzz"))
    started, outcomes, by_method = monotonic(), Counter[str](), Counter[tuple[str, str]]()
    found: dict[tuple[str, str], list[int]] = {}
    n_confirmed = n_releases = 0
    unjudged = Counter[str]()
    smallest: dict[tuple[str, str], tuple[Case, Outcome]] = {}
    cases = ((number, draw(seed, number)) for number in range(first, first + n_cases))
    for number, case, told in run_all(cases, n_workers=n_workers):
        outcomes[told.kind] += 1
        by_method[case.method, told.kind] += 1
        n_confirmed, n_releases = n_confirmed + told.n_confirmed, n_releases + told.n_releases
        unjudged.update(set(told.unjudged))
        if told.is_finding:
            numbers = found.setdefault((told.kind, told.where), [])
            numbers.append(number)
            if len(numbers) == 1:
                print(f"case {number}: {told.kind}: {told.where}", flush=True)
            held = smallest.get((told.kind, told.where))
            if held is None or len(case.rows) < len(held[0].rows):
                smallest[told.kind, told.where] = case, told
    _summary(outcomes, by_method, unjudged)
    print(
        f"{n_cases} cases from {first} of seed {seed}: {n_releases} releases, {n_confirmed} groups confirmed, {monotonic() - started:.0f} s"
    )
    for kind, where in found:
        case, told = smallest[kind, where]
        path = kept / f"seed-{seed}-{found[kind, where][0]}.json"
        print(f"{len(found[kind, where])} × {kind}: {where} (first: case {found[kind, where][0]}), in {path}")
        _keep(case, told, path)
    return min(len(found), 100)


def _keep(case: Case, told: Outcome, path: Path) -> None:
    worker = Worker()
    try:
        is_slow = told.kind == "timeout"
        if not is_slow:
            case = shrunk(case, lambda smaller: worker.run(smaller).is_like(told))
    finally:
        worker.end()
    path.parent.mkdir(parents=True, exist_ok=True)
    Case(
        **{
            **{key: getattr(case, key) for key in case.__dataclass_fields__},
            "note": f"{told.kind}: {told.where}",
        }
    ).write(path)


def _again(path: Path) -> int:
    worker = Worker()
    try:
        told = worker.run(Case.read(path), LIMIT)
    finally:
        worker.end()
    print(f"{path.name}: {told.kind} {told.where}\n{told.message}")
    return int(told.is_finding)


def _summary(outcomes: Counter[str], by_method: Counter[tuple[str, str]], unjudged: Counter[str]) -> None:
    kinds = sorted(outcomes)
    print("\t".join(("method", *kinds)).expandtabs(16))
    for method in sorted({method for method, _ in by_method}):
        print("\t".join((method, *(str(by_method[method, kind]) for kind in kinds))).expandtabs(16))
    print("\t".join(("all", *(str(outcomes[kind]) for kind in kinds))).expandtabs(16))
    if unjudged:
        print(
            "not judged in some releases:", ", ".join(f"{what} ({n})" for what, n in unjudged.most_common())
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
