"""The second factor: one-time codes (TOTP, RFC 6238), each good once."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from manyveils.errors import InputError
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Conflict, Person, Unauthenticated, no_such
from manyveils.server.schema import users
from manyveils.server.sealed import change_row, sound_row

STEP = 30
# A code of the step before or after is taken too, since clocks differ.
AROUND = (-1, 0, 1)
PENDING = b"pending:"


@dataclass(frozen=True, repr=False)
class Enrolment:
    """What an authenticator is set up with, shown this once."""

    secret: str
    address: str


def begin_second(keeper: Keeper, actor: Person) -> Enrolment:
    """Begin a second factor for one's own account; it counts once a code has confirmed it."""
    import pyotp

    secret = pyotp.random_base32()
    with keeper.database.writing() as connection:
        user = _own(keeper, connection, actor)
        if is_on(keeper, user):
            raise Conflict.at("second factor", "is there already.", "Ask an owner to take it away.")
        blob = keeper.secret.lock(PENDING + secret.encode(), bound_to(user))
        change_row(keeper, connection, users, user, second=blob)
        append(keeper, connection, actor, "begin second factor", actor.name)
    address = pyotp.TOTP(secret).provisioning_uri(name=actor.name, issuer_name="manyveils")
    return Enrolment(secret, address)


def confirm_second(keeper: Keeper, actor: Person, code: str) -> None:
    """Let the second factor count from now on, if a code fits."""
    with keeper.database.writing() as connection:
        user = _own(keeper, connection, actor)
        plain = _opened(keeper, user)
        if plain is None or not plain.startswith(PENDING):
            raise no_such("second factor to confirm")
        step = _step(keeper, plain.removeprefix(PENDING).decode(), code)
        if step is None:
            raise InputError.at("code", "does not fit.", "Check the clock of the device.")
        blob = keeper.secret.lock(plain.removeprefix(PENDING), bound_to(user))
        change_row(keeper, connection, users, user, second=blob, second_used=step)
        append(keeper, connection, actor, "second factor", actor.name)


def takes_code(keeper: Keeper, connection: Connection, user: Row[Any], code: str) -> bool:
    """Whether a code opens an account, which needs none without a second factor; a code opens once."""
    if not is_on(keeper, user):
        return True
    plain = _opened(keeper, user)
    step = None if plain is None else _step(keeper, plain.decode(), code)
    if step is None or step <= user.second_used:
        return False
    change_row(keeper, connection, users, user, second_used=step)
    return True


def is_on(keeper: Keeper, user: Row[Any]) -> bool:
    """Whether an account has a second factor that was confirmed."""
    plain = _opened(keeper, user)
    return plain is not None and not plain.startswith(PENDING)


def _own(keeper: Keeper, connection: Connection, actor: Person) -> Row[Any]:
    if actor.token is not None:
        raise Unauthenticated.at("login", "is needed on a page, not with a token.", "Log in.")
    user: Row[Any] | None = sound_row(keeper, connection, users, users.c.id == actor.id)
    if user is None:
        raise no_such("account")
    return user


def _opened(keeper: Keeper, user: Row[Any]) -> bytes | None:
    return None if user.second is None else keeper.secret.unlock(user.second, bound_to(user))


def bound_to(user: Row[Any]) -> str:
    """What the secret of an account is encrypted for."""
    return f"second factor of {user.id}"


def _step(keeper: Keeper, secret: str, code: str) -> int | None:
    """The step that a code belongs to, if it is one of those that are good now."""
    import pyotp

    now = int(keeper.now()) // STEP
    codes = pyotp.TOTP(secret)
    if len(code) != 6 or not (code.isascii() and code.isdigit()):
        return None
    return next(
        (now + n for n in AROUND if pyotp.utils.strings_equal(codes.at((now + n) * STEP), code)), None
    )
