"""What other packages bring along: methods and attacks, found by the entry points that name them.

Nothing of another package is imported before its name is asked for.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from manyveils.errors import InputError, Problem

METHODS, ATTACKS = "manyveils.methods", "manyveils.attacks"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
REMEDY = "Uninstall one of them, or ask its authors for another name."


def installed(group: str, own: Collection[str]) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name; names of our own, names there twice and odd names are refused.

    They are refused whatever is asked for: whoever installs a method `generalize` would otherwise take ours for it.
    """
    brought = _brought(group)
    InputError.refuse(_problems(brought, group, own))
    return {entry.name: entry for entry in brought}


@cache
def _brought(group: str) -> tuple[EntryPoint, ...]:
    # A package that is on the path twice says the same twice.
    found = {(entry.name, entry.value, _package(entry)): entry for entry in entry_points(group=group)}
    return tuple(found[key] for key in sorted(found))


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "a package without a name"


def _problems(brought: Iterable[EntryPoint], group: str, own: Collection[str]) -> Iterator[Problem]:
    packages: dict[str, list[str]] = {}
    for entry in brought:
        packages.setdefault(entry.name, []).append(_package(entry))
    for name, homes in packages.items():
        where = f"{group}: {name}"
        if NAME.fullmatch(name) is None:
            what = f"{homes[0]} brings a name that is not lower-case words with hyphens."
            yield Problem(where, what, "Uninstall it, or ask its authors for another name.")
        elif name in own:
            yield Problem(where, f"{homes[0]} brings a name that manyveils has itself.", REMEDY)
        elif len(homes) > 1:
            yield Problem(where, f"{' and '.join(homes)} bring the same name.", REMEDY)


def loaded(entry: EntryPoint, fits: Callable[[Any], bool], kind: str) -> Any:
    """What an entry point names, imported now; refused if that fails or if it is something else."""
    where = f"{entry.group}: {entry.name}"
    remedy = f"Mend or uninstall {_package(entry)}."
    try:
        value = entry.load()
    except Exception as error:
        raise InputError.at(where, f"cannot be loaded ({type(error).__name__}).", remedy) from error
    if not fits(value):
        raise InputError.at(where, f"is not {kind}.", remedy)
    return value
