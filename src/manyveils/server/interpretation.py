"""Interpretation: published values, rules and small tables, read with a release's key for whom a grant lets.

Answers are values and rules, never rows of the data. Every answer is in the log, and so are refusals, with what was asked;
of what was given the log holds how much it was and a keyed digest, not the meaning.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Row

from manyveils.errors import InputError, ManyveilsError
from manyveils.keys import Key, Meaning, interpret_rule, interpret_table
from manyveils.keys.interpret import MOST_CELLS
from manyveils.reading.predicates import Condition, parse
from manyveils.server.catalogue import Item, is_mine, item_in, item_of, key_in
from manyveils.server.chain import append
from manyveils.server.disclosure import disclose, originals_in
from manyveils.server.grants import charge, good_grant
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Conflict, Forbidden, Person, Refusal, TooMany, require
from manyveils.server.schema import releases
from manyveils.server.sealed import sound_row
from manyveils.server.throttle import WINDOW, note_refusal

T = TypeVar("T")
MOST_TEXT = 10_000
MOST_NAME = 300
MOST_CELL = 200
# Longer questions are not written to the log whole.
MOST_LOGGED = 1_000
START = 200
QUOTED_OR_ARROW = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`)|->|=>|⇒|→""")


@dataclass(frozen=True, repr=False)
class Answer(Generic[T]):
    """What was asked, read with the key, the meanings it took, each once, and what it takes off the limits.

    An answer costs the originals that it gives away, however they are written in the question; and one at least.
    """

    read: T
    meanings: tuple[Meaning, ...]
    cost: int


@dataclass(frozen=True, repr=False)
class Question(Generic[T]):
    """What is asked about a release, as the log writes it, and how it is read with the key."""

    release: str
    kind: str
    asked: Mapping[str, Any]
    names: Sequence[str]
    read: Callable[[Key], tuple[T, Sequence[Meaning]]]


def read_value(keeper: Keeper, actor: Person, release: str, attribute: str, published: str) -> Answer[str]:
    """What one published value of an attribute means."""
    _refuse_large([attribute], [[published]])

    def read(key: Key) -> tuple[str, Sequence[Meaning]]:
        cells, meanings = interpret_table(key, [attribute], [[published]])
        return cells[0][0], meanings

    asked = {"attribute": attribute, "published": published}
    return _answer(keeper, actor, Question(release, "value", asked, [attribute], read))


def read_rule(keeper: Keeper, actor: Person, release: str, rule: str) -> Answer[str]:
    """A rule with meanings in place of codes and grades."""
    if len(rule) > MOST_TEXT:
        raise InputError.at("rule", f"has more than {MOST_TEXT} characters.")

    def read(key: Key) -> tuple[str, Sequence[Meaning]]:
        _refuse_unpublished(key, rule)
        return interpret_rule(key, rule)

    question = Question(release, "rule", {"rule": rule}, _names(rule), read)
    return _answer(keeper, actor, question)


def read_table(
    keeper: Keeper, actor: Person, release: str, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> Answer[list[list[str]]]:
    """A small table of published values, cell by cell."""
    _refuse_large(names, rows)
    asked = {"names": list(names), "rows": [list(row) for row in rows]}
    question = Question(release, "table", asked, names, lambda key: interpret_table(key, names, rows))
    return _answer(keeper, actor, question)


def _refuse_large(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse what is too much to be looked at, before anything else is done with it."""
    if max(len(names), len(names) * len(rows), sum(map(len, rows))) > MOST_CELLS:
        raise InputError.at("table", f"has more than {MOST_CELLS} cells.", "Ask about fewer.")
    if any(len(name) > MOST_NAME for name in names):
        raise InputError.at("attribute", f"has more than {MOST_NAME} characters.")
    if any(len(cell) > MOST_CELL for row in rows for cell in row):
        raise InputError.at("table", f"has cells of more than {MOST_CELL} characters.")


def _names(rule: str) -> list[str]:
    """The attributes of a rule, also of conditions without values; none of one that cannot be read."""
    return [condition.name for condition in _conditions(rule)]


def _conditions(rule: str) -> Sequence[Condition]:
    conditions = QUOTED_OR_ARROW.sub(lambda match: match[1] or " and ", rule)
    try:
        return parse(conditions)
    except InputError:
        return ()


def _refuse_unpublished(key: Key, rule: str) -> None:
    """Refuse to compare with a grade that was never published: its neighbours would be found out by trying."""
    for condition in _conditions(rule):
        if condition.name in key.grades:
            for value in condition.values:
                if value and key.meaning(condition.name, value) is None:
                    what = "is compared with a grade that was not published."
                    raise InputError.at(condition.name, what, "Take the nearest one in the release.")


def _answer(keeper: Keeper, actor: Person, question: Question[T]) -> Answer[T]:
    """Read with the key, count it and log it; nothing is handed out that was not counted and logged."""
    try:
        return _counted_answer(keeper, actor, question)
    except ManyveilsError as error:
        status = error.status if isinstance(error, Refusal) else 422
        details = {
            "kind": question.kind,
            "asked": _logged(keeper, question),
            "refused": status,
            "meanings": 0,
        }
        is_logged = note_refusal(keeper, actor, "interpret refused", question.release, details)
        if isinstance(error, Forbidden) and not is_logged:
            remedy = f"Ask an owner, or wait {int(WINDOW // 60)} minutes."
            what = "there is none, and you asked often."
            raise TooMany.at("grant", what, remedy, wait=int(WINDOW)) from None
        raise


def _counted_answer(keeper: Keeper, actor: Person, question: Question[T]) -> Answer[T]:
    require(actor, "owner", "researcher", "auditor", scope="interpret", release=question.release)
    # Whoever has no grant is refused before anything is read.
    with keeper.database.reading() as connection:
        granted = _granted(keeper, connection, actor, question.release)
        release = item_of(granted[1]) if granted else item_in(keeper, connection, actor, question.release)
        key = key_in(keeper, connection, release.id)
    if key is None:
        raise Conflict.at("release", "has no key: what it publishes stands for itself.")
    _refuse_unknown(release, question.names)
    value, used = question.read(key)
    _refuse_unknown(release, [meaning.attribute for meaning in used])
    meanings = tuple({(meaning.attribute, meaning.published): meaning for meaning in used}.values())
    answer = Answer(value, meanings, max(1, originals_in(key, meanings)))
    with keeper.database.writing() as connection:
        granted = _granted(keeper, connection, actor, question.release)
        if granted is not None:
            charge(keeper, connection, granted[0], answer.cost)
            disclose(keeper, connection, granted[1], key, answer.cost, meanings)
        _record(keeper, connection, actor, question, answer)
    return answer


def _granted(
    keeper: Keeper, connection: Connection, actor: Person, release: str
) -> tuple[Row[Any], Row[Any]] | None:
    """A researcher's grant and its release; None for the release's owner, who needs none."""
    if actor.role == "owner":
        row = sound_row(keeper, connection, releases, releases.c.id == release)
        if row is not None and is_mine(keeper, connection, actor, row):
            return None
    granted = good_grant(keeper, connection, actor.id, release) if actor.role == "researcher" else None
    if granted is None:
        # One that is not there, or not listed, is refused as such.
        item_in(keeper, connection, actor, release)
        raise Forbidden.at("grant", "there is none for this release, or it has expired.", "Ask an owner.")
    return granted


def _record(
    keeper: Keeper, connection: Connection, actor: Person, question: Question[Any], answer: Answer[Any]
) -> None:
    details = {
        "kind": question.kind,
        "asked": _logged(keeper, question, answer),
        "meanings": answer.cost,
        "digest": keeper.secret.seal("answer", question.release, json.dumps(answer.read)),
    }
    append(keeper, connection, actor, "interpret", question.release, details)


def _logged(keeper: Keeper, question: Question[Any], answer: Answer[Any] | None = None) -> Mapping[str, Any]:
    """A question as the log has it: whole if it is short.

    Of a long one it has the length, a keyed digest, and the values that were read, each once;
    of one that was refused, how it starts.
    """
    text = json.dumps(question.asked)
    if len(text) <= MOST_LOGGED:
        return question.asked
    digest = keeper.secret.seal("question", question.release, text)
    short = {"length": len(text), "digest": digest}
    if answer is None:
        return {**short, "start": text[:START]}
    published: dict[str, list[str]] = {}
    for meaning in answer.meanings:
        published.setdefault(meaning.attribute, []).append(meaning.published)
    return {**short, "published": published}


def _refuse_unknown(release: Item, names: Sequence[str]) -> None:
    unknown = set(names) - set(release.attributes)
    if unknown:
        what = f"{len(unknown)} of those asked about are not in this release."
        raise InputError.at("attribute", what, "Check the names.")
