"""Release folders that something happened to, and what one is told."""

import json
import shutil

import pytest

import manyveils as mv


@pytest.fixture
def released(desk):
    """A desk with a release on it."""
    desk.published()
    return desk


def audit(desk):
    """Refuse to audit the release, and to measure it."""
    rest = (desk.out, "--policy", desk.folder / "policy.toml")
    assert desk.refused("measure", *rest) == desk.refused("audit", *rest)
    return desk.refused("audit", *rest)


def edit(desk, change):
    """Change the manifest."""
    path = desk.out / "release.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_sound(released):
    """The release that the damage is done to passes."""
    assert released.run("audit", released.out, "--policy", released.folder / "policy.toml").status == 0


def test_not_a_release(released):
    """A folder without a manifest, and no folder at all, are no releases."""
    (released.out / "release.json").unlink()
    assert "out: is not a release folder: there is no release.json." in audit(released)
    shutil.rmtree(released.out)
    assert "out: there is no such file or folder." in audit(released)


def test_a_file(released):
    """A file is not a release but a table, and one that shares nothing with the policy is refused."""
    shutil.rmtree(released.out)
    released.data("Zq7", "out")
    assert "none of its 1 columns is a published attribute" in audit(released)


def test_missing_file(released):
    """A file that the manifest lists and that is gone is named."""
    (released.out / "tables" / "main.csv").unlink()
    assert "main.csv: is listed in the manifest but is not there." in audit(released)


@pytest.mark.parametrize("place", ["notes.txt", "tables/extra.csv", ".hidden", "tables/deep/er.csv"])
def test_extra_file(released, place):
    """A file that the manifest does not list is named: nobody has judged it."""
    (released.out / place).parent.mkdir(exist_ok=True)
    (released.out / place).write_text("Zq7")
    assert f"{place}: is not listed in the manifest. Remove it." in audit(released)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": "other/1"}', "\x00", "[" * 100_000])
def test_broken_manifest(released, text):
    """A manifest that is not JSON, or is of another format, is refused."""
    (released.out / "release.json").write_text(text)
    assert "release.json" in audit(released)


def test_manifest_not_utf8(released):
    """A manifest is UTF-8."""
    (released.out / "release.json").write_bytes(b"\xff\xfe")
    assert "cannot be read as JSON" in audit(released)


@pytest.mark.parametrize(
    "file",
    ["../people.csv", "/etc/passwd", "tables/../../people.csv", "people.csv", "tables/a/b.csv", "..\\x/y"],
)
@pytest.mark.parametrize("kind", ["views", "recodings"])
def test_path_that_points_elsewhere(released, file, kind):
    """A manifest lists files of its own folder only."""

    def change(document):
        if kind == "views":
            document["views"][0]["columns"][0]["file"] = file
        else:
            document["recodings"] = [{"view": "main", "attribute": "age", "file": file}]

    edit(released, change)
    message = audit(released)
    assert "point elsewhere" in message or "is not a manifest of this format" in message


def test_link_that_points_elsewhere(released):
    """A listed file that is a link is not a file of the release."""
    table = released.out / "tables" / "main.csv"
    table.unlink()
    table.symlink_to(released.folder / "people.csv")
    assert "point elsewhere" in audit(released)


@pytest.mark.parametrize("key", ["method", "rows", "suppressed", "promises", "views"])
def test_key_missing(released, key):
    """A manifest without one of its keys is refused."""
    edit(released, lambda document: document.pop(key))
    assert "is not a manifest of this format" in audit(released)


@pytest.mark.parametrize("value", [None, 3, "x", [3], {"x": 3}, [{}], [[]]])
@pytest.mark.parametrize("key", ["rows", "views", "recodings", "derived", "promises"])
def test_strange_values(released, key, value):
    """Whatever stands in a manifest, there is a message and no traceback."""
    edit(released, lambda document: document.__setitem__(key, value))
    outcome = released.run("audit", released.out, "--policy", released.folder / "policy.toml")
    assert outcome.status in (0, 1, 2), outcome.said


@pytest.mark.parametrize("value", [None, 3, "x", [3], {"x": 3}, ["age", "age"], []])
@pytest.mark.parametrize("key", ["attributes", "file", "types"])
def test_strange_columns(released, key, value):
    """Whatever stands in a column of a manifest, the release is not found to be sound."""
    edit(released, lambda document: document["views"][0]["columns"][0].__setitem__(key, value))
    outcome = released.run("audit", released.out, "--policy", released.folder / "policy.toml")
    assert outcome.status in ((1, 2) if key != "types" else (0, 1, 2)), outcome.said


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b'age,city,illness\n"Zq7', b"age,city,illness\nZq7\n"]
)
def test_damaged_table(released, content):
    """A table that cannot be read as the manifest describes it is named, or is found wanting."""
    (released.out / "tables" / "main.csv").write_bytes(content)
    outcome = released.run("audit", released.out, "--policy", released.folder / "policy.toml")
    assert outcome.status in (1, 2)
    assert "Zq7" not in outcome.said


def test_damaged_parquet(desk):
    """A damaged parquet table is named."""
    desk.published("--format", "parquet")
    table = desk.out / "tables" / "main.parquet"
    table.write_bytes(table.read_bytes()[:-20])
    assert "main.parquet: is damaged" in audit(desk)


def test_from_python(released):
    """From Python it is a DataError."""
    (released.out / "extra").touch()
    with pytest.raises(mv.DataError, match="is not listed"):
        mv.Release.load(released.out)
