"""Whose rows a table has: the column that seems to tell persons apart, what does not change of one, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.profiling import words
from manyveils.profiling.facts import Facts
from manyveils.profiling.guesses import FEW_KEYS, MOSTLY_DIFFERENT, NEARLY_UNIQUE, Guess
from manyveils.profiling.roles import Guesses, name_of
from manyveils.profiling.words import IDENTIFIERS, WEAK_IDENTIFIERS, says, topic_of
from manyveils.table.encode import as_read, persons_in, repeating_in
from manyveils.table.persons import Identifier, alike, changing_persons, names_beside, repeating_beside

# What several people share, and one person may have several of.
SHARED = ("an address", "a phone number", "a device or a web page")
# How well a column has to tell persons apart by its name for others to be beside them.
TELLING = (0, 1)
NUMBERED = ("an official number", "an account", "a key of records", "an e-mail address")


@dataclass(frozen=True, repr=False)
class Whose:
    """By what persons are told apart: `name` is None where every row is taken as a person of its own.

    `n_several` persons have several rows; `constants` are the sensitive attributes of which nobody has two values.
    Other identifiers that persons share are `beside` them by their names, or in `doubt`: they may be the persons.
    """

    name: str | None
    reason: str
    n_persons: int
    n_several: int = 0
    constants: tuple[str, ...] = ()
    persons: NDArray[np.int64] | None = None
    beside: tuple[str, ...] = ()
    doubt: tuple[str, ...] = ()

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
    ranks = {column.name: _rank(column, facts) for column in repeats}
    candidates = _without_nearly_unique([column for column in repeats if ranks[column.name] is not None])
    if not candidates:
        names = [*unlike, *(column.name for column in repeats)]
        return Whose(None, _none_fits(names), frame.height) if names else None
    # Of two that are as good, the one with fewer values makes nobody two persons.
    best = min(candidates, key=lambda column: (ranks[column.name], column.n_different))
    named = comparable.replaced(data={"missing_markers": list(markers), "person": best.name})
    frame = frame.drop(unlike)
    persons = persons_in(frame, named)
    assert persons is not None
    told, shared = _told_by(best, persons, facts, decided), _shared(frame, named)
    beside = [name for name in shared if ranks[best.name] in TELLING and _is_beside(name, ranks)]
    return replace(told, beside=tuple(beside), doubt=tuple(name for name in shared if name not in beside))


def _without_nearly_unique(columns: list[Identifier]) -> list[Identifier]:
    """Those that repeat, if there are any: what differs in nearly all rows tells rows apart, not persons."""
    return [column for column in columns if not _is_nearly_unique(column)] or columns


def _is_nearly_unique(column: Identifier) -> bool:
    return column.n_different >= NEARLY_UNIQUE * column.n_present


def _shared(frame: pl.DataFrame, policy: Policy) -> list[str]:
    """The other identifiers that so many persons share that lint asks whether they are the persons."""
    keys, beside = (
        as_read(frame.select(names), policy) for names in (policy.person or (), names_beside(frame, policy))
    )
    return [column.name for column in repeating_beside(beside, keys, policy) if column.is_shared]


def _is_beside(name: str, ranks: Mapping[str, int | None]) -> bool:
    """Whether a name says that a column is shared by persons, or stands beside them."""
    return ranks[name] is None and not says(name, words.WHOSE)


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
    name, form = column.name, facts[column.name].form
    is_address = form.identifies == "e-mail addresses" and says(name, words.REACHED_BY)
    if column.n_different < 2 or (says(name, words.BESIDE) and not is_address):
        return None
    # The number of a person within a household or a car tells no two households apart.
    if column.n_different <= FEW_KEYS and column.n_different * FEW_KEYS < column.n_present:
        return None
    topic = topic_of(name, IDENTIFIERS)
    if topic in SHARED:
        return None
    if topic is None and topic_of(name, WEAK_IDENTIFIERS) != "a name" and says(name, words.WHOSE):
        return 0
    if topic in NUMBERED or is_address or says(name, words.KEYS_OF_PEOPLE):
        return 1
    weak = topic_of(name, WEAK_IDENTIFIERS)
    if topic is None and weak != "a name":
        # Nothing but its cells says that it tells persons apart, and these differ from row to row.
        return None if weak is None and _is_nearly_unique(column) else 2
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
