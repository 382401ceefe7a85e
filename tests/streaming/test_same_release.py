"""A release that is made in so much memory is the one that is made of all rows in memory, byte by byte."""

import json
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
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
# Their rows are cut at the top and made part by part where they do not fit.
IN_PARTS = [
    {"method": "generalize", "recoding": "mondrian"},
    {"method": "slice"},
    {"method": "alpha-beta-k", "k": 2, "beta": 2},
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
@given(data=st.data(), publish=st.sampled_from([*METHODS, *IN_PARTS]), rows=st.integers(1, 30))
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


@contextmanager
def without_rows(part_rows):
    """Publish as if rows did not fit, and parts may have so many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine.Job, "_fits", lambda _: False)
        patched.setattr(Room, "part_rows", lambda *_: part_rows)
        yield


@settings(max_examples=30, deadline=None)
@given(
    data=st.data(),
    publish=st.sampled_from([*METHODS[:4], *IN_PARTS]),
    rows=st.integers(1, 9),
    part_rows=st.integers(1, 8),
)
def test_without_rows_in_memory(data, publish, rows, part_rows):
    """Where a method could look at rows and they do not fit, what is made instead keeps the promises too, by the oracle."""
    case = data.draw(cases(publish, largest=20))
    with without_rows(part_rows), TemporaryDirectory() as folder:
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


def hospital_for(publish):
    """The hospital's policy with promises that a method can keep."""
    promises = {"slice": {"l": 2, "l_kind": "frequency"}, "alpha-beta-k": {}}
    guarantee = promises.get(publish["method"], {"k": 4, "t": 0.5})
    return hospital_policy().replaced(publish=publish, guarantee=guarantee)


@pytest.mark.parametrize("publish", IN_PARTS, ids=lambda publish: publish["method"])
def test_parts(publish, tmp_path):
    """In several parts the promises are kept, nobody is lost, and the order of the rows tells nothing."""
    data, policy, found = hospital(n=300), hospital_for(publish), []
    with without_rows(75):
        for seed in (1, 2):
            rows = data.sample(fraction=1, shuffle=True, seed=seed)
            out, room = tmp_path / str(seed), Room(ROOM, batch_rows=17 * seed)
            published = publish_to(policy, out, data=rows, seed=1, memory=room)
            assert published.release.notes["parts"] > 3
            assert published.release.manifest.rows == 300
            found.append(contents(out))
    assert found[0] == found[1]
    assert mv.audit(tmp_path / "1", data, policy).kept


def test_part_that_cannot_be_cut(tmp_path):
    """Where promises allow no part that is small enough, how much memory its rows need is said."""
    policy = hospital_for(IN_PARTS[0]).replaced(guarantee={"k": 200})
    with without_rows(20), pytest.raises(InfeasibleError, match=r"300 rows cannot be cut further.* GB"):
        publish_to(policy, tmp_path / "out", data=hospital(n=300), memory=Room(ROOM))
    assert not list(tmp_path.iterdir())
