"""Rows to buckets, what an adversary finds in them, and buckets merged until every promise is kept."""

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.guardian.pieces import column_dependencies
from manyveils.methods.multi_sa.blocks import Block
from manyveils.policy import Promise
from manyveils.policy.rules import PrivacyRule, known_from, tellers
from manyveils.promises.entries import Ids, Kept, numbered
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import Watch, watch
from manyveils.promises.work import Work


def placed(blocks: tuple[Block, ...]) -> Ids:
    """The bucket of each row of a list in which the rows of one combination stand together."""
    firsts = accumulate((block.times for block in blocks[:-1]), initial=0)
    entries = [
        (
            np.repeat(first + np.arange(block.times), block.combinations.size),
            np.tile(block.combinations, block.times),
            np.tile(block.amounts, block.times),
        )
        for first, block in zip(firsts, blocks, strict=True)
    ]
    buckets, combinations, amounts = (np.concatenate(column) for column in zip(*entries, strict=True))
    order = np.argsort(combinations, kind="stable")
    return np.repeat(buckets[order], amounts[order])


def settled(buckets: Ids, watches: tuple[Watch, ...]) -> Ids | None:
    """The buckets with those that break a promise merged; nothing if even a single bucket breaks one.

    Rows without a bucket have -1; the numbers of buckets should be random. Broken buckets join their neighbours among
    each other; the last one joins ever more of the rest. Merging never breaks a cap.
    """
    reach = 1
    while True:
        n_buckets = int(buckets.max()) + 1
        broken = np.flatnonzero(~_kept(buckets, n_buckets, watches))
        if not broken.size:
            return buckets
        if n_buckets == 1:
            return None
        joined = np.arange(n_buckets)
        if broken.size > 1:
            # Every second one joins its neighbour among them; an odd one out joins the last pair.
            pair = np.minimum(np.arange(broken.size) // 2, broken.size // 2 - 1)
            joined[broken] = broken[2 * pair]
        else:
            joined[(broken + np.arange(1, reach + 1)) % n_buckets] = broken
            reach *= 2
        _, numbers = np.unique(joined, return_inverse=True)
        buckets = np.where(buckets < 0, -1, numbers[buckets])


def _kept(buckets: Ids, n_buckets: int, watches: tuple[Watch, ...]) -> Kept:
    # Rows without a bucket are counted in one of their own, which is not judged.
    owners = np.where(buckets < 0, n_buckets, buckets)
    return kept_by_groups(watches, owners, n_buckets + 1)[:n_buckets]


def broken_together(buckets: Ids, watches: tuple[Watch, ...]) -> tuple[Watch, ...]:
    """The promises that all rows with a bucket break as a single one."""
    together = np.minimum(buckets, 0)
    return tuple(watched for watched in watches if not _kept(together, 1, (watched,))[0])


def watches_of(work: Work, columns: tuple[tuple[str, ...], ...]) -> Iterator[Watch]:
    """Every promise, against those who find something they know beside what is protected, in the last column."""
    table, dependencies = work.table, column_dependencies(work)
    for promise in work.promises:
        given = known_from(frozenset(promise.given), dependencies) - set(promise.protects)
        # Without a sensitive attribute, k speaks of rows alike in what is known, wherever it stands.
        for column in columns if not (promise.protects or work.sensitive) else columns[-1:]:
            known = tuple(name for name in column if name in given)
            beside = numbered(table, known) if known else None
            # Who knows something of the other column only is sure of the bucket; others weigh several.
            judged = promise if given and not known else promise.for_mixtures()
            yield from watch((judged,), table, work.sensitive, beside=beside)


def refuse_ties(work: Work) -> None:
    """Refuse if a known dependency ties something unknown to what is protected: one table shows both."""
    problems = (
        Problem(
            f"{work.policy.name}: {work.subject_of(promise)}",
            f"known dependencies tie it to {', '.join(ties)}, and multi-sa publishes all in one table.",
            'Use method = "guardian", or drop the dependency if it need not be known.',
        )
        for promise in work.promises
        if (ties := list(_ties(work, promise)))
    )
    InfeasibleError.refuse(dict.fromkeys(problems))


def _ties(work: Work, promise: Promise) -> Iterator[str]:
    """The published attributes that could rule out protected values, for those who know anything of the table."""
    dependencies = column_dependencies(work)
    known = known_from(frozenset(promise.given), dependencies) - set(promise.protects)
    if len(promise.protects) != 1 or known.isdisjoint(work.published):
        return
    telling = tellers(PrivacyRule(frozenset(promise.given), promise.protects[0]), dependencies)
    yield from dict.fromkeys(work.table.home(name) for name in work.published if name in telling)
