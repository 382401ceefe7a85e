"""The log: append-only, each entry holding the keyed hash of the one before, so that changes show.

Where it ends is one row, sealed with the server's key; one transaction at a time moves it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hmac import compare_digest
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from manyveils.server.database import CHANGED, ENDED
from manyveils.server.heads import Mark
from manyveils.server.moments import moment
from manyveils.server.refusals import Person, require
from manyveils.server.schema import chain, log
from manyveils.server.secret import Secret

if TYPE_CHECKING:
    from manyveils.server.keeper import Keeper

START = "0" * 64
# Characters of details in one page of the log.
LONGEST = 1_000_000
SERVER = "(server)"
BROKEN = "log was broken"
MODULUS = 1 << 256
# Made once: to make a statement takes longer than to execute it.
LAST = select(log.c.number, log.c.hash).order_by(log.c.number.desc()).limit(1)
HEAD, ENTRY, MOVE = select(chain), insert(log), update(chain)


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
    """The number and the hash of the last entry, the sum of all rows with seals, and the seal on these."""

    number: int
    hash: str
    sum: str
    seal: str


def append(
    keeper: "Keeper",
    connection: Connection,
    actor: Person | str,
    action: str,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
) -> int:
    """Add an entry in the transaction of what it records; gives its number.

    Claim: numbers have no gaps, each entry holds the hash of the one before, what is recorded happened,
    and a log that was changed from outside never becomes whole again by being written to.
    Why: one transaction writes at a time, and the entry is committed with what it records or not at all;
    hashes and seals need the server's key, and an end that does not fit is itself written down.
    Tested by: tests/server/test_chain.py
    """
    head = _sound_head(keeper, connection)
    name, token = (actor, None) if isinstance(actor, str) else (actor.name, actor.token)
    said = dict(details or {}) if token is None else {**(details or {}), "token": token.id}
    return _add(keeper, connection, head, (name, action, subject), said).number


def note_break(keeper: "Keeper", connection: Connection, reason: str) -> None:
    """Write down for good that the log, or what it speaks for, was changed from outside."""
    head = _sound_head(keeper, connection)
    _add(keeper, connection, head, (SERVER, BROKEN, ""), {"after": head.number, "reason": reason})


def _add(
    keeper: "Keeper",
    connection: Connection,
    head: Head,
    what: tuple[str, str, str],
    details: Mapping[str, Any],
) -> Head:
    """Write one entry after the head, and move the head to it."""
    entry = (head.number + 1, moment(keeper.now()), *what, _canonical(details), head.hash)
    digest = hash_of(keeper, *entry)
    # In the order of the table's columns.
    connection.execute(ENTRY, dict(zip(log.columns.keys(), (*entry, digest), strict=True)))
    moved = _write(
        connection, keeper.secret, _summed(connection, Head(head.number + 1, digest, head.sum, ""))
    )
    connection.info[ENDED] = Mark(moved.number, moved.hash)
    return moved


def _sound_head(keeper: "Keeper", connection: Connection) -> Head:
    """Where to go on; if the log does not end where the server left it, after an entry that says so for good."""
    head = _hold(connection)
    last = connection.execute(LAST).one_or_none()
    number, digest = (0, START) if last is None else (last.number, last.hash)
    reason = end_fault(keeper.secret, head, number, digest, keeper.heads.latest)
    if not reason:
        return head
    after = max(number, head.number) if _is_sealed(keeper.secret, head) else number
    after = max(after, keeper.heads.latest.number if keeper.heads.latest else 0)
    # To seal a new end over a broken one would hide the break.
    said = {"after": number, "reason": reason}
    return _add(keeper, connection, Head(after, digest, head.sum, ""), (SERVER, BROKEN, ""), said)


def _canonical(details: Mapping[str, Any]) -> str:
    return json.dumps(details, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def hash_of(keeper: "Keeper", *fields: object) -> str:
    """A digest of an entry that nobody without the server's key can make."""
    number: Any = fields[0]
    secret = next((former for last, former in keeper.former if number <= last), keeper.secret)
    return secret.seal("entry", json.dumps(fields, ensure_ascii=True, separators=(",", ":")))


def entries(keeper: "Keeper", actor: Person, *, after: int = 0, most: int = 100) -> list[Entry]:
    """Entries with numbers above one, oldest first, as many as a response can hold; for auditors and owners."""
    require(actor, "auditor", "owner", scope="audit")
    with keeper.database.reading() as connection:
        return [_entry(row) for row in page(connection, after, most)]


def latest(keeper: "Keeper", actor: Person, *, before: int | None = None, most: int = 100) -> list[Entry]:
    """The last entries, newest first, as many as a response can hold; for auditors and owners."""
    require(actor, "auditor", "owner", scope="audit")
    query = select(log).order_by(log.c.number.desc())
    if before is not None:
        query = query.where(log.c.number < before)
    with keeper.database.reading() as connection:
        return [_entry(row) for row in _bounded(connection, query, most)]


def page(connection: Connection, after: int, most: int) -> Sequence[Row[Any]]:
    """Entries with numbers above one, oldest first, as many as a response can hold."""
    return _bounded(connection, select(log).where(log.c.number > after).order_by(log.c.number), most)


def _bounded(connection: Connection, query: Select[Any], most: int) -> Sequence[Row[Any]]:
    """The first entries of a query up to a number and a length of details, and one at least."""
    lengths = connection.execute(query.with_only_columns(func.length(log.c.details)).limit(most)).scalars()
    sums = list(accumulate(lengths))
    return connection.execute(query.limit(max(1, sum(total <= LONGEST for total in sums)))).all()


def _entry(row: Row[Any]) -> Entry:
    return Entry(**{**row._mapping, "details": details_of(row.details)})


def details_of(written: str) -> Mapping[str, Any]:
    """The details of an entry; of one that was damaged, only that it was."""
    try:
        read = json.loads(written)
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"damaged": True}


def begin(connection: Connection, secret: Secret) -> None:
    """Seal the empty log, once, when the database begins."""
    empty = Head(0, START, START, "")
    connection.execute(insert(chain).values(id=1, **asdict(empty) | {"seal": _seal(secret, empty)}))


def read_head(connection: Connection) -> Head | None:
    """Where the log ends; None if the row is gone."""
    row = connection.execute(HEAD).one_or_none()
    return None if row is None else Head(row.number, row.hash, row.sum, row.seal)


def reseal_head(keeper: "Keeper", connection: Connection, total: str) -> None:
    """Seal the end anew, with another sum, when the key changes or the tables do."""
    head = _hold(connection)
    _write(connection, keeper.secret, Head(head.number, head.hash, total, ""))


def add_to_sum(connection: Connection, difference: int) -> None:
    """Let the sum of the rows with seals change by this much, with the transaction's next entry or at its end."""
    connection.info[CHANGED] = connection.info.get(CHANGED, 0) + difference


def settle(keeper: "Keeper", connection: Connection) -> None:
    """Write down how the sum has changed; an end that was not sealed by this server stays so."""
    if CHANGED in connection.info:
        head = _hold(connection)
        moved = _summed(connection, head)
        if _is_sealed(keeper.secret, head):
            _write(connection, keeper.secret, moved)
        else:
            connection.execute(update(chain).values(sum=moved.sum))


def _summed(connection: Connection, head: Head) -> Head:
    """An end with the sum that the transaction has changed."""
    return replace(head, sum=sum_of([int(head.sum, 16), connection.info.pop(CHANGED, 0)]))


def sum_of(shares: Iterable[int]) -> str:
    """A sum of shares, as it is written.

    >>> sum_of([]) == "0" * 64
    True
    """
    return f"{sum(shares) % MODULUS:064x}"


def _hold(connection: Connection) -> Head:
    """Where the log ends; in place of a row that is gone, one without a seal."""
    head = read_head(connection)
    if head is None:
        connection.execute(insert(chain).values(id=1, number=0, hash=START, sum=START, seal=""))
        head = Head(0, START, START, "")
    return head


def _write(connection: Connection, secret: Secret, head: Head) -> Head:
    """Let the log end elsewhere, under a seal."""
    sealed = Head(head.number, head.hash, head.sum, _seal(secret, head))
    connection.execute(MOVE, asdict(sealed))
    return sealed


def _is_sealed(secret: Secret, head: Head) -> bool:
    """Whether this server sealed that the log ends there."""
    return compare_digest(head.seal.encode(), _seal(secret, head).encode())


def end_fault(secret: Secret, head: Head | None, number: int, last: str, known: Mark | None) -> str:
    """Why a log with this last entry does not end where the server left it; empty if it does."""
    if head is None or not head.seal:
        return "where the log ends is not recorded"
    if not _is_sealed(secret, head):
        return "the seal at its end was not made by this server"
    if number < head.number or (known is not None and number < known.number):
        return "entries are missing at the end"
    if (number, last) != (head.number, head.hash):
        return "the log does not end where its end is recorded"
    if known is not None and number == known.number and last != known.hash:
        return "the log ends with another entry than the server wrote"
    return ""


def _seal(secret: Secret, head: Head) -> str:
    return secret.seal("log", str(head.number), head.hash, head.sum)


def seal_before_3(secret: Secret, head: Head) -> str:
    """The seal that versions before 3 made, without a sum."""
    return secret.seal("log", str(head.number), head.hash)
