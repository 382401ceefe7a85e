"""Membership: telling whether somebody is in the data at all.

Knows: the quasi-identifiers, and how common each of their values is.
How: the likelihood ratio of them under the release and under a population in which attributes are independent.
`success` is the area under the curve: how often a member scores above a non-member; one half is guessing.
`broken` and `certain` count members whose quasi-identifiers the release shows for sure, beyond the share of non-members
of whom it does: a fake tuple that looks real protects real ones.
Paper: Homer et al. (2008); paper 003 (slicing), Section 5.
"""

from math import sqrt

import numpy as np
import polars as pl

from manyveils.attacks.beliefs import Known
from manyveils.attacks.intervals import NORMAL
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import Bools, Floats, People, looked_up
from manyveils.attacks.scene import Scene
from manyveils.attacks.sightings import Sighting
from manyveils.reading.views import PublishedView

NAME = "membership"
KNOWS = "the quasi-identifiers, and how common their values are"
FALSE_ALARMS = 0.01
MEASURE = Measure(
    "area under the curve: how often a member ranks above a non-member",
    "A member ranks above a non-member in {success} of comparisons, over {targets} members; guessing gets {baseline}",
    openings={
        "nothing learnt": "Does not tell members from non-members.",
        "within bounds": "Tells members from non-members better than guessing, and shows nobody for sure.",
        "not promised": "Shows for sure that some people are in the data; no promise caps this.",
    },
)


def attack(scene: Scene) -> Outcome:
    """Tell members from non-members."""
    known = tuple(name for name in scene.quasi if name in scene.reader.readable)
    if not known or not scene.release.rows:
        return Outcome(NAME, KNOWS, "none", reason="No quasi-identifier is published.")
    groups = scene.people, scene.non_members
    inside, outside = (_score(scene, people, known) for people in groups)
    area = area_under_curve(inside, outside)
    half = NORMAL * _error(area, inside.size, outside.size)
    alarm = float(np.quantile(outside, 1 - FALSE_ALARMS, method="higher"))
    hits, false_alarms = float((inside > alarm).mean()), float((outside > alarm).mean())
    shown, fake = (float(_proven(scene, people, known).mean()) for people in groups)
    excess = max(0, round((shown - fake) * scene.people.n))
    return Outcome(
        NAME,
        KNOWS,
        "estimate",
        targets=scene.people.n,
        measure=MEASURE,
        success=area,
        baseline=0.5,
        low=max(0.0, area - half),
        high=min(1.0, area + half),
        broken=excess,
        certain=excess,
        worst=1.0 if excess else max(hits / (hits + max(false_alarms, FALSE_ALARMS)), 0.5),
        bound="nobody is shown for sure, since nothing is promised of membership",
        details={
            "found_at_1_percent_false_alarms": hits,
            "shown_for_sure": shown,
            "strangers_shown_for_sure": fake,
            "strangers_who_match": float(np.isfinite(outside).mean()),
        },
    )


def area_under_curve(inside: Floats, outside: Floats) -> float:
    """How often one of the first scores above one of the second; ties count half.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranks = pl.Series(np.concatenate([inside, outside])).rank("average").to_numpy()[: inside.size]
    return float((ranks.sum() - inside.size * (inside.size + 1) / 2) / (inside.size * outside.size))


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
    return scene.reader.sighted(people, view, known).gathered(Sighting.expected) / view.n_rows


def _proven(scene: Scene, people: People, known: Known) -> Bools:
    """Whether some view shows, however its columns are linked, a row with all of a person's quasi-identifiers."""
    proven = np.zeros(people.n, dtype=bool)
    for view in scene.reader.views:
        if view.n_rows and {*known} <= {*view.attributes}:
            proven |= scene.reader.sighted(people, view, known).gathered(_is_shown, otherwise=False)
    return proven


def _is_shown(batch: Sighting) -> Bools:
    """Whether all that is known of each target meets in a row for sure, and stands there as it is."""
    targets, buckets, counts = batch.counted()
    # Counts that add up to more than the bucket has room for must meet in a row.
    meets = np.sum([*counts.values()], axis=0) > (len(counts) - 1) * batch.view.sizes[buckets]
    return (np.bincount(targets[meets], minlength=batch.n) > 0) & batch.is_bare()
