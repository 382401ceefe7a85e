"""Which role every column gets, and why: guesses about single columns, weighed against each other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from manyveils.profiling.facts import Facts
from manyveils.profiling.families import family_of, with_families
from manyveils.profiling.guesses import MANY_VALUES, MOSTLY_DIFFERENT, Guess, Guessed, percent, unique_by_it
from manyveils.profiling.hierarchies import coarser
from manyveils.profiling.uniqueness import Found, solid_pairs

MOST_QUASI = 12
MOST_SENSITIVE = 10
MOST_GUESSED = 3
NEARLY_CONSTANT = 0.95
# A sensitive column is published as it is; a mere guess must not publish one that tells rows apart.
SELDOM_ALONE = 0.05
MERE_GUESS = (
    "A mere guess: no name suggests anything sensitive, and this is among the most varied of the rest"
)


Guesses = Mapping[str, Guess]
AllFacts = Mapping[str, Facts]
Pairs = Sequence[tuple[str, str]]


def decide(facts: AllFacts, guesses: Guesses, dependencies: Found) -> Guesses:
    """A role for every column; nothing becomes neutral that tells rows apart."""
    pairs = solid_pairs(dependencies)
    settled = _telling(_tied(with_families(guesses, facts), pairs), facts)
    settled = _some_sensitive(settled, facts, pairs)
    settled = _fewer_sensitive(settled, facts, pairs)
    settled = _open_as_quasi(settled)
    settled = _readable(settled, facts)
    settled = _fewer_quasi(settled, facts, pairs)
    return {name: replace(guess, reason=f"{guess.reason}.") for name, guess in settled.items()}


def _having(guesses: Guesses, role: str) -> list[str]:
    return [name for name, guess in guesses.items() if guess.role == role]


def _changed(guesses: Guesses, role: Guessed, reasons: Mapping[str, str]) -> Guesses:
    """The guesses, with another role for the columns that have a new reason."""
    changed = {name: replace(guesses[name], role=role, reason=why) for name, why in reasons.items()}
    return {**guesses, **changed}


def _tied(guesses: Guesses, pairs: Pairs) -> Guesses:
    """What decides a sensitive column, or follows from one, tells of it; what follows from known ones is lost."""
    settled, before = dict(guesses), None
    while settled != before:
        before = dict(settled)
        for left, right in pairs:
            settled |= _tied_pair(settled, left, right)
    return settled


def _tied_pair(settled: Guesses, left: str, right: str) -> dict[str, Guess]:
    match settled[left].role, settled[right].role:
        case "open", "sensitive":
            return {left: Guess("sensitive", f"{name_of(right)}, which is sensitive, follows from it")}
        case "sensitive", "open":
            return {right: Guess("sensitive", f"It follows from {name_of(left)}, which is sensitive")}
        case "quasi", "sensitive":
            reason = f"Left out, because it seems sensitive, but follows from {name_of(left)}, which an adversary may know"
            return {right: Guess("drop", f"{reason}, so nothing could be promised of it")}
        case _:
            return {}


def _telling(guesses: Guesses, facts: AllFacts) -> Guesses:
    """What is sensitive only by what follows from it is left out if it tells most rows apart."""
    reasons = {
        name: f"Left out: {guesses[name].reason}, and {unique_by_it(facts[name])}"
        for name in _having(guesses, "sensitive")
        if not guesses[name].topic and facts[name].alone >= MOSTLY_DIFFERENT
    }
    return _changed(guesses, "drop", reasons)


def name_of(name: str) -> str:
    """A column's name inside a sentence; quoted if it has anything but letters, digits and the like."""
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isalnum() else repr(name)


def _some_sensitive(guesses: Guesses, facts: AllFacts, pairs: Pairs) -> Guesses:
    """If no column seems sensitive, the most varied of those that nothing is known of and by which few rows are unique."""
    unknown = [name for name in _having(guesses, "open") if facts[name].alone <= SELDOM_ALONE]
    if _having(guesses, "sensitive") or not unknown:
        return guesses
    ranked = sorted(unknown, key=lambda name: (_follows(name, unknown, pairs), facts[name].commonest))
    chosen = ranked[: min(MOST_GUESSED, max(1, len(unknown) // 3))]
    return _changed(guesses, "sensitive", dict.fromkeys(chosen, MERE_GUESS))


def _fewer_sensitive(guesses: Guesses, facts: AllFacts, pairs: Pairs) -> Guesses:
    """One of each family of columns first, so that twenty alike leave room for others."""
    names = _having(guesses, "sensitive")

    turns = dict(zip(names, _turns([family_of(facts[name]) for name in names]), strict=True))

    def rank(name: str) -> tuple[bool, bool, int]:
        return facts[name].commonest >= NEARLY_CONSTANT, _follows(name, names, pairs), turns[name]

    return _fewer(guesses, sorted(names, key=rank), "sensitive", MOST_SENSITIVE)


def _fewer(guesses: Guesses, ranked: Sequence[str], role: str, most: int) -> Guesses:
    """Leave out the columns beyond a number, in few words: they are many."""
    more = f"Left out: {len(ranked)} columns seem {role} and {most} are kept"
    return _changed(guesses, "drop", dict.fromkeys(ranked[most:], more))


def _follows(name: str, among: Sequence[str], pairs: Pairs) -> bool:
    """Whether a column follows from another of the list; of two that follow from each other, only the later."""
    deciders = [left for left, right in pairs if right == name and left in among]
    return any(
        (name, decider) not in pairs or among.index(decider) < among.index(name) for decider in deciders
    )


def _open_as_quasi(guesses: Guesses) -> Guesses:
    careful = ", so that somebody may know it"
    reasons = {name: guesses[name].reason + careful for name in _having(guesses, "open")}
    return _changed(guesses, "quasi", reasons)


def _readable(guesses: Guesses, facts: AllFacts) -> Guesses:
    """Leave out quasi-identifiers with very many values and nothing that could group them."""
    reasons = {
        name: f"Left out, because {facts[name].distinct:,} values without a hierarchy "
        f"cannot be grouped ({percent(facts[name].alone)} of the rows are unique by it)"
        for name in _having(guesses, "quasi")
        if facts[name].distinct > MANY_VALUES and not _can_be_grouped(facts[name])
    }
    return _changed(guesses, "drop", reasons)


def _can_be_grouped(facts: Facts) -> bool:
    suits = coarser(facts)
    return suits.hierarchy is not None or suits.kind == "numeric"


def _fewer_quasi(guesses: Guesses, facts: AllFacts, pairs: Pairs) -> Guesses:
    """Those whose names say so first, one of each topic, then a second of each; of the rest the least telling.

    Whatever nearly everybody has the same of comes last: it is of no use, and marks those who have another.
    """
    names = _having(guesses, "quasi")
    turns = dict(zip(names, _turns([guesses[name].topic for name in names]), strict=True))

    def rank(name: str) -> tuple[bool, bool, bool, float]:
        is_named, is_idle = bool(guesses[name].topic), facts[name].commonest >= NEARLY_CONSTANT
        return (
            is_idle,
            not is_named,
            _follows(name, names, pairs),
            turns[name] if is_named else facts[name].distinct,
        )

    return _fewer(guesses, sorted(names, key=rank), "quasi", MOST_QUASI)


def _turns(topics: Sequence[object]) -> list[int]:
    """How many times each topic has come before.

    >>> _turns(["age", "place", "place", "age"])
    [0, 0, 1, 1]
    """
    return [topics[:index].count(topic) for index, topic in enumerate(topics)]
