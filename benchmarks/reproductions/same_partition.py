"""Section 3.2: what slices keep beside local recoding, with the same partition of rows."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmarks.reproductions import clusters, occ
from benchmarks.reproductions.membership import TWO
from benchmarks.reproductions.table import markdown
from manyveils.methods import work_of
from manyveils.methods.generalize.labels import cut_table, label_groups
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promise import Promise
from manyveils.release.draft import Draft
from manyveils.release.seal import seal
from manyveils.table import Streams, hold
from manyveils.utility.comparison import Comparison
from manyveils.utility.distribution import divergence, workload

KS, SEED = (5, 50), 1
LAYOUTS = {
    "sliced, one attribute per column": tuple((name,) for name in occ.OCC7),
    "sliced, two columns": TWO,
    "sliced, the paper's five columns": clusters.PAPER["OCC-7", 5],
}


def table(frame: pl.DataFrame) -> str:
    """Divergence and error of counts, with groups of k as Mondrian cuts them."""
    headings = ("k", "release", "groups", "KL", "error of counts, mean", "error of counts, median")
    return markdown(headings, _lines(frame))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    policy = occ.policy(occ.OCC7, {"k": 2}, {"method": "generalize", "recoding": "mondrian"})
    held, restore = hold(frame, policy)
    work = work_of(policy, held, Streams(SEED))
    rows = np.arange(held.n_rows)
    for k in KS:
        groups = cut_table(work, (Promise(KAnonymity(k), work.quasi),), (), labels="auto", relaxed=True)
        recoded = Draft("main", (occ.OCC7,), rows, recodings=label_groups(work, groups, "auto", work.quasi))
        drafts = {"local recoding": recoded}
        drafts |= {name: Draft("main", columns, rows, groups) for name, columns in LAYOUTS.items()}
        for name, draft in drafts.items():
            release = seal([draft], held, policy, restore, notes={}, rng=np.random.default_rng(SEED))
            comparison = Comparison(release, held, policy)
            actual, estimated = workload(comparison, n_queries=1_000, n_attributes=3, share=0.4, seed=SEED)
            errors = np.abs(actual - estimated) / actual
            kl = divergence(comparison)["kl"]
            yield (
                k,
                name,
                int(groups.max()) + 1,
                f"{kl:.3f}",
                f"{errors.mean():.3f}",
                f"{np.median(errors):.3f}",
            )
