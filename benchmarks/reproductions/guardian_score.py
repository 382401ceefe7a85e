"""What GD's shortcut costs: its greedy score expects anatomized tables, whatever anonymizer makes the release."""

from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean
from time import perf_counter

import numpy as np
import polars as pl

from benchmarks.reproductions.guardian_trials import Drawn, original_of, policy_of, rules_of
from benchmarks.reproductions.table import markdown
from manyveils import Policy
from manyveils.methods import work_of
from manyveils.methods.guardian import Tables, demanded
from manyveils.methods.guardian.decompose import by_repair
from manyveils.methods.guardian.pieces import Piece
from manyveils.release.seal import seal
from manyveils.run import Order, make
from manyveils.table import Streams
from manyveils.utility.comparison import Comparison
from manyveils.utility.distribution import divergence

ROWS, COUNTS, SETS, LHS, L, SEED = 2_000, (3, 5), 3, 3, 2, 1
ANONYMIZERS = ("anatomize", "slice", "generalize")


def table(frame: pl.DataFrame) -> str:
    """The mean divergence of releases chosen by the expectation, and by the release that each candidate would be."""
    headings = (
        "rules",
        "anonymizer",
        "KL, by the expectation",
        "KL, by the release",
        "at most apart",
        "seconds",
        "seconds, by the release",
    )
    return markdown(headings, _lines(frame.sample(ROWS, seed=SEED)))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    original = original_of(frame)
    for c in COUNTS:
        for anonymizer in ANONYMIZERS:
            pairs, times = [], []
            for seed in range(1, SETS + 1):
                rules = rules_of(original, Drawn(c, LHS, L), seed)
                policy = policy_of(original.names, rules, L, "GD").replaced(
                    publish={"method": "guardian", "decompose": "gd", "anonymizer": anonymizer}
                )
                start = perf_counter()
                release = make(Order(None, policy, seed=SEED), original.table, original.restore)
                middle = perf_counter()
                by_release = _chosen_by_release(original, policy, anonymizer)
                times.append((middle - start, perf_counter() - middle))
                expected = divergence(Comparison(release, original.table, policy))["kl"]
                pairs.append((float(expected), by_release))
            apart = max(one - other for one, other in pairs)
            means = (f"{fmean(column):.3f}" for column in zip(*pairs, strict=True))
            spent = (f"{fmean(column):.2g}" for column in zip(*times, strict=True))
            yield c, anonymizer, *means, f"{apart:.3f}", *spent


def _chosen_by_release(original, policy: Policy, anonymizer: str) -> float:
    """The divergence of the tables that GD finds if every candidate is made and measured."""
    work = work_of(policy, original.table, Streams(SEED))
    demands = demanded(work)

    @cache
    def measured(pieces: tuple[Piece, ...]) -> float:
        tables = Tables(pieces, demands.each, anonymizer, {})
        drafts = tables.drafts(tables.plans(work), work)
        release = seal(
            drafts.views, original.table, policy, original.restore, notes={}, rng=np.random.default_rng(SEED)
        )
        return float(divergence(Comparison(release, original.table, policy))["kl"])

    def score(pieces: Sequence[Piece]) -> float:
        return measured(tuple(pieces))

    return score(by_repair(work.published, demands, score, lambda _: None))
