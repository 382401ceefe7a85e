"""A registry of insured people, generated quarter by quarter: they join and leave, return, move and change; and the policy."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import Numbers, Weights, dealt, draw_once, facts, near, packaged, words
from manyveils.errors import InputError
from manyveils.policy import Policy

POLICY = "insured.toml"
FACTS = facts("insured_facts.toml")
TREE: dict[str, list[str]] = tomllib.loads(packaged(POLICY))["attributes"]["condition"]["hierarchy"]["tree"]
CONDITIONS = tuple(name for group in TREE.values() for name in group)
ZIPCODES = tuple(district + street for district in FACTS.districts for street in FACTS.streets)
YOUNGEST, AGES, QUARTERS = 18, 72, 4
# Persons' numbers are in no order: multiples of a number that shares no factor with how many there are.
STRIDE, NUMBERS = 61_803_399, 1_000_000_000
MOST_QUARTERS = 100


@dataclass(frozen=True, repr=False)
class _People:
    """Everybody who was ever insured, in the order in which they came."""

    born: Numbers
    sex: Numbers
    zipcode: Numbers
    tissue: Numbers
    condition: Numbers
    therapy: Numbers
    n_therapies: Numbers

    def and_also(self, others: "_People") -> "_People":
        """These people, and then the others."""
        parts = {
            field.name: (getattr(self, field.name), getattr(others, field.name)) for field in fields(self)
        }
        return _People(**{name: np.concatenate(both) for name, both in parts.items()})


def insured(n: int = 10_000, quarter: int = 1, seed: int = 1, therapies: int = 1) -> pl.DataFrame:
    """Generate the n people who are insured in a quarter; the same seed gives the same people in every quarter.

    From one quarter to the next a tenth leave and as many come, a fifth of whom have been here before; of those who
    stay, 5 % move and the therapy of 2 % changes. Ages grow; tissue type and condition stay the same.
    With more than one of `therapies` everybody has one row to so many of them, which differ in the therapy alone.

    >>> first, second = insured(1000, quarter=1), insured(1000, quarter=2)
    >>> first.join(second, on="person").height
    900
    """
    _refuse_bounds("n", n, 0, NUMBERS // 10)
    _refuse_bounds("quarter", quarter, 1, MOST_QUARTERS)
    _refuse_bounds("therapies", therapies, 1, len(FACTS.therapies))
    return _rows(*next(islice(_quarters(n, seed, therapies), quarter - 1, None)))


def insured_policy(**sections: Any) -> Policy:
    """Make the policy of the insured; a section given here (publish, guarantee, …) replaces its own.

    >>> insured_policy().constant
    ('tissue', 'condition')
    """
    return Policy(**(tomllib.loads(packaged(POLICY)) | sections))


def write_insured(folder: str | Path, n: int = 10_000, quarters: int = 2, seed: int = 1) -> Path:
    """Write `quarter-1.csv` and so on, and a commented `insured.toml` for them; returns the policy's path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, quarters + 1):
        insured(n, number, seed).write_csv(folder / f"quarter-{number}.csv")
    policy = folder / POLICY
    policy.write_text(packaged(POLICY), encoding="utf-8", newline="\n")
    return policy


def _quarters(
    n: int, seed: int, therapies: int
) -> Iterator[tuple[_People, Numbers, int, np.random.Generator]]:
    """Everybody and who is here, quarter after quarter; each quarter has a random stream of its own."""
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    people, here = _newcomers(n, 1, therapies, rng), np.arange(n)
    for quarter in count(1):
        yield people, here, quarter, rng
        rng = np.random.Generator(np.random.PCG64([seed, quarter + 1]))
        people, here = _next(people, here, quarter + 1, therapies, rng)


def _refuse_bounds(name: str, number: int, least: int, most: int) -> None:
    if not isinstance(number, int) or not least <= number <= most:
        what = f"{name} is {number} and must be from {least} to {most:,}."
        raise InputError.at("insured", what, "Give a whole number.")


def _next(
    people: _People, here: Numbers, quarter: int, therapies: int, rng: np.random.Generator
) -> tuple[_People, Numbers]:
    """Everybody, and who is here, one quarter later."""
    n_moves = round(FACTS.leaving * here.size)
    staying = rng.permutation(here)[n_moves:]
    gone = np.setdiff1d(np.arange(people.born.size), here)
    returning = rng.permutation(gone)[: round(FACTS.returning * n_moves)]
    new = _newcomers(n_moves - returning.size, quarter, therapies, rng)
    numbers = people.born.size + np.arange(new.born.size)
    changed = _changed(people, staying, rng)
    return changed.and_also(new), np.concatenate([staying, returning, numbers])


def _changed(people: _People, staying: Numbers, rng: np.random.Generator) -> _People:
    """Some of those who stay move, and the therapy of some changes."""
    moving = rng.permutation(staying)[: round(FACTS.moving * staying.size)]
    changing = rng.permutation(staying)[: round(FACTS.changing * staying.size)]
    zipcode, therapy = people.zipcode.copy(), people.therapy.copy()
    zipcode[moving] = _other(zipcode[moving], _zipcodes(moving.size, rng), len(ZIPCODES))
    drawn = draw_once(FACTS.therapy_weights, changing.size, rng)
    therapy[changing] = _other(therapy[changing], drawn, len(FACTS.therapies))
    return replace(people, zipcode=zipcode, therapy=therapy)


def _other(old: Numbers, new: Numbers, n_values: int) -> Numbers:
    """The new numbers, or the next ones where nothing would change."""
    return np.where(new == old, (old + 1) % n_values, new)


def _newcomers(n: int, quarter: int, therapies: int, rng: np.random.Generator) -> _People:
    """Draw people who were never here: adults, whose condition goes with their age."""
    youth = rng.beta(1.6, 1.5, n)
    lived = QUARTERS * (YOUNGEST + np.floor(youth * AGES)).astype(np.int64) + rng.integers(QUARTERS, size=n)
    sex = draw_once(np.array([0.52, 0.48]), n, rng)
    tissue = dealt(rng.random(n), _shares(FACTS.tissue_weights), rng)
    return _People(
        quarter - lived,
        sex,
        _zipcodes(n, rng),
        tissue,
        _conditions(youth, rng),
        draw_once(FACTS.therapy_weights, n, rng),
        rng.integers(1, therapies + 1, size=n),
    )


def _conditions(youth: Weights, rng: np.random.Generator) -> Numbers:
    """Deal conditions to their shares, those of the young to the young."""
    ages = np.repeat(FACTS.group_ages, [len(group) for group in TREE.values()])
    order = np.argsort(ages, kind="stable")
    shares = _shares(FACTS.condition_weights)
    return order[dealt(near(youth, 0.35, 0.6, rng), shares[order], rng)]


def _zipcodes(n: int, rng: np.random.Generator) -> Numbers:
    streets = len(FACTS.streets)
    return draw_once(FACTS.district_weights, n, rng) * streets + rng.integers(streets, size=n)


def _shares(weights: Weights) -> Weights:
    return weights / np.cumsum(weights)[-1]


def _rows(people: _People, here: Numbers, quarter: int, rng: np.random.Generator) -> pl.DataFrame:
    """The rows of who is here, in no order."""
    here = rng.permutation(here)
    n_therapies = people.n_therapies[here]
    turn = np.arange(n_therapies.sum()) - np.repeat(np.cumsum(n_therapies) - n_therapies, n_therapies)
    here = np.repeat(here, n_therapies)
    therapy = (people.therapy[here] + turn) % len(FACTS.therapies)
    numbers = (here + 1) * STRIDE % NUMBERS
    return pl.DataFrame(
        {
            "person": pl.Series(numbers).cast(pl.String).str.zfill(9),
            "age": (quarter - people.born[here]) // QUARTERS,
            "sex": words(FACTS.sexes, people.sex[here]),
            "zipcode": words(ZIPCODES, people.zipcode[here]),
            "tissue": words(FACTS.tissues, people.tissue[here]),
            "condition": words(CONDITIONS, people.condition[here]),
            "therapy": words(FACTS.therapies, therapy),
        }
    )
