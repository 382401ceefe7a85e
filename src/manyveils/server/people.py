"""Whoever is asking, and what their role lets them do."""

from dataclasses import dataclass
from typing import Literal

from manyveils.server.refusals import Forbidden

Role = Literal["owner", "researcher", "auditor"]
ROLES: tuple[Role, ...] = ("owner", "researcher", "auditor")


@dataclass(frozen=True)
class Person:
    """An account that has shown who it is."""

    id: int
    name: str
    role: Role


def require(person: Person, *roles: Role) -> None:
    """Refuse anyone without one of these roles."""
    if person.role not in roles:
        raise Forbidden.at("role", f"this needs the role {' or '.join(roles)}.", noted=False)
