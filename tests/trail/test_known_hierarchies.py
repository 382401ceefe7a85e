"""Hierarchies that are ready to use, found beside the data, or completed from what they have."""

from collections import Counter

import polars as pl
import pytest

import manyveils as mv
from manyveils.policy.known import ISCO_GROUPS, _read, _regions, known_lines


@pytest.mark.parametrize(
    ("code", "block", "chapter"),
    [
        ("E11.9", "E10-E14", "E00-E90"),
        ("i21", "I20-I25", "I00-I99"),
        ("C50", "C50-", "C00-D48"),
        ("D48", "D37-D48", "C00-D48"),
        ("D50", "D50-D53", "D50-D89"),
        ("V09.3", "V01-V09", "V01-Y98"),
        ("X59", "X58-X59", "V01-Y98"),
        ("Y83", "Y83-Y84", "V01-Y98"),
        ("U07.1", "U00-U49", "U00-U99"),
        ("A00", "A00-A09", "A00-B99"),
        ("Z99", "Z80-Z99", "Z00-Z99"),
        ("H59", "H55-H59", "H00-H59"),
        ("H60", "H60-H62", "H60-H95"),
    ],
)
def test_icd10(code, block, chapter):
    """Codes of ICD-10 stand under their category, block and chapter, at both ends of chapters."""
    [line], unknown = known_lines("icd10", [code])
    assert line == (code, code.upper()[:3], block, chapter, "*")
    assert unknown == ()


def listed(name):
    """The lines of a shipped list: what stands before the colon, and what after it."""
    return [line.strip().split(": ") for line in _read(name) if ": " in line]


def test_icd10_is_whole():
    """There are the 22 chapters and 263 blocks that the WHO counts, in order, none in another, all inside their chapter."""
    chapters = [(chapter.split("-"), blocks.split()) for chapter, blocks in listed("icd10")]
    assert len(chapters) == 22
    assert sum(len(blocks) for _, blocks in chapters) == 263
    for (first, last), blocks in chapters:
        ends = [end for block in blocks for end in block.split("-")]
        assert ends == sorted(ends)
        assert (ends[0], ends[-1]) == (first, last) or first <= ends[0] <= ends[-1] <= last
    edges = [edge for chapter, _ in sorted(chapters) for edge in chapter]
    assert edges == sorted(edges)


def test_unknown_codes():
    """Codes between blocks, and what is no code, are not known."""
    assert known_lines("icd10", ["A10", "E91", "flu", ""]) == ((), ("A10", "E91", "flu"))


def test_icd9():
    """Codes of ICD-9 stand under their chapters, and those with V and E under their own."""
    lines, unknown = known_lines("icd9", ["250.83", "8", "V57", "E909", "0", "x"])
    assert [line[-2] for line in lines] == ["240-279", "001-139", "V01-V91", "E000-E999"]
    assert unknown == ("0", "x")
    numbered, _ = known_lines("icd9", [f"{number:03}" for number in range(1, 1000)])
    assert len({line[-2] for line in numbered}) == 17


def test_countries():
    """Countries are known by both codes and by name, and no code is two countries' own."""
    lines, _ = known_lines("countries", ["DE", "DEU", "germany", "br"])
    assert [line[1:] for line in lines] == [("Western Europe", "Europe", "*")] * 3 + [
        ("South America", "Americas", "*")
    ]


def test_countries_are_whole():
    """M49 has 248 countries and areas, each with a code of two and of three letters, in 22 subregions and Antarctica."""
    codes = {written: place for written, place in _regions().items() if len(written) == 2}
    assert len(codes) == sum(len(written) == 3 for written in _regions()) == 248
    assert len(set(codes.values())) == 22 + 1
    counted = Counter(region for _, region in codes.values())
    assert counted == {"Africa": 60, "Americas": 57, "Europe": 51, "Asia": 50, "Oceania": 29, "Antarctica": 1}
    members = Counter(subregion for subregion, _ in codes.values())
    assert (members["Eastern Africa"], members["Caribbean"], members["Western Asia"]) == (22, 28, 18)


@pytest.mark.parametrize(
    ("written", "subregion"),
    [
        ("CY", "Western Asia"),
        ("TUR", "Western Asia"),
        ("Türkiye", "Western Asia"),
        ("MX", "Central America"),
        ("GB", "Northern Europe"),
        ("korea, republic of", "Eastern Asia"),
        ("Viet Nam", "South-eastern Asia"),
        ("NR", "Micronesia"),
        ("GL", "Northern America"),
        ("NA", "Southern Africa"),
        ("IR", "Southern Asia"),
        ("Côte d'Ivoire", "Western Africa"),
    ],
)
def test_places_of_countries(written, subregion):
    """Countries stand where M49 puts them, by their codes, usual names and those of ISO 3166."""
    assert known_lines("countries", [written])[0][0][1] == subregion


def test_taiwan_is_left_to_the_user():
    """M49 does not list Taiwan, so that it is asked for and not guessed."""
    assert known_lines("countries", ["TW"]) == ((), ("TW",))


def test_nuts():
    """Regions of NUTS stand under the beginnings of their codes."""
    assert known_lines("nuts", ["DE212"])[0] == (("DE212", "DE21", "DE2", "DE", "*"),)
    assert known_lines("nuts", ["PL", "EL30", "UKI", "X", "DE2123"]) == (
        (
            ("PL", "PL", "PL", "PL", "*"),
            ("EL30", "EL30", "EL3", "EL", "*"),
            ("UKI", "UKI", "UKI", "UK", "*"),
        ),
        ("X", "DE2123"),
    )


def test_occupations():
    """Occupations of ISCO-08 stand under the beginnings of their codes; a zero that got lost is not guessed."""
    assert len("".join(ISCO_GROUPS)) == 43
    lines, unknown = known_lines("isco", ["2211", "0110", "9629", "110", "5500", "221", "nurse"])
    assert [line[1:] for line in lines] == [
        ("221", "22", "2", "*"),
        ("011", "01", "0", "*"),
        ("962", "96", "9", "*"),
    ]
    assert unknown == ("110", "5500", "221", "nurse")


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
