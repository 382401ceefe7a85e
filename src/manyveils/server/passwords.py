"""Passwords: which are good enough, and their Argon2id hashes."""

from functools import cache
from threading import BoundedSemaphore
from typing import Any

from manyveils.errors import InputError

SHORTEST, LONGEST = 12, 1024
# Of what zxcvbn says from 0 to 4: more than 10^8 guesses.
STRONG = 3
# It looks at no more characters than these.
LOOKED_AT = 72
# A hash takes 64 MiB; more at once would let anybody fill the memory.
_hashing = BoundedSemaphore(2)
# No password has this hash: who has it signs in elsewhere.
NO_PASSWORD = "!"


@cache
def hasher() -> Any:
    """Argon2id at the cost that its library recommends."""
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def decoy() -> str:
    """A hash of no password, checked for unknown names so that they take as long as known ones."""
    return str(hasher().hash("no password"))


def hashed(password: str) -> str:
    """The hash of a password."""
    with _hashing:
        return str(hasher().hash(password))


def verified(password: str, digest: str) -> bool:
    """Whether a password has this hash; it takes as long where there is none."""
    known = digest != NO_PASSWORD
    with _hashing:
        fits = len(password) <= LONGEST and bool(hasher().verify(password, digest if known else decoy()))
    return fits and known


def refuse_weak(name: str, password: str) -> None:
    """Refuse a password that is too short, or that somebody who knows the account's name would soon guess."""
    from zxcvbn import zxcvbn

    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError.at("password", f"must have {SHORTEST} to {LONGEST} characters.")
    known = [name, *name.replace("@", ".").split("."), "manyveils"]
    if zxcvbn(password[:LOOKED_AT], user_inputs=known)["score"] < STRONG:
        raise InputError.at(
            "password", "is easy to guess.", "Take several words that do not belong together."
        )
