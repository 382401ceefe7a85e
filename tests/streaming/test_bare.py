"""A bare table that is judged batch by batch, and part by part, is judged as all its rows at once are."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.streaming.room import Room
from tests.claims.test_bare import ASKED, NAMES, ROWS

LEVELS = {"k": 4, "l": 3, "t": 0.3}
ROLES = dict(zip(NAMES, ("quasi", "quasi", "sensitive", "sensitive"), strict=True))


def policy_asking(guarantee):
    """A policy for the tables of the oracle."""
    attributes = {name: {"role": role, "kind": "categorical"} for name, role in ROLES.items()}
    return {"data": {"person": "row"}, "attributes": attributes, "guarantee": guarantee}


def in_room(frame, policy, *, batch_rows, most_judged=10**6, **arguments):
    """What is found batch by batch, as if so many cells fitted at once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Room, "most_judged", property(lambda _: most_judged))
        return mv.check(frame, policy, memory=Room(10**9, batch_rows=batch_rows), **arguments)


@settings(deadline=None, max_examples=40)
@given(
    rows=ROWS,
    asked=st.sampled_from([asked for asked, _ in ASKED.values()]),
    conditional=st.booleans(),
    batch_rows=st.integers(1, 15),
    most_judged=st.integers(5, 100),
)
def test_random_tables(rows, asked, conditional, batch_rows, most_judged):
    """For random tables, promises, batches and parts, findings are the same, and so is all that is said besides."""
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    policy = policy_asking(asked | {"k": 2, "conditional": conditional})
    found = in_room(frame, policy, batch_rows=batch_rows, most_judged=most_judged, levels=LEVELS)
    assert_same(found, mv.check(frame, policy, levels=LEVELS))


def assert_same(found, expected):
    """Findings in one order, with measures that rounding may move where they are sums."""
    mine, others = found.describe(), expected.describe()
    for one, other in zip(mine["findings"], others["findings"], strict=True):
        numbers = one.pop("measured"), other.pop("measured")
        assert numbers[0] == pytest.approx(numbers[1])
        if isinstance(numbers[0], float) and numbers[0] % 1:
            # Two groups of equal measure differ by rounding, and either may be called the worst.
            one.pop("worst_group_size"), other.pop("worst_group_size")
    assert mine == others


@pytest.mark.parametrize("kind", ["csv", "parquet", "parts"])
@pytest.mark.parametrize("most_judged", [1_000, 10**6])
def test_files(kind, most_judged, tmp_path):
    """A file, or a folder of parts, with an identifier and a column that must not be there."""
    frame, policy = hospital(n=200), hospital_policy().replaced(guarantee={"k": 2, "l": 2})
    path = tmp_path / f"table.{kind}"
    if kind == "parts":
        path.mkdir()
        frame.head(90).write_parquet(path / "part-0.parquet")
        frame.tail(110).write_parquet(path / "part-1.parquet")
    else:
        frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    found = in_room(path, policy, batch_rows=30, most_judged=most_judged)
    assert_same(found, mv.check(path, policy))
    assert not found.kept


def test_from_the_command_line(desk):
    """The table of the desk is judged in so much memory, and a broken promise gives status 1."""
    expected = desk.run(
        "audit", desk.folder / "people.csv", "--policy", desk.folder / "policy.toml", "--json"
    )
    words = ("audit", desk.folder / "people.csv", "--policy", desk.folder / "policy.toml", "--json")
    found = desk.run(*words, "--memory", "1GB")
    assert (found.status, found.stdout) == (expected.status, expected.stdout)


@pytest.mark.parametrize(
    ("changes", "arguments", "said"),
    [
        ({"data": {"missing": "any"}}, {}, "any is judged with all rows in memory alone"),
        ({}, {"rows": True}, "rows: a table is judged row by row"),
        (
            {},
            {"data": pl.DataFrame({"age": [1]})},
            "data: a table is judged row by row, or beside its original",
        ),
    ],
)
def test_what_needs_all_rows(changes, arguments, said):
    """What is told by looking at rows beside each other says so."""
    frame = pl.DataFrame([("a", "b", "c", "d")] * 3, schema=NAMES, orient="row")
    with pytest.raises(mv.ManyveilsError, match=said):
        mv.check(frame, policy_asking({"k": 2}) | changes, memory="1GB", **arguments)


def test_too_many_rows_at_once():
    """A promise to those who know nothing looks at all rows at once, and is not judged in parts."""
    frame = pl.DataFrame({"illness": ["flu", "cold", "gout"] * 5})
    policy = {"attributes": {"illness": {"role": "sensitive"}}, "guarantee": {"l": 2}}
    assert in_room(frame, policy, batch_rows=4).kept
    with pytest.raises(mv.InfeasibleError, match="15 rows, and some promise looks at too many"):
        in_room(frame, policy, batch_rows=4, most_judged=5)
