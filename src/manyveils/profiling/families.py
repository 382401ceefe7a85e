"""Columns that belong together by their names or their values: what nothing is known of is what its family is."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from manyveils.profiling.facts import Facts
from manyveils.profiling.guesses import Guess
from manyveils.profiling.words import words_of

# So many of a family must be sensitive, and nobody in it may be known.
LEAST_SENSITIVE = 2
# Yes and no, or a few small numbers, are the values of everything.
LEAST_VALUES = 3
MOST_VALUES = 50
Guesses = Mapping[str, Guess]


def with_families(guesses: Guesses, facts: Mapping[str, Facts]) -> Guesses:
    """The guesses, with columns of unknown meaning made sensitive where most of their family is.

    A family has names that begin alike up to an underline, or texts that are the same.
    """
    settled = dict(guesses)
    for members, what in (*_named_alike(guesses), *_valued_alike(facts)):
        roles = [settled[name].role for name in members]
        n_sensitive = roles.count("sensitive")
        unknown = [name for name in members if settled[name].role == "open"]
        if n_sensitive >= LEAST_SENSITIVE and "quasi" not in roles:
            reason = f"{what}, and {n_sensitive} such columns are sensitive"
            settled |= {name: replace(settled[name], role="sensitive", reason=reason) for name in unknown}
    return settled


def family_of(facts: Facts) -> tuple[str, ...]:
    """What columns alike have in common: texts that are the same, or else the first word of the name."""
    values = _values_of(facts)
    return values or words_of(facts.name)[:1]


def _values_of(facts: Facts) -> tuple[str, ...]:
    """The texts of a column with some of them; none for numbers, and for what has two or very many."""
    attribute = facts.attribute
    if attribute is None or not LEAST_VALUES <= facts.distinct <= MOST_VALUES:
        return ()
    if attribute.domain.dtype != pl.String:
        return ()
    return tuple(sorted(filter(None, attribute.texts)))


def _named_alike(names: Sequence[str] | Guesses) -> Iterator[tuple[list[str], str]]:
    families: dict[str, list[str]] = defaultdict(list)
    for name in names:
        before, mark, _ = name.partition("_")
        if mark and before:
            families[before.lower()].append(name)
    return ((members, "Its name begins like others") for members in families.values())


def _valued_alike(facts: Mapping[str, Facts]) -> Iterator[tuple[list[str], str]]:
    families: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, fact in facts.items():
        if values := _values_of(fact):
            families[values].append(name)
    return ((members, "It has the values that others have") for members in families.values())
