"""The log: append-only, each entry holding the keyed hash of the one before, so that changes show.

Where it ends is one row, sealed with the server's key, which whoever appends holds.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, Select, func, insert, select, text, update

from manyveils.server.database import chain, log, moment
from manyveils.server.refusals import Person, require
from manyveils.server.secret import Secret

if TYPE_CHECKING:
    from manyveils.server.keeper import Keeper

START = "0" * 64
PAGE = 1_000
# Characters of details in one page of the log.
LONGEST = 1_000_000
SERVER = "(server)"
BROKEN = "log was broken"


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
class Head:
    """The number and the hash of the last entry, and the seal on both."""

    number: int
    hash: str
    seal: str


@dataclass(frozen=True)
class Verdict:
    """Whether the log is whole; if not, the first number that does not fit and why."""

    whole: bool
    entries: int
    head: str
    broken: int | None = None
    reason: str = ""


def append(
    keeper: "Keeper",
    connection: Connection,
    actor: str,
    action: str,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
) -> int:
    """Add an entry in the transaction of what it records; gives its number.

    Claim: numbers have no gaps, each entry holds the hash of the one before, what is recorded happened,
    and a log that was changed from outside never becomes whole again by being written to.
    Why: the row where the log ends is held until the transaction ends, and both are committed together or not at all;
    hashes and seals need the server's key, and an end that does not fit is itself written down.
    Tested by: tests/server/test_chain.py
    """
    head = _sound_head(keeper, connection)
    return _add(keeper, connection, head, (actor, action, subject), details or {}).number


def _add(
    keeper: "Keeper",
    connection: Connection,
    head: Head,
    what: tuple[str, str, str],
    details: Mapping[str, Any],
) -> Head:
    """Write one entry after the head, and move the head to it."""
    entry = (head.number + 1, moment(keeper.now()), *what, _canonical(details), head.hash)
    digest = _hash(keeper, *entry)
    # In the order of the table's columns.
    connection.execute(insert(log).values((*entry, digest)))
    return _move(connection, keeper.secret, head.number + 1, digest)


def _sound_head(keeper: "Keeper", connection: Connection) -> Head:
    """Where to go on; if the log does not end where the server left it, after an entry that says so for good."""
    head = _hold(connection)
    query = select(log.c.number, log.c.hash).order_by(log.c.number.desc()).limit(1)
    last = connection.execute(query).one_or_none()
    number, digest = (0, START) if last is None else (last.number, last.hash)
    reason = _end_fault(keeper.secret, head, number, digest)
    if not reason:
        return head
    after = max(number, head.number) if _is_sealed(keeper.secret, head) else number
    # To seal a new end over a broken one would hide the break.
    return _add(
        keeper, connection, Head(after, digest, ""), (SERVER, BROKEN, ""), {"after": number, "reason": reason}
    )


def _canonical(details: Mapping[str, Any]) -> str:
    return json.dumps(details, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _hash(keeper: "Keeper", *fields: object) -> str:
    """A digest of an entry that nobody without the server's key can make."""
    return keeper.secret.seal("entry", json.dumps(fields, ensure_ascii=True, separators=(",", ":")))


def entries(keeper: "Keeper", actor: Person, *, after: int = 0, most: int = 100) -> list[Entry]:
    """Entries with numbers above one, oldest first, as many as a response can hold; for auditors and owners."""
    require(actor, "auditor", "owner")
    with keeper.database.reading() as connection:
        return [_entry(row) for row in _page(connection, after, most)]


def latest(keeper: "Keeper", actor: Person, *, before: int | None = None, most: int = 100) -> list[Entry]:
    """The last entries, newest first, as many as a response can hold; for auditors and owners."""
    require(actor, "auditor", "owner")
    query = select(log).order_by(log.c.number.desc())
    if before is not None:
        query = query.where(log.c.number < before)
    with keeper.database.reading() as connection:
        return [_entry(row) for row in _bounded(connection, query, most)]


def _page(connection: Connection, after: int, most: int) -> Sequence[Row[Any]]:
    return _bounded(connection, select(log).where(log.c.number > after).order_by(log.c.number), most)


def _bounded(connection: Connection, query: Select[Any], most: int) -> Sequence[Row[Any]]:
    """The first entries of a query up to a number and a length of details, and one at least."""
    lengths = connection.execute(query.with_only_columns(func.length(log.c.details)).limit(most)).scalars()
    sums = list(accumulate(lengths))
    return connection.execute(query.limit(max(1, sum(total <= LONGEST for total in sums)))).all()


def _entry(row: Row[Any]) -> Entry:
    return Entry(**{**row._mapping, "details": _details(row.details)})


def _details(written: str) -> Mapping[str, Any]:
    try:
        read = json.loads(written)
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"damaged": True}


def checked_log(keeper: "Keeper", actor: Person) -> Verdict:
    """Walk the log for an auditor or owner."""
    require(actor, "auditor", "owner")
    return verify_log(keeper)


def verify_log(keeper: "Keeper") -> Verdict:
    """Walk the log from its start and name the first number that does not fit."""
    previous, number = START, 0
    with keeper.database.reading() as connection:
        head = _read(connection)
        while rows := _page(connection, number, PAGE):
            for row in rows:
                reason = _fault(keeper, row, number + 1, previous)
                if reason:
                    return Verdict(False, number, previous, number + 1, reason)
                number, previous = row.number, row.hash
    reason = _end_fault(keeper.secret, head, number, previous)
    missing = head is not None and number < head.number
    return Verdict(not reason, number, previous, number + missing if reason else None, reason)


def _fault(keeper: "Keeper", row: Row[Any], number: int, previous: str) -> str:
    if row.number != number:
        return "the entry is missing"
    if row.previous != previous:
        return "it does not follow the entry before"
    fields = (row.number, row.time, row.actor, row.action, row.subject, row.details, row.previous)
    if not compare_digest(row.hash.encode(), _hash(keeper, *fields).encode()):
        return "it was changed"
    if row.action == BROKEN:
        return f"the server found the log broken here: {_details(row.details).get('reason')}"
    return ""


def begin(connection: Connection, secret: Secret) -> None:
    """Seal the empty log, once, when the database begins."""
    connection.execute(insert(chain).values(id=1, number=0, hash=START, seal=_seal(secret, 0, START)))


def _read(connection: Connection) -> Head | None:
    """Where the log ends; None if the row is gone."""
    row = connection.execute(select(chain)).one_or_none()
    return None if row is None else Head(row.number, row.hash, row.seal)


def _hold(connection: Connection) -> Head:
    """Where the log ends, held until the transaction is over; in place of a row that is gone, one without a seal."""
    # Two that find it gone must wait for each other too.
    gone = "INSERT INTO chain (id, number, hash, seal) VALUES (1, 0, :hash, '') ON CONFLICT DO NOTHING"
    query = select(chain).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        connection.execute(text(gone), {"hash": START})
        row = connection.execute(query).one()
    return Head(row.number, row.hash, row.seal)


def _move(connection: Connection, secret: Secret, number: int, digest: str) -> Head:
    """Let the log end at another entry."""
    head = Head(number, digest, _seal(secret, number, digest))
    connection.execute(update(chain).values(number=number, hash=digest, seal=head.seal))
    return head


def _is_sealed(secret: Secret, head: Head) -> bool:
    """Whether this server sealed that the log ends there."""
    return compare_digest(head.seal.encode(), _seal(secret, head.number, head.hash).encode())


def _end_fault(secret: Secret, head: Head | None, number: int, last: str) -> str:
    """Why a log with this last entry does not end where the server left it; empty if it does."""
    if head is None or not head.seal:
        return "where the log ends is not recorded"
    if not _is_sealed(secret, head):
        return "the seal at its end was not made by this server"
    if number < head.number:
        return "entries are missing at the end"
    if (number, last) != (head.number, head.hash):
        return "the log does not end where its end is recorded"
    return ""


def _seal(secret: Secret, number: int, digest: str) -> str:
    return secret.seal("log", str(number), digest)
