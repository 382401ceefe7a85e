"""A comparison of eight configurations on Adult, with and without learning, by the wall."""

from collections.abc import Iterator
from functools import partial

import manyveils as mv
from benchmarks.attacks import NAMES, policy_of
from benchmarks.clock import waited
from benchmarks.line import Line, skipped, under
from benchmarks.reproductions import occ
from benchmarks.setting import Setting

SECONDS = 120
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
    """Publish, audit, measure and attack in eight ways; processes are started and data read within the time."""
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
