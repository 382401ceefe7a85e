"""A file read batch by batch has the rows of the file read at once."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.streaming.room import Room
from manyveils.streaming.source import batches_of
from manyveils.table.door import read_file
from manyveils.table.packed import Source
from manyveils.table.shape import Shape, records

ROOM = Room(10**9, batch_rows=3)
CELL = st.sampled_from(["a", "", '"b"', '"c\nd"', '"e""f"', '"g,h"', "é", '""', "0"])


def read(path):
    """All batches of a file as one frame."""
    batches = batches_of(path, Data(), ROOM)
    frames = [frame for frame, _ in batches.read(list(batches.schema))]
    return pl.concat([batches.outline, *frames])


@settings(deadline=None, max_examples=200)
@given(data=st.data(), width=st.integers(1, 3), n_bytes=st.integers(1, 40))
def test_csv(data, width, n_bytes):
    """However few bytes are read at once: quoted line ends, blank lines, no last line end and a mark at the beginning."""
    lines = data.draw(
        st.lists(
            st.one_of(st.lists(CELL, min_size=width, max_size=width).map(",".join), st.just("")), max_size=7
        )
    )
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = data.draw(st.sampled_from(["", "\ufeff"])) + end.join([",".join("xyz"[:width]), *lines])
    text += data.draw(st.sampled_from(["", end]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(text.encode())
        source = Source(path, path.name)
        pieces = [content for content, _, _ in records(source, Shape(width, ","), n_bytes)]
        assert b"".join(pieces) == text.encode()
        try:
            expected = read_file(path)
        except DataError:
            with pytest.raises(DataError):
                read(path)
            return
        assert read(path).equals(expected)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns(tmp_path, ending):
    """Files of columns are read in ranges of rows."""
    frame = pl.DataFrame({"a": range(10), "b": [None, *"abcdefghi"]})
    path = tmp_path / f"table.{ending}"
    frame.write_parquet(path, row_group_size=4) if ending == "parquet" else frame.write_ipc(path)
    assert read(path).equals(frame)


def test_frames():
    """Dataframes are cut, and lazy ones are asked for ranges."""
    frame = pl.DataFrame({"a": range(10)})
    for data in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        batches = batches_of(data, Data(), ROOM)
        assert pl.concat([part for part, _ in batches.read(["a"])]).equals(frame)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("short.csv", b"a,b\n1,2\n3\n"),
        ("quote.csv", b'a,b\n1,"2\n'),
        ("torn.parquet", b"PAR1 and no more"),
        ("no.arrow", b"nothing"),
        ("latin.csv", "a,b\n1,é\n".encode("latin-1")),
    ],
)
def test_damaged(tmp_path, name, content):
    """A damaged file is refused without a cell of it."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(path)
    assert "no more" not in str(caught.value)
