"""Attacks that find people: their rows in the release, or whether they are in the data at all."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from manyveils.attacks.beliefs import Known, Seen
from manyveils.attacks.chance import FALSE_POSITIVES, NORMAL
from manyveils.attacks.fitting import bound_of_all_rows, fitting_risk, hidden_in
from manyveils.attacks.outcome import How, Measure, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People, alike, looked_up, n_people
from manyveils.attacks.scene import Bound, Scene, even_bound
from manyveils.attacks.score import counted
from manyveils.attacks.search import Batch, labels_of
from manyveils.attacks.tallies import outcome
from manyveils.reading.views import PublishedView
from manyveils.reading.weighing import n_placed

KNOWS = "the quasi-identifiers"
FALSE_ALARMS = 0.01
RIGHT_ROW = Measure(
    "mean chance to pick the right row",
    "The right row is picked for {success} of {targets} targets on average; picking any row gets {baseline}",
    is_mean=True,
)
MEMBERS_FIRST = Measure(
    "area under the curve: how often a member ranks above a non-member",
    "A member ranks above a non-member in {success} of comparisons, over {targets} members; guessing gets {baseline}",
    openings={
        "nothing learnt": "Does not tell members from non-members.",
        "within bounds": "Tells members from non-members better than guessing, and shows nobody for sure.",
        "not promised": "Shows for sure that some people are in the data; no promise caps this.",
    },
    named="Surest first, {few} of members are found while 0.1 % of non-members are taken for some, and {more} while 1 % are.",
)


def linkage(scene: Scene) -> Outcome:
    """Linkage: finding a person's row by her quasi-identifiers.

    Knows: the quasi-identifiers; the prosecutor also that the target is in the data, the journalist does not.
    How: counts the rows that may be the target's, in the column that shows something sensitive (or anything else, if
    none does); one of f is hers.
    The prosecutor's risk is 1/f; the marketer's is its mean, which is `success`; the journalist's counts people outside
    the data too, where they are given as control, and is else the prosecutor's.
    Paper: Samarati and Sweeney (1998); El Emam (2008).
    """
    views = [view for view in scene.reader.views if _links(scene, view)]
    if not views:
        reason = "No view shows quasi-identifiers beside anything else."
        return Outcome("linkage", KNOWS, "none", reason=reason)
    people, non_members = scene.people, scene.non_members
    risk = _risk([_candidates(scene, people, view) for view in views])
    outside = _risk([_candidates(scene, non_members, view) for view in views])
    guess = np.full(people.n, 1 / max(_n_published(scene), 1))
    everybody = np.ones(people.n, dtype=bool)
    count = partial(
        counted,
        "quasi-identifiers",
        people,
        everybody,
        guess=Seen(guess, guess),
        control=(float(non_members.mean(outside).sum()), non_members.n_persons),
    )
    tally = count(Seen(risk, risk, risk), bound=_bound(scene))
    if people.persons is not None:
        fitting = fitting_risk(scene, views, risk)
        tally = replace(
            tally, all_rows=count(Seen(fitting, fitting), bound=bound_of_all_rows(scene, _bound(scene), risk))
        )
    unique = np.maximum.reduce([_n_alike(scene, view) == 1 for view in views])
    highest = float(risk.max(initial=0.0))
    rarest = highest if scene.control is None else max(_rarest(scene, view) for view in views)
    details = {
        "prosecutor": highest,
        "journalist": min(highest, rarest),
        "marketer": float(people.mean(risk).mean()),
        "unique_matches": float(people.mean(unique).mean()),
    }
    how: How = "exact" if scene.reader.counts_people else "estimate"
    return outcome("linkage", KNOWS, how, [tally], details, measure=RIGHT_ROW, is_foreseen=True)


def _n_published(scene: Scene) -> int:
    """How many people are published: rows, where each is about a person of her own."""
    if scene.table.persons is None:
        return scene.release.rows
    placed = scene.reader.placed.values()
    return max(map(n_placed, placed), default=scene.table.n_persons)


def _links(scene: Scene, view: PublishedView) -> bool:
    """Whether a view shows something known, and something else."""
    known = scene.reader.readable_in(view, scene.quasi)
    return bool(known) and bool({*view.attributes} - {*known}) and view.n_rows > 0


def _candidates(scene: Scene, people: People, view: PublishedView) -> Floats:
    """For each person the fewest rows of a column that shows something sensitive, or else anything, that may be hers."""
    search = scene.reader.search(people, view, scene.reader.readable_in(view, scene.quasi))
    hidden = hidden_in(scene, view)
    columns = [index for index, column in enumerate(view.columns) if {*column.attributes} & hidden]
    return np.minimum.reduce([search.gathered(partial(_rows, column=index)) for index in columns])


def _rows(batch: Batch, column: int) -> Floats:
    """The rows of one column that may be each target's, over all buckets that match her."""
    targets, buckets, counts = batch.counted()
    sizes = batch.view.sizes[buckets].astype(np.float64)
    return batch.summed(targets, counts.get(column, sizes))


def _n_alike(scene: Scene, view: PublishedView) -> Floats:
    """How many rows may have a person's quasi-identifiers: in a bucket, no more than any column has."""

    def rows(batch: Batch) -> Floats:
        targets, _, counts = batch.counted()
        return batch.summed(targets, np.minimum.reduce([*counts.values()]))

    known = scene.reader.readable_in(view, scene.quasi)
    return scene.reader.search(scene.people, view, known).gathered(rows)


def _risk(candidates: list[Floats]) -> Floats:
    """One over the fewest candidates of any view; nothing for people who match nowhere."""
    return np.maximum.reduce(
        [np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0) for rows in candidates]
    )


def _rarest(scene: Scene, view: PublishedView) -> float:
    """One over the fewest people, inside the data or outside, who look in a view like somebody inside."""
    reader, both = scene.reader, (scene.people, scene.non_members)
    known = reader.readable_in(view, scene.quasi)
    numbers = [reader.search(people, view, known).number_of for people in both]
    codes = [reader.known_of(people, known) for people in both]
    labels = [np.concatenate([labels_of(view, name, own[name]) for own in codes]) for name in known]
    is_found = np.concatenate(numbers) >= 0
    group_of, _ = alike(labels, is_found.size)
    sizes = n_people(group_of[is_found], _both_persons(both, is_found), int(group_of.max(initial=-1)) + 1)
    members = np.flatnonzero(is_found[: scene.people.n])
    return float((1 / sizes[group_of[members]]).max(initial=0.0))


def _both_persons(both: tuple[People, People], among: Bools) -> Ids | None:
    """The persons of some rows of people inside and outside; None where all of them have one row."""
    if all(people.persons is None for people in both):
        return None
    numbers = [np.arange(people.n) if people.persons is None else people.persons for people in both]
    inside, outside = numbers
    return np.concatenate([inside, outside + both[0].n_persons])[among]


def _bound(scene: Scene) -> Bound:
    k = scene.greatest("k")
    words = "k-anonymity" if k > 1 else "one half, since no k is promised"
    return even_bound(scene.people.n, 1 / max(k, 2), words, is_promised=k > 1)


def membership(scene: Scene) -> Outcome:
    """Membership: telling whether somebody is in the data at all.

    Knows: the quasi-identifiers, and how common each of their values is.
    How: the likelihood ratio of them under the release and under a population in which attributes are independent.
    `success` is the area under the curve: how often a member scores above a non-member; one half is guessing.
    `broken` and `certain` count members whose quasi-identifiers the release shows for sure, beyond the share of
    non-members of whom it does: a fake tuple that looks real protects real ones.
    Paper: Homer et al. (2008); paper 003 (slicing), Section 5.
    """
    known = tuple(name for name in scene.quasi if name in scene.reader.readable)
    name, knows = "membership", f"{KNOWS}, and how common their values are"
    if not known or not scene.release.rows:
        return Outcome(name, knows, "none", reason="No quasi-identifier is published.")
    groups = scene.people, scene.non_members
    scores = [_score(scene, people, known) for people in groups]
    proven = [_proven(scene, people, known) for people in groups]
    numbers, details = _told(groups, scores, proven)
    return Outcome(
        name,
        knows,
        "estimate",
        **numbers,
        measure=MEMBERS_FIRST,
        bound="nobody is shown for sure, since nothing is promised of membership",
        details=details,
        all_rows=_told_by_all_rows(groups, scores, proven, numbers),
    )


def _told(
    groups: Sequence[People], scores: Sequence[Floats], proven: Sequence[Bools]
) -> tuple[dict[str, Any], dict[str, float]]:
    """How well scores tell members from non-members, whom a row counts of with the share it is of hers."""
    inside, outside = scores
    weights = [people.mean_weights for people in groups]
    area = area_under_curve(inside, outside, *weights)
    half = NORMAL * _error(area, *(people.n_persons for people in groups))
    found = {f"{rate:g}": _found(groups, scores, rate) for rate in FALSE_POSITIVES}
    hits, false_alarms = found[f"{FALSE_ALARMS:g}"]
    shown, fake = (float(people.anyone(flags).mean()) for people, flags in zip(groups, proven, strict=True))
    excess = max(0, round((shown - fake) * groups[0].n_persons))
    numbers = {
        "targets": groups[0].n_persons,
        "success": area,
        "baseline": 0.5,
        "low": max(0.0, area - half),
        "high": min(1.0, area + half),
        "broken": excess,
        "certain": excess,
        "worst": 1.0 if excess else max(hits / (hits + max(false_alarms, FALSE_ALARMS)), 0.5),
        "true_positives": {rate: hits for rate, (hits, _) in found.items()},
    }
    details = {
        "shown_for_sure": shown,
        "strangers_shown_for_sure": fake,
        "strangers_who_match": float(groups[1].mean(np.isfinite(outside)).mean()),
    }
    return numbers, details


def _told_by_all_rows(
    groups: Sequence[People], scores: Sequence[Floats], proven: Sequence[Bools], one: dict[str, Any]
) -> dict[str, Any] | None:
    """The same by the mean score of all rows of each person, or by one of them, whichever tells more."""
    if groups[0].persons is None:
        return None
    means = [people.mean(score) for people, score in zip(groups, scores, strict=True)]
    flags = [people.anyone(own) for people, own in zip(groups, proven, strict=True)]
    numbers, _ = _told([people.one_row_each() for people in groups], means, flags)
    stronger = max(numbers, one, key=lambda told: told["success"])
    told = {key: stronger[key] for key in ("targets", "success", "baseline", "broken", "certain", "worst")}
    return {**told, "control": None, "promised": 0, "interval": [stronger["low"], stronger["high"]]}


def _found(groups: Sequence[People], scores: Sequence[Floats], rate: float) -> tuple[float, float]:
    """The shares of members and of non-members above the score that so few non-members are above."""
    alarm = _quantile(scores[1], groups[1].mean_weights, rate)
    inside, outside = (
        float(people.mean(score > alarm).mean()) for people, score in zip(groups, scores, strict=True)
    )
    return inside, outside


def _quantile(outside: Floats, weights: Floats | None, rate: float) -> float:
    """The score that few non-members are above."""
    if weights is None:
        return float(np.quantile(outside, 1 - rate, method="higher"))
    order = np.argsort(outside, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    return float(outside[order][min(int(np.searchsorted(below, 1 - rate)), order.size - 1)])


def area_under_curve(
    inside: Floats,
    outside: Floats,
    inside_weights: Floats | None = None,
    outside_weights: Floats | None = None,
) -> float:
    """How often one of the first scores above one of the second; ties count half. All weigh 1 unless it is said.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    0.9375
    """
    if inside_weights is not None or outside_weights is not None:
        return _weighed_area(inside, outside, inside_weights, outside_weights)
    ranks = pl.Series(np.concatenate([inside, outside])).rank("average").to_numpy()[: inside.size]
    return float((ranks.sum() - inside.size * (inside.size + 1) / 2) / (inside.size * outside.size))


def _weighed_area(
    inside: Floats, outside: Floats, inside_weights: Floats | None, outside_weights: Floats | None
) -> float:
    own = np.ones(inside.size) if inside_weights is None else inside_weights
    weights = np.ones(outside.size) if outside_weights is None else outside_weights
    order = np.argsort(outside, kind="stable")
    up_to = np.append(0.0, np.cumsum(weights[order]))
    below, level = (up_to[np.searchsorted(outside[order], inside, side)] for side in ("left", "right"))
    return float((own * (below + level) / 2).sum() / (own.sum() * weights.sum()))


def _error(area: float, n_inside: int, n_outside: int) -> float:
    """The standard error of an area under the curve (Hanley and McNeil, 1982)."""
    same_member, same_non_member = area / (2 - area), 2 * area**2 / (1 + area)
    by_members = (n_inside - 1) * (same_member - area**2)
    by_non_members = (n_outside - 1) * (same_non_member - area**2)
    return sqrt(max(area * (1 - area) + by_members + by_non_members, 0.0) / (n_inside * n_outside))


def _score(scene: Scene, people: People, known: Known) -> Floats:
    """The log of the likelihood ratio; minus infinity for people the release has no place for."""
    ratio = np.zeros(people.n)
    seen: set[str] = set()
    views = [view for view in scene.reader.views if view.n_rows and {*known} & {*view.attributes}]
    for view in sorted(views, key=lambda view: -len({*known} & {*view.attributes})):
        names = scene.reader.readable_in(view, known)
        ratio += _log(_mass(scene, people, view, names))
        shared = tuple(name for name in names if name in seen)
        if shared:
            before = _mass(scene, people, view, shared)
            ratio -= np.where(before > 0, _log(np.where(before > 0, before, 1.0)), 0.0)
        seen |= {*names}
    for name in known:
        counts = looked_up(scene.table[name].counts, people.codes[name], 1)
        ratio -= np.log(np.maximum(counts, 1) / max(scene.table.n_rows, 1))
    return ratio


def _log(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.size, -np.inf), where=values > 0)


def _mass(scene: Scene, people: People, view: PublishedView, known: Known) -> Floats:
    """The share of a view's rows that are expected to match each person."""
    return scene.ignoring.search(people, view, known).gathered(Batch.expected) / view.n_rows


def _proven(scene: Scene, people: People, known: Known) -> Bools:
    """Whether some view shows, however its columns are linked, a row with all of a person's quasi-identifiers."""
    proven = np.zeros(people.n, dtype=bool)
    for view in scene.reader.views:
        if view.n_rows and {*known} <= {*view.attributes}:
            proven |= scene.ignoring.search(people, view, known).gathered(_is_shown, otherwise=False)
    return proven


def _is_shown(batch: Batch) -> Bools:
    """Whether all that is known of each target meets in a row for sure, and stands there as it is."""
    targets, buckets, counts = batch.counted()
    # Counts that add up to more than the bucket has room for must meet in a row.
    meets = np.sum([*counts.values()], axis=0) > (len(counts) - 1) * batch.view.sizes[buckets]
    return (np.bincount(targets[meets], minlength=batch.n) > 0) & batch.is_bare()
