"""Whoever is asking, what their role lets them do, and why the server says no, with the HTTP status that goes with it.

::

    Refusal (ManyveilsError)
    ├── Unauthenticated   401   nobody the server knows
    ├── Forbidden         403   somebody who may not do this
    ├── Missing           404   no such thing, or not for you
    ├── Conflict          409   not as things stand
    ├── TooLarge          413   more than the server takes
    ├── TooMany           429   later, or no more today
    └── Unavailable       503   the database is away or busy, or the queue is full
"""

from dataclasses import dataclass
from typing import Literal, Self

from manyveils.errors import ManyveilsError

Role = Literal["owner", "researcher", "auditor"]
ROLES: tuple[Role, ...] = ("owner", "researcher", "auditor")
# What a token may be for: reading, asking what values mean, publishing and listing, granting, the log, accounts.
Scope = Literal["read", "interpret", "publish", "grant", "audit", "administer"]
SCOPES: tuple[Scope, ...] = ("read", "interpret", "publish", "grant", "audit", "administer")


@dataclass(frozen=True)
class Pass:
    """What a token lets do: its number, the actions, and the releases if it is for some only."""

    id: str
    scopes: frozenset[str]
    only: frozenset[str] | None = None

    def is_for(self, release: str) -> bool:
        """Whether it may be used for a release."""
        return self.only is None or release in self.only


@dataclass(frozen=True)
class Person:
    """An account that has shown who it is; with the token by which, if it was one."""

    id: int
    name: str
    role: Role
    token: Pass | None = None


class Refusal(ManyveilsError):
    """The server refuses a request."""

    status = 400

    # Seconds to wait before the next try.
    wait: int | None = None
    # Whether it is in the log already, or need not be; if not, whoever answers the request writes it.
    noted = True

    @classmethod
    def at(
        cls, where: str, what: str, remedy: str = "", *, wait: int | None = None, noted: bool = True
    ) -> Self:
        """A refusal with a single problem."""
        refusal = super().at(where, what, remedy)
        refusal.wait, refusal.noted = wait, noted
        return refusal


class Unauthenticated(Refusal):
    """Nobody the server knows is asking."""

    status = 401


class Forbidden(Refusal):
    """Whoever is asking may not do this."""

    status = 403


class Missing(Refusal):
    """There is no such thing, or not for whoever is asking."""

    status = 404


class Conflict(Refusal):
    """Not as things stand."""

    status = 409


class TooLarge(Refusal):
    """More than the server takes."""

    status = 413


class TooMany(Refusal):
    """Too often: later, or no more today."""

    status = 429


class Unavailable(Refusal):
    """Not now: something that the server needs is away or busy."""

    status = 503


def no_such(what: str) -> Missing:
    """Refuse because there is no such thing; the same words whether it is absent or only hidden."""
    return Missing.at(what, "there is no such one.")


def require(person: Person, *roles: Role, scope: Scope, release: str | None = None) -> None:
    """Refuse anyone without one of these roles, and a token that is not for this, or not for this release."""
    if person.role not in roles:
        raise Forbidden.at("role", f"this needs the role {' or '.join(roles)}.", noted=False)
    if person.token is not None and scope not in person.token.scopes:
        raise Forbidden.at("token", f"this needs the scope {scope}.", "Get another token.", noted=False)
    if person.token is not None and release is not None and not person.token.is_for(release):
        raise Forbidden.at("token", "is not for this release.", "Get another token.", noted=False)
