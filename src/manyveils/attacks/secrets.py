"""Attacks on what is published in secret: pseudonyms by how often they occur, and cells by those of known people."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from manyveils.attacks.beliefs import Seen, label_counts
from manyveils.attacks.groups import INTERVAL, UNPROMISED, near, span_of
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People, looked_up
from manyveils.attacks.scene import Aim, Bound, Scene
from manyveils.attacks.score import bound_of, counted, protected, unpromised
from manyveils.attacks.tallies import Tally, outcome
from manyveils.keys.choices import HIDDEN, choices_of

# The shares of people who may have chosen a pseudonym of their own, and the misfit at which one is taken for no value's.
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
NEITHER = 9.0
PAIRS = 10
DRAWS = 20


@dataclass(frozen=True, repr=False)
class Pseudonyms:
    """The pseudonyms of one categorical attribute.

    `counts` says how often each is published, `cells` where it stands among the cells the release speaks of.
    Of each value, `openly` counts the cells that show it, `hidden` the people whose cell is a pseudonym of its own, and
    `all` everybody who has it. So many as `left_out` of them may not be published at all.
    """

    counts: Ids
    cells: Ids
    openly: Ids
    hidden: Ids
    all: Ids
    left_out: int

    def own(self, value: int) -> Ids:
        """What may be a value's own: published as often as it is hidden, or a little less if rows are left out."""
        short = self.hidden[value] - self.counts
        fits = (short >= 0) & (short <= self.left_out) & (self.hidden[value] > 0)
        return np.flatnonzero(fits & (short == short[fits].min(initial=self.left_out)))

    def cell_of(self) -> Ids:
        """The cell of a pseudonym for each value, all different, the commonest value first; -1 where there is none."""
        cells = np.full(self.hidden.size, -1, dtype=np.int64)
        taken = np.zeros(self.counts.size, dtype=bool)
        for value in np.argsort(-self.hidden, kind="stable").tolist():
            free = [pseudonym for pseudonym in self.own(value).tolist() if not taken[pseudonym]]
            if free:
                cells[value] = self.cells[free[0]]
                taken[free[0]] = True
        return cells


def secret_attributes(scene: Scene, *, numeric: bool) -> tuple[str, ...]:
    """The sensitive attributes that are published in secret, of one kind."""
    return tuple(
        name
        for name in scene.release.manifest.secret
        if name in scene.reader.published
        and name in scene.sensitive
        and (scene.table[name].kind == "numeric") == numeric
    )


def published_counts(scene: Scene, name: str) -> Ids:
    """How often each cell that the release speaks of is published."""
    view = next(view for view in scene.reader.views if name in view.attributes)
    counts: Ids = looked_up(label_counts(view, name).astype(np.int64), view.cover_of(name).label_of, 0)
    return counts


def pseudonyms_of(scene: Scene, name: str) -> Pseudonyms:
    """The pseudonyms of an attribute, and the values they hide."""
    attribute, counts = scene.table[name], published_counts(scene, name)
    places = scene.reader.places[name]
    is_pseudonym = counts > 0
    is_pseudonym[places[places >= 0]] = False
    cells = np.flatnonzero(is_pseudonym)
    everybody = {other: scene.table[other].codes for other in scene.table.attributes}
    hidden = np.bincount(attribute.codes[is_hidden(scene, everybody, name)], minlength=attribute.n_values)
    left_out = max(scene.table.n_rows - int(counts.sum()), 0)
    return Pseudonyms(counts[cells], cells, looked_up(counts, places, 0), hidden, attribute.counts, left_out)


def is_hidden(scene: Scene, codes: Mapping[str, NDArray[Any]], name: str) -> Bools:
    """Whose value is published as a pseudonym of its own, of people with given codes: who chose so, and has a value."""
    attribute = scene.table[name]
    missing = attribute.n_values - 1 if attribute.has_missing else -1
    choices = choices_of(scene.policy, scene.table.attributes).of(codes, codes[name].size)
    hidden: Bools = (choices == HIDDEN) & (codes[name] != missing)
    return hidden


def alias_frequency(scene: Scene) -> Outcome:
    """Alias frequency: a pseudonym is as common as what it stands for.

    Knows: how common each value is, and that pseudonyms stand for values.
    How: matches pseudonyms with values by how often they occur, for the share of people behind them that fits best; the
    belief in a match falls with the misfit, as counts vary by chance. Pseudonyms of groups mislead her.
    Paper: the limits of paper 004; Naveed, Kamara and Wright (2015) for encrypted databases.
    """
    pseudonyms = {name: pseudonyms_of(scene, name) for name in secret_attributes(scene, numeric=False)}
    tallies = [_by_frequency(scene, own, scene.aim((), name)) for name, own in pseudonyms.items()]
    reason = "No sensitive attribute is published in codes of its values."
    details = {"codes": sum(own.counts.size for own in pseudonyms.values())}
    return outcome("alias-frequency", "how common each value is", "estimate", tallies, details, reason)


def _by_frequency(scene: Scene, pseudonyms: Pseudonyms, aim: Aim) -> Tally:
    people, values = scene.people, scene.people.codes[aim.about]
    expected = np.maximum(pseudonyms.all - pseudonyms.openly, 0)
    right, belief = _read(pseudonyms, expected)
    share = pseudonyms.all / max(int(pseudonyms.all.sum()), 1)
    guess = (values == int(np.argmax(expected))).astype(np.float64)
    inside = is_hidden(scene, people.codes, aim.about) & protected(people, aim)
    seen = Seen(right[values], np.where(right > 0, belief, 0.0)[values], belief[values])
    return counted(aim.home, people, inside, seen, Seen(guess, share[values]), bound_of(people, aim))


def _read(pseudonyms: Pseudonyms, expected: Ids) -> tuple[Floats, Floats]:
    """For each value how often its pseudonym is read as it, and how much that is believed; equally common ones share."""
    right, belief = np.zeros(expected.size), np.zeros(expected.size)
    if not pseudonyms.counts.size:
        return right, belief
    matches = [_matched(pseudonyms.counts, (expected * share).astype(np.float64)) for share in SHARES]
    _, misfit, read = min(matches, key=lambda match: match[0])
    likely = np.exp(-misfit / 2)
    believed = likely / (likely.sum(axis=1, keepdims=True) + np.exp(-NEITHER / 2))
    for value in np.flatnonzero(pseudonyms.hidden).tolist():
        own = pseudonyms.own(value)
        if own.size:
            right[value] = (read[own] == value).sum() / own.size
            belief[value] = believed[own, value].mean()
    return right, belief


def _matched(counts: Ids, expected: Floats) -> tuple[float, Floats, Ids]:
    """The best match of pseudonyms and values hidden as often as expected: its misfit, that of each pair, and the match.

    A pseudonym may stand for none of the values: those of groups do.
    """
    hoped = np.maximum(expected, 1e-3)[np.newaxis, :]
    seen = counts[:, np.newaxis].astype(np.float64)
    misfit: Floats = 2 * (seen * np.log(seen / hoped) - seen + hoped)
    padded = np.concatenate([misfit, np.full((counts.size, counts.size), NEITHER)], axis=1)
    rows, columns = linear_sum_assignment(padded)
    read = np.full(counts.size, -1, dtype=np.int64)
    read[rows] = np.where(columns < expected.size, columns, -1)
    return float(padded[rows, columns].sum()), misfit, read


def known_pairs(scene: Scene) -> Outcome:
    """Known pairs: a few people's values and published cells open everybody else's.

    Knows: the quasi-identifiers of the target, and of ten other people value, pseudonym and grade.
    How: reads a pseudonym as the value of a known person who has it, and a grade between those of two known people as a
    number between theirs, in proportion; right within a twentieth of the range. She must find the target's cell first.
    Numbers are the mean over several choices of the ten.
    Paper: the limits of paper 004.
    """
    knows = f"the quasi-identifiers, and of {PAIRS} other people value and published cell"
    if scene.people.n_persons < 2 * PAIRS:
        return Outcome("known-pairs", knows, "none", reason=f"There are fewer than {2 * PAIRS} people.")
    reason = "No sensitive attribute is published in secret."
    return outcome("known-pairs", knows, "simulation", _tallies(scene), {"known_people": PAIRS}, reason)


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
    return if_found(scene, aim, targets, cell, share_read, guess, bound_of(scene.people, aim))


def _of_grades(scene: Scene, aim: Aim) -> Tally:
    """Grades are read between those of known people."""
    attribute, codes = scene.table[aim.about], scene.people.codes[aim.about]
    grades, cell_of = ranked_cells(scene, aim.about)
    cell, numbers = cell_of[codes], attribute.numbers[codes]
    targets = np.isfinite(numbers) & (cell >= 0)
    within = INTERVAL * span_of(attribute)

    def read(known: Ids) -> Bools:
        order = known[np.argsort(grades[cell[known]])]
        number = np.interp(grades[np.maximum(cell, 0)], grades[cell[order]], numbers[order])
        return np.abs(number - np.where(targets, numbers, np.inf)) <= within + TOLERANCE

    guess = near(attribute, within, scene.ignorant.beliefs(scene.people, (), aim.about), codes)
    share_read, bound = _drawn(scene, aim, targets, read), unpromised(guess, UNPROMISED.format("intervals"))
    return if_found(scene, aim, targets, cell, share_read, guess, bound)


def _drawn(scene: Scene, aim: Aim, pool: Bools, read: Callable[[Ids], Bools]) -> Floats:
    """The share of draws of ten known people in which each other person's cell is read."""
    rng, n = scene.streams.of(f"attacks.pairs.{aim.about}"), scene.people.n
    times, draws = np.zeros(n), np.zeros(n)
    people = scene.people
    for _ in range(DRAWS if pool.any() else 0):
        known = _known_people(people, pool, rng)
        # Who is known already is no target.
        is_target = np.ones(n, dtype=bool)
        is_target[known] = False
        if people.persons is not None:
            is_target = ~people.anyone(~is_target)[people.persons]
        times += is_target & read(known)
        draws += is_target
    return times / np.maximum(draws, 1)


def _known_people(people: People, pool: Bools, rng: np.random.Generator) -> Ids:
    """The rows of some people whose cells may be known; of each person all that are among them."""
    who = np.flatnonzero(people.anyone(pool))
    known: Ids = rng.choice(who, min(PAIRS, who.size), replace=False)
    if people.persons is None:
        return known
    return np.flatnonzero(pool & np.isin(people.persons, known))


def ranked_cells(scene: Scene, name: str) -> tuple[Floats, Ids]:
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


def if_found(
    scene: Scene, aim: Aim, targets: Bools, cell: Ids, read: Floats, guess: Seen, bound: Bound
) -> Tally:
    """Right where the cell is found and read; `read` is the share of draws in which it is."""
    beliefs = scene.reader.cells(scene.people, aim.known, aim.about)
    plain = beliefs.seen(cell)
    seen = Seen(plain.right * read, np.where(read > 0, plain.truth, 0.0), plain.best)
    inside = targets & protected(scene.people, aim)
    return counted(aim.home, scene.people, inside, seen, guess, bound, weights=read)
