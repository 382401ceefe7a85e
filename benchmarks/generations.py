"""Publish a registry quarter after quarter, with and without the releases before in mind: python -m benchmarks.generations.

Writes what was measured to docs/howto/publish-again.json, and makes the tables and the picture of the how-to from it.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks import generations_page
from benchmarks.clock import waited
from benchmarks.machine import machine
from manyveils import Policy
from manyveils.datasets import insured, insured_policy
from manyveils.publishing import Published, publish_to
from tests.kit.chain_adversary import Seen, all_certain, read

PEOPLE, QUARTERS, SEED = 2000, 10, 1
APART = [["age", "sex"], ["zipcode"], ["tissue"], ["condition"], ["therapy"]]
METHODS: dict[str, Mapping[str, Any]] = {
    "anatomize": {"method": "anatomize", "suppression": 0.02},
    "slice": {"method": "slice", "columns": APART, "suppression": 0.02},
    "generalize, Mondrian": {"method": "generalize", "recoding": "mondrian", "suppression": 0.02},
    "generalize, full-domain": {"method": "generalize", "suppression": 0.02},
}


@dataclass(frozen=True)
class Generation:
    """What one release and those before it tell of constant attributes, and what it costs.

    `certain` and `broken` count cells for the attack `sequential`; `adversary` those of everybody who was ever published
    that are certain to the plain adversary.
    """

    quarter: int
    certain: int
    broken: int
    adversary: int
    held_back: float
    query_error: float
    seconds: float


@dataclass(frozen=True)
class Course:
    """A method's generations, and why there are no more of them, if so."""

    generations: list[Generation] = field(default_factory=list)
    refused: str = ""


def main() -> None:
    """Measure all methods or one, both ways; keep what was measured of the others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generations", description=__doc__)
    parser.add_argument("--only", choices=tuple(METHODS), help="one method")
    parser.add_argument(
        "--page", action="store_true", help="measure nothing; make the page from what was measured"
    )
    arguments = parser.parse_args()
    if not arguments.page:
        names = [arguments.only] if arguments.only else list(METHODS)
        generations_page.keep({"people": PEOPLE, "quarters": QUARTERS, "machine": machine()}, measured(names))
    generations_page.write()


def measured(names: Iterable[str], n: int = PEOPLE, quarters: int = QUARTERS) -> dict[str, dict[str, Any]]:
    """The course of each method, without and with the releases before in mind."""
    return {
        name: {way: asdict(course(name, n, quarters, is_chain=way == "with")) for way in ("without", "with")}
        for name in names
    }


def course(name: str, n: int, quarters: int, *, is_chain: bool) -> Course:
    """Publish quarter after quarter, and look at each release beside all before it."""
    # Whoever publishes without a thought of what comes next keeps no room for those who will leave.
    leaving = {} if is_chain else {"leaving": 0}
    policy, found = insured_policy(publish={**METHODS[name], **leaving}), Course()
    with tempfile.TemporaryDirectory() as folder:
        try:
            for generation in _generations(policy, Path(folder), n, quarters, is_chain=is_chain):
                found.generations.append(generation)
                print(f"{name}, {'with' if is_chain else 'without'} --after: {generation}", file=sys.stderr)
        except mv.ManyveilsError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return Course(found.generations, type(error).__name__)
    return found


def _generations(
    policy: Policy, folder: Path, n: int, quarters: int, *, is_chain: bool
) -> Iterator[Generation]:
    releases: list[Path] = []
    seen: dict[str, list[Seen]] = {name: [] for name in policy.constant}
    for quarter in range(1, quarters + 1):
        frame = insured(n, quarter, SEED)
        after = releases if is_chain else []
        publish = partial(
            publish_to, policy, folder / f"release-{quarter}", data=frame, seed=quarter, after=after
        )
        seconds, published = waited(publish)
        for name, before in seen.items():
            before.append(_read(published, frame, policy, name))
        harm = _harm(published.folder, frame, policy, releases, is_chain=is_chain)
        error = mv.measure(published.folder, frame, policy)["query_error"]
        known = sum(len(all_certain(before)) for before in seen.values())
        held_back = published.release.manifest.suppressed / frame.height
        yield Generation(quarter, *harm, known, held_back, float(error), round(seconds, 3))
        releases.append(published.folder)


def _harm(
    folder: Path, frame: pl.DataFrame, policy: Policy, earlier: Sequence[Path], *, is_chain: bool
) -> tuple[int, int]:
    """How many cells of constant attributes are certain, and known too well, by all releases so far."""
    if not earlier:
        return 0, 0
    known: dict[str, Any] = {"after": earlier} if is_chain else {"others": earlier}
    outcome = mv.attack(folder, frame, policy, only=["sequential"], seed=SEED, **known)["sequential"]
    own = [outcome.by_attribute[name] for name in policy.constant if name in outcome.by_attribute]
    return sum(each["certain"] for each in own), sum(each["broken"] for each in own)


def _read(published: Published, frame: pl.DataFrame, policy: Policy, about: str) -> Seen:
    """What the plain adversary reads, who knows in which group everybody is."""
    people = {
        row["person"]: {name: str(row[name]) for name in policy.quasi} for row in frame.iter_rows(named=True)
    }
    places = pl.read_parquet(published.private / "placements.parquet")
    (view,) = (view.name for view in published.release.views if any(about in own for own in view.columns))
    where = dict(zip(frame["person"].to_list(), places[view].to_list(), strict=True))
    return read(published.folder, people, about, where)


if __name__ == "__main__":
    main()
