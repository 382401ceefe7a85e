"""Tables as other programs write them: read as they are meant, and asked about where that is not sure."""

import gzip
from datetime import date
from pathlib import Path

import duckdb
import polars as pl
import pyreadstat
import pytest
import sqlalchemy as sql

import manyveils as mv
from manyveils.policy.sections import Data
from manyveils.table.door import read_file, take_in

SAS = Path(__file__).parents[1] / "kit" / "sas"
PEOPLE = pl.DataFrame({"age": [30, 41, 52], "sex": ["f", "m", "f"], "ill": ["Zq7flu", None, "Zq7gout"]})


def sheets(path, *names):
    """Write a spreadsheet with the same table in every sheet."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        for name in names:
            PEOPLE.write_excel(book, worksheet=name)
    return path


def said(data, **form):
    """What one is told of data that cannot be read."""
    with pytest.raises(mv.InputError) as refused:
        take_in(data, Data(**form))
    assert "Zq7" not in str(refused.value)
    return str(refused.value)


def test_excel(tmp_path):
    """A sheet is read with its types; several are asked about, by name."""
    assert read_file(sheets(tmp_path / "one.xlsx", "people")).equals(PEOPLE)
    several = sheets(tmp_path / "several.xlsx", "old", "new")
    assert "has 2 sheets: old, new. Set sheet in [data]" in said(several)
    assert "has no sheet 'newer'. It has old, new." in said(several, sheet="newer")
    assert read_file(several, Data(sheet="new")).equals(PEOPLE)
    (tmp_path / "wrong.xlsx").write_bytes(b"Zq7")
    assert "is damaged" in said(tmp_path / "wrong.xlsx")


@pytest.mark.parametrize(("ending", "write"), [("sav", "write_sav"), ("dta", "write_dta")])
def test_statistics(tmp_path, ending, write):
    """Values have their labels where all that occur have one; others stay numbers."""
    path = tmp_path / f"people.{ending}"
    coded = pl.DataFrame({"age": [30.0, 41.0, 99.0], "sex": [1, 2, 1]}).to_pandas()
    labels = {"age": {99: "refused"}, "sex": {1: "female", 2: "male", 3: "other"}}
    getattr(pyreadstat, write)(
        coded, str(path), variable_value_labels=labels if ending == "sav" else {"sex": labels["sex"]}
    )
    frame = read_file(path)
    assert frame["sex"].to_list() == ["female", "male", "female"]
    assert frame["age"].to_list() == [30, 41, 99]
    assert read_file(path, Data(labels=False))["sex"].to_list() == [1, 2, 1]
    path.write_bytes(b"Zq7")
    assert "is damaged" in said(path)


def unpacked(name, path):
    """Lay a file of the kit where a test wants it."""
    path.write_bytes(gzip.decompress((SAS / f"{name}.gz").read_bytes()))
    return path


def test_sas(tmp_path):
    """A file of SAS is read with its numbers, dates and times; its labels stand in a catalog beside it."""
    frame = read_file(unpacked("sample.sas7bdat", tmp_path / "sample.sas7bdat"))
    assert frame["mynum"].to_list() == [1.1, 1.2, -1000.3, -1.4, 1000.3]
    assert frame["mydate"].to_list()[2:] == [date(1960, 1, 1), date(1583, 1, 1), None]
    assert frame["mylabl"].to_list() == [1, 2, 1, 2, 1]
    coded = unpacked("coded.sas7bdat", tmp_path / "coded.sas7bdat")
    assert read_file(coded)["SEXA"].to_list() == ["1", "2", "1"]
    for catalog in ("formats.sas7bcat", "coded.sas7bcat"):
        beside = unpacked("coded.sas7bcat", tmp_path / catalog)
        assert read_file(coded)["SEXA"].to_list() == ["Male", "Female", "Male"]
        assert read_file(coded, Data(labels=False))["SEXA"].to_list() == ["1", "2", "1"]
        beside.write_bytes(b"Zq7")
        assert "is damaged" in said(coded)
        beside.unlink()
    coded.write_bytes(b"Zq7")
    assert "is damaged" in said(coded)


def test_sas_transport(tmp_path):
    """A transport file is read with its numbers, texts and missing cells."""
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(PEOPLE.to_pandas(), str(path), table_name="PEOPLE", file_format_version=8)
    frame = read_file(path)
    assert frame["age"].to_list() == [30, 41, 52]
    assert frame["sex"].to_list() == ["f", "m", "f"]
    path.write_bytes(b"Zq7")
    assert "is damaged" in said(path)


def test_duckdb(tmp_path):
    """The only table is read, several are asked about, and a query sees no other file."""
    path = tmp_path / "people.duckdb"
    PEOPLE.write_csv(tmp_path / "secret.csv")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv(?)", [str(tmp_path / "secret.csv")])
    assert read_file(path).equals(PEOPLE)
    assert read_file(path, Data(query="SELECT age FROM people WHERE age > 40"))["age"].to_list() == [41, 52]
    assert "did not answer" in said(path, query=f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE other (a INTEGER)")
    assert "has 2 tables: other, people." in said(path)
    assert read_file(path, Data(table="people")).equals(PEOPLE)


def test_database(tmp_path):
    """A table or a query of a database is read by a connection string, whose password is never told."""
    address = f"sqlite:///{tmp_path / 'people.db'}"
    engine = sql.create_engine(address)
    _filled(engine)
    assert take_in(address)[0].equals(PEOPLE)
    assert take_in(address, Data(query="SELECT count(*) AS n FROM people"))[0]["n"].to_list() == [3]
    assert "has no table 'others'. It has people." in said(address, table="others")
    assert "did not answer" in said(address, query="SELECT Zq7 FROM nowhere")
    assert "secret" not in said("postgresql+psycopg://me:secret@localhost:1/db", table="people")
    assert "is not known" in said("nothing://x")


def _filled(engine):
    with engine.begin() as connection:
        connection.execute(sql.text("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT)"))
        rows = [dict(zip(PEOPLE.columns, row, strict=True)) for row in PEOPLE.iter_rows()]
        connection.execute(sql.text("INSERT INTO people VALUES (:age, :sex, :ill)"), rows)


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16"])
def test_encodings(tmp_path, encoding):
    """Text in another encoding is read where it is named; UTF-16 marks itself, and others are asked about."""
    path = tmp_path / "people.csv"
    path.write_bytes("städt,n\nKöln,1\n".encode(encoding))
    assert read_file(path, Data(encoding=encoding)).to_dict(as_series=False) == {
        "städt": ["Köln"],
        "n": ["1"],
    }
    if encoding == "utf-16":
        assert read_file(path).columns == ["städt", "n"]
    else:
        assert "Set encoding in [data]" in said(path)


def test_rare_delimiter(tmp_path, desk):
    """A delimiter that is not usual is asked about, and promises have nothing to do with it."""
    path = tmp_path / "people.csv"
    path.write_text("age^sex\n30^Zq7f\n")
    assert 'set delimiter = "^" in [data]' in said(path)
    assert read_file(path, Data(delimiter="^")).columns == ["age", "sex"]
    message = desk.refused("init", path, "-o", desk.folder / "new.toml")
    assert "A promise cannot be kept" not in message


def test_numbers_as_they_are_written(tmp_path):
    """Decimal commas and thousands are read as the policy says; columns with other texts stay as they are."""
    path = tmp_path / "people.csv"
    path.write_text("pay;code;share\n1.234,50;1.2.3;0,5\n-7;2;NA\n")
    frame = read_file(path, Data(decimal=",", thousands=".", missing_markers=["NA"]))
    assert frame["pay"].to_list() == ["1234.50", "-7"]
    assert frame["code"].to_list() == ["1.2.3", "2"]
    assert frame["share"].to_list() == ["0.5", None]


@pytest.mark.parametrize(
    ("order", "cells", "dates"),
    [
        ("dmy", ["3.12.2024", "31/01/2023"], ["2024-12-03", "2023-01-31"]),
        ("mdy", ["3/12/2024", ""], ["2024-03-12", None]),
        ("ymd", ["2024/3/12", "2024.03.01"], ["2024-03-12", "2024-03-01"]),
    ],
)
def test_dates_as_they_are_written(tmp_path, order, cells, dates):
    """Dates are read in the order that the policy names."""
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["day,n", *[f"{cell},1" for cell in cells]]))
    assert read_file(path, Data(dates=order))["day"].to_list() == dates


def test_impossible_dates_stay(tmp_path):
    """What is no day of the calendar in that order stays as it is, and is then refused by count."""
    path = tmp_path / "people.csv"
    path.write_text("day,n\n31/12/2024,1\n")
    assert read_file(path, Data(dates="mdy"))["day"].to_list() == ["31/12/2024"]


@pytest.mark.parametrize(
    ("cells", "hint"),
    [
        (["1,5", "2,25"], "Set decimal"),
        (["1,234", "2,345"], "Set decimal"),
        (["30", "NA"], "List these in missing_markers"),
    ],
)
def test_numbers_that_may_be_texts(desk, cells, hint):
    """Texts that may be numbers are asked about, and taken for categories where the policy says so."""
    rows = "\n".join(f'p{row},"{cells[row % 2]}",Zq7city,Zq7ill{row % 3}' for row in range(12))
    desk.data(f"name,age,city,illness\n{rows}\n")
    assert hint in desk.refused()
    desk.policy(attributes={"age": {"role": "quasi", "kind": "categorical"}})
    desk.published()


def test_init_with_a_form(desk):
    """`init` takes how data are written, and the policy it writes says so."""
    path = desk.folder / "people.csv"
    path.write_bytes(path.read_bytes().replace(b"Zq7city0", "Zq7Köln".encode("latin-1")))
    out = desk.folder / "new.toml"
    assert "Set encoding" in desk.refused("init", path, "-o", out)
    assert desk.run("init", path, "-o", out, "--encoding", "latin-1").status == 0
    assert 'encoding = "iso8859-1"' in out.read_text()


def test_init_asks_how_numbers_and_dates_are_written(desk):
    """`init` names columns that are numbers or dates of another form, and the options that read them."""
    rows = [
        f"{4000 + n};1.{n:03},50;{n % 28 + 1:02}.{n % 12 + 1:02}.19{n % 40 + 50};Zq7{n % 4}"
        for n in range(90)
    ]
    data = desk.data("\n".join(["Personalnummer;Bruttolohn;Geburtsdatum;Abteilung", *rows]) + "\n", "pay.csv")
    out = desk.folder / "pay.toml"
    asked = desk.run("init", data, "-o", out).stdout
    assert "Cells of Bruttolohn seem to be numbers with a decimal comma: --decimal , reads them" in asked
    assert "Dates of Geburtsdatum end with the year: --dates dmy" in asked
    forms = ["--decimal", ",", "--thousands", ".", "--dates", "dmy"]
    told = desk.run("init", data, "-o", out, "--force", *forms)
    assert "decimal comma" not in told.stdout
    assert "end with the year" not in told.stdout
    made = mv.Policy.load(out).attributes
    assert (made["Bruttolohn"].role, made["Bruttolohn"].kind) == ("sensitive", "numeric")
    assert (made["Geburtsdatum"].role, made["Geburtsdatum"].kind) == ("quasi", "ordinal")
    assert made["Personalnummer"].role == "identifier"


def test_init_from_a_database(desk):
    """`init` and `publish` take an address, which stands in the policy as it is."""
    address = f"sqlite:///{desk.folder / 'people.db'}"
    engine = sql.create_engine(address)
    frame = pl.read_csv(desk.folder / "people.csv")
    with engine.begin() as connection:
        connection.execute(sql.text("CREATE TABLE people (name TEXT, age INTEGER, city TEXT, illness TEXT)"))
        rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.iter_rows()]
        connection.execute(sql.text("INSERT INTO people VALUES (:name, :age, :city, :illness)"), rows)
    out = desk.folder / "new.toml"
    assert desk.run("init", address, "-o", out).status == 0
    assert f'source = "{address}"' in out.read_text()
    desk.policy(data={"source": address})
    desk.published()
    assert desk.publish("--data", address, "--force").status == 0
