"""Tables of a real database server: every type as it is meant, and the whole way from an address to a release."""

import datetime
from collections.abc import Iterator

import polars as pl
import pytest
import sqlalchemy as sql

import manyveils as mv
from manyveils.policy.sections import Data
from manyveils.table.door import take_in
from tests.kit.postgresql import emptied, own_postgresql

TYPES = """
CREATE SCHEMA "Ward 7";
CREATE TYPE sort AS ENUM ('minor', 'major');
CREATE TABLE "Ward 7".people (
    id uuid PRIMARY KEY, name text, code char(3), age smallint, visits bigint, pay numeric(10, 2), pulse real,
    born date, seen timestamp, heard timestamptz, woke time, insured boolean, kind sort, "Größe" double precision,
    words text[], more jsonb, nobody integer);
INSERT INTO "Ward 7".people VALUES
    ('00000000-0000-0000-0000-000000000001', 'Zq7a', 'AB', 30, 9007199254740993, 1234.50, 72.5, '1990-02-28',
     '2024-01-31 08:30', '2024-01-31 08:30+02', '06:30', true, 'minor', 1.7, '{a,b}', '{"a": 1}', NULL),
    ('00000000-0000-0000-0000-000000000002', '', 'CDE', NULL, 2, -0.05, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('00000000-0000-0000-0000-000000000003', NULL, NULL, 41, NULL, NULL, 60, '1899-12-31',
     '2024-02-01 00:00', '2024-02-01 00:00+00', '00:00', false, 'major', 1.5, '{}', '{}', NULL)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A PostgreSQL of our own; skipped where there is none."""
    with own_postgresql() as address:
        yield address


@pytest.fixture
def address(cluster: str) -> Iterator[str]:
    """The address of a database that holds nothing but one table in a schema of its own."""
    emptied(cluster)
    told(cluster, 'DROP SCHEMA IF EXISTS "Ward 7" CASCADE', TYPES)
    return cluster


def told(address: str, *statements: str) -> None:
    """Tell the database something."""
    engine = sql.create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_types(address):
    """Numbers, dates, times, truth, texts and what is missing come as the database means them."""
    frame, _ = take_in(address, Data(table="Ward 7.people"))
    plain = {name: frame[name].to_list() for name in frame.columns if name != "more"}
    assert plain["age"] == [30, None, 41]
    assert plain["visits"] == [9007199254740993, 2, None]
    assert plain["pay"] == ["1234.50", "-0.05", None]
    assert plain["pulse"] == [72.5, None, 60]
    assert plain["born"] == [datetime.date(1990, 2, 28), None, datetime.date(1899, 12, 31)]
    assert plain["seen"][0] == datetime.datetime(2024, 1, 31, 8, 30)
    assert plain["woke"] == [datetime.time(6, 30), None, datetime.time(0)]
    assert plain["insured"] == [True, None, False]
    assert plain["kind"] == ["minor", None, "major"]
    assert plain["name"] == ["Zq7a", "", None]
    assert plain["Größe"] == [1.7, None, 1.5]
    assert plain["nobody"] == [None, None, None]
    assert plain["words"] == ["['a', 'b']", None, "[]"]
    assert plain["id"][0] == "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("'NaN'::numeric", None),
        ("1e45::numeric", "1" + 45 * "0"),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("interval '3 days'", "3 days, 0:00:00"),
        ("9007199254740993", 9007199254740993),
        ("'-Infinity'::float", float("-inf")),
    ],
)
def test_odd_cells(address, cell, read):
    """What no dataframe holds as it is comes as text, and what is no number is missing."""
    assert take_in(address, Data(query=f"SELECT {cell} AS x"))[0]["x"].to_list() == [read]


def test_queries_and_mistakes(address):
    """A query may compute; a wrong one, a wrong table and a wrong password are refused without a word of the data."""
    asked = Data(
        query='SELECT insured, count(*) AS n FROM "Ward 7".people GROUP BY insured ORDER BY n, insured'
    )
    assert take_in(address, asked)[0]["n"].to_list() == [1, 1, 1]
    for form in (
        Data(),
        Data(table="people"),
        Data(table="Ward 7.person"),
        Data(query="SELECT Zq7 FROM nowhere"),
        Data(query="SELECT 1 AS a, 2 AS a"),
        Data(query="SELECT 'infinity'::timestamp"),
        Data(query="SELECT 1 / (age - 30) FROM \"Ward 7\".people WHERE name = 'Zq7a'"),
    ):
        with pytest.raises(mv.InputError) as refused:
            take_in(address, form)
        assert "Zq7" not in str(refused.value)
    with pytest.raises(mv.InputError, match="did not answer"):
        take_in("postgresql+psycopg://nobody:secret@127.0.0.1:1/postgres", Data(table="people"))


def test_nothing_is_written(address):
    """A query that would change the database changes nothing, because nothing is committed."""
    with pytest.raises(mv.InputError):
        take_in(address, Data(query='DELETE FROM "Ward 7".people'))
    counted = Data(query='SELECT count(*) AS n FROM "Ward 7".people')
    assert take_in(address, counted)[0]["n"].to_list() == [3]


def test_from_an_address_to_a_release(address, desk):
    """`init`, `plan`, `publish` and `audit` read a table of a server by its address alone."""
    frame = pl.read_csv(desk.folder / "people.csv")
    told(address, "CREATE TABLE people (name text, age integer, city text, illness text)")
    engine = sql.create_engine(address)
    with engine.begin() as connection:
        rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.iter_rows()]
        connection.execute(sql.text("INSERT INTO people VALUES (:name, :age, :city, :illness)"), rows)
    engine.dispose()
    out = desk.folder / "new.toml"
    assert desk.run("init", address, "-o", out).status == 0
    assert mv.Policy.load(out).attributes["name"].role == "identifier"
    desk.policy(data={"source": address})
    assert desk.run("plan", desk.folder / "policy.toml").status == 0
    release = desk.published()
    assert desk.run("audit", release, "--policy", desk.folder / "policy.toml").status == 0
