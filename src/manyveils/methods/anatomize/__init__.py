"""Anatomy: quasi-identifiers as they are, sensitive attributes shuffled inside small buckets.

Xiao and Tao 2006, with a closed form for one sensitive attribute, and one bucketing for several.
Each sensitive attribute is a column of its own, so that links between them are broken too, unless `link` keeps some.
It promises any guarantee bucket by bucket; k is then the least size of a bucket.
Which rows share a bucket depends on their sensitive values and on chance, never on quasi-identifiers.
It cannot hide that a person is in the table: the quasi-identifiers are published unchanged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.methods.anatomize.crowd import gather, kinds_of
from manyveils.methods.anatomize.deal import excess
from manyveils.methods.dealing import Deal
from manyveils.methods.dealt import Dealt
from manyveils.methods.work import Decided, Made, Method, Options, drafted
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Entries, Ids, count, dense
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import Watch, all_kept, count_for, watch
from manyveils.promises.variety import variety
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release import Draft
from manyveils.table import Table
from manyveils.table.attributes import tally as people

# Chance decides whether the last rows find a place.
TRIES = 3


class AnatomizeOptions(Options):
    """Keys of [publish] for `method = "anatomize"`."""

    link: list[list[str]] = []


def decide(work: Work) -> Decided:
    """How to deal rows by their sensitive values, decided from how many rows have each combination of them."""
    options = work.options
    assert isinstance(options, AnatomizeOptions)
    _refuse_nothing(work)
    families = _families(work, options.link)
    table = work.counts(work.sensitive)
    watches = _watches(work, table, families)
    for dealt in _dealings(work, table):
        lost = _lost(dealt, watches)
        if dealt.n_gone + sum(n for _, _, n in lost) <= work.limit and dealt.deal.n_rows:
            return _decided(work, dealt, lost, families)
    raise refuse(work, watches)


def make(work: Work) -> Made:
    """Publish one view: the quasi-identifiers in one column, each sensitive attribute in another, inside buckets."""
    options = work.options
    assert isinstance(options, AnatomizeOptions)
    _refuse_nothing(work)
    families = _families(work, options.link)
    shuffled = shuffled_rows(work, "anatomize.order")
    for buckets in _gathered(work, shuffled):
        verdict = _settled(buckets, _watches(work, work.table, families), work.limit)
        if verdict is not None:
            return _made(work, verdict, families)
    return drafted(work, decide(work), shuffled)


def _refuse_nothing(work: Work) -> None:
    if not work.sensitive:
        raise PolicyError(
            [
                Problem(
                    work.policy.name, "anatomize needs a sensitive attribute.", 'Use method = "generalize".'
                )
            ]
        )


def _watches(work: Work, table: Table, families: list[tuple[str, ...]]) -> tuple[Watch, ...]:
    return tuple(
        each for promise in work.promises for each in watch((promise,), table, _company(promise, families))
    )


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


def _gathered(work: Work, shuffled: Ids) -> Iterator[Ids]:
    """Bucketings in which no two rows of a bucket share a protected value; rows without a bucket have -1.

    None where there is one attribute, all of whose values are protected: dealing does as well there.

    Claim: rows with equal sensitive values are equally likely to fall into any bucket.
    Why: which values a bucket gets is decided by how many rows have them, and rows of one value are taken in random
    order.
    Tested by: tests/claims/test_anatomize.py
    """
    size, least = _sizes(work)
    protected = [_protected(work, name, work.table[name].n_values) for name in work.sensitive]
    if len(protected) == 1 and protected[0].all():
        return
    kinds = kinds_of([work.table[name].codes.astype(np.int64) for name in work.sensitive], protected)
    rng = work.streams.of("anatomize.kinds")
    for _ in range(TRIES):
        yield _merged(gather(kinds, shuffled, size, rng), -(-least // size))


def _sizes(work: Work) -> tuple[int, int]:
    """How many different values a bucket needs, and how many rows."""
    size = max([variety(promise) for promise in work.promises], default=1)
    ks = [promise.guarantee.k for promise in work.promises if isinstance(promise.guarantee, KAnonymity)]
    return size, max(ks, default=1)


@dataclass(frozen=True, repr=False)
class Dealing:
    """A way to deal: how many rows of each combination are left out first, and the combination of each counted row."""

    deal: Deal
    gone: Ids
    groups: Ids

    @property
    def n_gone(self) -> int:
        """Rows that are left out before dealing."""
        return int(self.gone.sum())

    @property
    def example(self) -> Ids:
        """A counted row of each combination."""
        found = np.zeros(self.gone.size, dtype=np.int64)
        found[self.groups] = np.arange(self.groups.size)
        return found


def _dealings(work: Work, table: Table) -> Iterator[Dealing]:
    """Rows dealt to ever fewer buckets, so that each comes ever closer to the whole table."""
    size, least = _sizes(work)
    groups, n_groups = dense(table.codes(work.sensitive), table.sizes(work.sensitive), table.n_rows)
    counts = people(groups, table.weights, n_groups)
    gone = _excess(work, counts, size)
    stops = np.cumsum(counts - gone)
    n_rows = int(stops[-1])
    n_dealt = max(n_rows // size, 1)
    while True:
        times = max(-(-least * n_dealt // max(n_rows, 1)), 1)
        yield Dealing(Deal(stops - (counts - gone), stops, n_dealt, times), gone, groups)
        if n_dealt == 1:
            return
        n_dealt = n_dealt * 3 // 4


def _excess(work: Work, counts: Ids, size: int) -> Ids:
    """How many rows of the commonest values go so that none fills too much, if the limit allows it."""
    [first, *others] = work.sensitive
    gone = excess(counts, size)
    is_plain = not others and _protected(work, first, work.table[first].n_values).all()
    return gone if is_plain and gone.sum() <= work.limit else np.zeros_like(counts)


def _lost(dealing: Dealing, watches: tuple[Watch, ...]) -> list[tuple[int, int, int]]:
    """The buckets that break a promise: the first, how many from there on, and their rows."""
    buckets, alike = dealing.deal.kinds()
    entries = dealing.deal.entries(buckets)
    sizes = people(entries.owners, entries.counts, buckets.size)
    rows = dealing.example[entries.codes]
    counted: dict[int, Entries] = {}
    for each in watches:
        if each.subject is not None and id(each.subject) not in counted:
            dealt = replace(each.subject, codes=each.subject.codes[rows], weights=entries.counts)
            counted[id(each.subject)] = count(dealt, entries.owners, buckets.size)
    held = tuple(None if each.subject is None else counted[id(each.subject)] for each in watches)
    fine = all_kept(watches, held, sizes)
    return [
        (int(first), int(n), int(n * size))
        for first, n, size in zip(buckets[~fine], alike[~fine], sizes[~fine], strict=True)
    ]


def _decided(
    work: Work, dealing: Dealing, lost: list[tuple[int, int, int]], families: list[tuple[str, ...]]
) -> Decided:
    known = tuple(name for name in work.published if name not in work.sensitive)
    columns = ((known,) if known else ()) + tuple(families)
    gone = [bucket for first, n, _ in lost for bucket in range(first, first + n)]
    table = work.counts(work.sensitive)
    values = np.stack([table[name].codes[dealing.example] for name in work.sensitive]).T.astype(np.int64)
    view = Dealt(
        "main", columns, work.sensitive, values, dealing.deal, dealing.gone, np.array(gone, dtype=np.int64)
    )
    return Decided((view,), view.notes)


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


METHOD = Method(
    "anatomize",
    "Xiao, Tao 2006: Anatomy",
    AnatomizeOptions,
    make,
    decide,
    suppresses=True,
    demo={"anatomize": {"suppression": 0.02}},
)
