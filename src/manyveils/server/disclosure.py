"""What was told of a release's key to all researchers together, and how much of the key follows from it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam

from manyveils.errors import InputError, Problem
from manyveils.keys import Grades, Key, Meaning, Pseudonyms
from manyveils.server.catalogue import key_of, owned
from manyveils.server.chain import append
from manyveils.server.grants import MOST
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Conflict, Forbidden, Person, TooMany
from manyveils.server.schema import disclosures, releases
from manyveils.server.sealed import change_row, sound_together, together

STATE = together(disclosures, where=disclosures.c.release_id == bindparam("release"))
Told = Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class Share:
    """How much of one attribute's part of a key was told, how much follows from that, and how much there is."""

    attribute: str
    told: int
    derivable: int
    originals: int


@dataclass(frozen=True)
class Disclosure:
    """What was told of a release, of its budget; and the percentage of each attribute that may become derivable."""

    release: str
    used: int
    budget: int
    approved: int
    attributes: tuple[Share, ...]


def disclosure(keeper: Keeper, actor: Person, release: str) -> Disclosure:
    """What was told of a release, and what follows from it; for its owner."""
    with keeper.database.reading() as connection:
        row = owned(keeper, connection, actor, release, "read")
        return _disclosure(keeper, row, _state(keeper, connection, release))


def approve(
    keeper: Keeper, actor: Person, release: str, *, budget: int | None = None, approved: int | None = None
) -> Disclosure:
    """Let researchers be told more, or less, of a release from now on; for its owner."""
    values = {
        name: value for name, value in (("budget", budget), ("approved", approved)) if value is not None
    }
    limits = {"budget": (1, MOST), "approved": (0, 100)}
    InputError.refuse(
        Problem(name, f"must be from {limits[name][0]} to {limits[name][1]}.")
        for name, value in values.items()
        if not limits[name][0] <= value <= limits[name][1]
    )
    with keeper.database.writing() as connection:
        row = owned(keeper, connection, actor, release, "grant")
        state = _state(keeper, connection, release)
        if values:
            row = change_row(keeper, connection, releases, row, **values)
            append(keeper, connection, actor, "approve", release, values)
        return _disclosure(keeper, row, state)


def disclose(
    keeper: Keeper, connection: Connection, row: Row[Any], key: Key, cost: int, used: Iterable[Meaning]
) -> None:
    """Count an answer to a researcher, or refuse it where more would follow from it than an owner has approved.

    What researchers have been told before counts together: they may talk to each other. An answer that adds nothing to
    what follows is never refused for that.
    """
    state = _state(keeper, connection, row.id)
    if state.used + cost > row.budget:
        what = f"this answer takes {cost} of {row.budget} originals for all researchers, and fewer are left."
        raise TooMany.at("budget", what, "Ask an owner to approve more.")
    before = {name: set(values) for name, values in json.loads(state.told).items()}
    after = {name: set(values) for name, values in before.items()}
    for meaning in used:
        if meaning.kind != "public":
            after.setdefault(meaning.attribute, set()).add(written(key, meaning))
    for name in after:
        if after[name] != before.get(name):
            _refuse_beyond(
                name,
                share_of(key, name, before.get(name, ())),
                share_of(key, name, after[name]),
                row.approved,
            )
    told = (
        state.told if after == before else json.dumps({name: sorted(after[name]) for name in sorted(after)})
    )
    change_row(keeper, connection, disclosures, state, used=state.used + cost, told=told)


def _refuse_beyond(name: str, before: Share, after: Share, approved: int) -> None:
    if after.derivable > before.derivable and 100 * after.derivable > approved * after.originals:
        what = (
            f"with this answer {after.derivable} of {after.originals} originals would follow from what researchers were told, "
            f"and {approved} percent are approved."
        )
        raise Forbidden.at(name, what, "Ask an owner to approve more.")


def share_of(key: Key, attribute: str, told: Iterable[str]) -> Share:
    """How much of one attribute follows from the meanings of some published values."""
    told = set(told)
    if attribute in key.grades:
        grades = key.grades[attribute]
        derivable = _of_grades(grades, told)
        return Share(attribute, len(told), derivable, len(grades.originals))
    pseudonyms = key.pseudonyms[attribute]
    return Share(attribute, len(told), _of_pseudonyms(pseudonyms, told), _size(pseudonyms))


def originals_in(key: Key, meanings: Iterable[Meaning]) -> int:
    """How many originals some meanings give away: of a group every member, of grades with the same original one."""
    given: set[tuple[str, str]] = set()
    for meaning in meanings:
        if meaning.kind == "group":
            _, members = key.pseudonyms[meaning.attribute].groups[meaning.published]
            given.update((meaning.attribute, member) for member in members)
        elif meaning.kind != "public":
            given.add((meaning.attribute, meaning.meaning))
    return len(given)


def _of_pseudonyms(pseudonyms: Pseudonyms, told: set[str]) -> int:
    """Those that were told; and the last one, which is what is left."""
    size = _size(pseudonyms)
    return size if len(told) >= size - 1 and told else len(told)


def _size(pseudonyms: Pseudonyms) -> int:
    return len(pseudonyms.values) + len(pseudonyms.groups)


def _of_grades(grades: Grades, told: set[str]) -> int:
    """The originals of every category whose boundaries follow from those that were told, and these.

    Inside a category grades rise with originals in proportion, so that two give both boundaries; a boundary shared with
    the next category and one grade there give the boundary after that.
    """
    inside: dict[int, set[float]] = {}
    for grade in told:
        whole, share = divmod(float(grade), 1)
        inside.setdefault(int(whole) - 1, set()).add(share)
    known = _boundaries(grades, inside)
    is_open = [low in known and high in known for low, high in grades.categories]
    return sum(grade in told or is_open[int(float(grade)) - 1] for grade in grades.originals)


def _boundaries(grades: Grades, inside: Mapping[int, set[float]]) -> set[float]:
    """The boundaries of categories that follow from the shares that were told inside them."""
    known: set[float] = set()
    for index, shares in inside.items():
        low, high = grades.categories[index]
        known |= {low, high} if len(shares) > 1 else {low} if 0.0 in shares else set()
    rising = [grades.categories[index] for index, shares in inside.items() if shares - {0.0}]
    while more := {bound for pair in rising if known & set(pair) for bound in pair} - known:
        known |= more
    return known


def written(key: Key, meaning: Meaning) -> str:
    """A published value as the key writes it, so that one grade typed in two ways is one."""
    return repr(float(meaning.published)) if meaning.attribute in key.grades else meaning.published


def _state(keeper: Keeper, connection: Connection, release: str) -> Row[Any]:
    rows = sound_together(keeper, connection, STATE, release=release)
    if rows is None:
        raise Conflict.at("release", "has no key, or what was told of it is not recorded.")
    state: Row[Any] = rows[0]
    return state


def _disclosure(keeper: Keeper, row: Row[Any], state: Row[Any]) -> Disclosure:
    key, told = key_of(keeper, row.id), json.loads(state.told)
    shares = () if key is None else tuple(share_of(key, name, told.get(name, ())) for name in key.attributes)
    return Disclosure(row.id, state.used, row.budget, row.approved, shares)
