"""Minimality: a table that is coarser than it seems to need tells why it had to be.

Knows: everybody's quasi-identifiers, and that the method publishes the finest groups that keep the promise.
How: deals the sensitive values of each group to its people at random, again and again, and keeps the deals in which the
next finer groups would have broken l (distinct or frequency); what a person has in those is what she believes.
For each generalized table by itself, with levels (each attribute one finer) or with ranges (each group cut at its medians).
Paper: Wong et al., Minimality attack (2007).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manyveils.attacks.beliefs import Beliefs, Known, Seen
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People, alike, looked_up, n_people
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import bound_of, counted, harm, look, protected
from manyveils.attacks.search import Batch, labels_of
from manyveils.attacks.sparse_rows import Rows, normalized
from manyveils.attacks.tallies import Tally, outcome
from manyveils.policy import Promise
from manyveils.policy.guarantees import DistinctDiversity, FrequencyDiversity
from manyveils.reading.views import PublishedView
from manyveils.release.bare import BareRelease
from manyveils.table import Attribute, Table

NAME = "minimality"
KNOWS = "everybody's quasi-identifiers, and how groups are chosen"
WORK = 150_000_000
FEWEST, MOST = 60, 2_000
LEAST_DEALS = 30
MOST_CELLS = 5_000_000
CAUTION = 5.0


@dataclass(frozen=True, repr=False)
class Grouped:
    """The published rows of a view of one column and the people in them, group by group.

    `group[i]` is the group of person i, or -1; `row_group` and `row` list every published row with its group.
    """

    view: PublishedView
    group: Ids
    row_group: Ids
    row: Ids

    @property
    def n_groups(self) -> int:
        """How many groups people are in, at most."""
        return int(self.group.max(initial=-1)) + 1


@dataclass(frozen=True, repr=False)
class Split:
    """A finer grouping of people; `is_whole` says that it stands or falls for the whole table and not group by group."""

    groups: Ids
    n_groups: int
    is_whole: bool


def grouped(scene: Scene, view: PublishedView, known: Known) -> Grouped:
    """Sort people into the groups of a view; groups in which people and rows do not agree are left out."""
    column = view.columns[0]
    group_of_row, _ = alike([column.labels[name] for name in known], column.counts.size)

    def groups(batch: Batch) -> Ids:
        return _only_group(batch, group_of_row)

    group = scene.reader.search(scene.people, view, known).gathered(groups, -1)
    sizes = np.bincount(group_of_row, weights=column.counts)
    agrees = np.bincount(group[group >= 0], minlength=sizes.size) == sizes
    group = np.where(looked_up(agrees, group, otherwise=False), group, -1)
    rows = np.flatnonzero(agrees[group_of_row])
    row = np.repeat(rows, column.counts[rows])
    row = row[np.argsort(group_of_row[row], kind="stable")]
    return Grouped(view, group, group_of_row[row], row)


def _only_group(batch: Batch, group_of_row: Ids) -> Ids:
    """The one group that each target may be in; -1 where there are several or none."""
    matches = batch.matches[0]
    n = int(matches.combination_of.max(initial=-1)) + 1
    low, high = np.full(n, group_of_row.max(initial=0) + 1), np.full(n, -1)
    np.minimum.at(low, matches.combinations, group_of_row[matches.rows])
    np.maximum.at(high, matches.combinations, group_of_row[matches.rows])
    return np.where(low == high, high, -1)[matches.combination_of]


def splits(scene: Scene, grouping: Grouped, known: Known, k: int) -> Iterator[Split]:
    """The finer groupings that somebody who knows how groups are made expects to have been tried."""
    levels = {name: _level(scene, grouping.view, name) for name in known}
    for name, level in levels.items():
        if None in levels.values():
            yield _in_halves(scene.people, grouping, name, k)
        elif level:
            yield _one_level_down(scene.people, grouping, scene.table[name], level)


def _level(scene: Scene, view: PublishedView, name: str) -> int | None:
    """The level of the hierarchy at which an attribute is published; None where it is not one of them."""
    attribute, places = scene.table[name], scene.reader.places[name]
    if view.cover_of(name).overlaps:
        return None
    shown = (places >= 0) & (attribute.counts > 0)
    labels = labels_of(view, name, places)[shown]
    for level in range(len(attribute.levels)):
        own = attribute.levels[level].label_of[shown]
        n_both = alike([labels, own], labels.size)[1].size
        if n_both == np.unique(labels).size == np.unique(own).size:
            return level
    return None


def _one_level_down(people: People, grouping: Grouped, attribute: Attribute, level: int) -> Split:
    """Full-domain recoding: one attribute by itself one level finer."""
    finer = attribute.levels[level - 1].label_of[people.codes[attribute.name]]
    groups, firsts = alike([grouping.group, finer], people.n)
    return Split(np.where(grouping.group >= 0, groups, -1), firsts.size, is_whole=True)


def _in_halves(people: People, grouping: Grouped, name: str, k: int) -> Split:
    """Local recoding: every group by itself cut in two at the median of an attribute, where both halves keep k rows."""
    codes, group, n = people.codes[name], grouping.group, grouping.n_groups
    inside = group >= 0
    order = np.lexsort((codes, group))
    order = order[inside[order]]
    starts = np.searchsorted(group[order], np.arange(n))
    sizes = np.bincount(group[inside], minlength=n)
    occupied = sizes > 0
    median = np.zeros(n, dtype=np.int64)
    median[occupied] = codes[order[(starts + (sizes - 1) // 2)[occupied]]]
    above = codes > looked_up(median, group, 0)
    halves = (inside & above, inside & ~above)
    persons = people.persons
    n_above, n_below = (
        n_people(group[half], None if persons is None else persons[half], n) for half in halves
    )
    is_cut = np.minimum(n_above, n_below) >= max(k, 1)
    return Split(
        np.where(looked_up(is_cut, group, otherwise=False), 2 * group + above, -1), 2 * n, is_whole=False
    )


@dataclass(frozen=True, repr=False)
class Judge:
    """What a grouping must keep: at least k people in a group and these promises, but for `allowed` left out.

    `persons` numbers the person of each target; None where rows are people.
    """

    table: Table
    promises: Sequence[Promise]
    k: int
    allowed: int
    persons: Ids | None = None

    def explained(self, splits: Sequence[Split], who: Ids, dealt: Mapping[str, Ids], n_groups: int) -> Bools:
        """In which groups a deal to these people explains that none of the finer groupings was published."""
        explained = np.ones(n_groups, dtype=bool)
        for split in splits:
            inside = split.groups[who] >= 0
            groups = split.groups[who][inside]
            persons = None if self.persons is None else self.persons[who][inside]
            sizes = n_people(groups, persons, split.n_groups)
            small = (sizes > 0) & (sizes < self.k) & split.is_whole
            if int(sizes[small].sum()) > self.allowed:
                # Too few rows explain it, whatever was dealt.
                continue
            broken = small
            for promise in self.promises:
                dealt_to = dealt[promise.protects[0]][inside]
                broken = broken | self._breaks(promise, groups, dealt_to, sizes, persons)
            if split.is_whole:
                explained &= int(sizes[broken].sum()) > self.allowed
            else:
                halves = (sizes > 0).reshape(n_groups, 2), broken.reshape(n_groups, 2)
                is_cut, fails = (flags.any(axis=1) for flags in halves)
                explained &= fails | ~is_cut
        return explained

    def _breaks(self, promise: Promise, groups: Ids, codes: Ids, sizes: Ids, persons: Ids | None) -> Bools:
        """Which groups break a promise."""
        attribute, guarantee = self.table[promise.protects[0]], promise.guarantee
        assert isinstance(guarantee, DistinctDiversity | FrequencyDiversity)
        labels = attribute.at_level(guarantee.level)
        shape = sizes.size, labels.n_values
        keys = groups * labels.n_values + attribute.levels[guarantee.level].label_of[codes]
        counts = n_people(keys, persons, shape[0] * shape[1]).reshape(shape)
        ls = np.array([guarantee.l_for(text) for text in labels.texts])
        if isinstance(guarantee, DistinctDiversity):
            owed = np.where(counts > 0, ls, 0).max(axis=1, initial=0)
            # No more values can be matched with people than there are people.
            return (sizes > 0) & (np.minimum((counts > 0).sum(axis=1), sizes) < owed)
        sensitive = np.array([text not in promise.insensitive for text in attribute.texts])
        sensitive = attribute.labels_of(sensitive, guarantee.level)
        return (counts * ls)[:, sensitive].max(axis=1, initial=0) > sizes


def attack(scene: Scene) -> Outcome:
    """Keep the deals that explain why nothing finer was published."""
    reason = _reason(scene)
    if reason:
        return Outcome(NAME, KNOWS, "none", reason=reason)
    found = [attempt for view in _generalized(scene) if (attempt := _in_view(scene, view)) is not None]
    if not found:
        return Outcome(NAME, KNOWS, "none", reason="There is no finer grouping to compare with.")
    deals = [own[own > 0] for _, own in found]
    details = {"deals_kept": min(float(np.median(own)) if own.size else 0.0 for own in deals)}
    return outcome(NAME, KNOWS, "simulation", [tally for own, _ in found for tally in own], details)


def _in_view(scene: Scene, view: PublishedView) -> tuple[list[Tally], Ids] | None:
    """What is found out in one table, and in how many deals of each person's group; nothing where nothing finer is."""
    known = scene.reader.readable_in(view, scene.quasi)
    is_alone = len(scene.reader.views) == 1
    # Beside other tables of the same people nobody is published alone.
    k = max(scene.greatest("k"), 1 if is_alone else 2)
    grouping = grouped(scene, view, known)
    finer = [*splits(scene, grouping, known, k)] if grouping.n_groups else []
    aims = [aim for aim in scene.aims if _is_counted(scene, view, aim)]
    if not finer or not aims:
        return None
    promises = [promise for promise in _diversities(scene) if promise.protects[0] in view.attributes]
    allowed = int(scene.policy.publish.suppression * scene.people.n_persons)
    judge = Judge(scene.table, promises, k, allowed, scene.people.persons)
    believed, deals = _dealt(scene, grouping, finer, aims, judge)
    return [_tally(scene, aim, believed[aim], deals) for aim in aims], deals


def _generalized(scene: Scene) -> list[PublishedView]:
    """The tables whose groups were chosen: the only one, or of several those that show all quasi-identifiers."""
    views = scene.reader.views
    shown = {name for view in views for name in scene.reader.readable_in(view, scene.quasi)}
    return [
        view
        for view in views
        if len(view.columns) == 1 and view.n_buckets <= 1 and (len(views) == 1 or shown <= {*view.attributes})
    ]


def _reason(scene: Scene) -> str:
    if isinstance(scene.release, BareRelease):
        return "The table was made by another tool, and what else that tried is not known."
    views = _generalized(scene)
    if not _diversities(scene):
        return "Neither distinct nor frequency l is promised."
    if not views:
        return "Rows share buckets by chance, or tables show parts of what is known; no finer grouping was tried and given up."
    if scene.people.n < scene.table.n_rows:
        return f"It takes all rows at once, and of a table of this size {scene.people.n:,} are tried."
    if not any(_is_counted(scene, view, aim) for view in views for aim in scene.aims):
        return "No sensitive attribute is shown as it is, or the attributes have too many values."
    known = [(view, name) for view in views for name in scene.reader.readable_in(view, scene.quasi)]
    if not any(view.cover_of(name).is_coarse for view, name in known):
        return "No quasi-identifier is recoded, so nothing finer could have been published."
    return ""


def _is_counted(scene: Scene, view: PublishedView, aim: Aim) -> bool:
    cells = scene.people.n * scene.table[aim.about].n_values
    is_shown = bool(scene.reader.readable_in(view, (aim.about,)))
    return is_shown and not view.cover_of(aim.about).is_coarse and cells <= MOST_CELLS


def _diversities(scene: Scene) -> list[Promise]:
    return [
        promise
        for promise in scene.promises
        if isinstance(promise.guarantee, DistinctDiversity | FrequencyDiversity)
        and len(promise.protects) == 1
        and promise.protects[0] in scene.reader.readable
        and not promise.conditional
    ]


def _dealt(
    scene: Scene, grouping: Grouped, finer: Sequence[Split], aims: Sequence[Aim], judge: Judge
) -> tuple[dict[Aim, Beliefs], Ids]:
    """What people have in the deals that explain the table, and in how many deals of each person's group it does."""
    who = np.flatnonzero(grouping.group >= 0)
    who = who[np.argsort(grouping.group[who], kind="stable")]
    names = {promise.protects[0] for promise in judge.promises} | {aim.about for aim in aims}
    values = {name: _values(scene, grouping, name) for name in names}
    n_values = {name: scene.table[name].n_values for name in names}
    counts = {aim: np.zeros(scene.people.n * n_values[aim.about]) for aim in aims}
    n_explained = np.zeros(grouping.n_groups, dtype=np.int64)
    several = f".{grouping.view.name}" if len(scene.reader.views) > 1 else ""
    rng = scene.streams.of(f"attacks.minimality{several}")
    for _ in range(_n_deals(scene, finer, judge.promises, aims)):
        deal = np.lexsort((rng.random(who.size), grouping.row_group))
        dealt = {name: own[deal] for name, own in values.items()}
        explained = judge.explained(finer, who, dealt, grouping.n_groups)
        n_explained += explained
        chosen = explained[grouping.group[who]]
        for aim, count in counts.items():
            cells = who[chosen] * n_values[aim.about] + dealt[aim.about][chosen]
            count += np.bincount(cells, minlength=count.size)
    deals: Ids = looked_up(n_explained, grouping.group, 0)
    return {aim: _believed(scene, aim, count, deals) for aim, count in counts.items()}, deals


def _n_deals(scene: Scene, finer: Sequence[Split], promises: Sequence[Promise], aims: Sequence[Aim]) -> int:
    """As many deals as there is time for."""
    n, table = scene.people.n, scene.table
    judged = sum(
        n + split.n_groups * table[promise.protects[0]].n_values for split in finer for promise in promises
    )
    counted = sum(n * table[aim.about].n_values for aim in aims)
    return int(np.clip(WORK // max(judged + counted + 10 * n, 1), FEWEST, MOST))


def _values(scene: Scene, grouping: Grouped, name: str) -> Ids:
    """The original's code of every published row, group by group."""
    cover, places = grouping.view.cover_of(name), scene.reader.places[name]
    code_of = np.zeros(cover.n_originals, dtype=np.int64)
    code_of[places[places >= 0]] = np.flatnonzero(places >= 0)
    return code_of[cover.firsts][grouping.view.columns[0].labels[name][grouping.row]]


def _believed(scene: Scene, aim: Aim, counts: Floats, deals: Ids) -> Beliefs:
    """The share of deals in which a person has each value; where few explain the table, what her group shows."""
    plain = scene.reader.beliefs(scene.people, aim.known, aim.about)
    n_values = scene.table[aim.about].n_values
    everybody = np.arange(scene.people.n)
    instead = plain.of(everybody).among(n_values)
    counted = Rows.of(counts.reshape(scene.people.n, n_values) * (deals >= LEAST_DEALS)[:, np.newaxis])
    return Beliefs(normalized(counted, instead), everybody)


def _tally(scene: Scene, aim: Aim, beliefs: Beliefs, deals: Ids) -> Tally:
    people, inside = scene.people, protected(scene.people, aim)
    seen, plain = beliefs.seen(people.codes[aim.about]), look(scene.reader, people, aim)
    bound, guess = bound_of(people, aim), look(scene.ignorant, people, aim)
    # Shares of few deals vary by chance, which must not look like knowledge.
    surely = replace(seen, truth=seen.truth - CAUTION * np.sqrt(0.25 / np.maximum(deals, 1)))
    before = Seen(guess.right, plain.truth)
    broken, _ = harm(inside, surely, before, bound)
    gained = inside & (deals >= LEAST_DEALS) & (surely.truth > plain.truth)
    return replace(
        counted(aim.home, people, inside, surely, before, bound),
        certain=int(people.anyone(broken & (seen.truth >= 1.0)).sum()),
        worst=float(seen.truth[inside].max(initial=0.0)),
        bound=f"{bound.words}, and what the group shows",
        details={"gained_beyond_the_group": int(people.anyone(gained).sum())},
    )
