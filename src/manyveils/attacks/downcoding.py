"""Downcoding: what a release hides of quasi-identifiers is written out again, finer than it was published.

Somebody who recodes no more than she must tells by what she recoded that it was needed: a label stands there because the
rows under it differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.beliefs import Known, Seen
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, looked_up
from manyveils.attacks.scene import Scene, even_bound
from manyveils.attacks.score import counted
from manyveils.attacks.tallies import outcome
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.cover import Cover
from manyveils.reading.keys import numbered, ranges
from manyveils.reading.sampling import draw

KNOWS = "how common the values of quasi-identifiers are, and that nothing is recoded without need"
MOST_PAIRS = 20_000_000
RECORDS = Measure(
    "share of hidden records of quasi-identifiers written out exactly",
    "Of the records of quasi-identifiers that are not shown, {success} of {targets} are written out exactly; "
    "drawing their values gets {baseline}",
)
Codes = dict[str, Ids]


def downcoding(scene: Scene) -> Outcome:
    """Downcoding: writing the records of quasi-identifiers that a release hides.

    Knows: how common each value of a quasi-identifier is, and that nothing is recoded without need.
    How: writes as many records as are hidden. Under the label of a group stand its originals as often as they are common;
    where groups are recoded one by one a range has both its ends, a set all its members, and a label of a hierarchy two of
    the labels below it. What stands in several columns or views is drawn from the distribution they imply.
    Paper: Cohen (2022), Attacks on Deidentification's Defenses.
    """
    names = tuple(name for name in scene.quasi if name in scene.reader.readable)
    if not names or not scene.release.rows:
        return Outcome("downcoding", KNOWS, "none", reason="No quasi-identifier is published.")
    if any(
        int(view.cover_of(name).sizes.sum()) > MOST_PAIRS
        for view in scene.reader.views
        for name in {*names} & {*view.attributes}
    ):
        return Outcome(
            "downcoding", KNOWS, "none", reason="Labels cover too many values to write each of them out."
        )
    rng = scene.streams.of("attacks.downcoding")
    shown, written = _written(scene, names, rng)
    if not _n(written):
        return Outcome("downcoding", KNOWS, "none", reason="Quasi-identifiers are published as they are.")
    true = {
        name: looked_up(scene.reader.places[name], scene.table[name].codes.astype(np.int64), -1)
        for name in names
    }
    guessed = {name: rng.choice(codes, _n(written)) for name, codes in true.items()}
    is_hidden, right, guess = _matched(true, shown, written, guessed)
    people = scene.people
    rows = np.arange(people.n) if people.rows is None else people.rows
    # Nothing is believed of anybody: records are written, and nobody's name.
    nothing = np.zeros(people.n)
    tally = counted(
        "quasi-identifiers",
        people,
        is_hidden[rows],
        Seen(right[rows], nothing),
        Seen(guess[rows], nothing),
        even_bound(people.n, 1.0, "nothing is promised of hidden values", is_promised=False),
    )
    details = {"records_written": _n(written), "records_shown": _n(shown)}
    return outcome("downcoding", KNOWS, "simulation", [tally], details, measure=RECORDS)


def _n(codes: Codes) -> int:
    return next(iter(codes.values())).size


def _written(scene: Scene, names: Known, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """The records that are shown as they are, and those that the adversary writes in place of hidden ones."""
    columns = [column for view in scene.reader.views for column in view.columns]
    whole = next((column for column in columns if {*names} <= {*column.attributes}), None)
    if whole is None:
        drawn = draw(scene.release.reading.estimate, scene.release.rows, rng)
        return {name: np.zeros(0, dtype=np.int64) for name in names}, {name: drawn[name] for name in names}
    numbers, firsts = numbered([whole.labels[name].astype(np.int64) for name in names])
    sizes = np.bincount(numbers, weights=whole.counts).astype(np.int64)
    labels = {name: whole.labels[name][firsts].astype(np.int64) for name in names}
    single = {name: whole.covers[name].sizes[own] == 1 for name, own in labels.items()}
    is_shown = np.logical_and.reduce([*single.values()])
    shown = {
        name: np.repeat(whole.covers[name].firsts[own[is_shown]], sizes[is_shown])
        for name, own in labels.items()
    }
    hidden = {name: own[~is_shown] for name, own in labels.items()}
    written = {
        name: _shuffled(*_Labels(scene, whole, name).originals(own, sizes[~is_shown]), rng)
        for name, own in hidden.items()
    }
    return shown, written


def _shuffled(groups: Ids, codes: Ids, rng: np.random.Generator) -> Ids:
    """The codes of each group in random order, group after group: which goes with which is not known."""
    return codes[np.lexsort((rng.random(groups.size), groups))]


@dataclass(frozen=True, repr=False)
class _Labels:
    """The labels of one attribute of a published column, and what must stand under them."""

    scene: Scene
    column: PublishedColumn
    name: str

    @property
    def cover(self) -> Cover:
        """What the labels stand for."""
        return self.column.covers[self.name]

    def originals(self, labels: Ids, sizes: Ids) -> tuple[Ids, Ids]:
        """For groups with a label and a size each, the likeliest originals: group and original of each row."""
        # Groups with equal labels and sizes have equal originals.
        kinds, firsts = numbered([labels, sizes])
        of_kind, codes = self._of_kinds(labels[firsts], sizes[firsts])
        starts = np.searchsorted(of_kind, kinds)
        return np.repeat(np.arange(labels.size), sizes), codes[ranges(starts, sizes)]

    def _of_kinds(self, labels: Ids, sizes: Ids) -> tuple[Ids, Ids]:
        groups, codes = self._pairs(labels)
        shares = self._shares()[codes]
        is_local = self.cover.overlaps
        owed = (self._owed(labels[groups], codes) & is_local).astype(np.int64)
        owed *= (np.bincount(groups, weights=owed, minlength=sizes.size) <= sizes)[groups]
        rest = sizes - np.bincount(groups, weights=owed, minlength=sizes.size).astype(np.int64)
        counts = owed + apportioned(groups, shares, rest)
        if is_local:
            counts = _parted(groups, self._branches(labels[groups], codes), shares, counts)
        return np.repeat(groups, counts), np.repeat(codes, counts)

    def _pairs(self, labels: Ids) -> tuple[Ids, Ids]:
        """Every group with every original under its label."""
        owners, originals = self.cover.pairs()
        starts = np.searchsorted(owners, labels)
        lengths = self.cover.sizes[labels]
        return np.repeat(np.arange(labels.size), lengths), originals[ranges(starts, lengths)]

    def _shares(self) -> Floats:
        """How common each original of the release is; what the data do not have counts a little."""
        shares = np.full(self.cover.n_originals, 1e-9)
        places, attribute = self.scene.reader.places[self.name], self.scene.table[self.name]
        np.add.at(shares, places[places >= 0], attribute.counts[places >= 0])
        return shares

    def _owed(self, labels: Ids, codes: Ids) -> Bools:
        """Whether an original must stand under a label: at the ends of a range, and every member of a set."""
        texts = self.column.texts[self.name]
        is_range, is_set = (texts.str.starts_with(sign).to_numpy()[labels] for sign in "[{")
        at_end = (codes == self.cover.firsts[labels]) | (codes == self.cover.lasts[labels])
        owed: Bools = (self.cover.sizes[labels] > 1) & ((is_range & at_end) | is_set)
        return owed

    def _branches(self, labels: Ids, codes: Ids) -> Ids:
        """The label of the hierarchy one level below that an original stands under; -1 where there is no hierarchy."""
        attribute, places = self.scene.table[self.name], self.scene.reader.places[self.name]
        code_of = np.full(self.cover.n_originals, -1, dtype=np.int64)
        code_of[places[places >= 0]] = np.flatnonzero(places >= 0)
        branches, own = np.full(labels.size, -1, dtype=np.int64), code_of[codes]
        texts = self.column.texts[self.name].to_list()
        for level in reversed(range(1, len(attribute.levels.sizes))):
            at_level = np.isin(
                labels,
                [number for number, text in enumerate(texts) if text in attribute.levels[level].labels],
            )
            below = attribute.levels[level - 1].label_of.astype(np.int64)
            branches = np.where(at_level & (own >= 0), below[np.maximum(own, 0)], branches)
        return branches


def apportioned(groups: Ids, shares: Floats, totals: Ids) -> Ids:
    """Whole numbers that add up to a total in each group and are nearest to their shares of it (largest remainders).

    >>> apportioned(np.array([0, 0, 1]), np.array([3.0, 1.0, 1.0]), np.array([3, 2])).tolist()
    [2, 1, 2]
    """
    sums = np.bincount(groups, weights=shares, minlength=totals.size)
    wanted = shares / sums[groups] * totals[groups]
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    left = totals - np.bincount(groups, weights=counts, minlength=totals.size).astype(np.int64)
    order = np.lexsort((-(wanted - counts), groups))
    lengths = np.bincount(groups, minlength=totals.size)
    ranks = np.arange(groups.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    counts[order] += ranks < left[groups[order]]
    return counts


def _parted(groups: Ids, branches: Ids, shares: Floats, counts: Ids) -> Ids:
    """The counts with one row moved to the likeliest original of another branch, where a group has one branch only."""
    n_groups = int(groups.max(initial=-1)) + 1
    largest = _best(groups, counts.astype(np.float64), n_groups)
    main = branches[largest]
    elsewhere = (branches >= 0) & (branches != main[groups])
    is_parted = np.bincount(groups, weights=elsewhere & (counts > 0), minlength=n_groups) > 0
    other = _best(groups, np.where(elsewhere, shares, 0.0), n_groups)
    move = ~is_parted & elsewhere[other] & (counts[largest] > 1)
    moved = counts.copy()
    moved[largest[move]] -= 1
    moved[other[move]] += 1
    return moved


def _best(groups: Ids, numbers: Floats, n_groups: int) -> Ids:
    """The place of the greatest number of each group."""
    order = np.lexsort((-numbers, groups))
    return order[np.searchsorted(groups[order], np.arange(n_groups))]


def _matched(
    true: Codes, shown: Codes, written: Codes, guessed: Codes
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Of each row of the data whether its record is hidden, and which share of such records is written, and guessed."""
    parts: tuple[Mapping[str, Ids], ...] = (true, shown, written, guessed)
    numbers, _ = numbered(
        [np.concatenate([part[name] for part in parts]).astype(np.int64) + 1 for name in true]
    )
    stops = np.cumsum([_n(dict(part)) for part in parts])
    own, *others = np.split(numbers, stops[:-1])
    n = int(numbers.max(initial=-1)) + 1
    count, n_shown, n_written, n_guessed = (np.bincount(part, minlength=n) for part in (own, *others))
    hidden = np.maximum(count - n_shown, 0)
    right, guess = (np.minimum(part, hidden) / np.maximum(hidden, 1) for part in (n_written, n_guessed))
    return (hidden > 0)[own], right[own], guess[own]
