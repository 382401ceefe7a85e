"""Anatomy: quasi-identifiers as they are, sensitive attributes shuffled inside small buckets.

Xiao and Tao 2006, with a closed form for one sensitive attribute, and one bucketing for several.
Each sensitive attribute is a column of its own, so that links between them are broken too, unless `link` keeps some.
It promises any guarantee bucket by bucket; k is then the least size of a bucket.
Which rows share a bucket depends on their sensitive values and on chance, never on quasi-identifiers.
It cannot hide that a person is in the table: the quasi-identifiers are published unchanged.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods import Method, Options, drafts_of, united
from manyveils.methods.anatomize.crowd import gather, kinds_of, least_left
from manyveils.methods.anatomize.kinds import level_of, numbered_by_kind, protected, shared_out, shares_owed
from manyveils.policy import Promise
from manyveils.promises.entries import Ids, count, examples, for_each_once
from manyveils.promises.explain import refuse
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import Watch, all_kept, watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release.dealing import Deal, DealtView, bucket_notes
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, Plan
from manyveils.table import Table
from manyveils.table.attributes import tally as people

# Chance decides whether the last rows find a bucket.
TRIES = 3
# People are left out only where buckets would otherwise be so many times as large.
COARSER = 10
Decided = TypeVar("Decided", Plan, Drafts)


class AnatomizeOptions(Options):
    """Keys of [publish] for `method = "anatomize"`."""

    link: list[list[str]] = []


def plan(work: Work) -> Plan | FromRows:
    """One view: the quasi-identifiers in one column, each sensitive attribute in another, inside buckets.

    Where several attributes must differ at once, or some values may meet, buckets are filled by looking at rows;
    counts alone decide how to deal, which needs larger buckets there.
    """
    if not work.sensitive:
        what = "anatomize needs a sensitive attribute."
        raise PolicyError.at(work.policy.name, what, 'Use method = "generalize".')
    _families(work)
    if work.table.earlier is not None:
        return FromRows(_continued)
    if work.table.persons is not None:
        return FromRows(partial(_sparing, _of_persons))
    dealt = partial(_sparing, _dealt)
    return dealt(work) if _is_plain(work) else FromRows(partial(_sparing, _filled), from_counts=dealt)


def _sparing(decide: Callable[[Work], Decided], work: Work) -> Decided:
    """What is decided if nobody may be left out; else only where that cannot be, or makes buckets much larger.

    Claim: who allows suppression loses nobody where all can be published in buckets up to ten times as large.
    Why: what is decided without suppression is taken, unless what is decided with it has more than ten times the buckets.
    Tested by: tests/claims/test_anatomize.py
    """
    if not work.limit:
        return decide(work)
    try:
        whole = decide(replace(work, leaves_nobody=True))
    except InfeasibleError:
        return decide(work)
    if work.table.n_persons <= COARSER * _n_buckets(whole) * max(_sizes(work)):
        return whole
    spared = decide(work)
    return spared if _n_buckets(spared) > COARSER * _n_buckets(whole) else whole


def _n_buckets(decided: Plan | Drafts) -> int:
    return int(str(decided.notes["buckets"]))


def _dealt(work: Work) -> Plan:
    """How to deal rows by their sensitive values, decided from how many rows have each combination of them."""
    table = work.counts(work.sensitive)
    watches = _watches(work, table)
    for attempt in _attempts(work, table):
        broken = _broken(attempt, watches)
        n_broken = sum(n for _, _, n in broken)
        if attempt.gone.sum() + n_broken <= work.limit and n_broken < attempt.deal.n_rows:
            view = _view(work, table, attempt, broken)
            return Plan((view,), view.notes)
    raise refuse(work, watches)


def _filled(work: Work) -> Drafts:
    """Buckets filled so that protected values differ; dealt where that suppresses too many rows."""
    shuffled = shuffled_rows(work, "anatomize.order")
    for buckets in _gathered(work, shuffled):
        settled = _settled(buckets, _watches(work, work.table), work.limit)
        if settled is not None:
            return _drafted(work, settled)
    return drafts_of(work, _dealt(work))


def _drafted(work: Work, buckets: Ids) -> Drafts:
    """One view of all rows with a bucket."""
    rows = np.flatnonzero(buckets >= 0)
    sizes = np.bincount(buckets[rows])
    sizes = sizes[sizes > 0]
    draft = Draft("main", columns_of(work), rows, buckets=buckets[rows])
    return Drafts((draft,), bucket_notes(sizes, int(sizes.size)))


def _of_persons(work: Work) -> Drafts:
    """Buckets of whole persons, where somebody has several rows."""
    from manyveils.methods.anatomize.units import bucketed  # Few tables ask for it.

    return _drafted(work, bucketed(work, _watches(work, work.table), *_sizes(work)))


def _continued(work: Work) -> Drafts:
    """Buckets of persons some of whom were in earlier releases."""
    from manyveils.methods.returning import cohorts_of  # Few publications ask for it.

    buckets = cohorts_of(work, _buckets, lambda table: _watches(work, table))
    assert work.table.persons is not None
    return _drafted(work, buckets[work.table.persons])


def _buckets(work: Work, _: Ids) -> Ids:
    """The bucket of each person, without regard to earlier releases; -1 for who is left out."""
    [draft] = drafts_of(work, plan(work)).views
    buckets = np.full(work.table.n_persons, -1, dtype=np.int64)
    persons = draft.rows if work.table.persons is None else work.table.persons[draft.rows]
    assert draft.buckets is not None
    buckets[persons] = draft.buckets
    return buckets


def _watches(work: Work, table: Table) -> tuple[Watch, ...]:
    families = _families(work)
    beside: dict[tuple[str, ...], list[Promise]] = {}
    for promise in work.promises:
        beside.setdefault(_company(promise, families), []).append(promise)
    pairs = beside.items()
    return tuple(watched for names, about in pairs for watched in watch(tuple(about), table, names))


def columns_of(work: Work) -> tuple[tuple[str, ...], ...]:
    """The columns of the view: what is known, then the sensitive ones."""
    known = tuple(name for name in work.published if name not in work.sensitive)
    return ((known,) if known else ()) + tuple(_families(work))


def _families(work: Work) -> list[tuple[str, ...]]:
    """The sensitive columns: one per attribute; linked attributes and those of a joint promise share one."""
    link = work.options_as(AnatomizeOptions).link
    PolicyError.refuse(
        Problem(f"{work.policy.name}: publish.link", f"{name!r} is not a sensitive attribute.")
        for group in link
        for name in group
        if name not in work.policy.sensitive
    )
    joined = united([{name} for name in work.policy.sensitive], [*link, *work.policy.guarantee.joint])
    ordered = sorted(joined, key=lambda family: min(work.policy.sensitive.index(name) for name in family))
    return [
        work.table.expand([name for name in work.policy.sensitive if name in family]) for family in ordered
    ]


def _company(promise: Promise, families: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The sensitive attributes published together with what a promise protects."""
    return next((family for family in families if set(promise.protects) & set(family)), ())


def _is_plain(work: Work) -> bool:
    """Whether there is one attribute, all of whose values are protected: dealing does as well as filling there."""
    return len(work.sensitive) == 1 and bool(protected(work, work.sensitive[0])[1].all())


def _gathered(work: Work, shuffled: Ids) -> Iterator[Ids]:
    """Bucketings in which no two rows of a bucket share a protected value; rows without a bucket have -1.

    Claim: rows with equal sensitive values are equally likely to fall into any bucket.
    Why: which values a bucket gets is decided by how many rows have them, and rows of one value are taken in random
    order.
    Tested by: tests/claims/test_anatomize.py
    """
    size, least = _sizes(work)
    attributes, flags = zip(*(protected(work, name) for name in work.sensitive), strict=True)
    kinds = kinds_of([attribute.codes for attribute in attributes], list(flags))
    rng = work.streams.of("anatomize.kinds")
    for _ in range(TRIES if least_left(kinds, size) <= work.limit else 0):
        yield _merged(gather(kinds, shuffled, size, rng, work.limit), -(-least // size))


def _sizes(work: Work) -> tuple[int, int]:
    """How many different values a bucket needs, and how many rows."""
    return max((promise.guarantee.variety for promise in work.promises), default=1), work.least_rows


@dataclass(frozen=True, repr=False)
class _Attempt:
    """A way to deal: how many rows of each combination are left out first, and the combination of each counted row."""

    deal: Deal
    gone: Ids
    combinations: Ids

    @property
    def example(self) -> Ids:
        """A counted row of each combination."""
        return examples(self.combinations, self.gone.size)


def _attempts(work: Work, table: Table) -> Iterator[_Attempt]:
    """Rows dealt to ever fewer buckets, so that each comes ever closer to the whole table."""
    size, least = _sizes(work)
    combinations, n = numbered_by_kind(work, table, work.sensitive)
    counts = people(combinations, table.weights, n)
    gone = _gone_first(work, table, counts, examples(combinations, n))
    stops = np.cumsum(counts - gone)
    n_rows = int(stops[-1])
    n_dealt = max(n_rows // size, 1)
    while True:
        times = max(-(-least * n_dealt // max(n_rows, 1)), 1)
        yield _Attempt(Deal(stops - (counts - gone), stops, n_dealt, times), gone, combinations)
        if n_dealt == 1:
            return
        n_dealt = n_dealt * 3 // 4


def _gone_first(work: Work, table: Table, counts: Ids, example: Ids) -> Ids:
    """How many rows of each value are left out because it is too common; none if these would be too many."""
    gone = np.zeros_like(counts)
    if _is_plain(work):
        [name] = work.sensitive
        kind_of = table[name].at_level(level_of(work, name)).codes[example].astype(np.int64)
        owed = shares_owed(work, name)
        gone = shared_out(excess(people(kind_of, counts, owed.size), owed), kind_of, counts)
    return gone if gone.sum() <= work.limit else np.zeros_like(counts)


def excess(counts: Ids, l: int | Ids) -> Ids:
    """How many rows of each value must go so that no value fills more than one l-th of what is left.

    >>> excess(np.array([5, 1, 1]), 2)
    array([3, 0, 0])
    """
    kept = counts.copy()
    while kept.sum() and (kept * l).max() > kept.sum():
        kept = np.minimum(kept, kept.sum() // l)
    return counts - kept


def _broken(attempt: _Attempt, watches: tuple[Watch, ...]) -> list[tuple[int, int, int]]:
    """The buckets that break a promise: the first, how many from there on, and their rows."""
    buckets, alike = attempt.deal.kinds()
    owners, combinations, counts = attempt.deal.counts(buckets)
    sizes = people(owners, counts, buckets.size)
    rows = attempt.example[combinations]
    entries = for_each_once(
        [watched.subject for watched in watches],
        lambda subject: count(subject.of_rows(rows, counts), owners, buckets.size),
    )
    fine = all_kept(watches, entries, sizes)
    return [
        (int(first), int(n), int(n * size))
        for first, n, size in zip(buckets[~fine], alike[~fine], sizes[~fine], strict=True)
    ]


def _view(work: Work, table: Table, attempt: _Attempt, broken: list[tuple[int, int, int]]) -> DealtView:
    left_out = [bucket for first, n, _ in broken for bucket in range(first, first + n)]
    values = np.stack([codes[attempt.example] for codes in table.codes(work.sensitive)]).T.astype(np.int64)
    dealt = attempt.deal, attempt.gone, np.array(left_out, dtype=np.int64)
    return DealtView("main", columns_of(work), work.sensitive, values, *dealt)


def _merged(buckets: Ids, times: int) -> Ids:
    """Neighbouring buckets put together, `times` at a time; a rest joins the last ones."""
    if times <= 1:
        return buckets
    n_buckets = max((int(buckets.max()) + 1) // times, 1)
    return np.where(buckets < 0, -1, np.minimum(buckets // times, n_buckets - 1))


def _settled(buckets: Ids, watches: tuple[Watch, ...], limit: int) -> Ids | None:
    """The bucketing without buckets that break a promise, if few enough rows are lost; otherwise nothing."""
    placed = np.flatnonzero(buckets >= 0)
    if not placed.size:
        return None
    n_buckets = int(buckets.max()) + 1
    # Rows without a bucket are counted in one of their own, which is not judged.
    owners = np.where(buckets < 0, n_buckets, buckets)
    fine = kept_by_groups(watches, owners, n_buckets + 1)
    fine[n_buckets] = False
    settled = np.where(fine[owners], buckets, -1)
    lost = int((settled < 0).sum())
    return settled if lost <= limit and lost < buckets.size else None


METHOD = Method(
    "anatomize",
    "Xiao, Tao 2006: Anatomy",
    AnatomizeOptions,
    plan,
    suppresses=True,
    leaves_out=lambda _: True,
    hides=True,
    demo={"anatomize": {"suppression": 0.02}},
    continues=True,
)
