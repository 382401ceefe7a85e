"""Accounts: names, roles and passwords; only Argon2id hashes are kept."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from manyveils.errors import InputError
from manyveils.server import throttle
from manyveils.server.chain import append
from manyveils.server.database import Moment, moment, sessions, tokens, users
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import (
    ROLES,
    Conflict,
    Person,
    Role,
    TooMany,
    Unauthenticated,
    no_such,
    require,
)
from manyveils.server.throttle import note_refusal

SHORTEST, LONGEST = 12, 1024
NAME = r"^[a-z0-9][a-z0-9._@-]{0,63}$"
COMMAND = "(command line)"
NOBODY = "(unknown)"
LOCK = 3
MOST_THROTTLED = 5
# A hash takes 64 MiB; more at once would let anybody fill the memory.
_hashing = BoundedSemaphore(2)


@dataclass(frozen=True)
class Account:
    """An account as owners see it."""

    name: str
    role: Role
    active: bool
    created: Moment


@cache
def hasher() -> Any:
    """Argon2id at the cost that its library recommends."""
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _decoy() -> str:
    """A hash of no password, checked for unknown names so that they take as long as known ones."""
    return str(hasher().hash("no password"))


def add_owner(keeper: Keeper, name: str, password: str) -> None:
    """Make an owner from the command line, where the first one comes from."""
    _add(keeper, COMMAND, name, password, "owner")


def add_user(keeper: Keeper, actor: Person, name: str, password: str, role: Role) -> Account:
    """Make an account; for owners."""
    require(actor, "owner")
    return _add(keeper, actor.name, name, password, role)


def _add(keeper: Keeper, actor: str, name: str, password: str, role: Role) -> Account:
    _refuse_unfit(name, password, role)
    hashed = _hashed(password)
    now = keeper.now()
    values = {"name": name, "role": role, "password": hashed, "active": True, "created": now}
    try:
        with keeper.database.writing() as connection:
            connection.execute(insert(users).values(values))
            append(keeper, connection, actor, "add user", name, {"role": role})
    except IntegrityError:
        raise Conflict.at("name", "is taken.", "Choose another.") from None
    return Account(name, role, True, moment(now))


def accounts(keeper: Keeper, actor: Person) -> list[Account]:
    """Every account; for owners."""
    require(actor, "owner")
    return [_account(row) for row in keeper.database.rows(select(users).order_by(users.c.name))]


def change_user(
    keeper: Keeper, actor: Person, name: str, *, active: bool | None = None, password: str | None = None
) -> Account:
    """Switch an account on or off, or give it another password; for owners. Its logins end."""
    require(actor, "owner")
    if password is not None:
        _refuse_password(name, password)
    values: dict[str, Any] = {} if active is None else {"active": active}
    values |= {} if password is None else {"password": _hashed(password)}
    with keeper.database.writing() as connection:
        keeper.database.lock(connection, LOCK)
        user = connection.execute(select(users).where(users.c.name == name)).one_or_none()
        if user is None:
            raise no_such("account")
        if active is False:
            _refuse_last_owner(connection, user)
        if values:
            connection.execute(update(users).where(users.c.id == user.id).values(values))
            end_logins(connection, user.id)
            changed = {"active": active, "password": password is not None}
            append(keeper, connection, actor.name, "change user", name, changed)
        return _account(connection.execute(select(users).where(users.c.id == user.id)).one())


def change_password(keeper: Keeper, actor: Person, old: str, new: str, address: str) -> None:
    """Change one's own password, knowing the old one; all logins end."""
    _refuse_password(actor.name, new)
    hashed = _hashed(new)

    def change(connection: Connection, person: Person) -> None:
        connection.execute(update(users).where(users.c.id == person.id).values(password=hashed))
        end_logins(connection, person.id)

    log_in(keeper, actor.name, old, address, then=change, action="change password")


def log_in(
    keeper: Keeper,
    name: str,
    password: str,
    address: str,
    *,
    then: Callable[[Connection, Person], None] | None = None,
    action: str = "log in",
) -> Person:
    """Whoever has this name and password; wrong ones take the same time, are counted and are logged.

    What a login begins is written by `then` in the same transaction, in which the account is looked at again:
    a password that is changed or an account that is closed meanwhile lets nobody in.
    """
    user = keeper.database.row(select(users).where(users.c.name == name))
    known = user.name if user else NOBODY
    number = _admitted(keeper, name, known, address, action)
    fits = _verified(password, user.password if user else _decoy())
    with keeper.database.writing() as connection:
        if user and fits and _is_unchanged(connection, user):
            person = Person(user.id, user.name, user.role)
            throttle.forgive(connection, number, name)
            append(keeper, connection, user.name, action, user.name, {"address": address})
            if then is not None:
                then(connection, person)
            return person
        append(keeper, connection, NOBODY, f"{action} refused", known, {"address": address})
    raise Unauthenticated.at("login", "name and password do not fit.")


def _admitted(keeper: Keeper, name: str, known: str, address: str, action: str) -> int:
    """Admit a try to log in and give its number; refuse one that comes too early, and log the first few refusals."""
    try:
        return throttle.admit(keeper, name, address)
    except TooMany as refusal:
        details = {"address": address, "refused": refusal.status}
        note_refusal(
            keeper, NOBODY, f"{action} refused", known, details, of=f"address {address}", most=MOST_THROTTLED
        )
        raise


def _is_unchanged(connection: Connection, user: Row[Any]) -> bool:
    """Whether an account is open and has the password that was looked at; it stays so until the transaction ends."""
    query = select(users.c.active, users.c.password).where(users.c.id == user.id)
    current = connection.execute(query.with_for_update(key_share=True)).one()
    return bool(current.active and current.password == user.password)


def has_owner(keeper: Keeper) -> bool:
    """Whether anyone can administer the server yet."""
    with keeper.database.reading() as connection:
        return _owners(connection) > 0


def end_logins(connection: Connection, user_id: int) -> None:
    """End every session and revoke every token of an account."""
    connection.execute(update(tokens).where(tokens.c.user_id == user_id).values(revoked=True))
    connection.execute(sessions.delete().where(sessions.c.user_id == user_id))


def _account(row: Row[Any]) -> Account:
    return Account(row.name, row.role, row.active, moment(row.created))


def _owners(connection: Connection) -> int:
    query = select(func.count()).select_from(users).where(users.c.role == "owner", users.c.active)
    return int(connection.execute(query).scalar_one())


def _refuse_last_owner(connection: Connection, user: Row[Any]) -> None:
    if user.role == "owner" and user.active and _owners(connection) == 1:
        raise Conflict.at("account", "is the last owner.", "Make another owner first.")


def _refuse_unfit(name: str, password: str, role: str) -> None:
    if not re.fullmatch(NAME, name):
        what = "must be up to 64 small letters, digits and . _ @ -, starting with a letter or a digit."
        raise InputError.at("name", what)
    if role not in ROLES:
        raise InputError.at("role", f"must be one of {', '.join(ROLES)}.")
    _refuse_password(name, password)


def _refuse_password(name: str, password: str) -> None:
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError.at("password", f"must have {SHORTEST} to {LONGEST} characters.")
    if name in password.lower() and len(password) - len(name) < SHORTEST // 2:
        raise InputError.at("password", "is little more than the name.")


def _hashed(password: str) -> str:
    with _hashing:
        return str(hasher().hash(password))


def _verified(password: str, hashed: str) -> bool:
    with _hashing:
        return len(password) <= LONGEST and bool(hasher().verify(password, hashed))
