"""Tables that fit the driver: brought there in one reading, and published and judged as everywhere."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to
from tests.spark.conftest import spread

METHODS = {
    "generalize": ({"method": "generalize", "suppression": 0.02}, {"k": 2}),
    "mondrian": ({"method": "generalize", "recoding": "mondrian"}, {"k": 2}),
    "anatomize": ({"method": "anatomize"}, {"l": 2, "l_kind": "frequency"}),
    "slice": ({"method": "slice", "columns": 3}, {"l": 2, "l_kind": "frequency"}),
    "angelize": ({"method": "angelize"}, {"k": 2, "l": 2, "l_kind": "frequency"}),
    "codip": ({"method": "codip", "anonymizer": "mondrian"}, {"k": 2}),
}


@pytest.fixture(autouse=True)
def brought(monkeypatch):
    """Small tables are brought to the driver."""
    monkeypatch.delenv("MANYVEILS_WHOLE_CELLS", raising=False)


def policy_of(name):
    """The hospital's policy with a method and a promise."""
    section, guarantee = METHODS[name]
    return hospital_policy().replaced(publish=section, guarantee=guarantee)


@pytest.mark.parametrize("name", METHODS)
def test_the_release_is_that_of_the_local_engine(spark, tmp_path, name):
    """Tables, manifest, notes and findings are the local engine's, whatever the method and the order of rows."""
    frame, policy = hospital(n=200), policy_of(name)
    local = publish_to(policy, tmp_path / "local", data=frame, format="parquet", seed=1)
    there = publish_to(policy, tmp_path / "there", data=spread(spark, frame, 3, shuffled=5), seed=1)
    ours = {name: table.rows() for name, table in local.release.frames.items()}
    assert {name: table.rows() for name, table in there.release.frames.items()} == ours
    assert there.release.manifest == local.release.manifest
    assert there.release.notes == local.release.notes
    assert there.audit.describe() == local.audit.describe()


def test_tables_are_sparks(spark, tmp_path):
    """Tables are Spark's dataframes, and folders of parts on the disk, as those of large tables are."""
    frame, policy = hospital(n=200), policy_of("generalize")
    release = mv.publish(spread(spark, frame, 2), policy, seed=1)
    assert release.tables["main"].count() == 200 - release.manifest.suppressed
    folder = release.save(tmp_path / "saved")
    assert [part.name for part in (folder / "tables" / "main.parquet").iterdir()] == ["part-00000.parquet"]
    assert mv.audit(folder, spread(spark, frame, 2), policy).kept
    assert mv.audit(folder, frame, policy).kept


def test_types_are_those_of_rows_that_stay(spark, publish, monkeypatch):
    """Decimals keep their digits, and other cells their types, on both sides of the limit."""
    frame = pl.DataFrame(
        {
            "amount": pl.Series(["1.50", "2.00"] * 6).cast(pl.Decimal(10, 2)),
            "day": pl.Series(["2020-01-01", None] * 6).str.to_date("%Y-%m-%d"),
            "small": pl.Series([1, 2, None] * 4, dtype=pl.Int8),
            "share": pl.Series([0.1, 0.2, 0.1, 0.2] * 3, dtype=pl.Float32),
            "is_so": [True, False] * 6,
            "a `b`.c": ["x", ""] * 6,
        }
    )
    attributes = {name: {"role": "quasi", "kind": "categorical"} for name in frame.columns}
    policy = {"attributes": attributes, "guarantee": {"k": 1}, "publish": {"method": "generalize"}}
    here = publish(frame, policy)
    monkeypatch.setenv("MANYVEILS_WHOLE_CELLS", "71")
    assert publish(frame, policy).tables == here.tables


def test_one_cell_more_stays(spark, monkeypatch):
    """A table stays with Spark if it has one cell more than may be brought."""
    from manyveils.spark.small import brought
    from manyveils.spark.source import Source
    from manyveils.table.persons import keys_read

    policy = hospital_policy()
    source = Source(spread(spark, hospital(n=40), 2))
    n_cells = 40 * len({*policy.held, *keys_read(policy)})
    monkeypatch.setenv("MANYVEILS_WHOLE_CELLS", str(n_cells))
    assert brought(source, policy).height == 40
    monkeypatch.setenv("MANYVEILS_WHOLE_CELLS", str(n_cells - 1))
    assert brought(source, policy) is None


def test_persons_with_several_rows_are_refused(spark, tmp_path):
    """Somebody with several rows is refused, as where rows stay."""
    frame = pl.DataFrame({"name": ["a", "a", "b"], "age": [1, 2, 3]})
    policy = {
        "data": {"person": "name"},
        "attributes": {"name": {"role": "identifier"}, "age": {"role": "quasi"}},
        "guarantee": {"k": 1},
    }
    with pytest.raises(mv.InfeasibleError, match=r"3 rows are of 2 persons"):
        publish_to(policy, tmp_path / "out", data=spread(spark, frame, 1))
    assert not (tmp_path / "out").exists()
