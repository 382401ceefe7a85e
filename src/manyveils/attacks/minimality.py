"""Minimality: a table that is coarser than it seems to need tells why it had to be.

Knows: everybody's quasi-identifiers, and that the method publishes the finest groups that keep the promise.
How: deals the sensitive values of each group to its people at random, again and again, and keeps the deals in which the
next finer groups would have broken l (distinct or frequency); what a person has in those is what she believes.
For one generalized table, with levels (each attribute one finer) or with ranges (each group cut at its medians).
Paper: Wong et al., Minimality attack (2007).
"""

from collections.abc import Sequence

import numpy as np

from manyveils.attacks.beliefs import Beliefs, normalized
from manyveils.attacks.finer import Grouped, Split, grouped, splits
from manyveils.attacks.homogeneity import look
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, bound_of, outcome, protected
from manyveils.policy.guarantees import DistinctDiversity, FrequencyDiversity, KAnonymity, Promise
from manyveils.reading.views import PublishedView

NAME = "minimality"
KNOWS = "everybody's quasi-identifiers, and how groups are chosen"
WORK = 150_000_000
FEWEST, MOST = 60, 2_000
LEAST_DEALS = 30
MOST_CELLS = 5_000_000
CAUTION = 5.0


def attack(scene: Scene) -> Outcome:
    """Keep the deals that explain why nothing finer was published."""
    reason = _reason(scene)
    if reason:
        return Outcome(NAME, KNOWS, "none", reason=reason)
    shape = scene.reader.shapes[0]
    asked = tuple(name for name in scene.quasi if name in shape.attributes and name in scene.reader.readable)
    grouping = grouped(scene, scene.people, shape, asked)
    ks = [each.guarantee.k for each in scene.promises if isinstance(each.guarantee, KAnonymity)]
    finer = [*splits(scene, scene.people, grouping, asked, max(ks, default=1))]
    if not finer or not (grouping.group >= 0).any():
        return Outcome(NAME, KNOWS, "none", reason="There is no finer grouping to compare with.")
    aims = [aim for aim in scene.aims if _counts(scene, shape, aim)]
    believed, kept = _dealt(scene, grouping, finer, aims, max(ks, default=1))
    tallies = [_tally(scene, aim, believed[aim], kept) for aim in aims]
    details = {"deals_kept": float(np.median(kept[kept > 0])) if (kept > 0).any() else 0.0}
    return outcome(NAME, KNOWS, "simulation", tallies, details)


def _reason(scene: Scene) -> str:
    shapes = scene.reader.shapes
    if not _diversities(scene):
        return "Neither distinct nor frequency l is promised."
    if len(shapes) != 1 or len(shapes[0].parts) != 1 or shapes[0].n_buckets > 1:
        return "Rows share buckets by chance, or stand in several views; no finer grouping was tried and given up."
    if scene.people.n < scene.table.n_rows:
        return f"There are more than {scene.people.n:,} people."
    if not any(_counts(scene, shapes[0], aim) for aim in scene.aims):
        return "No sensitive attribute is shown as it is, or the attributes have too many values."
    known = [name for name in scene.quasi if name in shapes[0].attributes and name in scene.reader.readable]
    if not any(shapes[0].spread_of(name).is_coarse for name in known):
        return "No quasi-identifier is recoded, so nothing finer could have been published."
    return ""


def _counts(scene: Scene, shape: PublishedView, aim: Aim) -> bool:
    cells = scene.people.n * scene.table[aim.about].n_values
    shown = aim.about in scene.reader.readable and aim.about in shape.attributes
    return shown and not shape.spread_of(aim.about).is_coarse and cells <= MOST_CELLS


def _diversities(scene: Scene) -> list[Promise]:
    return [
        each
        for each in scene.promises
        if isinstance(each.guarantee, DistinctDiversity | FrequencyDiversity)
        and len(each.protects) == 1
        and each.protects[0] in scene.reader.readable
        and not each.conditional
    ]


def _dealt(
    scene: Scene, grouping: Grouped, finer: Sequence[Split], aims: Sequence[Aim], k: int
) -> tuple[dict[Aim, Beliefs], Ids]:
    """What people have in the deals that explain the table, and in how many deals of each person's group it does."""
    people, part = scene.people, grouping.part
    who = np.flatnonzero(grouping.group >= 0)
    who = who[np.argsort(grouping.group[who], kind="stable")]
    promises = [each for each in _diversities(scene) if each.protects[0] in part.attributes]
    names = {each.protects[0] for each in promises} | {aim.about for aim in aims}
    values = {name: _values(scene, grouping, name)[grouping.row] for name in names}
    n = int(grouping.group.max(initial=-1)) + 1
    counts = {aim: np.zeros(people.n * scene.table[aim.about].n_values) for aim in aims}
    kept = np.zeros(n, dtype=np.int64)
    rng = scene.streams.of("attacks.minimality")
    allowed = int(scene.policy.publish.suppression * scene.table.n_rows)
    for _ in range(_n_deals(scene, finer, promises, aims)):
        deal = np.lexsort((rng.random(who.size), grouping.row_group))
        dealt = {name: held[deal] for name, held in values.items()}
        flags = _explains(scene, grouping, who, finer, promises, dealt, k, allowed)
        kept += flags
        chosen = flags[grouping.group[who]]
        for aim, count in counts.items():
            n_values = scene.table[aim.about].n_values
            place = who[chosen] * n_values + dealt[aim.about][chosen]
            count += np.bincount(place, minlength=count.size)
    deals = np.where(grouping.group >= 0, kept[np.maximum(grouping.group, 0)], 0)
    return {aim: _believed(scene, aim, count, deals) for aim, count in counts.items()}, deals


def _n_deals(scene: Scene, finer: Sequence[Split], promises: Sequence[Promise], aims: Sequence[Aim]) -> int:
    """As many deals as there is time for."""
    n, table = scene.people.n, scene.table
    judged = sum(
        n + split.n_groups * table[each.protects[0]].n_values for split in finer for each in promises
    )
    counted = sum(n * table[aim.about].n_values for aim in aims)
    return int(np.clip(WORK // max(judged + counted + 10 * n, 1), FEWEST, MOST))


def _values(scene: Scene, grouping: Grouped, name: str) -> Ids:
    """The original's code of every row of the view."""
    spread = grouping.part.spreads[name]
    code_of = np.zeros(spread.n_originals, dtype=np.int64)
    places = scene.reader.places[name]
    code_of[places[places >= 0]] = np.flatnonzero(places >= 0)
    return code_of[spread.firsts[grouping.part.labels[name]]]


def _explains(
    scene: Scene,
    grouping: Grouped,
    who: Ids,
    finer: Sequence[Split],
    promises: Sequence[Promise],
    dealt: dict[str, Ids],
    k: int,
    allowed: int,
) -> Bools:
    """In which groups the deal explains that no finer grouping was published."""
    n = int(grouping.group.max(initial=-1)) + 1
    flags = np.ones(n, dtype=bool)
    for split in finer:
        groups = split.groups[who]
        inside = groups >= 0
        sizes = np.bincount(groups[inside], minlength=split.n_groups)
        small = (sizes > 0) & (sizes < k)
        if split.whole and int(sizes[small].sum()) > allowed:
            # Too few rows explain it, whatever was dealt.
            continue
        short = small.copy() if split.whole else np.zeros(split.n_groups, dtype=bool)
        for promise in promises:
            short |= _short(promise, groups[inside], dealt[promise.protects[0]][inside], sizes, scene)
        if split.whole:
            flags &= int(sizes[short].sum()) > allowed
        else:
            fails = np.zeros(n, dtype=bool)
            fails[np.unique(np.flatnonzero(short) // 2)] = True
            cut = np.bincount(groups[inside] // 2, minlength=n) > 0
            flags &= fails | ~cut
    return flags


def _short(promise: Promise, groups: Ids, codes: Ids, sizes: Ids, scene: Scene) -> Bools:
    """Which groups break a promise."""
    column = scene.table[promise.protects[0]]
    counts = np.bincount(groups * column.n_values + codes, minlength=sizes.size * column.n_values)
    counts = counts.reshape(sizes.size, column.n_values)
    guarantee = promise.guarantee
    if isinstance(guarantee, DistinctDiversity):
        return (sizes > 0) & ((counts > 0).sum(axis=1) < guarantee.l)
    assert isinstance(guarantee, FrequencyDiversity)
    sensitive = np.array([text not in promise.insensitive for text in column.texts])
    return counts[:, sensitive].max(axis=1, initial=0) * guarantee.l > sizes


def _believed(scene: Scene, aim: Aim, counts: Floats, deals: Ids) -> Beliefs:
    """The share of deals in which a person has each value; where few explain the table, what her group shows."""
    plain = scene.reader.of(scene.people, aim.known, aim.about)
    n_values = scene.table[aim.about].n_values
    instead = plain.rows[plain.of, :n_values]
    rows = normalized(counts.reshape(scene.people.n, n_values), instead)
    rows = np.where((deals >= LEAST_DEALS)[:, np.newaxis], rows, instead)
    return Beliefs(rows, np.arange(scene.people.n))


def _tally(scene: Scene, aim: Aim, beliefs: Beliefs, deals: Ids) -> Tally:
    codes, inside = scene.people.codes[aim.about], protected(scene.people, aim)
    truth, guess = beliefs.at(codes), look(scene.ignorant, scene.people, aim)
    bound, plain = bound_of(scene.people, aim), look(scene.reader, scene.people, aim)
    # Shares of few deals vary by chance, which must not look like knowledge.
    sure = CAUTION * np.sqrt(0.25 / np.maximum(deals, 1))
    beyond = inside & (truth > bound.cap + sure) & (truth > plain.truth + sure)
    right = beliefs.right(codes)
    gain = np.where(deals >= LEAST_DEALS, truth - plain.truth - sure, 0.0)
    return Tally(
        aim.home,
        inside,
        np.where(inside, right, 0.0),
        float(guess.right[inside].sum()),
        None,
        0,
        int(beyond.sum()),
        int((beyond & bound.promised).sum()),
        int((beyond & (truth >= 1.0)).sum()),
        float(truth[inside].max(initial=0.0)),
        f"{bound.words}, and what the group shows",
        {"gained_beyond_the_group": int((gain[inside] > 0).sum())},
    )
