"""Hierarchies that are ready to use, found beside the data, or completed from what they have."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.policy.known import known_lines


@pytest.mark.parametrize(
    ("code", "block", "chapter"),
    [
        ("E11.9", "E10-E14", "E00-E90"),
        ("i21", "I20-I25", "I00-I99"),
        ("C50", "C50-", "C00-D48"),
        ("D48", "D37-D48", "C00-D48"),
        ("D50", "D50-D53", "D50-D89"),
        ("X59", "W00-X59", "V01-Y98"),
        ("H59", "H55-H59", "H00-H59"),
        ("H60", "H60-H62", "H60-H95"),
    ],
)
def test_icd10(code, block, chapter):
    """Codes of ICD-10 stand under their category, block and chapter, at both ends of chapters."""
    [line], unknown = known_lines("icd10", [code])
    assert line == (code, code.upper()[:3], block, chapter, "*")
    assert unknown == ()


def test_unknown_codes():
    """Codes between blocks, and what is no code, are not known."""
    assert known_lines("icd10", ["A10", "E91", "flu", ""]) == ((), ("A10", "E91", "flu"))


def test_icd9():
    """Codes of ICD-9 stand under their chapters, and those with V and E under their own."""
    lines, unknown = known_lines("icd9", ["250.83", "8", "V57", "E909", "0", "x"])
    assert [line[-2] for line in lines] == ["240-279", "001-139", "V01-V91", "E000-E999"]
    assert unknown == ("0", "x")


def test_countries():
    """Countries are known by both codes and by name, and no code is two countries' own."""
    lines, _ = known_lines("countries", ["DE", "DEU", "germany", "br"])
    assert [line[1:] for line in lines] == [("Western Europe", "Europe", "*")] * 3 + [
        ("South America", "Americas", "*")
    ]
    from manyveils.policy.known import _regions

    assert sum(len(written) == 2 for written in _regions()) == 248


def test_nuts():
    """Regions of NUTS stand under the beginnings of their codes."""
    assert known_lines("nuts", ["DE212"])[0] == (("DE212", "DE21", "DE2", "DE", "*"),)


PEOPLE = pl.DataFrame(
    {
        "age": [20 + row for row in range(24)],
        "land": [["DE", "FR", "ES", "JP"][row % 4] for row in range(24)],
        "ill": [["E11.9", "I21.0", "J18.9"][row % 3] for row in range(24)],
    }
)


def policy(**attributes):
    """Ages and countries are known of people, and illnesses are sensitive."""
    roles = {"age": {"role": "quasi", "hierarchy": {"known": "ages"}}, "land": {"role": "quasi", "hierarchy": {"known": "countries"}},
             "ill": {"role": "sensitive", "hierarchy": {"known": "icd10"}}}  # fmt: skip
    return {
        "attributes": roles | attributes,
        "guarantee": {"k": 4, "l": 2},
        "publish": {"method": "generalize"},
    }


def test_published():
    """A policy of known hierarchies publishes, and audits."""
    made = mv.Policy(**policy())
    release = mv.publish(PEOPLE, made, seed=1)
    assert mv.audit(release, PEOPLE, made).kept
    assert set(release.frames["main"]["land"]) <= {
        "Europe",
        "Asia",
        "Western Europe",
        "Southern Europe",
        "Eastern Asia",
        "*",
    } | {*PEOPLE["land"]}


def test_complete(desk):
    """What a known hierarchy misses is written into a file, not into the message; filled in, it publishes."""
    rows = [f"Zq7n{row},{20 + row},{['DE', 'FR', 'Zq7land'][row % 3]},Zq7ill{row % 4}" for row in range(24)]
    desk.data("\n".join(["name,age,city,illness", *rows]))
    desk.policy(attributes={"city": {"hierarchy": {"known": "countries"}}})
    assert "misses 1 of 3 values (8 rows)" in desk.refused()
    done = desk.run("complete", desk.folder / "policy.toml")
    assert done.status == 0
    assert "Zq7" not in done.stdout
    file = desk.folder / "city.hierarchy.csv"
    assert file.read_text().splitlines()[-1] == "Zq7land;;;*"
    assert file.stat().st_mode & 0o077 == 0
    file.write_text(file.read_text().replace("Zq7land;;;*", "Zq7land;Nowhere;Nowhere;*"))
    desk.policy(attributes={"city": {"hierarchy": {"file": file.name}}})
    desk.published()
    again = desk.run("complete", desk.folder / "policy.toml")
    assert "No hierarchy misses a value" in again.stdout


def test_hierarchies_beside_the_data(desk):
    """A sound hierarchy file beside the data that lists every value is taken by init; one that misses a value is not."""
    lines = "".join(f"Zq7city{city};{group};*\n" for city, group in enumerate("AAB"))
    desk.data(lines, "people_hierarchy_city.csv")
    out = desk.folder / "new.toml"
    assert desk.run("init", desk.folder / "people.csv", "-o", out).status == 0
    assert 'hierarchy = { file = "people_hierarchy_city.csv" }' in out.read_text()
    desk.data(lines.partition("\n")[2], "people_hierarchy_city.csv")
    assert desk.run("init", desk.folder / "people.csv", "-o", out, "--force").status == 0
    assert "people_hierarchy_city" not in out.read_text()
