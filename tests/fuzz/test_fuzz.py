"""The fuzz itself: few cases of it, whether its oracle sees what is broken, and what it found and was mended."""

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from manyveils.policy import Policy
from manyveils.publishing import publish_to
from tests.fuzz.cases import Case, draw
from tests.fuzz.folder import Columns, Published
from tests.fuzz.oracle import judged
from tests.fuzz.running import outcome
from tests.fuzz.shrinking import shrunk
from tests.fuzz.slices import crowds_of_slices
from tests.fuzz.worlds import crowds_of_worlds

MENDED = sorted((Path(__file__).parent / "mended").glob("*.json"))
ROWS = [
    {"id": "p1", "age": 20, "ill": "flu", "pay": 10},
    {"id": "p2", "age": 20, "ill": "flu", "pay": 10},
    {"id": "p3", "age": 30, "ill": "cold", "pay": 10},
    {"id": "p4", "age": 30, "ill": "flu", "pay": 90},
    {"id": "p5", "age": 40, "ill": "ulcer", "pay": 50},
]
WEAK = {
    "data": {"person": "id"},
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive", "kind": "numeric"},
    },
    "publish": {"method": "generalize"},
}
BROKEN = {
    "k": {"k": 2},
    "prosecutor_risk": {"prosecutor_risk": 0.5},
    "marketer_risk": {"marketer_risk": 0.5},
    "l distinct": {"l": 2},
    "l frequency": {"l": 2, "l_kind": "frequency"},
    "l entropy": {"l": 2, "l_kind": "entropy"},
    "l recursive": {"l": 2, "l_kind": "recursive", "c": 2},
    "t": {"t": 0.3},
    "alpha": {"alpha": 0.5, "alpha_values": ["flu"]},
    "beta": {"beta": 0.5},
    "delta": {"delta": 2},
    "epsilon_link": {"epsilon_link": 0.9},
    "eliminations": {"eliminations": 1},
    "joint t": {"t": 0.5, "joint": [["ill", "pay"]]},
}


@pytest.mark.parametrize("start", range(0, 150, 25))
def test_random_cases_end_in_a_confirmed_release_or_an_error_of_ours(start: int) -> None:
    """Of the first cases of seed 1, none ends otherwise; `make fuzz` runs more, with a time limit."""
    outcomes = {number: outcome(draw(1, number)) for number in range(start, start + 25)}
    assert not {number: told for number, told in outcomes.items() if told.is_finding}
    assert sum(told.n_confirmed for told in outcomes.values()) > 0


@pytest.mark.parametrize("key", BROKEN)
def test_the_oracle_sees_what_is_broken(key: str, tmp_path: Path) -> None:
    """A release that promises nothing breaks every promise by the oracle."""
    folder = tmp_path / "out"
    publish_to(Policy(**WEAK), folder, data=pl.DataFrame(ROWS))
    strong = {**WEAK, "guarantee": BROKEN[key]}
    assert key in judged(folder, tmp_path / "out.private", ROWS, strong).broken
    assert not judged(folder, tmp_path / "out.private", ROWS, WEAK).broken


@pytest.mark.parametrize("key", ["e", "m"])
def test_the_oracle_sees_numbers_that_are_too_near(key: str, tmp_path: Path) -> None:
    """Promises about numbers are judged for attributes that ask for them."""
    asked = {"e": {"e": 90}, "m": {"epsilon": 1, "m": 2}}[key]
    folder, attributes = tmp_path / "out", WEAK["attributes"]
    publish_to(Policy(**WEAK), folder, data=pl.DataFrame(ROWS))
    strong = {**WEAK, "attributes": {**attributes, "pay": {**attributes["pay"], "guarantee": asked}}}
    assert judged(folder, tmp_path / "out.private", ROWS, strong).broken == {key}


def test_the_oracle_sees_people_who_look_like_nobody(tmp_path: Path) -> None:
    """Of a population, two people look like the rows of one age, and nobody like those of another."""
    folder = tmp_path / "out"
    publish_to(Policy(**WEAK), folder, data=pl.DataFrame(ROWS))
    people, private = [{"age": 20}, {"age": 20}, {"age": 30}, {"age": 30}], tmp_path / "out.private"
    for asked in ({"k_map": 2}, {"journalist_risk": 0.5}):
        strong = {**WEAK, "guarantee": asked}
        assert judged(folder, private, ROWS, strong, people).broken == {*asked}
        assert not judged(folder, private, ROWS, strong, [*people, {"age": 40}, {"age": 40}]).broken


def test_the_oracle_sees_what_somebody_knows_who_knows_everybody() -> None:
    """In the example of the promise page, nobody's belief is above one half by herself, and one is certain to all."""
    people = [dict(zip("abs", row, strict=True)) for row in ["11y", "12y", "10y", "02x", "01z", "10w"]]
    parts = {("a",): "1 1 0 1 0 1", ("b", "s"): "1y 2y 2x 0y 1z 0w"}
    columns = tuple(
        Columns(names, [dict(zip(names, row, strict=True)) for row in rows.split()], [0, 0, 0, 1, 1, 1])
        for names, rows in parts.items()
    )
    view = Published("main", True, columns, frozenset(), None)
    alone = crowds_of_slices(view, columns[1], "s", ["a", "b"], people)
    together = crowds_of_worlds(view, columns[1], "s", ["a", "b"], people)
    assert max(max(crowd.shares.values()) for crowd in alone) == Fraction(1, 2)
    assert max(max(crowd.shares.values()) for crowd in together or ()) == 1


def test_the_oracle_sees_rows_that_are_none_of_the_table(tmp_path: Path) -> None:
    """Values that changed places, and files that nothing lists."""
    folder = tmp_path / "out"
    publish_to(Policy(**WEAK), folder, data=pl.DataFrame(ROWS))
    table = folder / "tables" / "main.csv"
    table.write_text(table.read_text().replace("30,cold", "30,ulcer"))
    assert any("not in the table" in what for what in judged(folder, tmp_path, ROWS, WEAK).broken)
    (folder / "notes.txt").write_text("hello")
    assert any("folder" in what for what in judged(folder, tmp_path, ROWS, WEAK).broken)


def test_the_same_number_draws_the_same_case() -> None:
    """Seed and number are all that is needed to see a finding again."""
    assert draw(3, 14) == draw(3, 14)
    assert draw(3, 14) != draw(4, 14)


def test_findings_are_made_small() -> None:
    """What a case does not need to fail is left out."""
    case = next(case for case in (draw(1, number) for number in range(100)) if len(case.rows) > 8)
    small = shrunk(case, lambda smaller: len(smaller.rows) > 2)
    assert len(small.rows) == 3
    assert not small.columns
    assert "guarantee" not in small.sections


@pytest.mark.parametrize("path", MENDED, ids=lambda path: path.stem)
def test_what_was_found_is_mended(path: Path) -> None:
    """Cases that ended otherwise once."""
    told = outcome(Case.read(path))
    assert not told.is_finding, told.message
