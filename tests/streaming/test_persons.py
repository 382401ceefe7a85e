"""Identifiers that repeat are told while rows are read, without any of them being kept."""

from itertools import chain, repeat

import polars as pl
import pytest

import manyveils as mv
from manyveils.streaming import persons
from manyveils.streaming.room import Room

POLICY = {
    "attributes": {
        "name": {"role": "identifier"},
        "town": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
    "guarantee": {"k": 2},
}


def frame(*names):
    """A table of people with such names."""
    return pl.DataFrame({"name": names, "town": ["x"] * len(names), "ill": ["flu"] * len(names)})


def published(data, **section):
    """Publish in batches of two."""
    return mv.publish(data, {**POLICY, "data": section}, seed=1, memory=Room(10**9, batch_rows=2))


def test_repeating():
    """An identifier that repeats is refused in the words of the table in memory."""
    data = frame("a", "b", "c", "a", None)
    with pytest.raises(mv.PolicyError) as here:
        mv.publish(data, POLICY, seed=1)
    with pytest.raises(mv.PolicyError) as there:
        published(data)
    assert str(here.value) == str(there.value)


def test_several_rows():
    """Where a person has several rows, they have to be in memory together."""
    with pytest.raises(mv.PolicyError, match="5 rows are of 4 persons"):
        published(frame("a", "b", "c", "a", "d"), person="name")


def test_nobody_twice():
    """Without repeats nothing is asked, whatever is missing, and spelled as numbers may be."""
    assert published(frame("1", "2", "3.0", None, None)).rows == 5
    with pytest.raises(mv.PolicyError, match="repeats"):
        published(frame("1", "2", "1.0"))
    assert published(frame("1", "2", "1.0"), person="row").rows == 3


def test_dropped_rows():
    """Rows that are dropped are nobody's."""
    data = frame("a", "b", "a").with_columns(town=pl.Series(["x", "x", None]))
    assert published(data, missing="drop").rows == 2


def test_hashes_that_meet(monkeypatch):
    """Two people whose first hashes are equal are two, by their second ones."""
    seen = pl.Series.hash

    def meeting(self, seed=0):
        own = seen(self, seed)
        return own if seed % 2 else pl.Series([1] * len(own), dtype=pl.UInt64)

    numbers = chain([2, 3], repeat(5))
    monkeypatch.setattr(persons.secrets, "randbits", lambda _: next(numbers))
    monkeypatch.setattr(pl.Series, "hash", meeting)
    assert published(frame("a", "b", "c")).rows == 3


def test_empty():
    """Keys without any value are refused."""
    with pytest.raises(mv.DataError, match="every cell is missing"):
        published(frame("", "", ""), person="name")
