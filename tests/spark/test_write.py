"""Published tables as they are written: parts that are one sorted multiset, and nothing beside them."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyveils.audits.content import count_falls
from manyveils.release.packing import packing_of
from manyveils.spark import tallied, write
from manyveils.spark.write import write_sorted

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
CELLS = {
    "b": st.one_of(st.none(), st.integers(-3, 3)),
    "a b": st.one_of(st.none(), st.sampled_from(["", "é", "z", "Z", "a,b", 'say "so"', "😀", "\uffff"])),
    "x.y`": st.one_of(st.none(), st.booleans()),
    "n": st.one_of(st.none(), st.sampled_from([0.5, -1.0, 1e300, 2.0])),
}
SCHEMA = {"b": pl.Int64, "a b": pl.String, "x.y`": pl.Boolean, "n": pl.Float64}


def written(spark, frame, n_partitions, folder):
    """Write a frame, and read its parts in the order of their names."""
    plain = frame.rename({name: f"f{place}" for place, name in enumerate(frame.columns)})
    rows = spark.createDataFrame(plain.to_arrow()).repartition(n_partitions)
    write_sorted(rows, frame.columns, frame.height, folder)
    return [pl.read_parquet(part) for part in sorted(folder.iterdir())]


@pytest.mark.parametrize("most", [5, 1000])
@few
@given(data=st.data(), n_partitions=st.sampled_from([1, 3, 7]))
def test_parts_are_one_sorted_multiset(spark, tmp_path_factory, most, data, n_partitions):
    """Nothing is lost, nothing falls inside a part or from one to the next, and there are no other files."""
    rows = data.draw(st.lists(st.tuples(*CELLS.values()), min_size=12, max_size=40))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    folder = tmp_path_factory.mktemp("write") / "main.parquet"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(write, "ROWS_OF_A_PART", most)
        parts = written(spark, frame, n_partitions, folder)
    whole = pl.concat(parts)
    assert whole.columns == frame.columns
    assert Counter(whole.rows()) == Counter(frame.rows())
    assert count_falls(whole) == 0
    assert [path.name for path in folder.parent.iterdir()] == ["main.parquet"]
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"part-{place:05d}.parquet" for place in range(len(names))]
    assert len(names) == 1 if most == 1000 else len(names) <= -(-frame.height // most)


def test_several_parts(spark, tmp_path, monkeypatch):
    """Different rows go to as many parts as are needed, none of which is much too large."""
    monkeypatch.setattr(write, "ROWS_OF_A_PART", 50)
    parts = written(spark, pl.DataFrame({"n": range(199, -1, -1)}), 7, tmp_path / "main.parquet")
    assert len(parts) == 4
    assert max(part.height for part in parts) <= 100
    assert pl.concat(parts)["n"].to_list() == list(range(200))


def test_nothing_tells_how_it_was_made(spark, tmp_path):
    """Files hold the named columns and no word of the fields, the partitions or the folder they came from."""
    written(spark, pl.DataFrame({"age": [3, 1, 2]}), 3, tmp_path / "main.parquet")
    import pyarrow.parquet as pq

    [part] = (tmp_path / "main.parquet").iterdir()
    assert b"f0" not in part.read_bytes()
    assert str(tmp_path).encode() not in part.read_bytes()
    assert pq.read_metadata(part).metadata is None


def test_many_equal_rows(tmp_path, monkeypatch):
    """Of rows that are equal a task holds one, and writes them piece by piece."""
    monkeypatch.setattr(tallied, "ROWS_BEFORE", 10)
    monkeypatch.setattr(tallied, "ROWS_AT_ONCE", 7)
    frame = pl.DataFrame({"f0": [5] * 90 + [None, 7, 9]}).sample(fraction=1, shuffle=True, seed=1)
    batches = [each.to_arrow().to_batches()[0] for each in frame.iter_slices(4)]
    counted = tallied.tallied(iter(batches), ["f0"])
    assert counted.rows() == [(None, 1), (5, 90), (7, 1), (9, 1)]
    write._write(counted, ["n"], tmp_path / "part.parquet", None)
    assert pl.read_parquet(tmp_path / "part.parquet")["n"].to_list() == [None, *[5] * 90, 7, 9]


def test_packed_ranks(spark, tmp_path, monkeypatch):
    """Values take the place of their ranks, over several keys and parts, and buckets stay."""
    monkeypatch.setattr(write, "ROWS_OF_A_PART", 30)
    values = {f"v{place}": pl.Series([None, *range(1, 2**16)]) for place in range(5)}
    packing = packing_of(values)
    assert packing.names == ["k0", "k1"]
    rng = np.random.default_rng(1)
    ranks = [rng.choice([0, 1, 65535], 90) for _ in values]
    keys = dict(zip(packing.names, packing.packed(ranks), strict=True))
    rows = pl.DataFrame({"bucket": rng.integers(0, 2, 90), **keys})
    target = tmp_path / "main.parquet"
    write_sorted(spark.createDataFrame(rows.to_arrow()), ["bucket", *values], 90, target, values)
    parts = [pl.read_parquet(part) for part in sorted(target.iterdir())]
    shown = [each.gather(rank) for each, rank in zip(values.values(), ranks, strict=True)]
    expected = pl.DataFrame(
        [rows["bucket"], *(each.alias(name) for name, each in zip(values, shown, strict=True))]
    )
    assert len(parts) > 1
    assert pl.concat(parts).equals(expected.sort(pl.all(), nulls_last=False))


def test_many_buckets(spark, tmp_path, monkeypatch):
    """With many buckets parts are ranges of buckets, none of which is torn, of about as many rows."""
    monkeypatch.setattr(write, "ROWS_OF_A_PART", 700)
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 8, 600)
    rows = pl.DataFrame({"bucket": np.repeat(np.arange(600), sizes), "f0": rng.integers(0, 3, sizes.sum())})
    moved = spark.createDataFrame(rows.sample(fraction=1, shuffle=True, seed=1).to_arrow()).repartition(5)
    target = tmp_path / "main.parquet"
    write_sorted(moved, ["bucket", "n"], rows.height, target, None, 600)
    parts = [pl.read_parquet(part) for part in sorted(target.iterdir())]
    assert pl.concat(parts).rows() == sorted(rows.rows())
    assert [part["bucket"].n_unique() for part in parts] == [150] * 4


def test_no_row(spark, tmp_path):
    """A table without rows has its columns."""
    rows = spark.createDataFrame(pl.DataFrame({"f0": [1]}).to_arrow()).where("f0 > 1")
    write_sorted(rows, ["n"], 0, tmp_path / "main.parquet")
    [part] = (tmp_path / "main.parquet").iterdir()
    assert pl.read_parquet(part).schema == {"n": pl.Int64}


def test_lost_rows(spark, tmp_path):
    """A table that is not complete is not there."""
    rows = spark.createDataFrame(pl.DataFrame({"f0": [1, 2]}).to_arrow())
    with pytest.raises(AssertionError, match="3 rows were to be written"):
        write_sorted(rows, ["n"], 3, tmp_path / "main.parquet")
    assert not (tmp_path / "main.parquet").exists()
