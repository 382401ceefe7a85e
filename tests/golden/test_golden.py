"""Same policy, same data, same seed: the same bytes as when these releases were recorded."""

from pathlib import Path

import pytest

import manyveils as mv
from manyveils.methods import METHODS
from manyveils.publishing import publish_to
from tests.golden.cases import CASES, FOLDER, N_ROWS, SEED, table


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CASES)
def test_a_release_is_what_it_was(name: str, tmp_path: Path) -> None:
    """Every file of a release has the bytes it had; where that is meant to change, `make golden` records anew."""
    data = tmp_path / "people.csv"
    data.write_text(table(), encoding="utf-8")
    policy = mv.Policy(**{**CASES[name], "data": {**CASES[name]["data"], "source": str(data)}})
    publish_to(policy, tmp_path / "out", seed=SEED)
    assert _bytes(tmp_path / "out") == _bytes(FOLDER / name)


def test_every_kept_release_is_made() -> None:
    """No recorded folder is left behind by a case that is gone."""
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_kept_release_is_read(name: str, tmp_path: Path) -> None:
    """A folder of this format is read as it was published, answers, is audited as kept, and is written again the same."""
    data = tmp_path / "people.csv"
    data.write_text(table(), encoding="utf-8")
    policy = mv.Policy(**{**CASES[name], "data": {**CASES[name]["data"], "source": str(data)}})
    release = mv.Release.load(FOLDER / name)
    assert release.rows + release.suppressed == N_ROWS
    assert release.sample(5, seed=1).height == 5
    shown = {attribute for view in release.views for attribute in view.attributes}
    if "ill" in shown - {*release.manifest.secret}:
        count = release.count("ill = 'flu'")
        assert 0 <= count.low <= count.estimate <= count.high <= release.rows
    if not release.manifest.secret:
        assert mv.audit(release, data, policy).kept
    release.write(_made(tmp_path / "again"))
    assert _bytes(tmp_path / "again") == _bytes(FOLDER / name)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_every_method_has_a_kept_release() -> None:
    """There is a folder of this format by every method, of one and of several views, with and without buckets."""
    releases = [mv.Release.load(path) for path in sorted(FOLDER.iterdir())]
    assert {release.manifest.method for release in releases} == set(METHODS)
    assert {len(release.views) > 1 for release in releases} == {True, False}
    assert {view.bucketed for release in releases for view in release.views} == {True, False}
