"""Linkage: finding a person's row by her quasi-identifiers.

Knows: the quasi-identifiers; the prosecutor also that the target is in the data, the journalist does not.
How: counts the rows that may be the target's, in the column that shows something sensitive (or anything else, if none does); one of f is hers.
The prosecutor's risk is 1/f; the marketer's is its mean, which is `success`; the journalist's counts people outside
the data too, where they are given as control, and is else the prosecutor's.
Paper: Samarati and Sweeney (1998); El Emam (2008).
"""

from collections.abc import Iterator

import numpy as np

from manyveils.attacks.beliefs import ALMOST
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, People
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import Tally, outcome
from manyveils.attacks.sightings import Sightings
from manyveils.estimate.shape import Shape
from manyveils.policy.guarantees import KAnonymity

NAME = "linkage"
KNOWS = "the quasi-identifiers"


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
    cap, words = _cap(scene)
    guess = 1 / max(scene.release.rows, 1)
    counted = Tally(
        "quasi-identifiers",
        scene.people.n,
        float(risk.sum()),
        guess * scene.people.n,
        float(outside.sum()),
        scene.strangers.n,
        int(((risk > cap + ALMOST) & (risk > guess + ALMOST)).sum()),
        int(((risk >= 1 - ALMOST) & (guess < 1)).sum()),
        float(risk.max(initial=0.0)),
        words,
    )
    details = {
        "prosecutor": float(risk.max(initial=0.0)),
        "journalist": float(_journalist(scene, shapes, risk)),
        "marketer": float(risk.mean()),
        "unique_matches": float(unique.mean()),
    }
    return outcome(NAME, KNOWS, "exact", [counted], details)


def _links(scene: Scene, shape: Shape) -> bool:
    """Whether a view shows something known, and something else."""
    known = {*scene.quasi} & scene.reader.readable & {*shape.attributes}
    return bool(known) and bool({*shape.attributes} - known) and shape.n_rows > 0


def _asked(scene: Scene, shape: Shape) -> tuple[str, ...]:
    return tuple(name for name in scene.quasi if name in shape.attributes and name in scene.reader.readable)


def _candidates(scene: Scene, people: People, shape: Shape) -> tuple[Floats, Floats]:
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


def _journalist(scene: Scene, shapes: list[Shape], risk: Floats) -> float:
    """The greatest risk where people outside the data may be meant as well."""
    if scene.control is None:
        return risk.max(initial=0.0)
    worst = 0.0
    for shape in shapes:
        asked = _asked(scene, shape)
        inside = scene.reader.sighted(scene.people, shape, asked)
        outside = scene.reader.sighted(scene.strangers, shape, asked)
        both = _labels(inside), _labels(outside)
        _, of = np.unique(np.concatenate(both, axis=0), axis=0, return_inverse=True)
        found = np.concatenate([inside.of, outside.of]) >= 0
        counts = np.bincount(of[found])
        mine = of[: scene.people.n][inside.of >= 0]
        worst = max(worst, float((1 / counts[mine]).max(initial=0.0)))
    return min(worst, risk.max(initial=0.0))


def _labels(sighted: Sightings) -> np.ndarray:
    """The labels that cover each person, column by column; -1 where several or none do."""
    if not sighted.each:
        return np.zeros((sighted.of.size, 0), dtype=np.int64)
    columns = []
    for each in sighted.each:
        spreads = [each.shape.spread_of(name) for name in each.tuples]
        columns.append(
            np.stack(
                [
                    np.full(each.n, -1) if spread.overlaps else spread.label_of[codes]
                    for spread, codes in zip(spreads, each.tuples.values(), strict=True)
                ],
                axis=1,
            )
        )
    joined = np.concatenate([*columns, np.full((1, columns[0].shape[1]), -1)])
    return joined[sighted.of]


def _cap(scene: Scene) -> tuple[float, str]:
    ks = [each.guarantee.k for each in scene.promises if isinstance(each.guarantee, KAnonymity)]
    return (1 / max(ks), "k-anonymity") if ks else (0.5, "one half, since no k is promised")
