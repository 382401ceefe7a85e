"""Data files that cannot be read, and what one is told."""

import csv
import gzip
import io
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.table import door

SHORT, LONG = "Zq7x,30,Zq7city0", "Zq7x,30,Zq7city0,Zq7ill0,Zq7more"
HEADER = "name,age,city,illness\n"


def table(desk):
    return (desk.folder / "people.csv").read_text()


def test_sound_desk(desk):
    """The desk's own data and policy are published, so that every refusal here is about the mistake."""
    assert desk.publish().status == 0


def test_missing_data(desk):
    """A data file that is not there is named."""
    (desk.folder / "people.csv").unlink()
    assert "people.csv: there is no such data file." in desk.refused()


def test_data_is_a_folder(desk):
    """A folder in place of a data file is refused."""
    assert "is a folder" in desk.refused("publish", desk.policy(), "--out", desk.out, "--data", desk.folder)


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: b"PK\x03\x04" + content])
def test_compressed_data(desk, pack):
    """A compressed file is told to be one."""
    path = desk.folder / "people.csv"
    path.write_bytes(pack(path.read_bytes()))
    assert "people.csv: is compressed. Unpack it first, or let its name end in .gz" in desk.refused()


def test_data_name_too_long(desk):
    """A path that no file system takes is refused like any other."""
    assert "cannot be read" in desk.refused(
        "publish", desk.policy(), "--out", desk.out, "--data", "x" * 300 + ".csv"
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("name", ["x[1]", "x*", "x?"])
def test_names_are_no_patterns(tmp_path, name, ending):
    """A file is read by its name, and not another whose name fits it as a pattern."""
    write = {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}[ending]
    for stem, cell in (("x1", "wrong"), (name, "right")):
        with (tmp_path / f"{stem}.{ending}").open("wb") as file:
            getattr(pl.DataFrame({"a": [cell]}), write)(file)
    assert door.read_file(tmp_path / f"{name}.{ending}")["a"].to_list() == ["right"]


def test_no_source(desk):
    """Without a source in the policy and without --data there is nothing to read."""
    desk.policy(data={"source": None})
    assert "data.source is not set" in desk.refused()


@pytest.mark.parametrize("content", ["", "\n\n", " \n", "\ufeff"])
def test_empty(desk, content):
    """An empty file is called empty, also when there are line ends or a byte order mark in it."""
    desk.data(content)
    assert "is empty" in desk.refused()


def test_blank_first_line(desk):
    """A blank line before the header is refused; the header would be taken for a person."""
    desk.data("\n" + table(desk))
    assert "the first line is blank" in desk.refused()


@pytest.mark.parametrize("content", [HEADER, HEADER.rstrip(), HEADER + "\n\r\n"])
def test_header_only(desk, content):
    """A header without a row is not a table."""
    desk.data(content)
    assert "there is a header but no row" in desk.refused()


def test_doubled_names(desk):
    """A column name that stands there twice is told by its places."""
    desk.data(table(desk).replace("name,age,city", "name,age,age", 1))
    assert "columns 2 and 3 have the same name" in desk.refused()


def test_nameless_columns(desk):
    """Columns without a name are counted."""
    desk.data(table(desk).replace("name,age,city", "name,,", 1))
    assert "2 columns have no name" in desk.refused()


@pytest.mark.parametrize(
    "row", [SHORT, LONG, SHORT.replace("Zq7x", '"Zq7,\n""x"'), LONG.replace("30", '"30"')]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ragged_rows(desk, row, end):
    """Rows with too few or too many fields are counted, and the first is pointed at, quoted or not."""
    rows = [*table(desk).splitlines(), row, "Zq7y,31,Zq7city1,Zq7ill1"]
    desk.data(end.join(rows) + end)
    assert "1 rows do not have the header's 4 fields, the first is record 14." in desk.refused()


def test_ragged_last_row(desk):
    """A last row that breaks off is ragged too."""
    desk.data(table(desk) + "Zq7x,30")
    assert "record 14" in desk.refused()


def test_open_quote(desk):
    """A quote that is never closed is refused, whatever it swallows."""
    desk.data(table(desk) + 'Zq7x,30,Zq7city0,"Zq7ill0\n')
    assert "quotes are not closed" in desk.refused()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_nobody(desk, end):
    """Blank lines at the end and between rows are fine, and are not taken for people."""
    rows = table(desk).splitlines()
    desk.data(end.join([*rows[:5], "", *rows[5:]]) + end * 4)
    desk.published()
    assert pl.read_csv(desk.out / "tables" / "main.csv").height == len(rows) - 1


def test_quoted_line_ends(desk):
    """Line ends inside quotes belong to the cell, in the header too."""
    desk.policy(attributes={"city": None, "the\ncity": {"role": "quasi"}})
    desk.data(table(desk).replace("city", '"the\ncity"', 1).replace("Zq7city0", '"Zq7\r\ncity,0"'))
    desk.published()


def test_wrong_delimiter(desk):
    """A delimiter that the file does not use is suspected when one column is found."""
    desk.policy(data={"delimiter": ";"})
    assert "is the delimiter right?" in desk.refused()


def test_delimiter_inside_cells(desk):
    """A delimiter that only cells hold makes ragged rows, and the message says which one was used."""
    desk.policy(data={"delimiter": ";"})
    desk.data(table(desk).replace("Zq7city0", "Zq7;city0"))
    assert "separated by ';'" in desk.refused()


@pytest.mark.parametrize("delimiter", ["§", '"', "\n", "", ",,"])
def test_impossible_delimiter(desk, delimiter):
    """A delimiter is one plain character."""
    desk.policy(data={"delimiter": delimiter})
    assert "data.delimiter: must be one ASCII character" in desk.refused()


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_found_delimiter(desk, delimiter):
    """Other usual delimiters are found without being told."""
    desk.data(table(desk).replace(",", delimiter))
    desk.published()


def test_no_header(desk):
    """A file without a header is suspected, and its first row is not quoted as if it were one."""
    desk.data(table(desk).split("\n", 1)[1])
    assert "Is there a header line" in desk.refused()


@pytest.mark.parametrize("place", [0, 6, 40, -3])
def test_not_utf8(desk, place):
    """Bytes that are not UTF-8 are refused wherever they stand: in the header, in the body, at the end."""
    content = bytearray(table(desk).encode())
    content[place] = 0xFF
    desk.data(bytes(content))
    assert "is not valid UTF-8" in desk.refused()


def test_utf16(desk):
    """A file saved as UTF-16 marks itself and is read; without its mark it is refused with the way out."""
    desk.data(table(desk).encode("utf-16"))
    assert desk.publish().status == 0
    desk.data(table_in_latin1(desk))
    assert "save it as UTF-8" in desk.refused("plan", desk.policy())


def table_in_latin1(desk):
    return "name,age,city,illness\nZq7x,30,Zq7ö,Zq7ü\n".encode("latin-1")


def test_byte_order_mark(desk):
    """A byte order mark before the header is fine."""
    desk.data(table(desk).encode("utf-8-sig"))
    desk.published()


def test_old_line_ends(desk):
    """Carriage returns alone do not end lines; the file is refused rather than read as one row."""
    desk.data(table(desk).replace("\n", "\r"))
    assert "do not have the header's 4 fields" in desk.refused()


def test_endless_name(desk):
    """A first line that is no header (one field of 200,000 characters) is refused."""
    desk.data("x" * 200_000 + "," + table(desk))
    assert "cannot be read as a header" in desk.refused()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_damaged_binary(desk, ending):
    """A damaged or mislabelled parquet or arrow file is refused without the library's own words."""
    desk.data(table(desk), f"people.{ending}")
    desk.policy(data={"source": f"people.{ending}"})
    assert "is damaged or not of the kind its ending says" in desk.refused()


def test_panicking_library(desk, monkeypatch):
    """When the reading library gives up altogether, as it does on some damaged files, it is a refusal too."""

    def panic(path, **options):
        raise pl.exceptions.PanicException("Zq7")

    monkeypatch.setattr(pl, "read_parquet", panic)
    desk.data("", "people.parquet")
    desk.policy(data={"source": "people.parquet"})
    assert "is damaged" in desk.refused()


def test_panic_elsewhere(desk, monkeypatch):
    """A panic that nobody foresaw is a fault like any other: its place, and nothing of what it says."""

    def panic(*arguments, **options):
        raise pl.exceptions.PanicException("Zq7")

    monkeypatch.setattr(pl.DataFrame, "write_csv", panic)
    assert "test_files.py" in desk.refused(status=70)


CELL = st.text(alphabet='a ,;"\n\r\té0', max_size=4)
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=5)
)


@settings(max_examples=150, deadline=None)
@given(rows=TABLES, chunk=st.integers(1, 9), end=st.sampled_from(["\n", "\r\n"]), blanks=st.integers(0, 2))
def test_well_formed_is_read_as_written(tmp_path_factory, rows, chunk, end, blanks):
    """Whatever cells a csv writer quotes, wherever chunks are cut, and with blank lines, the same cells are read."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end + end * blanks, quoting=csv.QUOTE_ALL)
    writer.writerows([[f"c{i}" for i in range(len(rows[0]))], *rows])
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "CHUNK", chunk)
        found = door.read_file(path, Data(delimiter=","))
    assert [[cell or "" for cell in row] for row in found.rows()] == rows


@settings(max_examples=150, deadline=None)
@given(
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    chunk=st.integers(1, 9),
    cell=st.sampled_from(["a", '"b,\n"', '"\r\n"']),
    end=st.sampled_from(["\n", "\r\n"]),
    ended=st.booleans(),
)
def test_ragged_is_never_read(tmp_path_factory, widths, chunk, cell, end, ended):
    """A file is read exactly if every record has the header's fields, however it is cut into chunks."""
    text = end.join(["x,y,z", *(",".join([cell] * width) for width in widths)]) + end * ended
    path = tmp_path_factory.getbasetemp() / "ragged.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "CHUNK", chunk)
        try:
            height = door.read_file(path, Data(delimiter=",")).height
        except DataError:
            height = None
    assert height == (len(widths) if set(widths) == {3} else None)


def test_every_delimiter_in_every_cell(desk):
    """A header that is quoted because its names hold other delimiters is still split at the right one."""
    for outer, inner in product(",;", ";,"):
        if outer != inner:
            path = desk.data(f'"a{inner}b"{outer}"c{inner}{inner}d"\n1{outer}2\n', "odd.csv")
            assert door.read_file(path).columns == [f"a{inner}b", f"c{inner}{inner}d"]
