"""Placements are in the private folder alone, and a judge who finds none says where they are."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.arguments import read_release
from manyveils.audits import audit
from manyveils.policy import Policy
from manyveils.release import Draft, seal
from manyveils.release.placements import private_folder, write_placements
from tests.kit.people import held_by

POLICY = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "categorical"},
    },
    guarantee={"k": 2, "l": 2},
    publish={"method": "anatomize"},
)
# Whose row it is, what is known, what is not, and the bucket.
ROWS = [
    (0, "x", "a", 0),
    (0, "x", "b", 0),
    (1, "x", "a", 0),
    (2, "y", "c", 1),
    (3, "y", "b", 1),
    (2, "y", "c", 1),
]


def released(rows, **shape):
    """A release of hand-made rows, and the table with the person of each row."""
    frame = pl.DataFrame({"q": [row[1] for row in rows], "s": [row[2] for row in rows]})
    table = held_by(frame, POLICY, [row[0] for row in rows])
    kept = shape.get("kept", np.arange(len(rows)))
    buckets = np.array([rows[index][3] for index in kept], dtype=np.int64)
    draft = Draft("main", (("q",), ("s",)), kept, buckets)
    return seal([draft], table, POLICY, lambda frame: frame, notes={}, rng=np.random.default_rng(1)), table


def named(verdict, promise, reading=None):
    return next(f for f in verdict.findings if f.promise == promise and reading in (None, f.reading))


def test_placements_are_found_beside_the_release(tmp_path):
    """A release in a folder is read with the placements of its private folder, or of the one that is named."""
    release, table = released(ROWS)
    out = release.save(tmp_path / "out")
    assert not any("placements" in path.name for path in out.rglob("*"))
    assert private_folder(out).stat().st_mode & 0o777 == 0o700
    (private_folder(out) / "placements.parquet").unlink()
    assert not read_release(out).placements
    for folder, private in ((private_folder(out), None), (tmp_path / "elsewhere", tmp_path / "elsewhere")):
        folder.mkdir(exist_ok=True)
        write_placements(release.placements, folder / "placements.parquet")
        read = read_release(out, private)
        assert (read.placements["main"] == release.placements["main"]).all()
        verdict = audit(read, table, POLICY)
        assert verdict.kept
        assert named(verdict, "k-anonymity").measured == 2
        (folder / "placements.parquet").unlink()


def test_a_damaged_file_of_placements_is_refused(tmp_path):
    """What is no table is not read, and nothing of it is shown."""
    release, _ = released(ROWS)
    out = release.save(tmp_path / "out")
    (private_folder(out) / "placements.parquet").write_text("not a table")
    with pytest.raises(mv.DataError, match="damaged"):
        read_release(out)


def test_a_private_folder_that_is_named_must_be_there(tmp_path):
    """Naming a folder that is not there is a slip, and no release without one."""
    release, _ = released(ROWS)
    out = release.save(tmp_path / "out")
    for read in (out, release):
        with pytest.raises(mv.DataError, match="is not a folder"):
            read_release(read, tmp_path / "elsewhere")


def test_what_cannot_be_told_is_not_kept_and_the_message_says_where_to_look():
    """Rows that nobody can put into buckets keep nothing, and the private folder is named."""
    release, table = released(ROWS)
    release.placements = {}
    file = release.views[0].files[1]
    release.frames[file.table] = release.frames[file.table].with_columns(
        s=pl.Series(
            ["c" if index == 0 else value for index, value in enumerate(release.frames[file.table]["s"])]
        )
    )
    verdict = audit(release, table, POLICY)
    assert verdict.untold == ("main",)
    finding = named(verdict, "k-anonymity")
    assert (finding.measured, finding.kept) == (None, False)
    with pytest.raises(mv.BrokenPromise, match="private folder"):
        verdict.refuse_broken()


def test_one_persons_rows_are_no_group():
    """Three rows of one person are a group of one, whatever their number."""
    rows = [(0, "x", "a", 0), (0, "x", "b", 0), (0, "x", "c", 0), (1, "y", "a", 1), (2, "y", "b", 1)]
    verdict = audit(*released(rows), POLICY)
    broken = {(finding.promise, finding.measured, finding.rows_short) for finding in verdict.broken}
    assert broken == {("k-anonymity", 1, 3), ("distinct-l-diversity", 1, 3)}


def test_a_person_of_whom_only_some_rows_are_left_out_is_noticed():
    """Suppression takes whole persons, a share of all of them."""
    wanted = POLICY.replaced(publish={"method": "anatomize", "suppression": 0.25})
    release, table = released(ROWS, kept=np.array([0, 2, 3, 4, 5]))
    verdict = audit(release, table, wanted)
    assert named(verdict, "persons-whole").measured == 1
    assert named(verdict, "suppression").measured == 0
    release, table = released(ROWS, kept=np.array([0, 1, 2, 4]))
    verdict = audit(release, table, wanted)
    assert named(verdict, "persons-whole").kept
    assert (named(verdict, "suppression").measured, named(verdict, "suppression").required) == (1, 1)


def test_a_placement_that_lies_about_persons_changes_nothing():
    """A witness that puts another person's rows into a bucket is not believed where the files say otherwise."""
    rows = [(0, "x", "a", 0), (0, "x2", "b", 0), (1, "y", "a", 1), (2, "y2", "b", 1)]
    release, table = released(rows)
    lie = release.placements["main"].copy()
    lie[[1, 3]] = lie[[3, 1]]
    honest = audit(release, table, POLICY)
    release.placements = {"main": lie}
    assert [f.measured for f in audit(release, table, POLICY).findings] == [
        f.measured for f in honest.findings
    ]
    assert not honest.kept


def test_a_saved_release_can_be_audited(tmp_path: Path) -> None:
    """Saving from Python keeps placements beside the release, never in it; saving again replaces both."""
    frame, policy = mv.datasets.visits(400), mv.datasets.visit_policy(publish={"method": "anatomize"})
    release = mv.publish(frame, policy, seed=1)
    for _ in range(2):
        release.save(tmp_path / "out", force=True)
        assert mv.audit(tmp_path / "out", frame, policy).kept
    private = {path.name for path in (tmp_path / "out.private").iterdir()}
    assert private == {"placements.parquet", "ledger.zip", "release.sha256"}
    assert not any(list((tmp_path / "out").rglob(name)) for name in private)
    with pytest.raises(mv.InputError, match="is there already"):
        release.save(tmp_path / "out")
    rows = policy.replaced(data={"person": "row"}, attributes=_changing(policy))
    mv.publish(frame, rows, seed=1).save(tmp_path / "rows")
    assert not (tmp_path / "rows.private").exists()


def _changing(policy: mv.Policy) -> dict[str, object]:
    """The attributes with none that is constant."""
    attributes = policy.model_dump(exclude_unset=True, by_alias=True)["attributes"]
    attributes["blood"].pop("constant")
    return dict(attributes)


@pytest.mark.parametrize("content", ["", "0f3", "\xe9", "z" * 64])
def test_damaged_digest(desk, content):
    """A digest that is empty, cut off or garbled is called damaged, and the release not changed."""
    desk.published()
    path = desk.folder / "out.private" / "release.sha256"
    path.write_text(content, encoding="latin-1")
    words = ["audit", desk.out, "--policy", desk.folder / "policy.toml"]
    assert "release.sha256: is damaged: it cannot be read." in desk.refused(*words)
    assert "is damaged" in desk.refused(*words, "--memory", "1GB")
    path.unlink()
    assert desk.run(*words).status == 0
