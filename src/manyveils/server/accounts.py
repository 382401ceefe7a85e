"""Accounts: names, roles and passwords; who logs in, and who may make whom."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import IntegrityError

from manyveils.errors import InputError
from manyveils.server import passwords, throttle
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.moments import Moment, moment
from manyveils.server.refusals import (
    ROLES,
    Conflict,
    Forbidden,
    Person,
    Role,
    TooMany,
    Unauthenticated,
    no_such,
    require,
)
from manyveils.server.schema import sessions, tokens, users
from manyveils.server.sealed import add_row, change_row, sound_row, sound_rows
from manyveils.server.second import takes_code
from manyveils.server.throttle import note_refusal

NAME = r"^[a-z0-9][a-z0-9._@-]{0,63}$"
COMMAND = "(command line)"
NOBODY = "(unknown)"
MOST_THROTTLED = 5


@dataclass(frozen=True)
class Account:
    """An account as owners see it; an owner whom no other owner has confirmed cannot log in yet."""

    name: str
    role: Role
    active: bool
    confirmed: bool
    second_factor: bool
    created: Moment


@dataclass(frozen=True, repr=False)
class Proof:
    """The password that somebody types again before something grave, and from where."""

    password: str
    address: str


def add_owner(keeper: Keeper, name: str, password: str) -> None:
    """Make an owner from the command line, where the first one comes from."""
    _add(keeper, COMMAND, name, password, "owner", confirmed=True)


def add_user(
    keeper: Keeper,
    actor: Person,
    name: str,
    password: str,
    role: Role,
    *,
    proof: Proof | None = None,
    external: str | None = None,
) -> Account:
    """Make an account; for owners. One who makes an owner types the own password, and another owner confirms it.

    An account with a name at a provider of sign-in may have no password.
    """
    require(actor, "owner", scope="administer")
    if role == "owner":
        prove(keeper, actor, proof)
    return _add(keeper, actor, name, password, role, confirmed=role != "owner", external=external)


def _add(
    keeper: Keeper,
    actor: Person | str,
    name: str,
    password: str,
    role: Role,
    *,
    confirmed: bool,
    external: str | None = None,
) -> Account:
    _refuse_unfit(name, role)
    if password or not external:
        passwords.refuse_weak(name, password)
    digest = passwords.hashed(password) if password else passwords.NO_PASSWORD
    values = {"name": name, "role": role, "password": digest, "active": True, "created": keeper.now()}
    more = {"confirmed": confirmed, "second": None, "second_used": 0, "external": external or None}
    made_by = None if isinstance(actor, str) else actor.id
    try:
        with keeper.database.writing() as connection:
            user = add_row(keeper, connection, users, **values, **more, made_by=made_by)
            append(keeper, connection, actor, "add user", name, {"role": role, "confirmed": confirmed})
            return _account(user)
    except IntegrityError:
        raise Conflict.at("name", "is taken.", "Choose another.") from None


def confirm_owner(keeper: Keeper, actor: Person, name: str, *, proof: Proof | None = None) -> Account:
    """Let a new owner in; for an owner other than the one who made the account."""
    require(actor, "owner", scope="administer")
    prove(keeper, actor, proof)
    with keeper.database.writing() as connection:
        user = _known(keeper, connection, name)
        if user.made_by == actor.id:
            raise Forbidden.at("account", "was made by you.", "Ask another owner to confirm it.", noted=False)
        return _confirm(keeper, connection, actor, user)


def confirm_from_command(keeper: Keeper, name: str) -> Account:
    """Let a new owner in from the command line, where there is no second owner yet."""
    with keeper.database.writing() as connection:
        return _confirm(keeper, connection, COMMAND, _known(keeper, connection, name))


def _confirm(keeper: Keeper, connection: Connection, actor: Person | str, user: Row[Any]) -> Account:
    if user.confirmed:
        raise Conflict.at("account", "is confirmed already.")
    append(keeper, connection, actor, "confirm owner", user.name)
    return _account(change_row(keeper, connection, users, user, confirmed=True))


def accounts(keeper: Keeper, actor: Person) -> list[Account]:
    """Every account; for owners."""
    require(actor, "owner", scope="administer")
    with keeper.database.reading() as connection:
        return [
            _account(row)
            for row in sound_rows(keeper, connection, users, select(users).order_by(users.c.name))
        ]


def change_user(
    keeper: Keeper,
    actor: Person,
    name: str,
    *,
    active: bool | None = None,
    password: str | None = None,
    second_factor: bool | None = None,
    proof: Proof | None = None,
) -> Account:
    """Switch an account on or off, give it another password or take its second factor; for owners. Its logins end.

    Whoever gives a password or takes a second factor types the own password again, and it is not for one's own account.
    """
    require(actor, "owner", scope="administer")
    if second_factor:
        raise InputError.at("second_factor", "is begun by whom it is for.", "It can only be taken away here.")
    values: dict[str, Any] = {} if active is None else {"active": active}
    if password is not None or second_factor is not None:
        if name == actor.name:
            raise Forbidden.at("account", "is your own.", "Change it on your own page.", noted=False)
        prove(keeper, actor, proof)
    if password is not None:
        passwords.refuse_weak(name, password)
        values["password"] = passwords.hashed(password)
    if second_factor is not None:
        values["second"] = None
    with keeper.database.writing() as connection:
        user = _known(keeper, connection, name)
        if active is False:
            _refuse_last_owner(keeper, connection, user)
        if values:
            user = change_row(keeper, connection, users, user, **values)
            end_logins(keeper, connection, user.id)
            changed = {"active": active, "password": password is not None, "second": second_factor}
            append(keeper, connection, actor, "change user", name, changed)
        return _account(user)


def change_password(
    keeper: Keeper, actor: Person, old: str, new: str, address: str, *, code: str = ""
) -> None:
    """Change one's own password, knowing the old one; all logins end."""
    passwords.refuse_weak(actor.name, new)
    digest = passwords.hashed(new)

    def change(connection: Connection, person: Person) -> None:
        user = _known(keeper, connection, person.name)
        change_row(keeper, connection, users, user, password=digest)
        end_logins(keeper, connection, person.id)

    log_in(keeper, actor.name, old, address, code=code, then=change, action="change password")


def prove(keeper: Keeper, actor: Person, proof: Proof | None) -> None:
    """Refuse whoever does not know the password of the account that is acting: a token or an open page is not enough."""
    if proof is None or not proof.password:
        raise Forbidden.at("confirm", "needs your own password.", "Give it too.", noted=False)
    with keeper.database.reading() as connection:
        user = sound_row(keeper, connection, users, users.c.id == actor.id)
    number = _admitted(keeper, actor.name, actor.name, proof.address, "confirm")
    if user is None or not passwords.verified(proof.password, user.password):
        with keeper.database.writing() as connection:
            append(keeper, connection, actor, "confirm refused", actor.name, {"address": proof.address})
        raise Forbidden.at("confirm", "is not your password.")
    with keeper.database.writing() as connection:
        throttle.forgive(keeper, connection, number, actor.name, proof.address)


def log_in(
    keeper: Keeper,
    name: str,
    password: str,
    address: str,
    *,
    code: str = "",
    then: Callable[[Connection, Person], None] | None = None,
    action: str = "log in",
) -> Person:
    """Whoever has this name, password and one-time code; wrong ones take the same time, are counted and are logged.

    What a login begins is written by `then` in the same transaction, in which the account is looked at again:
    a password that is changed or an account that is closed meanwhile lets nobody in.
    """
    with keeper.database.reading() as connection:
        user = sound_row(keeper, connection, users, users.c.name == name)
    known = user.name if user else NOBODY
    number = _admitted(keeper, name, known, address, action)
    fits = passwords.verified(password, user.password if user else passwords.decoy())
    with keeper.database.writing() as connection:
        current = sound_row(keeper, connection, users, users.c.id == user.id) if user and fits else None
        if (
            user
            and current
            and _is_open(current, user.password)
            and takes_code(keeper, connection, current, code)
        ):
            throttle.forgive(keeper, connection, number, name, address)
            return enter(keeper, connection, current, address, then=then, action=action)
        append(keeper, connection, NOBODY, f"{action} refused", known, {"address": address})
    raise Unauthenticated.at("login", "name, password and code do not fit.")


def enter(
    keeper: Keeper,
    connection: Connection,
    user: Row[Any],
    address: str,
    *,
    then: Callable[[Connection, Person], None] | None,
    action: str,
) -> Person:
    """Let in whoever has shown who it is, and log it."""
    person = Person(user.id, user.name, user.role)
    append(keeper, connection, person, action, user.name, {"address": address})
    if then is not None:
        then(connection, person)
    return person


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


def _is_open(user: Row[Any], password: str) -> bool:
    """Whether an account is open and still has the password that was looked at."""
    return bool(user.active and user.confirmed and user.password == password)


def has_owner(keeper: Keeper) -> bool:
    """Whether anyone can administer the server yet."""
    with keeper.database.reading() as connection:
        return _owners(keeper, connection) > 0


def end_logins(keeper: Keeper, connection: Connection, user_id: int) -> None:
    """End every session and revoke every token of an account."""
    for token in sound_rows(keeper, connection, tokens, select(tokens).where(tokens.c.user_id == user_id)):
        if not token.revoked:
            change_row(keeper, connection, tokens, token, revoked=True)
    connection.execute(sessions.delete().where(sessions.c.user_id == user_id))


def _known(keeper: Keeper, connection: Connection, name: str) -> Row[Any]:
    user: Row[Any] | None = sound_row(keeper, connection, users, users.c.name == name)
    if user is None:
        raise no_such("account")
    return user


def _account(row: Row[Any]) -> Account:
    return Account(row.name, row.role, row.active, row.confirmed, row.second is not None, moment(row.created))


def _owners(keeper: Keeper, connection: Connection) -> int:
    query = select(users).where(users.c.role == "owner", users.c.active, users.c.confirmed)
    return len(sound_rows(keeper, connection, users, query))


def _refuse_last_owner(keeper: Keeper, connection: Connection, user: Row[Any]) -> None:
    if user.role == "owner" and user.active and user.confirmed and _owners(keeper, connection) == 1:
        raise Conflict.at("account", "is the last owner.", "Make another owner first.")


def _refuse_unfit(name: str, role: str) -> None:
    if not re.fullmatch(NAME, name):
        what = "must be up to 64 small letters, digits and . _ @ -, starting with a letter or a digit."
        raise InputError.at("name", what)
    if role not in ROLES:
        raise InputError.at("role", f"must be one of {', '.join(ROLES)}.")
