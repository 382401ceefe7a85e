"""Records of two releases that must, or cannot, be of the same person: Fung, Wang, Fu and Pei (2008).

Whoever was in the older release has a record in the newer one, with quasi-identifiers that fit and, of an attribute that
does not change, the same value. So somebody's candidates are fewer than her group shows:

- forward: of the records of her group in the older release, only as many can be hers as have a match in her newer group;
- cross: the same, of her group in the newer release;
- backward: somebody who joined in between has none of the records that must be of people who were there before.

How many records are excluded at least, in all cases, is counted value by value; which ones stays open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Known
from manyveils.attacks.people import Bools, Ids, People
from manyveils.attacks.search import Batch
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.keys import numbered
from manyveils.reading.views import PublishedView

MOST_PAIRS = 50_000_000
NO_GROUP = -1


@dataclass(frozen=True, repr=False)
class Records:
    """One release as groups of records that read alike to someone who knows some attributes."""

    reader: Reader
    view: PublishedView
    known: Known
    about: str

    @property
    def column(self) -> PublishedColumn:
        """The column that shows what is known beside what is asked."""
        return self.view.column_of(self.about)

    @cached_property
    def _groups(self) -> tuple[Ids, Ids]:
        labels = [self.column.labels[name].astype(np.int64) for name in self.known]
        return numbered([self.column.buckets, *labels])

    @property
    def n(self) -> int:
        """How many groups there are."""
        return self._groups[1].size

    @property
    def groups(self) -> Ids:
        """The group of each published row."""
        return self._groups[0]

    @cached_property
    def sizes(self) -> Ids:
        """How many records each group has."""
        return np.bincount(self._groups[0], weights=self.column.counts, minlength=self.n).astype(np.int64)

    def counted(self, codes: Ids, n_values: int) -> Ids:
        """How many records of each group have each value; `codes` numbers labels as values."""
        cells = self._groups[0] * n_values + codes[self.column.labels[self.about]]
        counts = np.bincount(cells, weights=self.column.counts, minlength=self.n * n_values)
        return counts.astype(np.int64).reshape(self.n, n_values)

    def labels(self, name: str) -> Ids:
        """The label of each group."""
        return self.column.labels[name][self._groups[1]].astype(np.int64)

    def under(self, name: str, place_of: dict[str, int]) -> csr_array:
        """Which originals stand under each label, in codes of both releases."""
        labels, codes = self.column.covers[name].pairs()
        texts = self.reader.release.reading.estimate.domains[name].texts
        places = np.array([place_of[text] for text in texts], dtype=np.int64)
        entries = (np.ones(labels.size), (labels, places[codes]))
        return csr_array(entries, shape=(self.column.covers[name].n_labels, len(place_of)))

    def group_of(self, people: People) -> Ids:
        """The group that fits each person; none where several do."""
        index = self.view.columns.index(self.column)

        def fitting(batch: Batch) -> Ids:
            matches, groups = batch.matches[index], self._groups[0]
            least, most = np.full(batch.n + 1, self.n), np.full(batch.n + 1, NO_GROUP)
            np.minimum.at(least, matches.combinations, groups[matches.rows])
            np.maximum.at(most, matches.combinations, groups[matches.rows])
            only = np.where(least == most, least, NO_GROUP)
            return only[matches.combination_of]

        search = self.reader.search(people, self.view, self.known)
        return search.gathered(fitting, float(NO_GROUP)).astype(np.int64)


def records_of(reader: Reader, known: Known, about: str) -> Records | None:
    """The records of a release, if a view shows what is known beside what is asked."""
    for view in reader.views:
        if about in view.attributes and view.n_rows and about in reader.readable:
            column = view.column_of(about)
            names = tuple(name for name in reader.readable_in(view, known) if name != about)
            if names and {*names} <= {*column.attributes}:
                return Records(reader, view, names, about)
    return None


@dataclass(frozen=True, repr=False)
class Pair:
    """Two releases of the same people; `n_gone` of those in the older have no record in the newer.

    Claim: of the records of a group at least so many are excluded as `forward`, `cross` and `backward` say.
    Why: a record of somebody in both stands for one record of the other release with the same value and labels that share
    an original, so no more of one group can be hers than the other has; and of the records that fit a newer group all but
    those of who is gone, and those that other newer groups have room for, must be in it.
    Tested by: tests/attacks/test_correspondence.py
    """

    older: Records
    newer: Records
    n_gone: int
    compares_values: bool

    @cached_property
    def fits(self) -> Bools:
        """Which groups of the older release fit which of the newer: in all attributes, labels share an original."""
        fits = np.ones((self.older.n, self.newer.n), dtype=bool)
        for name in self.older.known:
            if name in self.newer.known:
                shared = self._shared(name)
                fits &= shared[self.older.labels(name)][:, self.newer.labels(name)]
        return fits

    def _shared(self, name: str) -> Bools:
        both = (self.older, self.newer)
        texts = dict.fromkeys(
            text for own in both for text in own.reader.release.reading.estimate.domains[name].texts
        )
        place_of = {text: place for place, text in enumerate(texts)}
        older, newer = (own.under(name, place_of) for own in both)
        shared: Bools = np.asarray((older @ newer.T).todense()) > 0
        return shared

    @cached_property
    def counts(self) -> tuple[Ids, Ids]:
        """The records of each group of both releases with each value; all of them with one, where values are not compared."""
        both = (self.older, self.newer)
        covers = [own.column.covers[own.about] for own in both]
        if not self.compares_values or any(cover.is_coarse for cover in covers):
            return self.older.sizes[:, np.newaxis], self.newer.sizes[:, np.newaxis]
        texts = [own.column.texts[own.about].to_list() for own in both]
        place_of = {
            text: place for place, text in enumerate(dict.fromkeys(text for own in texts for text in own))
        }
        codes = [np.array([place_of[text] for text in own], dtype=np.int64) for own in texts]
        older, newer = (own.counted(code, len(place_of)) for own, code in zip(both, codes, strict=True))
        return older, newer

    def forward(self, older: Ids, newer: Ids) -> Ids:
        """How many records of an older group are excluded, for people who stand in it and in a newer one."""
        before, after = self.counts
        return np.maximum(before[older] - after[newer], 0).sum(axis=1)

    def cross(self, older: Ids, newer: Ids) -> Ids:
        """How many records of a newer group are excluded, for people who stand in an older one and in it."""
        before, after = self.counts
        return np.maximum(after[newer] - before[older], 0).sum(axis=1)

    @cached_property
    def backward(self) -> Ids:
        """How many records of each newer group are excluded for people who joined after the older release."""
        excluded = np.zeros(self.newer.n, dtype=np.int64)
        for before, after in zip(self.counts[0].T, self.counts[1].T, strict=True):
            fits = csr_array(self.fits & (before > 0)[:, np.newaxis]).astype(np.int64)
            near = csr_array(((fits.T @ fits) > 0).astype(np.int64))
            # A group that nothing older fits is near to none, not even itself.
            elsewhere = np.maximum(near @ after - after, 0)
            excluded += np.clip(fits.T @ before - self.n_gone - elsewhere, 0, after)
        return excluded


def pairs_of(
    newer: Reader,
    older: Sequence[Reader],
    n_stayed: Sequence[int],
    known: Known,
    about: str,
    *,
    is_constant: bool,
) -> list[Pair | None]:
    """The newest release beside each older one, if records of both show what is known beside what is asked.

    `n_stayed` says how many people of each are known to be in the newest; everybody else may be gone.
    """
    newest = records_of(newer, known, about)
    records = [None if newest is None else records_of(reader, known, about) for reader in older]
    return [
        None
        if newest is None or own is None or own.n * newest.n > MOST_PAIRS
        else Pair(own, newest, max(int(own.sizes.sum()) - n, 0), is_constant)
        for own, n in zip(records, n_stayed, strict=True)
    ]


@dataclass
class Excluded:
    """Of how many people some records are excluded, and how few records are left of anybody's group."""

    cracked: Bools
    least: int | None = None

    def add(self, who: Ids, excluded: Ids, sizes: Ids) -> None:
        """Count some people with a group each."""
        self.cracked[who[excluded > 0]] = True
        left = (sizes - excluded)[excluded > 0]
        if left.size:
            self.least = min([int(left.min()), *([] if self.least is None else [self.least])])


def corresponding(
    pairs: Sequence[Pair], were_there: Sequence[Bools], people: People, is_here: Bools
) -> dict[str, int]:
    """How many people have fewer candidates than their groups show, by each of the three attacks.

    `were_there` says for each pair which people were in the older release, `is_here` who is in the newest.
    """
    found = {name: Excluded(np.zeros(people.n, dtype=bool)) for name in ("forward", "cross", "backward")}
    for pair, was_there in zip(pairs, were_there, strict=True):
        older, newer = pair.older.group_of(people), pair.newer.group_of(people)
        stayed = np.flatnonzero(is_here & was_there & (older >= 0) & (newer >= 0))
        joined = np.flatnonzero(is_here & ~was_there & (newer >= 0))
        own, now = older[stayed], newer[stayed]
        found["forward"].add(stayed, pair.forward(own, now), pair.older.sizes[own])
        found["cross"].add(stayed, pair.cross(own, now), pair.newer.sizes[now])
        found["backward"].add(joined, pair.backward[newer[joined]], pair.newer.sizes[newer[joined]])
    details = {f"{name}_cracked": int(people.anyone(own.cracked).sum()) for name, own in found.items()}
    return details | {f"{name}_least": own.least for name, own in found.items() if own.least is not None}
