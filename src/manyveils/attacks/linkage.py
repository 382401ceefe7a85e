"""Linkage: finding a person's row by her quasi-identifiers.

Knows: the quasi-identifiers; the prosecutor also that the target is in the data, the journalist does not.
How: counts the rows that may be the target's, in the column that shows something sensitive (or anything else, if none does); one of f is hers.
The prosecutor's risk is 1/f; the marketer's is its mean, which is `success`; the journalist's counts people outside
the data too, where they are given as control, and is else the prosecutor's.
Paper: Samarati and Sweeney (1998); El Emam (2008).
"""

from functools import partial

import numpy as np

from manyveils.attacks.beliefs import Seen
from manyveils.attacks.bounds import Bound, even_bound
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import Floats, People, alike
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import counted, outcome
from manyveils.attacks.sightings import Sighting, labels_of
from manyveils.policy.guarantees import KAnonymity
from manyveils.reading.views import PublishedView

NAME = "linkage"
KNOWS = "the quasi-identifiers"
MEASURE = Measure(
    "mean chance to pick the right row",
    "The right row is picked for {success} of {targets} targets on average; picking any row gets {baseline}",
    is_mean=True,
)


def attack(scene: Scene) -> Outcome:
    """Look for everybody's row."""
    views = [view for view in scene.reader.views if _links(scene, view)]
    if not views:
        reason = "No view shows quasi-identifiers beside anything else."
        return Outcome(NAME, KNOWS, "none", reason=reason)
    n, non_members = scene.people.n, scene.non_members
    risk = _risk([_candidates(scene, scene.people, view) for view in views])
    outside = _risk([_candidates(scene, non_members, view) for view in views])
    guess = np.full(n, 1 / max(scene.release.rows, 1))
    control = float(outside.sum()), non_members.n
    everybody = np.ones(n, dtype=bool)
    tally = counted(
        "quasi-identifiers", everybody, Seen(risk, risk), Seen(guess, guess), _bound(scene), control
    )
    unique = np.maximum.reduce([_n_alike(scene, view) == 1 for view in views])
    details = {
        "prosecutor": float(risk.max(initial=0.0)),
        "journalist": float(_journalist(scene, views, risk)),
        "marketer": float(risk.mean()),
        "unique_matches": float(unique.mean()),
    }
    return outcome(NAME, KNOWS, "exact", [tally], details, measure=MEASURE, is_foreseen=True)


def _links(scene: Scene, view: PublishedView) -> bool:
    """Whether a view shows something known, and something else."""
    known = scene.reader.readable_in(view, scene.quasi)
    return bool(known) and bool({*view.attributes} - {*known}) and view.n_rows > 0


def _candidates(scene: Scene, people: People, view: PublishedView) -> Floats:
    """For each person the fewest rows of a column that shows something sensitive, or else anything, that may be hers."""
    sighted = scene.reader.sighted(people, view, scene.reader.readable_in(view, scene.quasi))
    hidden = {*scene.sensitive} & {*view.attributes} or {*view.attributes} - {*scene.quasi}
    columns = [index for index, column in enumerate(view.parts) if {*column.attributes} & hidden]
    return np.minimum.reduce([sighted.gathered(partial(_rows, column=index)) for index in columns])


def _rows(batch: Sighting, column: int) -> Floats:
    """The rows of one column that may be each target's, over all buckets that match her."""
    targets, buckets, counts = batch.counted()
    sizes = batch.view.sizes[buckets].astype(np.float64)
    return batch.summed(targets, counts.get(column, sizes))


def _n_alike(scene: Scene, view: PublishedView) -> Floats:
    """How many rows may have a person's quasi-identifiers: in a bucket, no more than any column has."""

    def rows(batch: Sighting) -> Floats:
        targets, _, counts = batch.counted()
        return batch.summed(targets, np.minimum.reduce([*counts.values()]))

    known = scene.reader.readable_in(view, scene.quasi)
    return scene.reader.sighted(scene.people, view, known).gathered(rows)


def _risk(candidates: list[Floats]) -> Floats:
    """One over the fewest candidates of any view; nothing for people who match nowhere."""
    return np.maximum.reduce(
        [np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0) for rows in candidates]
    )


def _journalist(scene: Scene, views: list[PublishedView], risk: Floats) -> float:
    """The greatest risk where people outside the data may be meant as well."""
    highest = float(risk.max(initial=0.0))
    return highest if scene.control is None else min(highest, max(_rarest(scene, view) for view in views))


def _rarest(scene: Scene, view: PublishedView) -> float:
    """One over the fewest people, inside the data or outside, who look in a view like somebody inside."""
    reader, both = scene.reader, (scene.people, scene.non_members)
    known = reader.readable_in(view, scene.quasi)
    numbers = [reader.sighted(people, view, known).number_of for people in both]
    codes = [reader.known_of(people, known) for people in both]
    labels = [np.concatenate([labels_of(view, name, own[name]) for own in codes]) for name in known]
    is_sighted = np.concatenate(numbers) >= 0
    group_of, _ = alike(labels, is_sighted.size)
    sizes = np.bincount(group_of[is_sighted])
    members = np.flatnonzero(is_sighted[: scene.people.n])
    return float((1 / sizes[group_of[members]]).max(initial=0.0))


def _bound(scene: Scene) -> Bound:
    k = max((guarantee.k for guarantee in scene.guarantees(KAnonymity)), default=1)
    words = "k-anonymity" if k > 1 else "one half, since no k is promised"
    return even_bound(scene.people.n, 1 / max(k, 2), words, is_promised=k > 1)
