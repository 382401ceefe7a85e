"""Who is who, as a policy says it: what tells persons apart, what does not change of one, and what is wrong with that."""

from collections.abc import Iterator, Mapping
from typing import Any

from manyveils.errors import Problem

Keys = Mapping[str, Any]
# As a text it always means that rows are persons; an attribute of that name is meant by a list that names it.
ROW = "row"
NEVER_PUBLISHED = ("identifier", "choice", "drop")


def named_persons(said: object) -> tuple[str, ...] | None:
    """The attributes that tell persons apart; none where every row is a person, None where nothing is said.

    >>> named_persons("patient"), named_persons(["household", "member"]), named_persons("row"), named_persons(None)
    (('patient',), ('household', 'member'), (), None)
    """
    if said is None or said == ROW:
        return None if said is None else ()
    names = said if isinstance(said, list) else [said]
    return tuple(name for name in names if isinstance(name, str))


def person_problems(document: Keys, bodies: Keys) -> Iterator[Problem]:
    """What is wrong with `person`, with where else its attributes are named, and with `constant`."""
    data = document.get("data")
    said = data.get("person") if isinstance(data, Mapping) else None
    names = named_persons(said) or ()
    if said == []:
        remedy = 'Name the identifiers, write person = "row" if every row is a person of its own, or drop it.'
        yield Problem("data.person", "is an empty list.", remedy)
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Problem("data.person", f"{name!r} is there {names.count(name)} times.", "Name it once.")
        yield from _key_problems(name, bodies)
        yield from _dependency_problems(name, document.get("dependencies"))
    yield from _constant_problems(bodies, rows_are_persons=said == ROW)


def _key_problems(name: str, bodies: Keys) -> Iterator[Problem]:
    role = bodies[name].get("role") if name in bodies else "identifier"
    if role != "identifier":
        what = f"{name!r} has the role {role!r}, but what tells persons apart is an identifier, and never published."
        yield Problem(
            "data.person", what, f'Set role = "identifier" in [attributes.{name}], or name another.'
        )


def _dependency_problems(name: str, dependencies: object) -> Iterator[Problem]:
    for number, dependency in enumerate(dependencies if isinstance(dependencies, list) else [], start=1):
        if not isinstance(dependency, Mapping):
            continue
        left = dependency.get("from")
        if name in [*(left if isinstance(left, list) else []), dependency.get("to")]:
            what = (
                f"{name!r} tells persons apart and is never published, so no adversary reads anything off it."
            )
            yield Problem(f"dependencies[{number}]", what, "Drop the dependency.")


def _constant_problems(bodies: Keys, *, rows_are_persons: bool) -> Iterator[Problem]:
    """What does not change of a person needs persons, and a value that somebody can see."""
    is_told = any(body.get("role") == "identifier" for body in bodies.values()) and not rows_are_persons
    for name, body in bodies.items():
        if body.get("constant") is not True:
            continue
        where = f"attributes.{name}.constant"
        if body.get("role") in NEVER_PUBLISHED:
            what = f"the role {body['role']!r} is never published, so nobody sees whether it changes."
            yield Problem(where, what, "Drop it.")
        elif not is_told:
            what = "nothing tells persons apart, so nobody is seen twice."
            yield Problem(where, what, "Name the identifiers of a person in data.person, or drop it.")
