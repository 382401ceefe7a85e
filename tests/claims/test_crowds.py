"""The maker counts persons: every guarantee of groups in which somebody has several rows, beside plain Python."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.errors import PolicyError
from manyveils.kernels.persons import are_matched, first_by_sorting, first_of_person
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Closeness, RecursiveDiversity
from manyveils.promises import crowds
from manyveils.promises.entries import count
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch, watch_each
from manyveils.table import Table, encode, resolve
from tests.kit import persons as oracle
from tests.kit.strategies import ILLS, LEAVES, PAYS

ASKED: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 3},
    {"l": 2},
    {"l": 3},
    {"l": 2, "l_kind": "frequency"},
    {"l": 2, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 1.5},
    {"t": 0.3, "ground": "equal"},
    {"alpha": 0.5},
    {"alpha": 0.4, "alpha_values": ["flu"]},
    {"beta": 0.5},
    {"delta": 1.0},
    {"epsilon_link": 0.6},
    {"l": 2, "conditional": True},
    {"l": 2, "l_kind": "frequency", "conditional": True},
]
NUMERIC: list[dict[str, Any]] = [
    {"e": 10},
    {"epsilon": 5, "m": 2},
    {"t": 0.3, "ground": "ordered"},
    {"e": 0.5},
]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, list[int], list[int]]:
    """Rows of a few persons, whose each row is, and a group for every row."""
    n = draw(st.integers(2, 14))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    frame = pl.DataFrame(
        {
            "ill": pl.Series(column(LEAVES), dtype=pl.String),
            "pay": pl.Series(column(PAYS), dtype=pl.Int64),
            "job": pl.Series(column(["clerk", "miner"]), dtype=pl.String),
        }
    )
    raw = column(list(range(draw(st.integers(1, 6)))))
    numbers = {person: number for number, person in enumerate(dict.fromkeys(raw))}
    return frame, [numbers[person] for person in raw], column([0, 0, 1])


def held(
    frame: pl.DataFrame, whose: list[int], guarantee: dict[str, Any], harmless: list[str]
) -> tuple[Table, Policy]:
    """The table with its persons, and a policy that promises something of its attributes."""
    numeric = guarantee in NUMERIC
    own = {} if "k" in guarantee else {"guarantee": guarantee}
    policy = Policy(
        attributes={
            "ill": {
                "role": "sensitive",
                "hierarchy": {"tree": ILLS},
                "insensitive": harmless,
                **({} if numeric else own),
            },
            "pay": {"role": "sensitive", "kind": "numeric", **(own if numeric else {})},
            "job": {"role": "sensitive"},
        },
        guarantee={"k": guarantee["k"]} if "k" in guarantee else {},
    )
    return replace(encode(frame, policy), persons=np.array(whose)), policy


def promises(table: Table, policy: Policy) -> tuple[Promise, ...]:
    """The promises of the policy, unless the table is too small for them."""
    try:
        return resolve(policy, table)
    except PolicyError:
        return ()


def a_hair_more(promise: Promise) -> Promise:
    """A promise that asks for a little more, where weights are fractions and what is at the bound may be refused."""
    hair, guarantee = Fraction(1, 10**6), promise.guarantee
    if isinstance(guarantee, Closeness):
        return replace(promise, guarantee=replace(guarantee, t=guarantee.t - hair))
    if isinstance(guarantee, RecursiveDiversity):
        return replace(promise, guarantee=replace(guarantee, c=guarantee.c - hair))
    return promise


def texts(frame: pl.DataFrame, name: str) -> list[str]:
    """A column as the oracle wants it."""
    return [text or "" for text in frame[name].cast(pl.String).to_list()]


def expected(
    promise: Promise, frame: pl.DataFrame, whose: list[int], member: list[int], table: Table
) -> bool:
    """Whether a group of rows keeps a promise, in plain Python."""
    if not promise.protects:
        return oracle.keeps(promise.guarantee, [(whose[row], "") for row in member], [], [])
    [name] = promise.protects
    values, everyone = texts(frame, name), list(range(len(whose)))
    others = [other for other in ("ill", "pay", "job") if other != name] if promise.conditional else []
    parts: dict[tuple[str, ...], list[int]] = {}
    for row in member:
        parts.setdefault(tuple(texts(frame, other)[row] for other in others), []).append(row)
    reference = [(whose[row], values[row]) for row in everyone]
    return all(
        oracle.keeps(
            promise.guarantee,
            [(whose[row], values[row]) for row in rows],
            reference,
            list(table[name].texts),
            promise.insensitive,
        )
        for rows in parts.values()
    )


@pytest.mark.parametrize("guarantee", ASKED + NUMERIC, ids=str)
@given(drawn=tables(), harmless=st.sampled_from([[], ["colic"]]))
def test_every_guarantee_is_decided_as_its_definition_says(
    guarantee: dict[str, Any], drawn: tuple[pl.DataFrame, list[int], list[int]], harmless: list[str]
) -> None:
    """A group keeps a promise to persons exactly if plain Python says so; at the bound of a fraction it may be refused."""
    frame, whose, groups = drawn
    table, policy = held(frame, whose, guarantee, harmless)
    for promise in promises(table, policy):
        fine = kept_by_groups(watch((promise,), table, ("ill", "pay", "job")), np.array(groups), 2)
        for group in set(groups):
            member = [row for row, own in enumerate(groups) if own == group]
            assert expected(promise, frame, whose, member, table) or not fine[group], (promise, group)
            assert fine[group] or not expected(a_hair_more(promise), frame, whose, member, table), (
                promise,
                group,
            )


@given(drawn=tables(), n_ruled_out=st.integers(1, 2), harmless=st.sampled_from([[], ["colic"]]))
def test_eliminations_leave_two_persons_with_two_values(
    drawn: tuple[pl.DataFrame, list[int], list[int]], n_ruled_out: int, harmless: list[str]
) -> None:
    """What is kept withstands in plain Python; without harmless values the two say the same."""
    frame, whose, groups = drawn
    table, policy = held(frame, whose, {"eliminations": n_ruled_out}, harmless)
    for promise in promises(table, policy):
        fine = kept_by_groups(watch((promise,), table, ("ill", "pay", "job")), np.array(groups), 2)
        others = [texts(frame, name) for name in ("pay", "job")]
        for group in set(groups):
            rows = [
                (whose[row], texts(frame, "ill")[row], [other[row] for other in others])
                for row, own in enumerate(groups)
                if own == group
            ]
            withstands = oracle.withstands(rows, n_ruled_out, harmless)
            assert withstands or not fine[group]
            assert harmless or withstands == bool(fine[group])


@given(drawn=tables(), several=st.lists(st.sets(st.sampled_from("abc")), min_size=14, max_size=14))
def test_values_of_a_set_are_decided_together_as_each_by_itself(
    drawn: tuple[pl.DataFrame, list[int], list[int]], several: list[set[str]]
) -> None:
    """One watch for all values of a multi-valued attribute says what a watch for each says."""
    frame, whose, groups = drawn
    cells = ["|".join(sorted(values)) or None for values in several[: frame.height]]
    frame = frame.select("job").with_columns(codes=pl.Series(cells, dtype=pl.String))
    asked = {
        "role": "sensitive",
        "multivalued": "|",
        "guarantee": {"l": 2, "l_kind": "frequency", "beta": 0.5},
    }
    policy = Policy(attributes={"job": {"role": "neutral"}, "codes": asked})
    if not any(cells):
        return
    table = replace(encode(frame, policy), persons=np.array(whose))
    promised = promises(table, policy)
    together = kept_by_groups(watch(promised, table, ()), np.array(groups), 2)
    apart = kept_by_groups(watch_each(promised, table, ()), np.array(groups), 2)
    assert together.tolist() == apart.tolist()


@given(drawn=tables(), merged=st.lists(st.integers(-1, 1), min_size=3, max_size=3))
def test_a_crowd_under_other_owners_is_counted_anew(
    drawn: tuple[pl.DataFrame, list[int], list[int]], merged: list[int]
) -> None:
    """Merging the groups of a crowd gives what counting the merged groups gives."""
    frame, whose, _ = drawn
    table, policy = held(frame, whose, {"l": 2}, [])
    groups, owner_of = np.arange(frame.height) % 3, np.array(merged)
    for watched in watch(promises(table, policy), table, ()):
        assert watched.subject is not None
        rolled = count(watched.subject, groups, 3).under(owner_of, 2)
        anew = count(watched.subject, owner_of[groups], 2)
        for one, other in ((rolled.owners, anew.owners), (rolled.counts, anew.counts)):
            assert one.tolist() == other.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.integers(0, 2)), min_size=1, max_size=30))
def test_persons_with_many_rows_are_counted_as_those_with_few(rows: list[tuple[int, int, int]]) -> None:
    """Sorting the rows of a person says what comparing them one with another says."""
    persons, units, values = np.array(sorted(rows)).T
    starts = np.searchsorted(persons, np.arange(5))
    compared = first_of_person.compiled(starts, units, values)
    for one, other in zip(compared, first_by_sorting(persons, units, values), strict=True):
        there = units >= 0
        assert one[there].tolist() == other[there].tolist()
        assert not one[~there].any()
        assert not other[~there].any()


def test_large_and_small_persons_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rows of some persons are sorted, counts are what they are where none are."""
    rng = np.random.default_rng(5)
    numbers = np.sort(rng.integers(0, 9, 200))
    persons = crowds.Persons(numbers, np.arange(200), np.searchsorted(numbers, np.arange(10)))
    crowd = crowds.Crowd(persons, rng.integers(-1, 6, 200), rng.integers(0, 4, 200), 6)
    plain = crowd.counts.tolist(), crowd.sizes.tolist(), crowd.weights.tolist()
    monkeypatch.setattr(crowds, "FEW_ROWS", 22)
    again = replace(crowd)
    assert (again.counts.tolist(), again.sizes.tolist(), again.weights.tolist()) == plain


@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=5), st.integers(1, 5))
def test_a_matching_is_the_largest(held_by: list[set[int]], wanted: int) -> None:
    """As many persons with different values are found as there are in plain Python."""
    starts = np.cumsum([0, *map(len, held_by)])
    persons = np.array([person for holders in held_by for person in sorted(holders)])
    pairs = [(person, str(value)) for value, holders in enumerate(held_by) for person in holders]
    found = are_matched(np.array([0, len(held_by)]), starts, persons, np.array([wanted]), 5)
    assert found.tolist() == [oracle.matched(pairs) >= wanted]


def test_counting_alone_does_not_always_decide() -> None:
    """Two values that only one person has, and one that many have, are two persons with two values, and no three."""
    rows = [(0, "flu"), (0, "asthma"), (1, "ulcer"), (2, "ulcer"), (3, "ulcer")]
    frame = pl.DataFrame({"ill": [value for _, value in rows], "pay": 10, "job": "clerk"})
    fine = {}
    for l in (2, 3):
        table, policy = held(frame, [person for person, _ in rows], {"l": l}, [])
        watches = watch(promises(table, policy), table, ())
        fine[l] = bool(kept_by_groups(watches, np.zeros(5, dtype=np.int64), 1)[0])
    assert fine == {2: True, 3: False}


def test_what_holds_for_those_who_know_more_is_promised_against_those_who_know_less_too() -> None:
    """Two persons who swap values from part to part keep a share in each part and break it in the group."""
    frame = pl.DataFrame(
        {"ill": ["flu", "ulcer", "ulcer", "flu"], "pay": 10, "job": ["clerk", "clerk", "miner", "miner"]}
    )
    asked = {"l": 2, "l_kind": "frequency", "conditional": True}
    table, policy = held(frame, [0, 1, 0, 1], asked, [])
    promised = promises(table, policy)
    assert [promise.conditional for promise in promised] == [False, True]
    assert [len(promises(replace(table, persons=None), policy))] == [1]
    one_group = np.zeros(4, dtype=np.int64)
    kept = [bool(kept_by_groups(watch((p,), table, ("ill", "job")), one_group, 1)[0]) for p in promised]
    assert kept == [False, True]
