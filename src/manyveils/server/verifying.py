"""Whether the log is whole, and whether the rows that decide who may do what are those that the server left."""

from dataclasses import dataclass, replace
from hmac import compare_digest
from typing import Any

from sqlalchemy import Connection, Row, select

from manyveils.server.chain import (
    BROKEN,
    START,
    Head,
    details_of,
    end_fault,
    hash_of,
    note_break,
    page,
    read_head,
    reseal_head,
)
from manyveils.server.heads import Mark
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Person, require
from manyveils.server.schema import log
from manyveils.server.sealed import sum_of_rows, unsound

PAGE = 1_000


@dataclass(frozen=True)
class Verdict:
    """Whether the log is whole; if not, the first number that does not fit, if it is an entry, and why."""

    whole: bool
    entries: int
    head: str
    broken: int | None = None
    reason: str = ""


def checked_log(keeper: Keeper, actor: Person) -> Verdict:
    """Walk the log for an auditor or owner."""
    require(actor, "auditor", "owner", scope="audit")
    return verify_log(keeper)


def verify_log(keeper: Keeper) -> Verdict:
    """Walk the log from its start, name the first number that does not fit, and compare rows with their sum."""
    # What is known outside is read first: the log may grow meanwhile.
    known, fault = keeper.heads.latest, keeper.heads.fault
    with keeper.database.reading() as connection:
        head = read_head(connection)
        verdict = _walked(keeper, connection, head, known)
        fault = fault or rows_fault(keeper, connection, head)
    return replace(verdict, whole=False, reason=fault) if verdict.whole and fault else verdict


def _walked(keeper: Keeper, connection: Connection, head: Head | None, known: Mark | None) -> Verdict:
    previous, number = START, 0
    while rows := page(connection, number, PAGE):
        for row in rows:
            reason = _fault(keeper, row, number + 1, previous)
            if known is not None and row.number == known.number and row.hash != known.hash:
                reason = reason or "it is another entry than the server wrote"
            if reason:
                return Verdict(False, number, previous, number + 1, reason)
            number, previous = row.number, row.hash
    reason = end_fault(keeper.secret, head, number, previous, known)
    missing = number < max(head.number if head else 0, known.number if known else 0)
    return Verdict(not reason, number, previous, number + missing if reason else None, reason)


def rows_fault(keeper: Keeper, connection: Connection, head: Head | None) -> str:
    """Why the rows with seals are not those that the server left; empty if they are."""
    if foreign := unsound(keeper, connection):
        told = ", ".join(f"{count} of {name}" for name, count in foreign.items())
        return f"rows were not written by this server: {told}"
    if head is not None and sum_of_rows(keeper, connection) != head.sum:
        return "rows are gone, or were put back as they once were"
    return ""


def check_at_start(keeper: Keeper) -> str | None:
    """Compare the end of the log and the rows with what is known of them; a fault is logged for good, and told."""
    with keeper.database.writing() as connection:
        known, head = keeper.heads.latest, read_head(connection)
        kept = (
            None
            if known is None
            else connection.execute(
                select(log.c.hash).where(log.c.number == known.number)
            ).scalar_one_or_none()
        )
        is_cut = known is not None and kept != known.hash
        reason = keeper.heads.fault or (
            "the log was cut or changed" if is_cut else rows_fault(keeper, connection, head)
        )
        if not reason:
            return None
        note_break(keeper, connection, reason)
        # What is there now is where it goes on from; that it was broken stays in the log.
        reseal_head(keeper, connection, sum_of_rows(keeper, connection))
    return f"WARNING: {reason}. The log says so from now on."


def _fault(keeper: Keeper, row: Row[Any], number: int, previous: str) -> str:
    if row.number != number:
        return "the entry is missing"
    if row.previous != previous:
        return "it does not follow the entry before"
    fields = (row.number, row.time, row.actor, row.action, row.subject, row.details, row.previous)
    if not compare_digest(row.hash.encode(), hash_of(keeper, *fields).encode()):
        return "it was changed"
    if row.action == BROKEN:
        return f"the server found the log broken here: {details_of(row.details).get('reason')}"
    return ""
