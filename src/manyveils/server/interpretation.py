"""Interpretation: published values, rules and small tables, read with a release's key for whom a grant lets.

Answers are values and rules, never rows of the data. Every answer and every refusal is in the log, with what was asked;
of what was given the log holds how much it was and a keyed digest, not the meaning.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from manyveils.errors import InputError, Problem
from manyveils.keys import Key, Meaning, interpret_rule, interpret_table
from manyveils.server.catalogue import Item, item, key_of
from manyveils.server.chain import append
from manyveils.server.grants import charge, good_grant
from manyveils.server.keeper import Keeper
from manyveils.server.people import Person
from manyveils.server.refusals import Conflict, Forbidden, Refusal, TooMany

T = TypeVar("T")
MOST_TEXT = 10_000
MOST_CELL = 200


@dataclass(frozen=True, repr=False)
class Answer(Generic[T]):
    """What was asked, read with the key, and the meanings it took, each once."""

    read: T
    meanings: tuple[Meaning, ...]

    @property
    def cost(self) -> int:
        """What the answer takes off a daily limit: its meanings, and one at least."""
        return max(1, len(self.meanings))


Reading = Callable[[Key], tuple[T, Sequence[Meaning]]]


def read_value(keeper: Keeper, actor: Person, release: str, attribute: str, published: str) -> Answer[str]:
    """What one published value of an attribute means."""

    def read(key: Key) -> tuple[str, Sequence[Meaning]]:
        cells, meanings = interpret_table(key, [attribute], [[published]])
        return cells[0][0], meanings

    question = {"attribute": attribute, "published": published}
    return _answer(keeper, actor, release, "value", question, read, names=[attribute])


def read_rule(keeper: Keeper, actor: Person, release: str, rule: str) -> Answer[str]:
    """A rule with meanings in place of codes and grades."""
    if len(rule) > MOST_TEXT:
        raise InputError([Problem("rule", f"has more than {MOST_TEXT} characters.")])
    return _answer(
        keeper, actor, release, "rule", {"rule": rule}, lambda key: interpret_rule(key, rule), names=[]
    )


def read_table(
    keeper: Keeper, actor: Person, release: str, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> Answer[list[list[str]]]:
    """A small table of published values, cell by cell."""
    if any(len(cell) > MOST_CELL for row in rows for cell in row):
        raise InputError([Problem("table", f"has cells of more than {MOST_CELL} characters.")])
    question = {"names": list(names), "rows": [list(row) for row in rows]}
    return _answer(
        keeper, actor, release, "table", question, lambda key: interpret_table(key, names, rows), names=names
    )


def _answer(
    keeper: Keeper,
    actor: Person,
    release: str,
    kind: str,
    question: Mapping[str, Any],
    read: Reading[T],
    *,
    names: Sequence[str],
) -> Answer[T]:
    """Read with the key, count it and log it; nothing is handed out that was not counted and logged."""
    found = item(keeper, actor, release)
    _refuse_strangers(keeper, actor, release, kind, question)
    key = _key(keeper, found)
    _refuse_unknown(found, names)
    value, used = read(key)
    _refuse_unknown(found, [meaning.attribute for meaning in used])
    answer = Answer(value, tuple({(each.attribute, each.published): each for each in used}.values()))
    with keeper.database.writing() as connection:
        refusal = _counted(keeper, connection, actor, release, answer.cost)
        _record(keeper, connection, actor, release, kind, question, answer, refusal)
    if refusal is not None:
        raise refusal
    return answer


def _counted(
    keeper: Keeper, connection: Connection, actor: Person, release: str, cost: int
) -> Refusal | None:
    """Count an answer against its grant; the refusal if there is no grant or not enough of it is left."""
    if actor.role == "owner":
        return None
    grant = good_grant(keeper, connection, actor.id, release)
    if grant is None:
        return _ungranted()
    number, limit = grant
    if charge(keeper, connection, number, cost):
        return None
    return TooMany(
        [
            Problem(
                "daily limit",
                f"this answer takes {cost} of {limit} meanings a day, and fewer are left.",
                "Ask for less, or tomorrow (UTC).",
            )
        ]
    )


def _record(
    keeper: Keeper,
    connection: Connection,
    actor: Person,
    release: str,
    kind: str,
    question: Mapping[str, Any],
    answer: Answer[Any],
    refusal: Refusal | None,
) -> None:
    if refusal is None:
        said = keeper.secret.seal("answer", release, json.dumps(answer.read))
        outcome: dict[str, Any] = {"meanings": answer.cost, "digest": said}
    else:
        outcome = {"refused": refusal.status, "meanings": 0}
    action = "interpret" if refusal is None else "interpret refused"
    append(keeper, connection, actor.name, action, release, {"kind": kind, "asked": question, **outcome})


def _refuse_strangers(
    keeper: Keeper, actor: Person, release: str, kind: str, question: Mapping[str, Any]
) -> None:
    """Refuse whoever has no good grant before anything is read, and log it."""
    if actor.role == "owner":
        return
    with keeper.database.reading() as connection:
        if actor.role == "researcher" and good_grant(keeper, connection, actor.id, release) is not None:
            return
    refusal = _ungranted()
    with keeper.database.writing() as connection:
        _record(keeper, connection, actor, release, kind, question, Answer(None, ()), refusal)
    raise refusal


def _ungranted() -> Forbidden:
    return Forbidden(
        [Problem("grant", "there is none for this release, or it has expired.", "Ask an owner.")]
    )


def _key(keeper: Keeper, found: Item) -> Key:
    key = key_of(keeper, found.id)
    if key is None:
        raise Conflict([Problem("release", "has no key: what it publishes stands for itself.")])
    return key


def _refuse_unknown(found: Item, names: Sequence[str]) -> None:
    unknown = set(names) - set(found.attributes)
    if unknown:
        raise InputError(
            [
                Problem(
                    "attribute",
                    f"{len(unknown)} of those asked about are not in this release.",
                    "Check the names.",
                )
            ]
        )
