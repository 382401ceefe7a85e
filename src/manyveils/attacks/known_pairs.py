"""Known pairs: a few people's values and published cells open everybody else's.

Knows: the quasi-identifiers of the target, and of ten other people value, code and grade.
How: reads a code as the value of a known person who has it, and a grade between those of two known people as a
number between theirs, in proportion; right within a twentieth of the range. She must find the target's cell first.
Numbers are the mean over several choices of the ten.
Paper: the limits of paper 004.
"""

from collections.abc import Iterator

import numpy as np

from manyveils.attacks.beliefs import ALMOST
from manyveils.attacks.bounds import half_the_doubt
from manyveils.attacks.codes import codes_of, is_hidden, published_counts, secret_columns
from manyveils.attacks.nearness import near, span_of
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, outcome, protected

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
    for name in secret_columns(scene, numeric=False):
        aim = scene.aim(scene.table.expand(scene.policy.quasi), name)
        yield _of_codes(scene, aim)
    for name in secret_columns(scene, numeric=True):
        aim = scene.aim(scene.table.expand(scene.policy.quasi), name)
        if span_of(scene.table[name]) > 0:
            yield _of_grades(scene, aim)


def _of_codes(scene: Scene, aim: Aim) -> Tally:
    """Codes that a known person has are read; the others are not."""
    codes, values = codes_of(scene, aim.about), scene.people.codes[aim.about]
    code_of = codes.code_of()
    cell = np.where(code_of >= 0, codes.places[np.maximum(code_of, 0)], -1)[values]
    hidden = _hidden(scene, aim.about) & protected(scene.people, aim) & (cell >= 0)
    found = scene.reader.cells(scene.people, aim.known, aim.about)
    chance, belief = found.right(cell), found.at(cell)
    rng, n_values = scene.streams.of(f"attacks.pairs.{aim.about}"), scene.table[aim.about].n_values
    pool = np.flatnonzero(_hidden(scene, aim.about))
    read = np.zeros(n_values)
    if pool.size:
        for _ in range(DRAWS):
            read[np.unique(values[rng.choice(pool, min(PAIRS, pool.size), replace=False)])] += 1 / DRAWS
    share = scene.table[aim.about].counts / scene.table.n_rows
    guessed = (values == int(np.argmax(codes.all))).astype(np.float64)
    return _summed(
        aim, hidden, chance, guessed, belief, read[values], aim.caps.at(values), share[values], aim.caps.words
    )


def _hidden(scene: Scene, name: str) -> Bools:
    """Which targets' values are codes; all of them may be, where the targets are a sample."""
    whole = is_hidden(scene, name)
    return whole if whole.size == scene.people.n else np.ones(scene.people.n, dtype=bool)


def _of_grades(scene: Scene, aim: Aim) -> Tally:
    """Grades are read between those of known people."""
    column, codes = scene.table[aim.about], scene.people.codes[aim.about]
    grades, cell_of = _ranks(scene, aim.about)
    cell, numbers = cell_of[codes], column.numbers[codes]
    known = np.isfinite(numbers) & (cell >= 0)
    found = scene.reader.cells(scene.people, aim.known, aim.about)
    chance, belief = found.right(cell), found.at(cell)
    rng, within = scene.streams.of(f"attacks.pairs.{aim.about}"), SHARE * span_of(column)
    read = np.zeros(codes.size)
    for _ in range(DRAWS if known.any() else 0):
        some = rng.choice(np.flatnonzero(known), min(PAIRS, int(known.sum())), replace=False)
        order = some[np.argsort(grades[cell[some]])]
        guess = np.interp(grades[np.maximum(cell, 0)], grades[cell[order]], numbers[order])
        read += (np.abs(guess - np.where(known, numbers, np.inf)) <= within + ALMOST) / DRAWS
    blind = near(scene.ignorant.of(scene.people, (), aim.about), column, codes, within)
    targets = protected(scene.people, aim) & known
    half, words = half_the_doubt(blind.truth), "half of the doubt, since nothing is promised of intervals"
    return _summed(aim, targets, chance, blind.right, belief, read, half, blind.truth, words)


def _ranks(scene: Scene, name: str) -> tuple[Floats, Ids]:
    """The number of each cell, and the cell of each value: ranks are kept, so the one follows from the other."""
    domain = scene.release.reading.estimate.domains[name]
    shown = np.flatnonzero((published_counts(scene, name) > 0) & np.isfinite(domain.numbers))
    ordered = shown[np.argsort(domain.numbers[shown])]
    column = scene.table[name]
    present = np.flatnonzero((column.counts > 0) & np.isfinite(column.numbers))
    cell_of = np.full(column.n_values, -1, dtype=np.int64)
    if present.size == ordered.size:
        cell_of[present] = ordered
    return domain.numbers, cell_of


def _summed(
    aim: Aim,
    targets: Bools,
    chance: Floats,
    guessed: Floats,
    belief: Floats,
    read: Floats,
    cap: Floats,
    before: Floats,
    words: str,
) -> Tally:
    """Right where the cell is found and read; `read` is the share of draws in which it is."""
    beyond = targets & (belief > cap + ALMOST) & (belief > before + ALMOST)
    certain = targets & (belief >= 1 - ALMOST) & (before < 1 - ALMOST)
    return Tally(
        aim.home,
        int(targets.sum()),
        float((chance * read)[targets].sum()),
        float(guessed[targets].sum()),
        None,
        0,
        round(float(read[beyond].sum())),
        round(float(read[certain].sum())),
        float((belief * (read > 0))[targets].max(initial=0.0)),
        words,
    )
