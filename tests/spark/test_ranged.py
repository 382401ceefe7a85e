"""Ranges of bucket numbers: together they have every row once, whatever the numbers, and files are not believed."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to
from manyveils.spark import ranged
from tests.spark.conftest import spread

BUCKETS = st.lists(st.one_of(st.integers(-5, 20), st.integers(-(2**62), 2**62)), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@given(files=st.lists(BUCKETS, min_size=1, max_size=4), n_parts=st.integers(1, 9))
def test_every_row_is_in_one_range(files, n_parts):
    """All ranges together have the rows of all files, and no bucket stands in two."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"part-{place:05d}.parquet" for place in range(len(files))]
        frames = [pl.DataFrame({"bucket": own}) for own in files]
        for path, frame in zip(paths, frames, strict=True):
            frame.write_parquet(path)
        ends = [np.array([end(own) for own in files]) for end in (min, max)]
        sizes = np.array([frame.height for frame in frames])
        blocks = ranged.Blocks(["t"] * len(files), paths, *ends, sizes)
        judge = SimpleNamespace(
            tables={"t": SimpleNamespace(empty=pl.DataFrame(schema={"bucket": pl.Int64}))}
        )
        task = ranged._Task(judge, blocks, [None, *blocks.edges(n_parts).tolist(), None])
        read = [
            task._read("t", blocks.within(*edges).get("t", []), *edges)
            for edges in zip(task.edges[:-1], task.edges[1:], strict=True)
        ]
    assert len(read) <= n_parts
    rows = pl.concat(frames).to_series().to_list()
    assert sorted(pl.concat(read).to_series()) == sorted(rows)
    assert sum(frame["bucket"].n_unique() for frame in read) == len(set(rows))


def test_ranges_have_about_as_many_rows():
    """Where buckets are numbered without gaps, no range has twice as many rows as another."""
    low = np.arange(0, 1000, 100)
    blocks = ranged.Blocks(["t"] * 10, [Path(str(start)) for start in low], low, low + 99, np.full(10, 500))
    edges = blocks.edges(7)
    assert edges.tolist() == sorted(set(edges.tolist()))
    assert np.ptp(np.diff([0, *edges, 1000])) <= 1
    assert blocks.within(int(edges[2]), int(edges[3]))["t"] == [Path("400"), Path("500")]


def test_files_that_lie_are_not_believed(spark, tmp_path, monkeypatch):
    """A release whose files have other buckets than they say is refused, and not judged from some of its rows."""
    frame, policy = hospital(n=200), hospital_policy()
    policy = policy.replaced(publish={"method": "anatomize"}, guarantee={"l": 2, "l_kind": "frequency"})
    publish_to(policy, tmp_path / "out", data=frame, format="parquet", seed=1)
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "300")
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "60")
    rows = spread(spark, frame, 2)
    assert mv.audit(tmp_path / "out", rows, policy).kept
    told = ranged._blocks
    # Of one column, files say that all of their buckets are low.
    monkeypatch.setattr(
        ranged,
        "_blocks",
        lambda tables: replace(
            blocks := told(tables), high=np.where(np.arange(blocks.low.size), blocks.high, 3)
        ),
    )
    with pytest.raises(mv.DataError, match="other buckets than they say"):
        mv.audit(tmp_path / "out", rows, policy)
