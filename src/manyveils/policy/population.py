"""What a policy says of who may be found: keys that someone may know, and the population; and what is wrong with that."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from manyveils.errors import Problem

Keys = Mapping[str, Any]
# The keys of [guarantee] that bound a chance of being found or count the population; they hold for the whole table.
OF_POPULATION = ("k_map", "journalist_risk")
RISKS = ("prosecutor_risk", "marketer_risk", *OF_POPULATION)


def key_problems(entries: Sequence[Keys], bodies: Keys) -> Iterator[Problem]:
    """What is wrong with the combinations of [[keys]]: attributes that nobody knows, or one that is there twice."""
    seen: dict[frozenset[str], int] = {}
    for number, entry in enumerate(entries, start=1):
        listed = entry.get("attributes")
        names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
        for name in dict.fromkeys(names):
            role = bodies[name].get("role") if name in bodies else "quasi"
            if role != "quasi":
                what = f"{name!r} has the role {role!r}, and keys are made of what an adversary knows."
                yield Problem(f"keys[{number}]", what, 'Set role = "quasi", or leave it out.')
            if names.count(name) > 1:
                yield Problem(f"keys[{number}]", f"{name!r} is there twice.", "Name it once.")
        first = seen.setdefault(frozenset(names), number)
        if names and first != number:
            what = f"names the same attributes as keys[{first}]."
            yield Problem(f"keys[{number}]", what, "Keep the one with the larger k.")


def population_problems(said: object, bodies: Keys, general: Keys) -> Iterator[Problem]:
    """What is wrong with [population], and with promises that need one."""
    section = said if isinstance(said, Mapping) else {}
    for key in OF_POPULATION:
        if general.get(key) is not None and not section.get("source"):
            what = "counts people of the population, and no list of them is given."
            remedy = "Set source in [population]. An estimate from a size or from weights is a measure and no promise."
            yield Problem(f"guarantee.{key}", what, remedy)
    weights = section.get("weights")
    if not isinstance(weights, str):
        return
    if weights not in bodies:
        yield Problem("population.weights", f"attribute {weights!r} is not described.", "Give it a role.")
    elif bodies[weights].get("role") in ("identifier", "choice"):
        what = f"{weights!r} has the role {bodies[weights]['role']!r}, and a weight is a number of people."
        yield Problem("population.weights", what, 'Set role = "neutral", or "drop" if it is not published.')
    elif bodies[weights].get("multivalued"):
        yield Problem("population.weights", f"{weights!r} has several values in a cell.", "Name another.")
