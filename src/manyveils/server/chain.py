"""The log: append-only, each entry holding the hash of the one before, so that changes show."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from sqlalchemy import Connection, Row, insert, select, text, update

from manyveils.server.database import chain, log
from manyveils.server.keeper import Keeper, moment
from manyveils.server.people import Person, require

START = "0" * 64
PAGE = 1_000


@dataclass(frozen=True)
class Entry:
    """One entry of the log."""

    number: int
    time: str
    actor: str
    action: str
    subject: str
    details: Mapping[str, Any]
    previous: str
    hash: str


@dataclass(frozen=True)
class Verdict:
    """Whether the log is whole; if not, the first number that does not fit and why."""

    whole: bool
    entries: int
    head: str
    broken: int | None = None
    reason: str = ""


def append(
    keeper: Keeper,
    connection: Connection,
    actor: str,
    action: str,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
) -> int:
    """Add an entry in the transaction of what it records; gives its number.

    Claim: numbers have no gaps, each entry holds the hash of the one before, and what is recorded happened.
    Why: the row where the log ends is held until the transaction ends, and both are committed together or not at all.
    Tested by: tests/server/test_chain.py
    """
    number, previous = _head(keeper, connection)
    written = _canonical(details or {})
    time = moment(keeper.now())
    digest = _hash(number + 1, time, actor, action, subject, written, previous)
    connection.execute(
        insert(log).values(
            number=number + 1,
            time=time,
            actor=actor,
            action=action,
            subject=subject,
            details=written,
            previous=previous,
            hash=digest,
        )
    )
    connection.execute(
        update(chain).values(
            number=number + 1, hash=digest, seal=keeper.secret.seal("log", str(number + 1), digest)
        )
    )
    return number + 1


def _head(keeper: Keeper, connection: Connection) -> tuple[int, str]:
    head = connection.execute(select(chain.c.number, chain.c.hash).with_for_update()).one_or_none()
    if head is not None:
        return head.number, head.hash
    seal = keeper.secret.seal("log", "0", START)
    connection.execute(
        text("INSERT INTO chain (id, number, hash, seal) VALUES (1, 0, :hash, :seal) ON CONFLICT DO NOTHING"),
        {"hash": START, "seal": seal},
    )
    head = connection.execute(select(chain.c.number, chain.c.hash).with_for_update()).one()
    return head.number, head.hash


def _canonical(details: Mapping[str, Any]) -> str:
    return json.dumps(details, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _hash(*fields: object) -> str:
    return hashlib.sha256(json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def entries(keeper: Keeper, actor: Person, *, after: int = 0, most: int = 100) -> list[Entry]:
    """Entries with numbers above one, oldest first; for auditors and owners."""
    require(actor, "auditor", "owner")
    with keeper.database.reading() as connection:
        return [_entry(row) for row in _page(connection, after, most)]


def latest(keeper: Keeper, actor: Person, *, before: int | None = None, most: int = 100) -> list[Entry]:
    """The last entries, newest first; for auditors and owners."""
    require(actor, "auditor", "owner")
    query = select(log).order_by(log.c.number.desc()).limit(most)
    if before is not None:
        query = query.where(log.c.number < before)
    with keeper.database.reading() as connection:
        return [_entry(row) for row in connection.execute(query)]


def _page(connection: Connection, after: int, most: int) -> Sequence[Row[Any]]:
    query = select(log).where(log.c.number > after).order_by(log.c.number).limit(most)
    return connection.execute(query).all()


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        row.number,
        row.time,
        row.actor,
        row.action,
        row.subject,
        _details(row.details),
        row.previous,
        row.hash,
    )


def _details(written: str) -> Mapping[str, Any]:
    try:
        read = json.loads(written)
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"damaged": True}


def checked_log(keeper: Keeper, actor: Person) -> Verdict:
    """Walk the log for an auditor or owner."""
    require(actor, "auditor", "owner")
    return verify_log(keeper)


def verify_log(keeper: Keeper) -> Verdict:
    """Walk the log from its start and name the first number that does not fit."""
    previous, number = START, 0
    with keeper.database.snapshot() as connection:
        head = connection.execute(select(chain)).one_or_none()
        while rows := _page(connection, number, PAGE):
            for row in rows:
                reason = _fault(row, number + 1, previous)
                if reason:
                    return Verdict(False, number, previous, number + 1, reason)
                number, previous = row.number, row.hash
    reason = _end_fault(keeper, head, number, previous)
    missing = head is not None and number < head.number
    return Verdict(not reason, number, previous, number + missing if reason else None, reason)


def _fault(row: Row[Any], number: int, previous: str) -> str:
    if row.number != number:
        return "the entry is missing"
    if row.previous != previous:
        return "it does not follow the entry before"
    if row.hash != _hash(row.number, row.time, row.actor, row.action, row.subject, row.details, row.previous):
        return "it was changed"
    return ""


def _end_fault(keeper: Keeper, head: Row[Any] | None, number: int, last: str) -> str:
    if head is None:
        return "where the log ends is not recorded" if number else ""
    if number < head.number:
        return "entries are missing at the end"
    if (number, last) != (head.number, head.hash):
        return "the log does not end where its end is recorded"
    if not compare_digest(head.seal.encode(), keeper.secret.seal("log", str(number), last).encode()):
        return "the seal at its end was not made by this server"
    return ""
