"""The generated registry of insured people changes from quarter to quarter as its docstring says."""

import hashlib
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from manyveils.datasets import insured, insured_policy, write_insured
from manyveils.datasets.insured import CONDITIONS, FACTS, TREE
from manyveils.errors import InputError
from manyveils.policy import Policy

N = 2000
QUARTERS = 6


@pytest.fixture(scope="module")
def quarters() -> list[pl.DataFrame]:
    """Some quarters of one registry."""
    return [insured(N, quarter) for quarter in range(1, QUARTERS + 1)]


def test_the_same_seed_gives_the_same_quarter() -> None:
    """A quarter depends on its number, the size and the seed, and is the same on every machine."""
    frame = insured(N, 4, seed=2)
    assert frame.equals(insured(N, 4, seed=2))
    assert not frame.equals(insured(N, 4, seed=3))
    assert hashlib.sha256(frame.write_csv().encode()).hexdigest().startswith("19ca579c6a47f123")


def test_a_tenth_leaves_and_as_many_come(quarters: list[pl.DataFrame]) -> None:
    """From quarter to quarter a tenth leave and as many come; from the third on a fifth of them were here before."""
    ever, before = set(quarters[0]["person"]), set(quarters[0]["person"])
    for number, frame in enumerate(quarters[1:], start=2):
        now = set(frame["person"])
        come = now - before
        assert len(now) == frame.height == N
        assert len(before - now) == len(come) == N // 10
        assert len(come & ever) == (N // 50 if number > 2 else 0)
        ever, before = ever | now, now


def test_who_stays_moves_and_changes_as_often_as_said(quarters: list[pl.DataFrame]) -> None:
    """Of those who stay 5 % move, the therapy of 2 % changes, and about a fourth have a birthday."""
    for before, after in pairwise(quarters):
        both = before.join(after, on="person")
        moved, changed = (
            both.filter(pl.col(name) != pl.col(f"{name}_right")) for name in ("zipcode", "therapy")
        )
        assert (moved.height, changed.height) == (both.height // 20, both.height // 50)
        older = both["age_right"] - both["age"]
        assert set(older) == {0, 1}
        assert 0.2 < older.mean() < 0.3


def test_what_is_constant_stays(quarters: list[pl.DataFrame]) -> None:
    """Nobody's sex, tissue type or condition ever changes, also not that of somebody who returns."""
    everybody = pl.concat(quarters)
    different = everybody.group_by("person").agg(pl.col("sex", "tissue", "condition").n_unique())
    assert different.select(pl.col("sex", "tissue", "condition").max()).row(0) == (1, 1, 1)


def test_values_are_skewed_but_not_too_common_for_l_3(quarters: list[pl.DataFrame]) -> None:
    """There are 15 tissue types and 40 conditions, of which none is that of a fifth of the people, and some are rare."""
    assert (len(FACTS.tissues), len(CONDITIONS)) == (15, 40)
    assert sum(len(group) for group in TREE.values()) == FACTS.condition_weights.size
    for name in ("tissue", "condition"):
        counts = quarters[-1][name].value_counts()["count"]
        assert counts.max() < N / 5
        assert counts.min() < N / 100


def test_persons_may_have_several_rows() -> None:
    """With three therapies a person has up to three rows, which differ in the therapy alone."""
    frame = insured(600, 2, therapies=3)
    persons = frame.group_by("person").agg(pl.len(), pl.exclude("person").n_unique())
    assert set(persons["len"]) == {1, 2, 3}
    assert persons["therapy"].equals(persons["len"])
    assert persons.select(pl.exclude("person", "len", "therapy").max()).row(0) == (1,) * 5


@pytest.mark.parametrize(
    "asked", [{"n": -1}, {"quarter": 0}, {"therapies": 0}, {"therapies": 10}, {"quarter": 1.5}]
)
def test_what_cannot_be_generated_is_refused(asked: dict[str, int]) -> None:
    """Negative sizes, a quarter before the first, and more therapies than there are, are refused by name."""
    with pytest.raises(InputError, match=next(iter(asked))):
        insured(**({"n": 10} | asked))


def test_quarters_are_written_beside_their_policy(tmp_path: Path) -> None:
    """The written quarters are the generated ones, and the written policy is that of `insured_policy`."""
    path = write_insured(tmp_path, 50, quarters=3)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        path.name,
        *(f"quarter-{q}.csv" for q in (1, 2, 3)),
    ]
    assert (tmp_path / "quarter-3.csv").read_text(encoding="utf-8") == insured(50, 3).write_csv()
    assert Policy.load(path).attributes == insured_policy().attributes
