"""Small files that hold very much, under a memory limit: each is refused with what to do, and nothing aborts."""

import gzip
import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.errors import DataError, PolicyError
from manyveils.table import room
from manyveils.table.door import read_file
from manyveils.table.footer import unpacked_bytes
from manyveils.table.levels import masked

pytest.importorskip("resource")
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit},) * 2)
from manyveils.cli import main
sys.argv = {words!r}
main()
"""
GIB = 2**30


def told(words, limit=2 * GIB):
    """Run a command under a memory limit; gives its exit status and what it says on stderr."""
    code = LIMITED.format(limit=limit, words=["manyveils", *map(str, words)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def sound(tmp_path):
    """A policy for two columns, and where data go."""
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[data]\nperson = "row"\n[attributes.age]\nrole = "quasi"\n[attributes.ill]\nrole = "sensitive"\n'
        "[guarantee]\nk = 2\n[publish]\nmethod = 'generalize'\n"
    )
    return policy


def publishing(policy, data):
    return ["publish", policy, "--data", data, "--out", policy.parent / "out"]


def parquet_of(n_rows, path):
    """Write many rows in few bytes."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n_part = 2_000_000
    part = arrow.table(
        {"age": np.zeros(n_part, dtype=np.int64), "ill": arrow.array(["flu"]).take([0] * n_part)}
    )
    with parquet.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(n_rows // n_part):
            writer.write_table(part, row_group_size=n_part)


def test_very_many_rows(sound, tmp_path):
    """A Parquet file of forty million rows in few bytes is refused before one is read, with both numbers."""
    data = tmp_path / "rows.parquet"
    parquet_of(40_000_000, data)
    assert data.stat().st_size < 5_000_000
    status, said = told(publishing(sound, data), limit=int(1.5 * GIB))
    assert status == 2
    assert "rows.parquet: 40,000,000 rows of 2 columns need 1.79 GiB of memory or more" in said
    assert "publish a part of the rows" in said


def test_very_many_rows_of_arrow(sound, tmp_path):
    """An Arrow file that is packed is refused in the same way."""
    data = tmp_path / "rows.arrow"
    pl.DataFrame({"age": np.zeros(3_000_000, dtype=np.int64), "ill": ["flu"] * 3_000_000}).write_ipc(
        data, compression="zstd"
    )
    status, said = told(publishing(sound, data), limit=int(0.9 * GIB))
    assert status == 2, said
    assert "memory" in said


def test_one_very_long_cell(sound, tmp_path):
    """A Parquet file with one cell of forty million letters is refused by its length."""
    data = tmp_path / "cell.parquet"
    long = pl.select(age=pl.Series([1, 2, 3]), ill=pl.lit("x").repeat_by(1).list.join(""))
    long = long.with_columns(ill=pl.when(pl.col("age") == 1).then(pl.lit("x" * 40_000_000)).otherwise("ill"))
    long.write_parquet(data, compression="zstd", statistics=False)
    assert data.stat().st_size < 1_000_000
    status, said = told(publishing(sound, data), limit=4 * GIB)
    assert status == 2
    assert "data: ill: 1 cells are longer than 1,000,000 bytes; the longest has 40,000,000." in said
    assert 'role = "drop"' in said


def test_one_cell_that_does_not_fit(tmp_path, monkeypatch):
    """A Parquet file whose cells would not fit once unpacked is refused before it is read."""
    data = tmp_path / "cell.parquet"
    pl.DataFrame({"ill": ["x" * 4_000_000]}).write_parquet(data, statistics=False)
    monkeypatch.setattr(room, "memory", lambda: 6_000_000)
    with pytest.raises(
        DataError, match=r"cell.parquet: 1 rows of 1 columns need 0.0074\d GiB of memory or more"
    ):
        read_file(data)
    monkeypatch.setattr(room, "memory", lambda: 9_000_000)
    assert read_file(data).height == 1


@pytest.mark.parametrize("pack", ["gz", "zip", "zst"])
def test_files_that_unpack_to_very_much(sound, tmp_path, pack):
    """A packed file is unpacked no further than there is room."""
    lines = b"age,ill\n" + b"1,flu\n" * 1_000
    zeros = b"1,flu\n" * 2_000_000
    data = tmp_path / f"people.csv.{pack}"
    if pack == "gz":
        with gzip.open(data, "wb", compresslevel=1) as file:
            file.write(lines)
            for _ in range(25):
                file.write(zeros)
    elif pack == "zip":
        import zipfile

        with (
            zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("people.csv", "w") as file,
        ):
            file.write(lines)
            for _ in range(25):
                file.write(zeros)
    else:
        arrow = pytest.importorskip("pyarrow")
        with arrow.CompressedOutputStream(str(data), "zstd") as file:
            for _ in range(25):
                file.write(zeros)
    status, said = told(publishing(sound, data), limit=int(0.9 * GIB))
    assert status == 2
    assert ("unpacks to more than" if pack != "zst" else "memory") in said


@pytest.mark.parametrize("text", ["x" * 200_000, "y" * 1_001])
def test_masks_of_long_texts(desk, text):
    """A mask of texts with very many characters is refused, since every character would be a level."""
    rows = "".join(f"p{number},{number},{text},ill{number % 3}\n" for number in range(6))
    desk.data("name,age,city,illness\n" + rows)
    desk.policy(attributes={"city": {"hierarchy": {"mask": "right"}}})
    said = desk.refused()
    assert (
        f"attributes.city.hierarchy.mask: makes a level of every character: {len(text):,} of 1 values" in said
    )
    assert "Shorten the values" in said


def test_masks_that_do_not_fit(monkeypatch):
    """Masks of values that are not too long, but too many for the memory, are refused; a few are made."""
    texts = [f"{number:0>900}" for number in range(200)]
    assert len(masked(texts, side="right", where="x", has_missing=False)) == 901
    monkeypatch.setattr("manyveils.table.levels.memory", lambda: 100 * 2**20)
    with pytest.raises(PolicyError, match=r"x.mask: makes a level of every character: 900 of 200 values"):
        masked(texts, side="right", where="x", has_missing=False)


def test_memory_that_runs_out_is_said(desk, monkeypatch):
    """Where memory runs out all the same, the command says so and what to do, with exit status 2."""

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("manyveils.run.work_of", full)
    assert "memory: there is not enough of it for this table. Leave out columns" in desk.refused()


def test_long_cells_stand_on_both_sides_of_the_bound():
    """A cell of a million bytes is read, and one of a byte more is refused by its column."""
    edge = "é" * (room.LONGEST_CELL // 2)
    room.refuse_long_cells(pl.DataFrame({"a": [edge, None], "b": [1, 2]}))
    with pytest.raises(DataError, match=r"data: a: 1 cells are longer .* the longest has 1,000,001\."):
        room.refuse_long_cells(pl.DataFrame({"a": [edge + "x", None]}))


def test_limits_of_a_process_are_seen():
    """The room of a process with a limit is what the limit leaves, and without one what the machine has."""
    code = "import resource, json; from manyveils.table.room import memory; before = memory(); "
    code += f"resource.setrlimit(resource.RLIMIT_AS, ({8 * GIB},) * 2); print(json.dumps([before, memory()]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert 0 < after < 8 * GIB
    assert before >= after


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 400), st.sampled_from(["zstd", "uncompressed"]))
def test_footers_tell_what_the_library_tells(n_columns, n_groups, size, compression):
    """What our reader of footers says of a file's unpacked size is what PyArrow's says."""
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pl.DataFrame({f"c{number}": [str(number)] * (n_groups * size) for number in range(n_columns)})
    file = io.BytesIO()
    frame.write_parquet(file, row_group_size=size, compression=compression)
    known = parquet.read_metadata(file)
    groups = range(known.num_row_groups)
    assert unpacked_bytes(file) == sum(known.row_group(number).total_byte_size for number in groups)


@given(st.binary(max_size=200))
def test_footers_that_are_none_say_nothing(content):
    """Bytes that are no footer are no reason to fail: the library refuses the file itself."""
    length = len(content).to_bytes(4, "little")
    assert unpacked_bytes(io.BytesIO(content)) == 0
    assert isinstance(unpacked_bytes(io.BytesIO(b"PAR1" + content + length + b"PAR1")), int)


def test_footers_that_promise_very_much_end():
    """A footer with a list of very many members that take no bytes, or with a number that never ends, is left at once."""
    for content in (
        b"\x19\xf0" + b"\xff" * 8 + b"\x7f",
        b"\x19\xf1" + b"\xff" * 8 + b"\x7f",
        b"\x15" + b"\xff" * 10**6,
    ):
        file = b"PAR1" + content + len(content).to_bytes(4, "little") + b"PAR1"
        assert unpacked_bytes(io.BytesIO(file)) == 0
