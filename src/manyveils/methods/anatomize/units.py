"""Buckets of whole persons who have several rows: as small as the values of all their rows allow."""

from dataclasses import dataclass

import numpy as np

from manyveils.methods.anatomize.crowd import REACH, Allowance, Kinds, gather
from manyveils.methods.anatomize.kinds import protected, shares_owed
from manyveils.methods.persons import Judged, judge_of, marks_of, mended, persons_of, shuffled_persons
from manyveils.policy import guarantees
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import Watch
from manyveils.promises.work import Work
from manyveils.release.dealing import arranged

# Kept where a bucket is like the whole table, which is dealt for, and not where its values differ.
ABOUT_LIKENESS = (
    guarantees.Closeness,
    guarantees.SupersetCloseness,
    guarantees.Disclosure,
    guarantees.Likeness,
)
# Kept where enough persons have values of their own, however many share the others.
ABOUT_VARIETY = (guarantees.LeastSize, guarantees.DistinctDiversity)
# Kept only where no value is shared by too many.
ABOUT_SHARES = (guarantees.FrequencyDiversity, guarantees.CappedShare, guarantees.Linkability)
# Buckets that may fail before larger ones are tried, how many values are tried in vain before a bucket fails, and how
# many kinds of persons that fit are enough to draw one.
PATIENCE = 1000
TRIES = 8
ENOUGH = 4
# How many persons are mixed with each who found no place, and whose values meet so much more than others come first.
COMPANY = 2
HARD = 1.5
# How many buckets are judged before all are, and the share of them that must keep every promise.
SAMPLE = 64
MOST = 0.75


def bucketed(work: Work, watches: tuple[Watch, ...], size: int, least: int) -> Ids:
    """The bucket of each row, -1 where its person is left out: small ones that keep every promise for persons.

    A bucket needs `size` different values and `least` persons, at least.

    Claim: all rows of a person have one bucket, or none.
    Why: persons are placed, moved and left out, and rows follow them.
    Tested by: tests/claims/test_persons_in_buckets.py
    """
    persons, judged = persons_of(work), judge_of(watches, persons_of(work))
    shuffled = shuffled_persons(work, "anatomize.order")
    kinds = kinds_of_persons(work)
    gone = _gone(work, kinds, shuffled, judged)
    if gone is None:
        raise refuse(work, watches)
    crowd = _Crowd(kinds, shuffled[~gone[shuffled]], max(size, 1), max(size, least), judged)
    spare = work.limit - int(gone.sum())
    buckets = None
    if not _any_about(work, ABOUT_LIKENESS):
        rng = work.streams.of("anatomize.kinds")
        gathered = crowd.gathered(rng, must_share=_any_about(work, ABOUT_SHARES))
        buckets = mended(gathered, judged, spare)
    if buckets is None or crowd.is_coarse(buckets):
        buckets = _finer(buckets, crowd.dealt(spare))
    return (crowd.together() if buckets is None else buckets)[persons]


def _finer(first: Ids | None, second: Ids | None) -> Ids | None:
    """Whichever has more buckets."""
    if first is None or second is None:
        return second if first is None else first
    return second if second.max() > first.max() else first


def _any_about(work: Work, kinds: tuple[type[guarantees.Guarantee], ...]) -> bool:
    return any(isinstance(promise.guarantee, kinds) for promise in work.promises)


def kinds_of_persons(work: Work) -> Kinds:
    """Sort persons by the protected values that they hold in any of their rows.

    Where it is enough that persons have values of their own, by the rarest of each attribute.
    """
    persons, n_persons = persons_of(work), work.table.n_persons
    spans = [protected(work, name) for name in work.sensitive]
    starts = np.cumsum([0, *(flags.size for _, flags in spans)])
    held = [np.zeros(0, dtype=np.int64)]
    for (attribute, flags), start in zip(spans, starts.tolist(), strict=False):
        rows = np.flatnonzero(flags[attribute.codes])
        held.append(persons[rows] * starts[-1] + attribute.codes[rows] + start)
    holders, ids = np.divmod(distinct(np.concatenate(held)), starts[-1])
    if all(isinstance(promise.guarantee, ABOUT_VARIETY) for promise in work.promises):
        holders, ids = _rarest(holders, ids, starts)
    return _kinds(holders, ids, n_persons, int(starts[-1]))


def _rarest(holders: Ids, ids: Ids, starts: Ids) -> tuple[Ids, Ids]:
    """Of the ids of each person, the rarest of those from one start to the next."""
    n_ids = int(starts[-1])
    by_rarity = np.argsort(np.bincount(ids, minlength=n_ids), kind="stable")
    rank = np.empty(n_ids, dtype=np.int64)
    rank[by_rarity] = np.arange(n_ids)
    spans = np.searchsorted(starts, ids, side="right") - 1
    ranked = np.sort((holders * starts.size + spans) * n_ids + rank[ids])
    owners, ranks = np.divmod(ranked, n_ids)
    first = np.append(True, owners[1:] != owners[:-1]) if owners.size else np.zeros(0, dtype=bool)
    return owners[first] // starts.size, by_rarity[ranks[first]]


def _kinds(holders: Ids, ids: Ids, n_persons: int, n_ids: int) -> Kinds:
    """Kinds of persons from pairs of a person and an id, by person, the commonest sets of ids first."""
    _, example, kind_of = np.unique(marks_of(holders, ids, n_persons), return_index=True, return_inverse=True)
    starts = np.searchsorted(holders, np.arange(n_persons + 1))
    lengths = np.diff(starts)[example]
    ends = np.cumsum(lengths)
    places = np.arange(int(lengths.sum())) + np.repeat(starts[example] - ends + lengths, lengths)
    return Kinds(kind_of.astype(np.int64), np.append(0, ends), ids[places], n_ids)


def _gone(work: Work, kinds: Kinds, shuffled: Ids, judged: Judged) -> Ids | None:
    """Who is left out so that all others keep every promise as one bucket; nothing if these would be too many.

    Claim: whoever is left out is drawn by chance among persons of like values.
    Why: of those with a value that is too common, who holds most such values comes first, in random order.
    Tested by: tests/claims/test_persons_in_buckets.py
    """
    gone = np.zeros(shuffled.size, dtype=bool)
    if judged(_all_but(gone), 1)[0]:
        return gone
    owed = np.concatenate([shares_owed(work, name) for name in work.sensitive])
    holders = np.repeat(np.arange(kinds.n_kinds), np.diff(kinds.id_starts))
    while True:
        n_of_kind = np.bincount(kinds.kind_of_row[~gone], minlength=kinds.n_kinds)
        n_holding = np.bincount(kinds.ids, weights=n_of_kind[holders], minlength=kinds.n_ids).astype(np.int64)
        over = n_holding * owed - n_of_kind.sum()
        worst = int(np.argmax(over))
        if over[worst] <= 0:
            break
        # Counted once a kind, whoever holds most of what is too common goes first.
        n_over = np.bincount(holders, weights=over[kinds.ids] > 0, minlength=kinds.n_kinds)
        has_worst = np.bincount(holders, weights=kinds.ids == worst, minlength=kinds.n_kinds) > 0
        among = shuffled[has_worst[kinds.kind_of_row[shuffled]] & ~gone[shuffled]]
        among = among[np.argsort(-n_over[kinds.kind_of_row[among]], kind="stable")]
        gone[among[: -(-int(over[worst]) // (int(owed[worst]) - 1))]] = True
        if gone.sum() > work.limit:
            return None
    return gone if not gone.all() and judged(_all_but(gone), 1)[0] else None


def _all_but(gone: Ids) -> Ids:
    return np.where(gone, -1, 0)


@dataclass(frozen=True, repr=False)
class _Crowd:
    """The persons to be put into buckets in random order, and how many values and persons a bucket needs."""

    kinds: Kinds
    members: Ids
    size: int
    least: int
    judged: Judged

    def together(self) -> Ids:
        """All of them in one bucket."""
        buckets = np.full(self.kinds.kind_of_row.size, -1, dtype=np.int64)
        buckets[self.members] = 0
        return buckets

    def is_coarse(self, buckets: Ids) -> bool:
        """Whether one bucket has a large part of all persons."""
        return int(np.bincount(buckets[buckets >= 0]).max()) > self.members.size // 4

    def gathered(self, rng: np.random.Generator, *, must_share: bool) -> Ids:
        """Buckets in which no protected value is held by too many; those whom a small bucket cannot bear get larger ones.

        Unless values must be shared by few, they get buckets of their own, to be joined with others.

        Claim: of any bucket but the last, at most one in `size` persons holds a protected value, if so it must be.
        Why: a bucket of n persons takes at most n / size who hold a value, and whoever finds no place is mixed with
        persons of other buckets, who are then placed anew in buckets twice as large; at last all are in one.
        Tested by: tests/claims/test_persons_in_buckets.py
        """
        buckets = np.full(self.kinds.kind_of_row.size, -1, dtype=np.int64)
        pool, length, n_buckets = self.members, max(self.least, self.size), 0
        while True:
            if pool.size < 2 * length:
                buckets[pool] = n_buckets
                return _numbered_anew(buckets)
            found = self._filled(pool, length, rng)
            buckets[pool] = np.where(found < 0, -1, found + n_buckets)
            n_buckets += int(found.max(initial=-1)) + 1
            left = pool[found < 0]
            if not left.size:
                return _numbered_anew(buckets)
            if not must_share:
                buckets[left] = n_buckets + np.arange(left.size)
                return _numbered_anew(buckets)
            pool, length = self._mixed(buckets, left, rng), 2 * length
            buckets[pool] = -1

    def _filled(self, pool: Ids, length: int, rng: np.random.Generator) -> Ids:
        """The bucket of each person of a pool, or -1."""
        most = length // self.size
        kinds = _some_kinds(self.kinds, pool)
        met = _met(kinds)
        bearable = met <= (pool.size / 2 if most == 1 < self.size else np.inf)
        hard = np.flatnonzero(bearable & (met > HARD * met[kinds.kind_of_row].mean()))
        seeds = hard[np.argsort(-met[hard], kind="stable")]
        listed = np.flatnonzero(bearable[kinds.kind_of_row])
        chosen = Kinds(kinds.kind_of_row[listed], kinds.id_starts, kinds.ids, kinds.n_ids)
        # Where the first buckets could not hold all, it is worth more to see whom there are most of.
        effort = PATIENCE, TRIES, ENOUGH if most == 1 else REACH, max(8 * REACH // length, 1)
        allowance = Allowance(most, seeds, *effort)
        found = np.full(pool.size, -1, dtype=np.int64)
        found[listed] = gather(chosen, np.arange(listed.size), length, rng, pool.size, allowance)
        return found

    def _mixed(self, buckets: Ids, left: Ids, rng: np.random.Generator) -> Ids:
        """Those without a place and the persons of some buckets by chance, in random order."""
        n_buckets = int(buckets.max(initial=-1)) + 1
        members = self.members
        sizes = np.bincount(buckets[members][buckets[members] >= 0], minlength=n_buckets)
        drawn = rng.permutation(n_buckets)
        enough = np.cumsum(sizes[drawn]) - sizes[drawn] < left.size * COMPANY * self.size
        taken = np.append(np.isin(np.arange(n_buckets), drawn[enough]), True)
        return members[taken[buckets[members]]]

    def dealt(self, spare: int) -> Ids | None:
        """Persons dealt by their values to ever fewer buckets, so that each comes ever closer to all persons."""
        order = arranged(self.members, _rank_of_kinds(self.kinds)[self.kinds.kind_of_row])
        n_buckets = max(order.size // max(self.least, 2), 1)
        while n_buckets:
            buckets = np.full(self.kinds.kind_of_row.size, -1, dtype=np.int64)
            buckets[order] = np.arange(order.size) % n_buckets
            if self._mostly_kept(buckets, n_buckets):
                return mended(buckets, self.judged, spare)
            n_buckets = n_buckets * 3 // 4
        return None

    def _mostly_kept(self, buckets: Ids, n_buckets: int) -> bool:
        """Whether most buckets keep every promise, as far as some from all over the list can tell."""
        n_drawn = min(n_buckets, SAMPLE)
        drawn = np.arange(n_drawn) * n_buckets // n_drawn
        numbers = np.full(n_buckets + 1, -1, dtype=np.int64)
        numbers[drawn] = np.arange(n_drawn)
        return bool(self.judged(numbers[buckets], n_drawn).mean() >= MOST)


def _numbered_anew(buckets: Ids) -> Ids:
    """The same buckets without numbers that nobody has; -1 stays."""
    present = np.bincount(buckets + 1, minlength=1) > 0
    numbers = np.cumsum(present) - 1 - int(present[0])
    return np.where(buckets < 0, -1, numbers[buckets + 1])


def _met(kinds: Kinds) -> Ids:
    """How many persons hold the values of each kind, counted once a value."""
    n_of_kind = np.bincount(kinds.kind_of_row, minlength=kinds.n_kinds)
    holders = np.repeat(np.arange(kinds.n_kinds), np.diff(kinds.id_starts))
    n_holding = np.bincount(kinds.ids, weights=n_of_kind[holders], minlength=kinds.n_ids)
    met: Ids = np.bincount(holders, weights=n_holding[kinds.ids], minlength=kinds.n_kinds).astype(np.int64)
    return met


def _some_kinds(kinds: Kinds, some: Ids) -> Kinds:
    """The kinds of some persons only, numbered anew."""
    present = np.bincount(kinds.kind_of_row[some], minlength=kinds.n_kinds) > 0
    numbers = np.cumsum(present) - 1
    lengths = np.diff(kinds.id_starts)
    ids = kinds.ids[np.repeat(present, lengths)]
    starts = np.append(0, np.cumsum(lengths[present]))
    return Kinds(numbers[kinds.kind_of_row[some]], starts, ids, kinds.n_ids)


def _rank_of_kinds(kinds: Kinds) -> Ids:
    """Kinds in an order in which those with the same commonest value stand together."""
    n_of_kind = np.bincount(kinds.kind_of_row, minlength=kinds.n_kinds)
    holders = np.repeat(np.arange(kinds.n_kinds), np.diff(kinds.id_starts))
    n_holding = np.bincount(kinds.ids, weights=n_of_kind[holders], minlength=kinds.n_ids)
    rank = np.empty(kinds.n_ids, dtype=np.int64)
    rank[np.argsort(-n_holding, kind="stable")] = np.arange(kinds.n_ids)
    commonest = np.full(kinds.n_kinds, kinds.n_ids, dtype=np.int64)
    np.minimum.at(commonest, holders, rank[kinds.ids])
    places = np.empty(kinds.n_kinds, dtype=np.int64)
    places[np.lexsort((n_of_kind, commonest))] = np.arange(kinds.n_kinds)
    return places
