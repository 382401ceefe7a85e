"""What is judged batch by batch, and part by part, is judged as all rows at once are."""

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.arguments import licence_of, read_policy
from manyveils.datasets import hospital
from manyveils.errors import InfeasibleError, InputError
from manyveils.publishing import publish_to
from manyveils.streaming import audit as streamed
from manyveils.streaming.engine import job_of
from manyveils.streaming.room import Room
from manyveils.table.counting import TooManyError
from tests.golden.cases import CASES, SEED, table
from tests.kit.strategies import cases
from tests.streaming.test_same_release import IN_PARTS, METHODS, hospital_for, without_rows

ROOM = Room(2 * 10**9, batch_rows=7)
# What is judged at once where whole groups are, and not where rows are read twice as fast.
TAMPERED = ["generalize", "anatomize", "guardian", "separate", "grade-generalize"]


def told(verdict):
    """Findings, in no order."""
    return sorted(json.dumps(found, sort_keys=True) for found in verdict.describe()["findings"])


@contextmanager
def in_parts(most_cells):
    """Judge as if so few cells fitted that rows are judged group by group."""
    here = streamed.StreamedAudit._here

    def refused(self):
        raise TooManyError([])

    streamed.StreamedAudit._here = refused
    fitting = Room.most_judged
    Room.most_judged = property(lambda _: most_cells)
    try:
        yield
    finally:
        streamed.StreamedAudit._here, Room.most_judged = here, fitting


def judged(folder, data, policy, room=ROOM):
    """The audit batch by batch."""
    policy = read_policy(policy)
    with TemporaryDirectory() as aside, job_of(data, policy, room, Path(aside), lambda *_: None) as job:
        return job.audit(folder, licence_of(policy))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), publish=st.sampled_from(METHODS), most_cells=st.integers(1, 60))
def test_in_parts(data, publish, most_cells):
    """Part by part, however few groups are in one, the findings are those of all rows at once."""
    case = data.draw(cases(publish, largest=24))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        try:
            mv.publish(case.frame, case.policy, seed=SEED).save(out)
        except (InfeasibleError, InputError):
            return
        expected = mv.audit(out, case.frame, case.policy)
        with in_parts(most_cells):
            try:
                found = judged(out, case.frame, case.policy)
            except InfeasibleError:
                # Some promise looks at several views, or at more than one group, at once.
                return
        assert told(found) == told(expected)


def measured(verdict):
    """What was measured of promises, in no order; who is alike in a part may be told apart by labels of another."""
    return sorted(
        (found.named, found.attribute, found.reading, found.measured, found.kept, found.rows_short)
        for found in verdict.findings
        if found.reading not in ("release", "everybody")
    )


@pytest.mark.parametrize("publish", IN_PARTS, ids=lambda publish: publish["method"])
def test_made_in_parts(publish, tmp_path):
    """A release that was made in parts is judged in parts, by groups or between seams, as all rows at once are."""
    data, policy = hospital(n=300), hospital_for(publish)
    with without_rows(75):
        publish_to(policy, tmp_path / "out", data=data, seed=SEED, memory=ROOM)
        expected = mv.audit(tmp_path / "out", data, policy)
        with in_parts(400):
            found = judged(tmp_path / "out", data, policy)
    assert measured(found) == measured(expected)


def test_slices_without_seams(tmp_path):
    """Slices in which every bucket may hold anybody are not judged in parts, and not taken for kept."""
    data, policy = hospital(n=300), hospital_for({"method": "slice", "partition": "random", "bucket": 40})
    mv.publish(data, policy, seed=SEED).save(tmp_path / "out")
    with without_rows(50), in_parts(400), pytest.raises(InfeasibleError, match="too many of them at once"):
        judged(tmp_path / "out", data, policy)


@pytest.mark.parametrize("name", TAMPERED)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tampered(name, kind, tmp_path):
    """Whatever is changed in a file, the audit batch by batch finds what the audit in memory finds."""
    source = tmp_path / "people.csv"
    source.write_text(table(), encoding="utf-8")
    mv.publish(source, CASES[name], seed=SEED).save(tmp_path / "out", format=kind)
    paths = sorted((tmp_path / "out" / "tables").iterdir())
    for number, change in enumerate((reversed_rows, doubled_row, exchanged, marked)):
        folder = tmp_path / f"changed{number}"
        shutil.copytree(tmp_path / "out", folder)
        change(folder / "tables" / paths[0].name)
        expected = mv.audit(folder, source, CASES[name])
        assert not expected.kept
        assert told(judged(folder, source, CASES[name])) == told(expected), change.__name__


def rewritten(path, frame):
    """Write a frame as it is always written."""
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)


def read(path):
    """Read a file as texts or as it is."""
    return pl.read_csv(path, infer_schema=False) if path.suffix == ".csv" else pl.read_parquet(path)


def reversed_rows(path):
    """Rows in an order that tells."""
    rewritten(path, read(path).reverse())


def doubled_row(path):
    """One row twice, and another gone."""
    frame = read(path)
    rewritten(path, pl.concat([frame.head(1), frame.head(frame.height - 1)]))


def exchanged(path):
    """The values of one column against each other."""
    frame = read(path)
    rewritten(
        path,
        frame.with_columns(
            frame.to_series(frame.width - 1).shift(1, fill_value=None).fill_null(strategy="backward")
        ),
    )


def marked(path):
    """A mark that no reader sees."""
    if path.suffix == ".csv":
        lines = path.read_text(encoding="utf-8").split("\n")
        cells = lines[1].split(",")
        lines[1] = ",".join([*cells[:-1], f'"{cells[-1]}"' if not cells[-1].startswith('"') else cells[-1]])
        path.write_text(
            "\n".join(lines) + "\n\n"[: 0 if lines[1] != ",".join(cells) else 1], encoding="utf-8"
        )
    else:
        pl.read_parquet(path).write_parquet(path, compression="snappy")


def test_from_the_command_line(desk):
    """`audit --memory` says what `audit` says, of a release that was published in so much memory."""
    desk.published("--memory", "1GB")
    words = ["audit", desk.out, "--policy", desk.folder / "policy.toml", "--json"]
    here, there = desk.run(*words).document, desk.run(*words, "--memory", "1GB").document
    assert here["kept"]
    assert sorted(map(str, here["findings"])) == sorted(map(str, there["findings"]))
    assert not [path for path in desk.folder.iterdir() if path.name.startswith(".")]


def test_bare_tables_are_held_in_memory(desk):
    """A table that something else published is refused with the limit, instead of being read beyond it."""
    result = desk.run(
        "audit", desk.folder / "people.csv", "--policy", desk.folder / "policy.toml", "--memory", "1GB"
    )
    assert result.status == 2
    assert "goes with a release folder" in result.stderr
