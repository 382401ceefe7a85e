"""Where the log ends: one row, sealed with the server's key, which whoever appends holds."""

from dataclasses import dataclass
from hmac import compare_digest

from sqlalchemy import Connection, insert, select, text, update

from manyveils.server.database import chain
from manyveils.server.secret import Secret

START = "0" * 64


@dataclass(frozen=True)
class Head:
    """The number and the hash of the last entry, and the seal on both."""

    number: int
    hash: str
    seal: str


def begin(connection: Connection, secret: Secret) -> None:
    """Seal the empty log, once, when the database begins."""
    connection.execute(insert(chain).values(id=1, number=0, hash=START, seal=_seal(secret, 0, START)))


def read(connection: Connection) -> Head | None:
    """Where the log ends; None if the row is gone."""
    row = connection.execute(select(chain)).one_or_none()
    return None if row is None else Head(row.number, row.hash, row.seal)


def hold(connection: Connection) -> Head:
    """Where the log ends, held until the transaction is over; in place of a row that is gone, one without a seal."""
    # Two that find it gone must wait for each other too.
    gone = "INSERT INTO chain (id, number, hash, seal) VALUES (1, 0, :hash, '') ON CONFLICT DO NOTHING"
    query = select(chain).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        connection.execute(text(gone), {"hash": START})
        row = connection.execute(query).one()
    return Head(row.number, row.hash, row.seal)


def move(connection: Connection, secret: Secret, number: int, digest: str) -> Head:
    """Let the log end at another entry."""
    head = Head(number, digest, _seal(secret, number, digest))
    connection.execute(update(chain).values(number=number, hash=digest, seal=head.seal))
    return head


def is_sealed(secret: Secret, head: Head) -> bool:
    """Whether this server sealed that the log ends there."""
    return compare_digest(head.seal.encode(), _seal(secret, head.number, head.hash).encode())


def end_fault(secret: Secret, head: Head | None, number: int, last: str) -> str:
    """Why a log with this last entry does not end where the server left it; empty if it does."""
    if head is None or not head.seal:
        return "where the log ends is not recorded"
    if not is_sealed(secret, head):
        return "the seal at its end was not made by this server"
    if number < head.number:
        return "entries are missing at the end"
    if (number, last) != (head.number, head.hash):
        return "the log does not end where its end is recorded"
    return ""


def _seal(secret: Secret, number: int, digest: str) -> str:
    return secret.seal("log", str(number), digest)
