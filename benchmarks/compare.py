"""Comparisons by the wall: eight ways on Adult, with and without learning, and five ways on encounters with many codes."""

from collections.abc import Iterator
from functools import partial

import manyveils as mv
from benchmarks.attacks import NAMES, policy_of
from benchmarks.clock import best, waited
from benchmarks.line import Line, skipped, under, within
from benchmarks.reproductions import occ
from benchmarks.setting import Setting
from manyveils.datasets import encounter_policy, encounters

SECONDS = 120
TIMES = 10
FIVE = ("anatomize", "generalize:mondrian", "guardian", "alpha-beta-k", "separate")
SEED = 1
WORKERS = 2
EIGHT = (
    "generalize",
    "generalize:mondrian",
    "anatomize",
    "slice",
    "codip",
    "guardian",
    "alpha-beta-k",
    "separate",
)


def lines(setting: Setting) -> Iterator[Line]:
    """Publish, audit, measure and attack in several ways; processes are started and data read within the time."""
    yield from _on_adult()
    yield from _on_encounters(setting)


def _on_encounters(setting: Setting) -> Iterator[Line]:
    """Five ways in which encounters can be published, beside publishing them in the slowest of them."""
    file, frame = setting.folder / "compared.csv", encounters()
    frame.write_csv(file)
    policy = encounter_policy(data={"person": "row"}, publish={"method": "anatomize", "suppression": 0.02})
    work = partial(mv.compare, file, policy, methods=FIVE, seed=SEED, workers=WORKERS)
    seconds, found = waited(work)
    published = [result for result in found.results if result.published]
    policies = {result.name: result.configuration.of(policy) for result in published}
    times = {
        name: best(partial(mv.publish, file, own, seed=SEED), repetitions=2, timed=waited)[0]
        for name, own in policies.items()
    }
    slowest = max(times, key=lambda name: times[name])
    what = (
        f"compare {len(FIVE)} ways, {frame.height:,} encounters, five coded attributes, {WORKERS} processes"
    )
    line = within(what, seconds, times[slowest], f"publish, {slowest}", TIMES)
    yield line.with_ours(f"{len(published)} published")


def _on_adult() -> Iterator[Line]:
    """Eight ways on Adult."""
    if not occ.is_here():
        yield skipped("compare", occ.MISSING)
        return
    frame = occ.read(NAMES)
    for learn, words in ((None, ""), ("occupation", ", with learning")):
        work = partial(
            mv.compare, frame, policy_of("slice"), methods=EIGHT, learn=learn, seed=SEED, workers=WORKERS
        )
        seconds, found = waited(work)
        published = sum(each.published for each in found.results)
        what = (
            f"compare {len(EIGHT)} configurations, {frame.height:,} rows of Adult, {WORKERS} processes{words}"
        )
        yield under(what, seconds, SECONDS).with_ours(f"{published} published")
