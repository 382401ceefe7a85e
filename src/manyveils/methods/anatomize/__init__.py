"""Anatomy: quasi-identifiers as they are, sensitive attributes shuffled inside small buckets.

Xiao and Tao 2006, with a closed form for one sensitive attribute, and one bucketing for several.
Each sensitive attribute is a column of its own, so that links between them are broken too, unless `link` keeps some.
It promises any guarantee bucket by bucket; k is then the least size of a bucket.
Which rows share a bucket depends on their sensitive values and on chance, never on quasi-identifiers.
It cannot hide that a person is in the table: the quasi-identifiers are published unchanged.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.methods.anatomize.crowd import gather, kinds_of
from manyveils.methods.anatomize.deal import deal, excess
from manyveils.methods.entries import Ids, arranged, dense
from manyveils.methods.explain import refuse
from manyveils.methods.keeping import Watch, all_kept, count_for, watch
from manyveils.methods.variety import variety
from manyveils.methods.work import Made, Method, Options, Work, shuffled_rows
from manyveils.policy.guarantees import KAnonymity, Promise
from manyveils.release import Draft

# Chance decides whether the last rows find a place.
TRIES = 3


class AnatomizeOptions(Options):
    """Keys of [publish] for `method = "anatomize"`."""

    link: list[list[str]] = []


def make(work: Work) -> Made:
    """Publish one view: the quasi-identifiers in one column, each sensitive attribute in another, inside buckets."""
    options = work.options
    assert isinstance(options, AnatomizeOptions)
    if not work.sensitive:
        raise PolicyError(
            [
                Problem(
                    work.policy.name, "anatomize needs a sensitive attribute.", 'Use method = "generalize".'
                )
            ]
        )
    families = _families(work, options.link)
    watches = tuple(
        each
        for promise in work.promises
        for each in watch((promise,), work.table, _company(promise, families))
    )
    for buckets in _attempts(work, shuffled_rows(work, "anatomize.order")):
        verdict = _settled(buckets, watches, work.limit)
        if verdict is not None:
            return _made(work, verdict, families)
    raise refuse(work, watches)


def _families(work: Work, link: list[list[str]]) -> list[tuple[str, ...]]:
    """The sensitive columns: one per attribute; linked attributes and those of a joint promise share one."""
    problems = [
        Problem(f"{work.policy.name}: publish.link", f"{name!r} is not a sensitive attribute.")
        for group in link
        for name in group
        if name not in work.policy.sensitive
    ]
    if problems:
        raise PolicyError(problems)
    joined: list[set[str]] = [{name} for name in work.policy.sensitive]
    for group in [*link, *work.policy.guarantee.joint]:
        touched = [family for family in joined if family & set(group)]
        joined = [family for family in joined if not family & set(group)] + [set().union(*touched)]
    ordered = sorted(joined, key=lambda family: min(work.policy.sensitive.index(name) for name in family))
    return [
        work.table.expand([name for name in work.policy.sensitive if name in family]) for family in ordered
    ]


def _company(promise: Promise, families: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The sensitive columns published together with what a promise protects."""
    return next((family for family in families if set(promise.protects) & set(family)), ())


def _attempts(work: Work, shuffled: Ids) -> Iterator[Ids]:
    """Bucketings from the finest to a single bucket; rows without a bucket have -1.

    Claim: rows with equal sensitive values are equally likely to fall into any bucket.
    Why: which values a bucket gets is decided by how many rows have them, and rows of one value are taken in random
    order.
    Tested by: tests/claims/test_anatomize.py
    """
    size = max([variety(promise) for promise in work.promises], default=1)
    least = max(
        [promise.guarantee.k for promise in work.promises if isinstance(promise.guarantee, KAnonymity)],
        default=1,
    )
    attributes = [work.table[name] for name in work.sensitive]
    protected = [_protected(work, column.name, column.n_values) for column in attributes]
    groups, _ = dense(work.table.codes(work.sensitive), work.table.sizes(work.sensitive), work.table.n_rows)
    order = arranged(shuffled, groups)
    if len(attributes) == 1 and protected[0].all():
        order = _trimmed(order, groups, size, work.limit)
    else:
        kinds = kinds_of([column.codes.astype(np.int64) for column in attributes], protected)
        rng = work.streams.of("anatomize.kinds")
        for _ in range(TRIES):
            yield _merged(gather(kinds, shuffled, size, rng), -(-least // size))
    yield from _dealt(order, work.table.n_rows, size, least)


def _dealt(order: Ids, n_rows: int, size: int, least: int) -> Iterator[Ids]:
    """Rows dealt to ever fewer buckets, so that each comes ever closer to the whole table."""
    n_buckets = max(order.size // size, 1)
    while True:
        buckets = np.full(n_rows, -1, dtype=np.int64)
        buckets[order] = deal(order.size, n_buckets)
        yield _merged(buckets, -(-least * n_buckets // max(order.size, 1)))
        if n_buckets == 1:
            return
        n_buckets = n_buckets * 3 // 4


def _merged(buckets: Ids, times: int) -> Ids:
    """Neighbouring buckets put together, `times` at a time; a rest joins the last ones."""
    if times <= 1:
        return buckets
    n_buckets = max((int(buckets.max()) + 1) // times, 1)
    return np.where(buckets < 0, -1, np.minimum(buckets // times, n_buckets - 1))


def _protected(work: Work, name: str, n_values: int) -> NDArray[np.bool_]:
    """Which values of a column may not meet in a bucket."""
    flags = np.zeros(n_values, dtype=bool)
    for promise in work.promises:
        if name in promise.protects:
            flags |= np.array([text not in promise.insensitive for text in work.table[name].texts])
    return flags


def _trimmed(order: Ids, values: Ids, size: int, limit: int) -> Ids:
    """The rows without so many of the commonest values that none fills too much, if the limit allows it.

    `order` lists rows value by value; the first ones of a value go.
    """
    counts = np.bincount(values)
    gone = excess(counts, size)
    if not 0 < gone.sum() <= limit:
        return order
    place = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[place >= np.repeat(gone, counts)]


def _settled(buckets: Ids, watches: tuple[Watch, ...], limit: int) -> Ids | None:
    """The bucketing without buckets that break a promise, if few enough rows are lost; otherwise nothing."""
    placed = np.flatnonzero(buckets >= 0)
    if not placed.size:
        return None
    n_buckets = int(buckets.max()) + 1
    # Rows without a bucket are counted in one of their own, which is not judged.
    owners = np.where(buckets < 0, n_buckets, buckets)
    sizes = np.bincount(owners, minlength=n_buckets + 1)
    fine = all_kept(watches, count_for(watches, owners, n_buckets + 1), sizes)
    fine[n_buckets] = False
    settled = np.where(fine[owners], buckets, -1)
    lost = int((settled < 0).sum())
    return settled if lost <= limit and lost < buckets.size else None


def _made(work: Work, buckets: Ids, families: list[tuple[str, ...]]) -> Made:
    rows = np.flatnonzero(buckets >= 0)
    known = tuple(name for name in work.published if name not in work.sensitive)
    columns = ((known,) if known else ()) + tuple(families)
    sizes = np.bincount(buckets[rows])
    sizes = sizes[sizes > 0]
    notes = {
        "buckets": int(sizes.size),
        "smallest_bucket": int(sizes.min()),
        "largest_bucket": int(sizes.max()),
    }
    return Made((Draft("main", columns, rows, buckets=buckets[rows]),), notes)


METHOD = Method("anatomize", "Xiao, Tao 2006: Anatomy", AnatomizeOptions, make, suppresses=True)
