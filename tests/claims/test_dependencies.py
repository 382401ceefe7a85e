"""Dependencies found in a table against their definition in plain Python."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.datasets import discharges
from manyveils.policy import Policy
from manyveils.table import Table, dependencies, hold
from manyveils.table.dependencies import Dependencies, find_dependencies

LETTERS = "abcde"


def held(frame: pl.DataFrame) -> Table:
    """The table of a frame, missing cells kept."""
    columns = {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns}
    return hold(frame, Policy(data={"missing": "category"}, attributes=columns))[0]


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """A small table whose columns often follow from each other."""
    n = draw(st.integers(1, 12))
    n_columns = draw(st.integers(1, len(LETTERS)))
    columns: dict[str, list[str | None]] = {}
    for letter in LETTERS[:n_columns]:
        earlier = sorted(columns)
        if earlier and draw(st.booleans()):
            first, second = draw(st.sampled_from(earlier)), draw(st.sampled_from(earlier))
            cells = list(zip(columns[first], columns[second], strict=True))
            image = {cell: draw(st.sampled_from(["x", "y", "z", None])) for cell in dict.fromkeys(cells)}
            columns[letter] = [image[cell] for cell in cells]
        else:
            values = draw(st.sampled_from([["x"], ["x", None], list("uvwx"), list("klmnopqrstuvwx")]))
            columns[letter] = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def follows(rows: list[dict[str, object]], left: tuple[str, ...], right: str) -> bool:
    """Whether rows that are equal on the left are equal on the right."""
    return all(
        one[right] == other[right]
        for one, other in combinations(rows, 2)
        if all(one[name] == other[name] for name in left)
    )


def is_key(rows: list[dict[str, object]], left: tuple[str, ...]) -> bool:
    """Whether no two rows are equal on the left."""
    return len({tuple(row[name] for name in left) for row in rows}) == len(rows)


def smaller(left: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every smaller left side within a left side."""
    return [part for size in range(1, len(left)) for part in combinations(left, size)]


def by_definition(frame: pl.DataFrame, most: int) -> Dependencies:
    """All minimal dependencies and keys, each decided by looking at every pair of rows."""
    rows, names = frame.to_dicts(), frame.columns
    constants = tuple(name for name in names if len({row[name] for row in rows}) == 1)
    found, keys = [], []
    for left in [left for size in range(1, most + 1) for left in combinations(names, size)]:
        if is_key(rows, left):
            if len(rows) > 1 and not any(is_key(rows, part) for part in smaller(left)):
                keys.append(left)
            continue
        for right in names:
            if right in left or right in constants or not follows(rows, left, right):
                continue
            if not any(follows(rows, part, right) for part in smaller(left)):
                found.append((left, right))
    return Dependencies(tuple(found), tuple(keys), constants)


@settings(max_examples=300)
@given(frame=frames(), most=st.integers(1, 3))
def test_against_the_definition(frame: pl.DataFrame, most: int) -> None:
    """Exactly the minimal dependencies, keys and constants are found, whatever their number of columns."""
    assert find_dependencies(held(frame), frame.columns, most=most) == by_definition(frame, most)


@settings(max_examples=150)
@given(frame=frames(), largest=st.sampled_from([1, 16, 2**62]))
def test_samples_and_numbering_change_nothing(frame: pl.DataFrame, largest: int) -> None:
    """What is found does not depend on the rows looked at first, nor on how combinations are numbered."""
    with patch.object(dependencies, "SAMPLES", (2, 5)), patch.object(dependencies, "LARGEST_ID", largest):
        assert find_dependencies(held(frame), frame.columns, most=3) == by_definition(frame, 3)


def test_one_row_in_many_refutes() -> None:
    """A dependency broken by one row of 40,000 is not found; mended, it is."""
    left = np.arange(40_000) % 500
    right = left // 7
    whole = pl.DataFrame({"left": left, "right": right}).cast(pl.String)
    assert find_dependencies(held(whole), ["left", "right"]).found == ((("left",), "right"),)
    right[20_123] += 1
    broken = pl.DataFrame({"left": left, "right": right}).cast(pl.String)
    assert find_dependencies(held(broken), ["left", "right"]).found == ()


def test_one_pair_in_many_is_no_key() -> None:
    """A column with 40,000 values is a key of 40,000 rows and of no more."""
    numbers = np.arange(40_000)
    frame = pl.DataFrame({"number": numbers, "half": numbers // 2, "odd": numbers % 2}).cast(pl.String)
    names = ["number", "half", "odd"]
    assert find_dependencies(held(frame), names).keys == (("number",), ("half", "odd"))
    assert find_dependencies(held(pl.concat([frame, frame[:1]])), names).keys == ()


def test_only_named_columns_count() -> None:
    """Columns that are not named are not looked at, and one that is named twice counts once."""
    frame = pl.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"], "c": ["p", "q", "r"]})
    found = find_dependencies(held(frame), ["b", "a", "b"])
    assert found == Dependencies(((("b",), "a"), (("a",), "b")), (), ())


def test_discharges() -> None:
    """In the discharges, the county follows from the zip code and the category from the group."""
    frame = discharges(2000)
    found = find_dependencies(held(frame), frame.columns).found
    singles = [(left, right) for left, right in found if len(left) == 1]
    assert singles == [(("pat_zip",), "county"), (("hcfa_drg",), "hcfa_mdc")]
