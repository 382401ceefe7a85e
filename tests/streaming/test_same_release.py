"""A release that is made in so much memory is the one that is made of all rows in memory, byte by byte."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.errors import InfeasibleError, InputError
from manyveils.publishing import publish_to
from manyveils.reading.secrets import as_published
from manyveils.streaming import engine
from manyveils.streaming.room import Room
from manyveils.table import hold, resolve
from tests.golden.cases import CASES, SEED, table
from tests.kit.reading import broken_promises
from tests.kit.strategies import cases

METHODS = [
    {"method": "generalize"},
    {"method": "anatomize"},
    {"method": "codip"},
    {"method": "separate"},
    {"method": "grade", "then": "generalize"},
    {"method": "guardian"},
]
ROOM = 2 * 10**9


def contents(folder):
    """All files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def findings(published):
    """What an audit found, in no order, but for what is worked out where all rows are."""
    found = published.audit.describe()["findings"]
    return sorted(json.dumps(one, sort_keys=True) for one in found if one["reading"] != "everybody")


def both(folder, policy, *, batch_rows, **arguments):
    """The same publication with all rows in memory, and batch by batch."""
    here = publish_to(policy, folder / "here", seed=SEED, **arguments)
    there = publish_to(
        policy, folder / "there", seed=SEED, memory=Room(ROOM, batch_rows=batch_rows), **arguments
    )
    return here, there


def are_same(here, there):
    """Whether bytes, notes and findings are the same."""
    assert contents(here.folder) == contents(there.folder)
    assert dict(here.release.notes) == dict(there.release.notes)
    assert findings(here) == findings(there)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_method(name, kind, tmp_path):
    """Every method with its main options, on odd cells: the same files, the same notes and the same audit."""
    source = tmp_path / "people.csv"
    source.write_text(table(), encoding="utf-8")
    are_same(*both(tmp_path, CASES[name], data=source, format=kind, batch_rows=17))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), publish=st.sampled_from(METHODS), rows=st.integers(1, 30))
def test_random_tables(data, publish, rows):
    """For random tables, policies and batches the releases are the same, or both are refused."""
    case = data.draw(cases(publish, largest=20))
    with TemporaryDirectory() as folder:
        out = Path(folder)
        try:
            here = publish_to(case.policy, out / "here", data=case.frame, seed=SEED)
        except (InfeasibleError, InputError) as error:
            with pytest.raises(type(error)):
                publish_to(
                    case.policy, out / "there", data=case.frame, seed=SEED, memory=Room(ROOM, batch_rows=rows)
                )
            return
        there = publish_to(
            case.policy, out / "there", data=case.frame, seed=SEED, memory=Room(ROOM, batch_rows=rows)
        )
        are_same(here, there)


@settings(max_examples=25, deadline=None)
@given(data=st.data(), publish=st.sampled_from(METHODS[:4]), rows=st.integers(1, 9))
def test_without_rows_in_memory(data, publish, rows):
    """Where a method could look at rows and they do not fit, what counts decide keeps the promises too, by the oracle."""
    case = data.draw(cases(publish, largest=20))
    fits = engine.Job._fits
    engine.Job._fits = lambda _: False
    try:
        with TemporaryDirectory() as folder:
            try:
                published = publish_to(
                    case.policy, Path(folder) / "out", data=case.frame, memory=Room(ROOM, batch_rows=rows)
                )
            except (InfeasibleError, InputError):
                return
            assert published.audit.kept
            original = as_published(published.release, hold(case.frame, case.policy)[0])
            promises = resolve(case.policy, original)
            assert not list(broken_promises(published.release, original, case.policy, promises))
    finally:
        engine.Job._fits = fits
