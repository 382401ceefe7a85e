"""Places where a release cannot go: it appears whole or not at all."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import manyveils as mv
from manyveils.release import folder as folders
from manyveils.release.folder import staged


def test_folder_exists(desk):
    """An existing release is refused without --force, and replaced with it."""
    desk.policy(publish={"method": "separate"})
    desk.published()
    assert "out: is there already. Choose another place, or give --force." in desk.refused()
    desk.policy(publish={"method": "generalize"})
    assert desk.publish("--force").status == 0
    assert {path.name for path in (desk.out / "tables").iterdir()} == {"main.csv"}
    assert sorted(path.name for path in desk.folder.iterdir()) == [
        "out",
        "out.private",
        "people.csv",
        "policy.toml",
    ]


def test_private_folder_exists(desk):
    """An existing private folder is refused too, before anything is written."""
    desk.published()
    (desk.out).rename(desk.folder / "moved")
    assert "out.private: is there already" in desk.refused()


def test_a_taken_place_is_refused_before_any_work(desk):
    """A folder that is there already is refused before the data are read, for a release and for a comparison."""
    desk.published()
    (desk.folder / "people.csv").unlink()
    policy = desk.folder / "policy.toml"
    assert "out: is there already" in desk.refused()
    assert "out: is there already" in desk.refused("compare", policy, "--out", desk.out, "--workers", 1)


def test_force_spares_other_folders(desk):
    """Force replaces releases; a folder that holds something else is never deleted."""
    desk.out.mkdir()
    (desk.out / "thesis.tex").write_text("three years")
    message = desk.refused("publish", desk.folder / "policy.toml", "--out", desk.out, "--force")
    assert "is there already, and it is not a release or a demo. Choose another place." in message


def test_force_on_an_empty_folder(desk):
    """An empty folder may be replaced by force, and only by force."""
    desk.out.mkdir()
    assert "is there already" in desk.refused()
    assert desk.publish("--force").status == 0


def test_file_in_the_way(desk):
    """A file is never replaced."""
    desk.data("Zq7", "out")
    assert "is there already" in desk.refused()
    assert "Choose another place." in desk.refused(
        "publish", desk.folder / "policy.toml", "--out", desk.out, "--force"
    )


@pytest.mark.parametrize("place", ["people.csv/out", "people.csv/a/b/out", "x" * 300])
def test_not_writable(desk, place):
    """A place that cannot be written is refused, and folders made on the way are gone again."""
    assert "cannot be written" in desk.refused(
        "publish", desk.folder / "policy.toml", "--out", desk.folder / place
    )


def test_private_not_writable(desk):
    """A private place that cannot be written stops the release too."""
    private = desk.folder / "people.csv" / "private"
    words = (
        "publish",
        desk.folder / "policy.toml",
        "--out",
        desk.folder / "new" / "out",
        "--private",
        private,
    )
    assert "cannot be written" in desk.refused(*words)


@pytest.mark.parametrize("place", [".", "", "/", ".."])
def test_here(desk, place):
    """The folder one stands in, or one around it, is not a place for a release."""
    assert "is there already" in desk.refused(
        "publish", desk.folder / "policy.toml", "--out", place, "--force"
    )


@pytest.mark.parametrize("inside", ["out", "out/private", "."])
def test_private_inside(desk, inside):
    """Private things never go into the release, nor around it."""
    words = ("publish", desk.folder / "policy.toml", "--out", desk.out, "--private", desk.folder / inside)
    assert "--private: lies in the release folder or around it." in desk.refused(*words)


def test_force_spares_what_lies_beside_a_release(desk):
    """A folder that holds anything besides a release is not replaced, even by force."""
    desk.folder.joinpath("mixed").mkdir()
    desk.folder.joinpath("mixed", "release.json").write_text("{}")
    desk.folder.joinpath("mixed", "thesis.txt").write_text("precious")
    words = ("publish", desk.folder / "policy.toml", "--out", desk.folder / "mixed", "--force")
    assert "not a release or a demo" in desk.refused(*words)
    assert desk.folder.joinpath("mixed", "thesis.txt").read_text() == "precious"


def test_demo_spares_other_folders(desk):
    """The demo replaces an earlier demo and nothing else."""
    assert "is there already" in desk.refused("demo", "--out", desk.folder)
    desk.data("", "hospital.csv")
    assert "not a release or a demo" in desk.refused("demo", "--out", desk.folder)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_full_disk(desk, form):
    """A disk that fills up while writing leaves nothing behind, in either form, here or in the private folder."""
    desk.data(
        "\n".join(["name,age,city,illness", *(f"Zq7,{i},Zq7city{i},Zq7ill{i % 99}" for i in range(20_000))])
    )
    desk.policy(data={"person": "row"}, publish={"method": "separate"})
    small = desk.folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        words = ("publish", desk.folder / "policy.toml", "--format", form)
        message = desk.refused(*words, "--out", small / "new" / "out")
        assert "cannot be written" in message
        assert "No space left on device" in message
        assert "No space left on device" in desk.refused(
            *words, "--out", small / "out", "--private", desk.folder / "private"
        )
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_full_device(desk, monkeypatch, form):
    """What the library raises for a full device becomes a refusal; the device is the real one."""
    write = getattr(pl.DataFrame, f"write_{form}")
    monkeypatch.setattr(
        pl.DataFrame, f"write_{form}", lambda frame, path, **options: write(frame, "/dev/full")
    )
    message = desk.refused(
        "publish", desk.folder / "policy.toml", "--format", form, "--out", desk.folder / "a/b/out"
    )
    assert "No space left on device" in message


@pytest.mark.parametrize("name", ["release.json", "audit.json", "seed.json"])
def test_full_at_the_last_file(desk, monkeypatch, name):
    """A disk that fills up at any later file leaves nothing behind either."""
    write = Path.write_text

    def full(path, *arguments, **options):
        if path.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", full)
    assert "No space left on device" in desk.refused()


def test_full_when_flushed(desk, monkeypatch):
    """A disk that says only at the end that it is full is believed."""

    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in desk.refused()


def test_force_keeps_the_old_one_on_failure(desk, monkeypatch):
    """A release that fails to appear leaves the one that was there, even by force and at the last moment."""
    desk.published()
    before = {path: path.read_bytes() for path in desk.out.rglob("*") if path.is_file()}
    monkeypatch.setattr("manyveils.release.folder._exchanged", lambda one, other: False)
    rename = Path.rename

    def stubborn(path, target):
        if Path(target) == desk.out and path.name.startswith(".out.") and "old" not in path.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stubborn)
    assert desk.publish("--force").status == 2
    assert {path: path.read_bytes() for path in desk.out.rglob("*") if path.is_file()} == before


def test_someone_was_faster(tmp_path):
    """A folder that came into being during the work is not overwritten."""
    target = tmp_path / "out"
    with pytest.raises(mv.InputError, match="is there already"), staged(target):  # noqa: PT012
        target.mkdir()
        (target / "theirs").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (target / "theirs").exists()


def test_marks_of_ours(tmp_path):
    """What may be replaced by force is told by files that releases, private folders and demos have."""
    (tmp_path / "release.json").touch()
    folders.refuse_existing(tmp_path, force=True)
    (tmp_path / "release.json").unlink()
    (tmp_path / "other").touch()
    with pytest.raises(mv.InputError):
        folders.refuse_existing(tmp_path, force=True)


def test_save_from_python(desk):
    """Saving from Python refuses the same places with the same error."""
    release = mv.publish(desk.folder / "people.csv", desk.folder / "policy.toml")
    release.save(desk.out)
    with pytest.raises(mv.InputError, match="is there already"):
        release.save(desk.out)
    with pytest.raises(mv.InputError, match="must be csv or parquet"):
        release.save(desk.folder / "other", format="xlsx")
    assert not (desk.folder / "other").exists()
