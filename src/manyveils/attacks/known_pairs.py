"""Known pairs: a few people's values and published cells open everybody else's.

Knows: the quasi-identifiers of the target, and of ten other people value, pseudonym and grade.
How: reads a pseudonym as the value of a known person who has it, and a grade between those of two known people as a
number between theirs, in proportion; right within a twentieth of the range. She must find the target's cell first.
Numbers are the mean over several choices of the ten.
Paper: the limits of paper 004.
"""

from collections.abc import Callable, Iterator

import numpy as np

from manyveils.attacks.beliefs import Seen
from manyveils.attacks.bounds import Bound
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.proximity import BOUND, near, span_of
from manyveils.attacks.pseudonyms import is_hidden, pseudonyms_of, published_counts, secret_attributes
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, bound_of, counted, outcome, protected, unpromised

NAME = "known-pairs"
PAIRS = 10
DRAWS = 20
SHARE = 0.05
KNOWS = f"the quasi-identifiers, and of {PAIRS} other people value and published cell"


def attack(scene: Scene) -> Outcome:
    """Read cells by those of people who are known."""
    if scene.people.n < 2 * PAIRS:
        return Outcome(NAME, KNOWS, "none", reason=f"There are fewer than {2 * PAIRS} people.")
    reason = "No sensitive attribute is published in secret."
    return outcome(NAME, KNOWS, "simulation", [*_tallies(scene)], {"known_people": PAIRS}, reason)


def _tallies(scene: Scene) -> Iterator[Tally]:
    known = scene.table.expand(scene.policy.quasi)
    for name in secret_attributes(scene, numeric=False):
        yield _of_pseudonyms(scene, scene.aim(known, name))
    for name in secret_attributes(scene, numeric=True):
        if span_of(scene.table[name]) > 0:
            yield _of_grades(scene, scene.aim(known, name))


def _of_pseudonyms(scene: Scene, aim: Aim) -> Tally:
    """Pseudonyms that a known person has are read; the others are not."""
    pseudonyms, values = pseudonyms_of(scene, aim.about), scene.people.codes[aim.about]
    cell = pseudonyms.cell_of()[values]
    hidden = is_hidden(scene, scene.people.codes, aim.about)
    n_values = pseudonyms.all.size

    def read(known: Ids) -> Bools:
        return np.bincount(values[known], minlength=n_values)[values] > 0

    guess = Seen(
        (values == int(np.argmax(pseudonyms.all))).astype(np.float64),
        (pseudonyms.all / max(scene.table.n_rows, 1))[values],
    )
    targets, share_read = hidden & (cell >= 0), _drawn(scene, aim, hidden, read)
    return _tally(scene, aim, targets, cell, share_read, guess, bound_of(scene.people, aim))


def _of_grades(scene: Scene, aim: Aim) -> Tally:
    """Grades are read between those of known people."""
    attribute, codes = scene.table[aim.about], scene.people.codes[aim.about]
    grades, cell_of = _ranks(scene, aim.about)
    cell, numbers = cell_of[codes], attribute.numbers[codes]
    targets = np.isfinite(numbers) & (cell >= 0)
    within = SHARE * span_of(attribute)

    def read(known: Ids) -> Bools:
        order = known[np.argsort(grades[cell[known]])]
        number = np.interp(grades[np.maximum(cell, 0)], grades[cell[order]], numbers[order])
        return np.abs(number - np.where(targets, numbers, np.inf)) <= within + TOLERANCE

    guess = near(scene.ignorant.beliefs(scene.people, (), aim.about), attribute, codes, within)
    share_read = _drawn(scene, aim, targets, read)
    return _tally(scene, aim, targets, cell, share_read, guess, unpromised(guess, BOUND))


def _drawn(scene: Scene, aim: Aim, pool: Bools, read: Callable[[Ids], Bools]) -> Floats:
    """The share of draws of ten known people in which each other person's cell is read."""
    rng, n = scene.streams.of(f"attacks.pairs.{aim.about}"), scene.people.n
    times, draws = np.zeros(n), np.zeros(n)
    for _ in range(DRAWS if pool.any() else 0):
        known = rng.choice(np.flatnonzero(pool), min(PAIRS, int(pool.sum())), replace=False)
        # Who is known already is no target.
        is_target = np.ones(n, dtype=bool)
        is_target[known] = False
        times += is_target & read(known)
        draws += is_target
    return times / np.maximum(draws, 1)


def _ranks(scene: Scene, name: str) -> tuple[Floats, Ids]:
    """The number of each cell, and the cell of each value: ranks are kept, so the one follows from the other."""
    domain, counts = scene.release.reading.estimate.domains[name], published_counts(scene, name)
    shown = np.flatnonzero((counts > 0) & np.isfinite(domain.numbers))
    ordered = shown[np.argsort(domain.numbers[shown])]
    attribute = scene.table[name]
    present = np.flatnonzero((attribute.counts > 0) & np.isfinite(attribute.numbers))
    cell_of = np.full(attribute.n_values, -1, dtype=np.int64)
    places = in_order(counts[ordered], attribute.counts[present])
    if places is not None:
        cell_of[present[places]] = ordered
    return domain.numbers, cell_of


def in_order(few: Ids, many: Ids) -> Ids | None:
    """The place of each of some counts among others that are in the same order and of which some may be missing.

    Where several places are possible it is the middle one; nothing where there is none.

    >>> in_order(np.array([2, 5]), np.array([3, 1, 5])).tolist()
    [0, 2]
    """
    first, last = _earliest(few, many), _earliest(few[::-1], many[::-1])
    if first is None or last is None:
        return None
    middle: Ids = (first + (many.size - 1 - last[::-1])) // 2
    return middle


def _earliest(few: Ids, many: Ids) -> Ids | None:
    places: list[int] = []
    index = 0
    for count in few.tolist():
        while index < many.size and many[index] < count:
            index += 1
        if index == many.size:
            return None
        places.append(index)
        index += 1
    return np.array(places, dtype=np.int64)


def _tally(
    scene: Scene, aim: Aim, targets: Bools, cell: Ids, read: Floats, guess: Seen, bound: Bound
) -> Tally:
    """Right where the cell is found and read; `read` is the share of draws in which it is."""
    beliefs = scene.reader.cells(scene.people, aim.known, aim.about)
    seen = Seen(beliefs.right(cell) * read, np.where(read > 0, beliefs.at(cell), 0.0))
    return counted(aim.home, targets & protected(scene.people, aim), seen, guess, bound, weights=read)
