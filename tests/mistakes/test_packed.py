"""Packed files: read as what is in them, and refused with what is wrong."""

import gzip
import zipfile

import pytest

from manyveils.errors import DataError
from manyveils.table.door import read_file

CSV = b"name,age\nZq7a,20\nZq7b,\n"


def write(path, content):
    """Write a content packed as the ending says."""
    match path.suffix:
        case ".gz":
            path.write_bytes(gzip.compress(content))
        case ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("folder/", "")
                archive.writestr(f"folder/{path.stem}", content)
                archive.writestr(f"__MACOSX/folder/._{path.stem}", "x")
        case ".zst":
            arrow = pytest.importorskip("pyarrow")
            path.write_bytes(arrow.compress(content, codec="zstd", asbytes=True))
    return path


@pytest.mark.parametrize("ending", ["gz", "zip", "zst"])
def test_packed_tables_are_read(tmp_path, ending):
    """A packed csv, parquet or arrow file gives the table that it gives unpacked, and nothing is written."""
    plain = tmp_path / "people.csv"
    plain.write_bytes(CSV)
    frame = read_file(plain)
    frame.write_parquet(tmp_path / "people.parquet")
    frame.write_ipc(tmp_path / "people.arrow")
    for name in ("people.csv", "people.parquet", "people.arrow"):
        packed = write(tmp_path / f"{name}.{ending}", (tmp_path / name).read_bytes())
        before = {*tmp_path.iterdir()}
        assert read_file(packed).equals(frame)
        assert {*tmp_path.iterdir()} == before


def test_a_packed_source_goes_through_the_trail(desk):
    """init, plan, publish and audit take a packed file."""
    write(desk.folder / "people.csv.gz", (desk.folder / "people.csv").read_bytes())
    policy = desk.policy(data={"source": "people.csv.gz"})
    out = desk.published()
    assert desk.run("audit", out, "--policy", policy).status == 0
    made = desk.run("init", desk.folder / "people.csv.gz", "-o", desk.folder / "started.toml")
    assert made.status == 0, made.said


def test_an_archive_of_several_files(desk):
    """A zip of two files is refused with their number and without a guess."""
    with zipfile.ZipFile(desk.folder / "people.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    desk.policy(data={"source": "people.zip"})
    assert "people.zip: has 2 files in it, and one is a table. Unpack it" in desk.refused()


@pytest.mark.parametrize("ending", ["gz", "zip", "zst"])
def test_damaged_archives(desk, ending):
    """What is no archive, or is cut short, is damaged, and no cell of it is quoted."""
    for content in (
        b"Zq7 is no archive",
        write(desk.folder / f"whole.csv.{ending}", CSV * 99).read_bytes()[:-9],
    ):
        desk.data(content, f"people.csv.{ending}")
        desk.policy(data={"source": f"people.csv.{ending}"})
        assert "is damaged or not of the kind its ending says." in desk.refused()


def test_wrong_rows_inside(tmp_path):
    """Rows with too few fields are counted in a packed file as in any other."""
    path = write(tmp_path / "people.csv.gz", CSV + b"Zq7c\n")
    with pytest.raises(DataError, match="1 rows do not have the header's 2 fields, the first is record 4"):
        read_file(path)


def test_without_a_library(tmp_path, monkeypatch):
    """Where nothing can unpack .zst, the message says what to install."""
    monkeypatch.setattr("manyveils.table.packed.LIBRARIES", {})
    path = tmp_path / "people.csv.zst"
    path.write_bytes(b"x")
    with pytest.raises(DataError, match="pip install pyarrow"):
        read_file(path)


def test_names_of_packed_files_are_no_secret():
    """What is kept of a packed file shows its place and not its bytes."""
    from pathlib import Path

    from manyveils.table.packed import Source

    assert "Zq7" not in repr(Source(Path("a.csv.gz"), "a.csv", b"Zq7"))
