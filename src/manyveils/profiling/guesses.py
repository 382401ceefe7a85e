"""What a column by itself seems to be, and why."""

from dataclasses import dataclass
from typing import Literal

from manyveils.policy.sections import Role
from manyveils.profiling import words
from manyveils.profiling.facts import Facts
from manyveils.profiling.words import QUASI, SENSITIVE, says, topic_of

# "open" is a column that neither name nor shape tells anything of; "?" is one that its holder has to decide.
Guessed = Role | Literal["open", "?"]

NEARLY_UNIQUE = 0.95
MOSTLY_DIFFERENT = 0.5
# Without a hierarchy, more values than this make labels that nobody can read.
MANY_VALUES = 10_000
# A key with more values than this tells records apart, however many rows share one.
FEW_KEYS = 100
# A column called `patient` says whose row it is if so few rows share a value, or if it has many values.
FEW_ROWS_EACH = 10
# Whole numbers of so many digits or more, all of the same length, are codes.
LONG_NUMBER = 6
# Texts of which there are more than this, nearly all different, number something and are not categories.
FEW_TEXTS = 50
# Numbers and texts of which nothing is known may be somebody's where they are so many, or so many for the rows.
MANY_OPEN = 1_000
SHARE_OPEN = 0.1


@dataclass(frozen=True)
class Guess:
    """A role and its reason; `topic` is what the column's name suggests, if that gave it away."""

    role: Guessed
    reason: str
    topic: str = ""


def guess(facts: Facts) -> Guess:
    """The first reason that applies, the most telling first."""
    return (
        _nothing_to_publish(facts)
        or _names_a_person(facts)
        or _by_topic(facts)
        or _stands_out(facts)
        or _in_doubt(facts)
        or Guess("open", "Nothing says what it is")
    )


def _nothing_to_publish(facts: Facts) -> Guess | None:
    if facts.type == "unreadable":
        return _left_out(f"it cannot be published: {facts.trouble.rstrip('.')}")
    if facts.distinct == 0:
        return _left_out("every cell is missing")
    if facts.n_values > 1:
        return None
    if topic_of(facts.name, SENSITIVE):
        return _left_out("everybody has the same value, and its name is sensitive")
    if facts.n_rows > 1 and not topic_of(facts.name, words.IDENTIFIERS):
        return Guess("neutral", "The same in every row, so it tells nobody apart")
    return None


def _left_out(why: str) -> Guess:
    return Guess("drop", f"Left out, because {why}")


def _names_a_person(facts: Facts) -> Guess | None:
    topic, is_known = topic_of(facts.name, words.IDENTIFIERS), topic_of(facts.name, QUASI) is not None
    if topic:
        return Guess("identifier", f"Its name suggests {topic}", topic)
    if says(facts.name, words.KEYS_OF_PEOPLE):
        return Guess("identifier", "Its name suggests somebody's name or number")
    if _says_whose(facts):
        return Guess("identifier", f"Its name suggests whose row it is, and it has {facts.distinct:,} values")
    if facts.form.identifies:
        return Guess("identifier", f"Its cells look like {facts.form.identifies}")
    if facts.is_counter and not is_known:
        return Guess("identifier", "It numbers the rows one by one")
    weak = topic_of(facts.name, words.WEAK_IDENTIFIERS)
    if not weak or facts.type in ("decimal", "date"):
        return None
    if facts.share_distinct >= MOSTLY_DIFFERENT or facts.name.strip().lower() in words.NAMES:
        return Guess("identifier", f"Its name suggests {weak}, and {_differing(facts)}", weak)
    if says(facts.name, words.RECORD_KEYS) and facts.distinct > FEW_KEYS and not is_known:
        return Guess("identifier", f"Its name suggests {weak}, and it has {facts.distinct:,} of them", weak)
    return None


def _says_whose(facts: Facts) -> bool:
    """Whether a column is called as people are, and has so many values that these tell people apart."""
    if facts.name.strip().lower() not in words.WHOSE or facts.type in ("decimal", "date", "true or false"):
        return False
    return facts.distinct > FEW_KEYS or facts.distinct * FEW_ROWS_EACH >= max(facts.n_rows, 3 * FEW_ROWS_EACH)


def _by_topic(facts: Facts) -> Guess | None:
    sensitive, quasi = _sensitive(facts.name), _quasi(facts.name)
    if (sensitive or quasi) and (left_out := _free_text(facts)):
        return left_out
    # A number of a visit is no date.
    if (sensitive or quasi in ("a date", "a stay or a visit")) and _numbers_something(facts):
        suggested = sensitive or quasi
        return _left_out(
            f"its name suggests {suggested}, but it nearly identifies the row: {_differing(facts)}"
        )
    if sensitive:
        return Guess("sensitive", f"Its name suggests {sensitive}", sensitive)
    if says(facts.name, words.SURVEY_WEIGHTS):
        return _left_out(f"it seems to be a survey's weight, and {unique_by_it(facts)}")
    if quasi and _is_text_key(facts):
        return _left_out(f"its name suggests {quasi}, but {_differing(facts)}, as if it named people")
    if quasi:
        return Guess("quasi", f"Its name suggests {quasi}, which an adversary may know", quasi)
    return None


def _sensitive(name: str) -> str | None:
    """What is sensitive about a name; a name of a drug tells of health."""
    if name.strip().lower() in words.OUTCOMES:
        return "an outcome"
    return topic_of(name, SENSITIVE) or ("health" if words.names_a_drug(name) else None)


def _quasi(name: str) -> str | None:
    """What somebody may know, by a name; how long something was is none of the things that it is said of."""
    topic = topic_of(name, QUASI)
    if topic in ("place", "a date", "a stay or a visit") and says(name, words.DURATIONS):
        return "how long or how often something was"
    return topic


def _is_text_key(facts: Facts) -> bool:
    """Whether most cells of texts that are no dates, ranges or codes of one length differ."""
    is_text = facts.type == "category" and facts.form.separator is None
    return is_text and facts.distinct > FEW_TEXTS and facts.share_distinct >= MOSTLY_DIFFERENT


def _in_doubt(facts: Facts) -> Guess | None:
    """Ask about what may number somebody who comes again: nothing is published by a guess that may do so."""
    if facts.type in ("decimal", "date", "range", "true or false") or facts.distinct <= FEW_TEXTS:
        return None
    if facts.distinct <= MANY_OPEN and facts.share_distinct < SHARE_OPEN:
        return None
    return Guess(
        "?", f"Nothing says what it is, and {_differing(facts)}, so that it may number people or records"
    )


def _numbers_something(facts: Facts) -> bool:
    is_text = facts.type in ("code", "category", "text") and facts.form.separator is None
    return is_text and facts.distinct > FEW_TEXTS and facts.share_distinct >= NEARLY_UNIQUE


def _stands_out(facts: Facts) -> Guess | None:
    if facts.type == "date":
        return Guess("quasi", "A date, and an adversary may know when something happened")
    if left_out := _free_text(facts):
        return left_out
    if facts.share_distinct >= NEARLY_UNIQUE and facts.type != "decimal" and facts.distinct > 1:
        return Guess("identifier", f"It nearly identifies the row: {_differing(facts)}")
    if _is_key(facts):
        what = "It seems to number somebody or something that comes again"
        return Guess("identifier", f"{what}: {_differing(facts)}")
    return None


def _is_key(facts: Facts) -> bool:
    """Whether most cells of a column of texts, or of long numbers, differ, so that its values are no categories."""
    if facts.share_distinct < MOSTLY_DIFFERENT or facts.distinct <= FEW_TEXTS or facts.form.separator:
        return False
    return facts.type in ("code", "category") or (facts.type == "whole number" and _are_long(facts))


def _are_long(facts: Facts) -> bool:
    if facts.attribute is None:
        return False
    least, greatest = (str(facts.attribute.domain[place]) for place in (0, facts.distinct - 1))
    return len(least) == len(greatest) >= LONG_NUMBER and least.isdigit()


def _free_text(facts: Facts) -> Guess | None:
    is_free = facts.type == "text" and facts.share_distinct >= MOSTLY_DIFFERENT
    return _left_out("it is free text, which may name anybody") if is_free else None


def _differing(facts: Facts) -> str:
    return f"{percent(facts.share_distinct)} of its cells differ"


def unique_by_it(facts: Facts) -> str:
    """How many rows a column singles out, inside a sentence."""
    return f"{percent(facts.alone)} of the rows are unique by it alone"


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.12345), percent(0.0001), percent(1.0), percent(0.9996)
    ('12.3 %', 'under 0.1 %', '100 %', 'over 99.9 %')
    """
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.3g} %"
