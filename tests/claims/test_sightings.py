"""What several groups of a person tell together is decided as its definition says, in plain Python."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.errors import PolicyError
from manyveils.policy import Policy
from manyveils.promises import sightings
from manyveils.promises.sightings import about_constants, sightings_of
from manyveils.table import Table, encode, resolve
from tests.kit import persons as oracle
from tests.kit.people import remains
from tests.kit.strategies import ILLS, LEAVES, PAYS

HAIR = Fraction(1, 10**6)

ASKED: list[dict[str, Any]] = [
    {"l": 2},
    {"l": 3},
    {"l": 2, "l_kind": "frequency"},
    {"l": 2, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 1.5},
    {"t": 0.3, "ground": "equal"},
    {"n": 3, "t": 0.3, "ground": "equal"},
    {"alpha": 0.5},
    {"alpha": 0.4, "alpha_values": ["flu"]},
    {"beta": 0.5},
    {"delta": 1.0},
    {"epsilon_link": 0.6},
    {"l": 2, "conditional": True},
    {"l": 2, "l_level": 1},
]
NUMERIC: list[dict[str, Any]] = [{"e": 10}, {"epsilon": 5, "m": 2}, {"t": 0.3, "ground": "ordered"}]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, list[int], list[int]]:
    """Rows of a few persons with values that do not change, whose each row is, and a group for every row."""
    n_persons = draw(st.integers(2, 7))
    of_person = lambda values: draw(st.lists(st.sampled_from(values), min_size=n_persons, max_size=n_persons))  # noqa: E731
    ills, pays = of_person(LEAVES), of_person(PAYS)
    whose = [*range(n_persons), *draw(st.lists(st.integers(0, n_persons - 1), max_size=9))]
    groups = draw(st.lists(st.integers(-1, 2), min_size=len(whose), max_size=len(whose)))
    frame = pl.DataFrame(
        {
            "ill": pl.Series([ills[person] for person in whose], dtype=pl.String),
            "pay": pl.Series([pays[person] for person in whose], dtype=pl.Int64),
            "job": pl.Series([f"j{row % 2}" for row in range(len(whose))], dtype=pl.String),
        }
    )
    return frame, whose, groups


def held(
    frame: pl.DataFrame, whose: list[int], guarantee: dict[str, Any], harmless: list[str]
) -> tuple[Table, Policy]:
    """The table with its persons, and a policy that promises something of an attribute that does not change."""
    name = "pay" if guarantee in NUMERIC else "ill"
    attributes: dict[str, dict[str, Any]] = {
        "ill": {"role": "sensitive", "hierarchy": {"tree": ILLS}, "insensitive": harmless},
        "pay": {"role": "sensitive", "kind": "numeric"},
        "job": {"role": "sensitive"},
    }
    attributes[name] |= {"constant": True, "guarantee": guarantee}
    policy = Policy(data={"person": "who"}, attributes={"who": {"role": "identifier"}, **attributes})
    told = frame.with_columns(who=pl.Series(whose).cast(pl.String))
    return replace(encode(told, policy), persons=np.array(whose)), policy


@pytest.mark.parametrize("together", [1, 1 << 22])
@pytest.mark.parametrize("guarantee", ASKED + NUMERIC, ids=str)
@given(drawn=tables(), harmless=st.sampled_from([[], ["colic"]]))
def test_beliefs_from_several_groups(
    guarantee: dict[str, Any],
    together: int,
    drawn: tuple[pl.DataFrame, list[int], list[int]],
    harmless: list[str],
) -> None:
    """A person is safe exactly if what remains of all her groups keeps the promise; at a bound she may be refused."""
    frame, whose, groups = drawn
    table, policy = held(frame, whose, guarantee, harmless)
    try:
        promises = about_constants(policy, table, resolve(policy, table))
    except PolicyError:
        return
    n_persons = max(whose) + 1
    for promise in promises:
        seen = sightings_of((promise,), table, ())
        assert seen is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sightings, "TOGETHER", together)
            unsafe = seen.unsafe(np.array(groups)[seen.each[0].persons.order], 3)
        [name] = promise.protects
        values = [text or "" for text in frame[name].cast(pl.String).to_list()]
        rows = list(zip(whose, values, strict=True))
        member = {
            g: [row for row, own in zip(rows, groups, strict=True) if own == g] for g in set(groups) - {-1}
        }
        p = oracle.distribution(rows)
        for person in range(n_persons):
            own = [g for g, listed in member.items() if any(row[0] == person for row in listed)]
            if len(own) < 2:
                assert not unsafe[person]
                continue
            b = oracle.seen([member[g] for g in own], rows)
            about = promise, b, p, list(table[name].texts)
            assert remains(*about, Fraction(0)) or unsafe[person]
            assert not unsafe[person] or not remains(*about, HAIR)


def test_all_values_alike_are_no_rounding() -> None:
    """Two groups with the same two values leave each with one half, which is no more than one half."""
    frame = pl.DataFrame({"ill": ["flu", "ulcer"] * 2, "pay": 10, "job": "j0"})
    table, policy = held(frame, [0, 1, 0, 1], {"l": 2, "l_kind": "frequency"}, [])
    seen = sightings_of(about_constants(policy, table, resolve(policy, table)), table, ())
    assert seen is not None
    assert not seen.unsafe(np.array([0, 0, 1, 1])[seen.each[0].persons.order], 2).any()


def test_what_may_change_is_not_judged() -> None:
    """Without a constant attribute, or where everybody has one row, nothing is promised of what several groups tell."""
    frame = pl.DataFrame({"ill": ["flu", "ulcer"] * 2, "pay": 10, "job": "j0"})
    table, policy = held(frame, [0, 1, 0, 1], {"l": 2}, [])
    assert about_constants(policy, table, resolve(policy, table))
    alone = replace(table, persons=None)
    assert not about_constants(policy, alone, resolve(policy, alone))
    changing = Policy(attributes={name: {"role": "sensitive"} for name in frame.columns})
    assert not about_constants(changing, table, resolve(policy, table))
