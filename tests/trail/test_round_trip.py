"""Saving and loading: what is read back is what was published, types and gaps included."""

import datetime

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import manyveils as mv

N = 24
COLUMNS = {
    "whole": [i % 3 for i in range(N)],
    "part": [i % 3 + 0.25 for i in range(N)],
    "flag": [i % 2 == 0 for i in range(N)],
    "day": [datetime.date(2020, 1, 1 + i % 3) for i in range(N)],
    "text": [["a", "b;c", 'd "e", f'][i % 3] for i in range(N)],
    "illness": [f"ill {i % 4}" for i in range(N)],
}


def with_gaps(frame):
    """Leave the first cells of every column but the last missing."""
    first = pl.int_range(pl.len()) < 4
    return frame.with_columns(pl.when(~first).then(pl.col(name)).alias(name) for name in frame.columns[:-1])


def policy(method, role):
    """One role for every column but the sensitive one, and a first one that is a quasi-identifier."""
    attributes = {name: {"role": role} for name in COLUMNS}
    attributes |= {"whole": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    accepted = ["near-copy: flag + illness"]
    return mv.Policy(
        accept=accepted, attributes=attributes, guarantee={"k": 2, "l": 2}, publish={"method": method}
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("role", ["quasi", "neutral"])
@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate"])
@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
def test_round_trip(tmp_path, form, role, method, gaps):
    """Whole numbers, fractions, truth values, dates, texts and gaps come back as they were."""
    frame = pl.DataFrame(COLUMNS)
    frame = with_gaps(frame) if gaps else frame
    release = mv.publish(frame, policy(method, role), seed=1)
    assert release.save(tmp_path / "out", format=form) == tmp_path / "out"
    loaded = mv.Release.load(tmp_path / "out")
    assert loaded.manifest == release.manifest
    assert set(loaded.frames) == set(release.frames)
    for name, table in release.frames.items():
        assert_frame_equal(loaded.frames[name], table)
    for key, recoding in release.recodings.items():
        assert_frame_equal(loaded.recodings[key], recoding)
    assert mv.audit(loaded, frame, policy(method, role)).kept
    assert mv.audit(tmp_path / "out", frame, policy(method, role)).kept


@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate"])
def test_other_types(tmp_path, method):
    """Moments, times of day, decimals, categories, small and very long integers can be published and audited from their files."""
    frame = pl.DataFrame(
        {
            "moment": [datetime.datetime(2020, 1, 1, 1 + i % 3) for i in range(N)],
            "clock": [datetime.time(1 + i % 3) for i in range(N)],
            "price": pl.Series([f"1.{i % 3}" for i in range(N)]).cast(pl.Decimal(10, 2)),
            "kind": pl.Series([f"kind {i % 3}" for i in range(N)], dtype=pl.Categorical),
            "level": pl.Series(
                [f"level {i % 3}" for i in range(N)], dtype=pl.Enum([f"level {i}" for i in range(4)])
            ),
            "small": pl.Series([i % 3 for i in range(N)], dtype=pl.UInt8),
            "single": pl.Series([i % 3 + 0.1 for i in range(N)], dtype=pl.Float32),
            "long": pl.Series([2**63 + i % 3 for i in range(N)], dtype=pl.UInt64),
            "nothing": pl.Series([None] * N),
            "illness": COLUMNS["illness"],
        }
    )
    attributes = {name: {"role": "quasi"} for name in frame.columns} | {"illness": {"role": "sensitive"}}
    rules = mv.Policy(attributes=attributes, guarantee={"k": 2, "l": 2}, publish={"method": method})
    release = mv.publish(frame, rules, seed=1)
    for form in ("csv", "parquet"):
        assert mv.audit(release.save(tmp_path / form, format=form), frame, rules).kept


def test_awkward_names(tmp_path):
    """Attributes whose names make no safe or short file names are published, and the manifest finds them."""
    names = ["a/b", "a_b", "A/B", "..", "x" * 300, "né:*?", "con", "a b"]
    frame = pl.DataFrame(
        {name: [i % 3 for i in range(N)] for name in names} | {"illness": COLUMNS["illness"]}
    )
    attributes = {name: {"role": "quasi"} for name in names} | {"illness": {"role": "sensitive"}}
    for method in ("generalize", "anatomize", "separate"):
        rules = mv.Policy(attributes=attributes, guarantee={"k": 2, "l": 2}, publish={"method": method})
        release = mv.publish(frame, rules, seed=1)
        loaded = mv.Release.load(release.save(tmp_path / method))
        assert loaded.manifest == release.manifest
        assert mv.audit(loaded, frame, rules).kept


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["r[1]", "r*", "r?"])
def test_folders_whose_names_look_like_patterns(tmp_path, form, name):
    """A release is read from its own folder, and from none that its name fits as a pattern."""
    frame = pl.DataFrame(COLUMNS)
    asked = policy("generalize", "quasi")
    mv.publish(pl.concat([frame, frame]), asked, seed=1).save(tmp_path / "r1", format=form)
    here = mv.publish(frame, asked, seed=1)
    here.save(tmp_path / name, format=form)
    assert_frame_equal(mv.Release.load(tmp_path / name).frames["main"], here.frames["main"])
    assert mv.audit(tmp_path / name, frame, asked).kept
