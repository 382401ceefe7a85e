"""Promises at levels of the reader's own choosing."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction

from manyveils.errors import InputError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import exact

# The keys of thresholds, by what they may be.
WHOLE = frozenset({"k", "l", "n", "m", "eliminations"})
SHARES = frozenset({"t", "alpha", "epsilon_link"})
POSITIVE = frozenset({"c", "beta", "delta", "e", "epsilon"})


def at_levels(promises: tuple[Promise, ...], levels: Mapping[str, float]) -> Iterator[Promise]:
    """The promises that have one of the parameters, with the given levels in place of their own."""
    problems = [problem for name, level in levels.items() for problem in _problems(name, level)]
    if problems:
        raise InputError(problems)
    for promise in promises:
        names = [field.name for field in fields(promise.guarantee)]
        own = {promise.guarantee.keys.get(name, name): name for name in names}
        chosen = {own[name]: _level(name, level) for name, level in levels.items() if name in own}
        if chosen:
            yield replace(promise, guarantee=replace(promise.guarantee, **chosen))


def _level(name: str, level: float) -> int | Fraction:
    return int(level) if name in WHOLE else exact(level)


def _problems(name: str, level: float) -> Iterator[Problem]:
    if name not in WHOLE | SHARES | POSITIVE:
        yield Problem(
            f"levels.{name}",
            "no promise has such a parameter.",
            f"Known are {', '.join(sorted(WHOLE | SHARES | POSITIVE))}.",
        )
    elif name in WHOLE and (level < 1 or level != int(level)):
        yield Problem(f"levels.{name}", "must be a whole number of at least 1.")
    elif name in SHARES and not 0 <= level <= 1:
        yield Problem(f"levels.{name}", "must be between 0 and 1.")
    elif name in POSITIVE and not level >= 0:
        yield Problem(f"levels.{name}", "must not be negative.")
