"""Where pages go: never into a release, whole or not at all, and the owner's for its owner alone."""

import os
import shutil

import pytest


@pytest.fixture
def shelf(desk):
    """A desk with a release on it."""
    desk.published()
    return desk


def words(shelf, *more):
    """Words that ask for a report with one attack."""
    return (
        "report", shelf.out, "--policy", shelf.folder / "policy.toml", "--only", "homogeneity", *more
    )  # fmt: skip


def test_a_page_never_goes_into_a_release(shelf):
    """Neither page may stand in the release folder, which could not be read any more."""
    inside = shelf.out / "report.html"
    assert "inside the release" in shelf.refused(*words(shelf, "--out", inside))
    assert "inside the release" in shelf.refused("report", shelf.out, "--public", "--out", inside)
    link = shelf.folder / "link"
    link.symlink_to(shelf.out)
    assert "inside the release" in shelf.refused(*words(shelf, "--out", link / "tables" / "x.html"))


def test_a_page_cannot_stand_in_a_file(shelf):
    """A page inside a file, or with a name that no disk takes, is refused at once."""
    said = shelf.refused(*words(shelf, "--out", shelf.folder / "policy.toml" / "x.html"))
    assert "is a file" in said
    said = shelf.refused(*words(shelf, "--out", shelf.folder / ("x" * 300 + ".html")))
    assert "cannot be written" in said


def test_folders_are_made_for_a_page(shelf):
    """Missing folders are made, and what is the owner's is closed to others from the first moment."""
    private = shelf.folder / "a" / "b"
    umask = os.umask(0)
    try:
        assert shelf.run(*words(shelf, "--private", private)).status == 0
    finally:
        os.umask(umask)
    assert (private / "report.html").stat().st_mode & 0o777 == 0o600
    assert private.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in private.iterdir()] == ["report.html"]


def test_here_is_a_place(shelf, monkeypatch):
    """A release can be named `.`; its pages go beside it."""
    monkeypatch.chdir(shelf.out)
    assert shelf.run("report", ".", "--public").status == 0
    assert shelf.run("report", ".", *words(shelf)[2:]).status == 0
    assert (shelf.folder / "out.html").is_file()
    assert (shelf.folder / "out.private" / "report.html").is_file()


def test_a_release_without_a_private_folder(shelf):
    """A release that lost its private folder can be reported on, and still be replaced by force."""
    shutil.rmtree(shelf.folder / "out.private")
    assert shelf.run(*words(shelf)).status == 0
    assert shelf.publish("--force").status == 0


def test_what_the_public_page_does_not_need(shelf):
    """Options that compare with the original are refused beside --public, all at once."""
    said = shelf.refused(
        "report", shelf.out, "--public", "--only", "linkage", "--data", shelf.folder / "people.csv"
    )
    assert "--only" in said
    assert "--data" in said
