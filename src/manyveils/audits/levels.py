"""Promises at levels of the reader's own choosing."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from numbers import Real

from manyveils.errors import InputError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import exact

WHOLE = frozenset({"k", "k_map", "l", "n", "m", "eliminations"})
# What thresholds must be, and how many of them there are.
BOUNDS: dict[str, tuple[str, Callable[[float], bool]]] = {
    **dict.fromkeys(
        WHOLE, ("a whole number of at least 1", lambda level: level >= 1 and level == int(level))
    ),
    **dict.fromkeys(("t", "alpha", "epsilon_link"), ("between 0 and 1", lambda level: 0 <= level <= 1)),
    **dict.fromkeys(
        ("prosecutor_risk", "marketer_risk", "journalist_risk"),
        ("above 0 and at most 1", lambda level: 0 < level <= 1),
    ),
    **dict.fromkeys(("c", "beta", "delta", "e", "epsilon"), ("0 or more", lambda level: level >= 0)),
}


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


def _is_number(level: object) -> bool:
    return isinstance(level, Real) and not isinstance(level, bool) and math.isfinite(level)


def _level(name: str, level: float) -> int | Fraction:
    return int(level) if name in WHOLE else exact(level)


def _problems(name: str, level: float) -> Iterator[Problem]:
    if name not in BOUNDS:
        known = f"Known are {', '.join(sorted(BOUNDS))}."
        yield Problem(f"levels.{name}", "no promise has such a parameter.", known)
    elif not _is_number(level) or not BOUNDS[name][1](level):
        yield Problem(f"levels.{name}", f"must be {BOUNDS[name][0]}.")
