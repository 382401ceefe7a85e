"""Linkage: finding a person's row by her quasi-identifiers.

Knows: the quasi-identifiers; the prosecutor also that the target is in the data, the journalist does not.
How: counts the rows that may be the target's, in the column that shows something sensitive (or anything else, if none does); one of f is hers.
The prosecutor's risk is 1/f; the marketer's is its mean, which is `success`; the journalist's counts people outside
the data too, where they are given as control, and is else the prosecutor's.
Paper: Samarati and Sweeney (1998); El Emam (2008).
"""

from collections.abc import Iterator

import numpy as np

from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import Bound, Seen, counted, outcome
from manyveils.attacks.sightings import Sightings
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
    shapes = [shape for shape in scene.reader.shapes if _links(scene, shape)]
    if not shapes:
        reason = "No view shows quasi-identifiers beside anything else."
        return Outcome(NAME, KNOWS, "none", reason=reason)
    found = [_candidates(scene, scene.people, shape) for shape in shapes]
    risk = _risk([rows for rows, _ in found])
    unique = np.maximum.reduce([alike == 1 for _, alike in found])
    outside = _risk([_candidates(scene, scene.strangers, shape)[0] for shape in shapes])
    guess = np.full(scene.people.n, 1 / max(scene.release.rows, 1))
    everybody = np.ones(scene.people.n, dtype=bool)
    control = float(outside.sum()), scene.strangers.n
    found_out = counted(
        "quasi-identifiers", everybody, Seen(risk, risk), Seen(guess, guess), _bound(scene), control
    )
    details = {
        "prosecutor": float(risk.max(initial=0.0)),
        "journalist": float(_journalist(scene, shapes, risk)),
        "marketer": float(risk.mean()),
        "unique_matches": float(unique.mean()),
    }
    return outcome(NAME, KNOWS, "exact", [found_out], details, measure=MEASURE, is_foreseen=True)


def _links(scene: Scene, shape: PublishedView) -> bool:
    """Whether a view shows something known, and something else."""
    known = {*scene.quasi} & scene.reader.readable & {*shape.attributes}
    return bool(known) and bool({*shape.attributes} - known) and shape.n_rows > 0


def _asked(scene: Scene, shape: PublishedView) -> tuple[str, ...]:
    return tuple(name for name in scene.quasi if name in shape.attributes and name in scene.reader.readable)


def _candidates(scene: Scene, people: People, shape: PublishedView) -> tuple[Floats, Floats]:
    """For each person the fewest rows with something else that may be hers, and the rows with her quasi-identifiers."""
    sighted = scene.reader.sighted(people, shape, _asked(scene, shape))
    kept = {*scene.sensitive} & {*shape.attributes} or {*shape.attributes} - {*scene.quasi}
    hidden = [place for place, part in enumerate(shape.parts) if {*part.attributes} & kept]
    return _gathered(sighted, [_rows(each_hidden, sighted) for each_hidden in hidden]), _alike(sighted)


def _gathered(sighted: Sightings, found: list[list[Floats]]) -> Floats:
    whole = [sighted.gathered(each or [np.zeros(1)], 0.0) for each in found]
    return np.minimum.reduce(whole)


def _rows(place: int, sighted: Sightings) -> list[Floats]:
    """The rows of one column that may be each target's, over all buckets that match her."""
    return [*_each_rows(place, sighted)]


def _each_rows(place: int, sighted: Sightings) -> Iterator[Floats]:
    for each in sighted.each:
        targets, buckets, counts = each.counted()
        keyed = list(each.matches)
        rows = counts[keyed.index(place)] if place in keyed else each.shape.sizes[buckets].astype(np.float64)
        yield np.bincount(targets, weights=rows, minlength=each.n).astype(np.float64)


def _alike(sighted: Sightings) -> Floats:
    """How many rows may have a person's quasi-identifiers: in a bucket, no more than any column has."""
    found = []
    for each in sighted.each:
        targets, _, counts = each.counted()
        found.append(np.bincount(targets, weights=counts.min(axis=0), minlength=each.n).astype(np.float64))
    return sighted.gathered(found or [np.zeros(1)], 0.0)


def _risk(candidates: list[Floats]) -> Floats:
    """One over the fewest candidates of any view; nothing for people who match nowhere."""
    return np.maximum.reduce(
        [np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0) for rows in candidates]
    )


def _journalist(scene: Scene, shapes: list[PublishedView], risk: Floats) -> float:
    """The greatest risk where people outside the data may be meant as well."""
    if scene.control is None:
        return risk.max(initial=0.0)
    worst = 0.0
    for shape in shapes:
        asked = _asked(scene, shape)
        inside = scene.reader.sighted(scene.people, shape, asked)
        outside = scene.reader.sighted(scene.strangers, shape, asked)
        both = _labels(inside, shape, asked), _labels(outside, shape, asked)
        _, of = np.unique(np.concatenate(both, axis=0), axis=0, return_inverse=True)
        found = np.concatenate([inside.of, outside.of]) >= 0
        counts = np.bincount(of[found])
        mine = of[: scene.people.n][inside.of >= 0]
        worst = max(worst, float((1 / counts[mine]).max(initial=0.0)))
    return min(worst, risk.max(initial=0.0))


def _labels(sighted: Sightings, shape: PublishedView, asked: tuple[str, ...]) -> np.ndarray:
    """The labels that cover each person, column by column; -1 where several or none do."""
    found = [np.full((1, len(asked)), -1)]
    for each in reversed(sighted.each):
        columns = [_label_of(shape, name, each.tuples[name]) for name in asked]
        found.insert(0, np.stack(columns, axis=1))
    return np.concatenate(found)[sighted.of]


def _label_of(shape: PublishedView, name: str, codes: Ids) -> Ids:
    spread = shape.spread_of(name)
    return np.full(codes.size, -1, dtype=np.int64) if spread.overlaps else spread.label_of[codes]


def _bound(scene: Scene) -> Bound:
    ks = [each.guarantee.k for each in scene.promises if isinstance(each.guarantee, KAnonymity)]
    is_promised, n = max(ks, default=1) > 1, scene.people.n
    words = "k-anonymity" if is_promised else "one half, since no k is promised"
    return Bound(np.full(n, 1 / max(ks) if is_promised else 0.5), np.full(n, is_promised), words)
