"""The same data in any kind of frame: the same kind comes out, and the same release."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import manyveils as mv
from manyveils.datasets import hospital as patients
from manyveils.datasets import hospital_policy

METHODS = [
    {"method": "generalize", "suppression": 0.02},
    {"method": "generalize", "recoding": "mondrian"},
    {"method": "anatomize", "suppression": 0.02},
    {"method": "separate"},
]


class Capsule:
    """Something that speaks Arrow and is no known library's."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "polars": (lambda frame, folder: frame, pl.DataFrame),
    "lazy": (lambda frame, folder: frame.lazy(), pl.DataFrame),
    "pandas": (lambda frame, folder: frame.to_pandas(), pd.DataFrame),
    "pyarrow": (lambda frame, folder: frame.to_arrow(), pa.Table),
    "capsule": (lambda frame, folder: Capsule(frame.to_arrow()), pl.DataFrame),
    "csv": (lambda frame, folder: written(frame, folder / "p.csv"), pl.DataFrame),
    "text path": (lambda frame, folder: str(written(frame, folder / "p.csv")), pl.DataFrame),
    "parquet": (lambda frame, folder: written(frame, folder / "p.parquet"), pl.DataFrame),
    "feather": (lambda frame, folder: written(frame, folder / "p.feather"), pl.DataFrame),
}


def written(frame, path):
    """Write a frame by the ending of the path."""
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".feather": frame.write_ipc}[path.suffix](path)
    return path


@pytest.fixture(scope="module")
def frame():
    """The hospital table."""
    return patients(300)


@pytest.fixture(
    scope="module", params=METHODS, ids=lambda publish: publish.get("recoding", publish["method"])
)
def policy(request):
    """The hospital's policy, method by method."""
    return hospital_policy(publish=request.param)


@pytest.fixture(scope="module")
def expected(frame, policy):
    """What a Polars frame gives."""
    return mv.publish(frame, policy, seed=1)


def alike(one, other):
    """Whether two releases say the same, cell by cell, as a csv file would write it."""
    return one.manifest.rows == other.manifest.rows and {
        name: table.write_csv() for name, table in one.frames.items()
    } == {name: table.write_csv() for name, table in other.frames.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_same_kind_out(frame, policy, expected, tmp_path, kind):
    """Every kind of data gives the same release under the same seed, as frames of the kind that came in."""
    make, out = KINDS[kind]
    data = make(frame, tmp_path)
    release = mv.publish(data, policy, seed=1)
    assert release.tables
    assert {type(table) for table in release.tables.values()} == {out}
    assert alike(release, expected)
    audit = mv.audit(release, data, policy)
    assert audit.kept
    utility = mv.measure(release, data, policy)
    assert utility.describe() == mv.measure(expected, frame, policy).describe()


def test_pandas_index(frame):
    """A pandas index tells who is who; it does not matter and does not come out."""
    policy = hospital_policy()
    plain = frame.to_pandas()
    indexed = plain.set_index(pd.Index([f"Zq7{i}" for i in range(len(plain))], name="key"))
    assert alike(mv.publish(plain, policy, seed=1), mv.publish(indexed, policy, seed=1))


def test_data_stay_as_they_were(frame):
    """Publishing does not change the data that it was given."""
    data = frame.to_pandas()
    before = data.copy(deep=True)
    mv.publish(data, hospital_policy(), seed=1)
    pd.testing.assert_frame_equal(data, before)


def test_views(expected, policy):
    """Views name their columns as tuples of attributes, and tables are found by the names of the manifest."""
    for view in expected.views:
        assert isinstance(view.columns[0], tuple)
        assert isinstance(view.bucketed, bool)
    assert set(expected.tables) == {file.table for view in expected.views for file in view.files}


def test_representations_quote_nothing(frame, expected, policy):
    """What a notebook shows of a release, an audit or a policy holds no cell."""
    shown = repr(expected) + repr(mv.audit(expected, frame, policy)) + repr(policy) + str(policy)
    cells = {str(cell) for name in ("name", "record", "job", "insurance") for cell in frame[name].to_list()}
    assert not [cell for cell in cells if cell in shown]
