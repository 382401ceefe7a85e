"""Whose rows a table has: the column that seems to tell persons apart, what does not change of one, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.profiling import words
from manyveils.profiling.facts import Facts
from manyveils.profiling.guesses import FEW_KEYS, MOSTLY_DIFFERENT, Guess
from manyveils.profiling.roles import Guesses, name_of
from manyveils.profiling.words import IDENTIFIERS, WEAK_IDENTIFIERS, says, topic_of
from manyveils.table.encode import persons_in, repeating_in
from manyveils.table.persons import Identifier, alike, changing_persons

# What several people share, and one person may have several of.
SHARED = ("an address", "a phone number", "a device or a web page")
NUMBERED = ("an official number", "an account", "a key of records", "an e-mail address")


@dataclass(frozen=True, repr=False)
class Whose:
    """By what persons are told apart: `name` is None where every row is taken as a person of its own.

    `n_several` persons have several rows; `constants` are the sensitive attributes of which nobody has two values.
    """

    name: str | None
    reason: str
    n_persons: int
    n_several: int = 0
    constants: tuple[str, ...] = ()
    persons: NDArray[np.int64] | None = None

    def describe(self) -> dict[str, object]:
        """The proposal as plain values."""
        return {
            "person": self.name or "row",
            "reason": self.reason,
            "persons": self.n_persons,
            "persons_with_several_rows": self.n_several,
            "constant": list(self.constants),
        }


def whose(
    frame: pl.DataFrame, facts: Mapping[str, Facts], decided: Guesses, markers: Sequence[str]
) -> Whose | None:
    """Who is who in a table; None where no identifier repeats, so that nothing has to be said."""
    roles = {name: {"role": _told_as(guess)} for name, guess in decided.items()}
    policy = Policy(data={"missing_markers": list(markers)}, attributes=roles)
    unlike = [name for name in policy.having("identifier") if not alike(frame.schema[name])]
    comparable = policy.replaced(attributes={name: roles[name] for name in roles if name not in unlike})
    repeats = repeating_in(frame, comparable)
    candidates = [column for column in repeats if _rank(column, facts) is not None]
    if not candidates:
        names = [*unlike, *(column.name for column in repeats)]
        return Whose(None, _none_fits(names), frame.height) if names else None
    best = min(candidates, key=lambda column: (_rank(column, facts), -column.n_different))
    named = comparable.replaced(data={"missing_markers": list(markers), "person": best.name})
    persons = persons_in(frame.drop(unlike), named)
    assert persons is not None
    return _told_by(best, persons, facts, decided)


def _told_as(guess: Guess) -> str:
    """The role under which a column is looked at; one that is not decided tells nobody apart."""
    return "drop" if guess.role in ("?", "open") else guess.role


def _told_by(
    column: Identifier, persons: NDArray[np.int64], facts: Mapping[str, Facts], decided: Guesses
) -> Whose:
    rows = np.bincount(persons)
    sensitive = [facts[name].attribute for name, guess in decided.items() if guess.role == "sensitive"]
    constants = tuple(
        attribute.name for attribute in sensitive if attribute and not changing_persons(attribute, persons)
    )
    reason = f"{name_of(column.name)} repeats: {column.n_present:,} rows have {column.n_different:,} different values of it"
    return Whose(column.name, reason, rows.size, int((rows > 1).sum()), constants, persons)


def _none_fits(names: Sequence[str]) -> str:
    listed = ", ".join(map(name_of, names))
    return f"Not all cells of {listed} differ, but nothing there seems to tell persons apart"


def _rank(column: Identifier, facts: Mapping[str, Facts]) -> int | None:
    """How well a column seems to tell persons apart, the best first; None where it does not."""
    name = column.name
    if column.n_different < 2 or says(name, words.BESIDE):
        return None
    # The number of a person within a household or a car tells no two households apart.
    if column.n_different <= FEW_KEYS and column.n_different * FEW_KEYS < column.n_present:
        return None
    topic = topic_of(name, IDENTIFIERS)
    if topic in SHARED:
        return None
    if topic is None and topic_of(name, WEAK_IDENTIFIERS) != "a name" and says(name, words.WHOSE):
        return 0
    if topic in NUMBERED or says(name, words.KEYS_OF_PEOPLE):
        return 1
    if topic is None and topic_of(name, WEAK_IDENTIFIERS) != "a name":
        return 2
    # People share names, more so first names.
    return 3 if facts[name].share_distinct >= MOSTLY_DIFFERENT else None


def of_persons(facts: Facts, persons: NDArray[np.int64]) -> Facts:
    """What is counted about a column, with persons who have a value in place of rows."""
    attribute, n_persons = facts.attribute, int(persons.max(initial=-1)) + 1
    if attribute is None:
        return facts
    pairs = pl.Series(persons * attribute.n_values + attribute.codes).unique().to_numpy()
    held = replace(attribute, codes=(pairs % attribute.n_values).astype(np.int32))
    return replace(facts, n_rows=n_persons, commonest=float(held.counts.max()) / n_persons, attribute=held)
