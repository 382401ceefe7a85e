"""Which role every column gets, and why: guesses about single columns, weighed against each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from manyveils.policy.sections import Role
from manyveils.profiling.facts import Facts
from manyveils.profiling.following import Following, deciders
from manyveils.profiling.guesses import MANY_VALUES, MOSTLY_DIFFERENT, Guess, percent
from manyveils.profiling.hierarchies import coarser

MOST_QUASI = 12
MOST_SENSITIVE = 10
MOST_GUESSED = 3
NEARLY_CONSTANT = 0.95
# A sensitive column is published as it is; a mere guess must not publish one that tells rows apart.
SELDOM_ALONE = 0.05


@dataclass(frozen=True)
class Decided:
    """A role and its reason, one sentence or more."""

    role: Role
    reason: str


Guesses = Mapping[str, Guess]


def decide(facts: Mapping[str, Facts], guesses: Guesses, found: Sequence[Following]) -> Mapping[str, Decided]:
    """A role for every column; nothing becomes neutral that tells rows apart."""
    settled = _telling(_tied(guesses, found), facts)
    settled = _some_sensitive(settled, facts, found)
    settled = _fewer_sensitive(settled, facts, found)
    settled = _open_as_quasi(settled)
    settled = _readable(settled, facts)
    settled = _fewer_quasi(settled, facts, found)
    return {name: Decided(_role(each), f"{each.reason}.") for name, each in settled.items()}


def _role(guess: Guess) -> Role:
    assert guess.seeming != "open"
    return guess.seeming


def _having(guesses: Guesses, seeming: str) -> list[str]:
    return [name for name, each in guesses.items() if each.seeming == seeming]


def _tied(guesses: Guesses, found: Sequence[Following]) -> Guesses:
    """What decides a sensitive column, or follows from one, tells of it; what follows from known ones is lost."""
    settled = dict(guesses)
    pairs = [(each.left[0], each.right) for each in found if each.is_solid and len(each.left) == 1]
    grew = True
    while grew:
        grew = False
        for left, right in pairs:
            changed = _change(settled, left, right)
            settled.update(changed)
            grew = grew or bool(changed)
    return settled


def _telling(guesses: Guesses, facts: Mapping[str, Facts]) -> Guesses:
    """What is sensitive only by what follows from it is left out if it tells most rows apart."""
    return {
        name: replace(
            each, seeming="identifier", reason=f"Left out: {each.reason}, and {_alone(facts[name])}"
        )
        if each.seeming == "sensitive" and not each.topic and facts[name].alone >= MOSTLY_DIFFERENT
        else each
        for name, each in guesses.items()
    }


def _alone(facts: Facts) -> str:
    return f"by it alone {percent(facts.alone)} of the rows stand alone"


def _change(settled: Guesses, left: str, right: str) -> dict[str, Guess]:
    one, other = settled[left].seeming, settled[right].seeming
    if (one, other) == ("open", "sensitive"):
        return {left: Guess("sensitive", f"{name_of(right)}, which is sensitive, follows from it")}
    if (one, other) == ("sensitive", "open"):
        return {right: Guess("sensitive", f"It follows from {name_of(left)}, which is sensitive")}
    if (one, other) == ("quasi", "sensitive"):
        reason = f"Left out: it seems sensitive, but follows from {name_of(left)}, which outsiders may know"
        return {right: Guess("identifier", f"{reason}, so nothing could be promised of it")}
    return {}


def name_of(name: str) -> str:
    """A column's name inside a sentence; quoted if it has anything but letters, digits and the like."""
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isalnum() else repr(name)


def _some_sensitive(guesses: Guesses, facts: Mapping[str, Facts], found: Sequence[Following]) -> Guesses:
    """If no column seems sensitive, the most varied of those that nothing is known of and that few rows stand alone by."""
    unknown = [name for name in _having(guesses, "open") if facts[name].alone <= SELDOM_ALONE]
    if _having(guesses, "sensitive") or not unknown:
        return guesses
    ranked = sorted(unknown, key=lambda name: (_follows(name, unknown, found), facts[name].commonest))
    chosen = ranked[: min(MOST_GUESSED, max(1, len(unknown) // 3))]
    reason = (
        "A mere guess: no name speaks of anything sensitive, and this is among the most varied of the rest"
    )
    return {name: Guess("sensitive", reason) if name in chosen else each for name, each in guesses.items()}


def _fewer_sensitive(guesses: Guesses, facts: Mapping[str, Facts], found: Sequence[Following]) -> Guesses:
    names = _having(guesses, "sensitive")
    ranked = sorted(
        names, key=lambda name: (_follows(name, names, found), facts[name].commonest >= NEARLY_CONSTANT)
    )
    return _left_out(guesses, ranked[MOST_SENSITIVE:], "sensitive", len(names), MOST_SENSITIVE)


def _left_out(guesses: Guesses, names: Sequence[str], role: str, of: int, most: int) -> Guesses:
    """Columns beyond a number; why they would be published otherwise is still said."""
    more = f"Left out, because {of} columns seem {role} and {most} are kept; set the role to publish it"
    return {
        name: replace(each, seeming="identifier", reason=f"{each.reason}. {more}") if name in names else each
        for name, each in guesses.items()
    }


def _follows(name: str, among: Sequence[str], found: Sequence[Following]) -> bool:
    """Whether a column follows from another of the list; of two that follow from each other, only the later."""
    place = {each: number for number, each in enumerate(among)}
    above = [each for each in deciders(found, name) if each in place]
    return any(name not in deciders(found, each) or place[each] < place[name] for each in above)


def _open_as_quasi(guesses: Guesses) -> Guesses:
    careful = "; the careful guess is that outsiders may know it"
    return {
        name: replace(each, seeming="quasi", reason=each.reason + careful) if each.seeming == "open" else each
        for name, each in guesses.items()
    }


def _readable(guesses: Guesses, facts: Mapping[str, Facts]) -> Guesses:
    return {
        name: _lost_in_values(each, facts[name]) if each.seeming == "quasi" else each
        for name, each in guesses.items()
    }


def _lost_in_values(guess: Guess, facts: Facts) -> Guess:
    suits = coarser(facts)
    if facts.distinct <= MANY_VALUES or suits.hierarchy or suits.kind == "numeric":
        return guess
    reason = (
        f"{guess.reason}. Left out, because {facts.distinct:,} values without a hierarchy cannot be grouped"
    )
    return replace(
        guess, seeming="identifier", reason=f"{reason} ({percent(facts.alone)} of the rows stand alone)"
    )


def _fewer_quasi(guesses: Guesses, facts: Mapping[str, Facts], found: Sequence[Following]) -> Guesses:
    """Those whose names say so first, one of each topic, then a second of each; of the rest the least telling."""
    names = _having(guesses, "quasi")
    turns = dict(zip(names, _turns([guesses[name].topic for name in names]), strict=True))

    def rank(name: str) -> tuple[bool, bool, float]:
        is_named = bool(guesses[name].topic)
        return not is_named, _follows(name, names, found), turns[name] if is_named else facts[name].distinct

    return _left_out(guesses, sorted(names, key=rank)[MOST_QUASI:], "quasi", len(names), MOST_QUASI)


def _turns(topics: Sequence[str]) -> list[int]:
    """How many times each topic has come before.

    >>> _turns(["age", "place", "place", "age"])
    [0, 0, 1, 1]
    """
    return [list(topics[:place]).count(topic) for place, topic in enumerate(topics)]
