"""Same policy, same data, same seed: the same bytes as when these releases were recorded."""

from pathlib import Path

import pytest

import manyveils as mv
from manyveils.publishing import publish_to
from tests.golden.cases import CASES, FOLDER, SEED, table


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
