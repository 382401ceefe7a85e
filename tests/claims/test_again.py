"""What docs/howto/publish-again.md shows was measured, and a generation takes little longer than a first publication."""

from pathlib import Path

import pytest

from benchmarks import again, generations, generations_page

N = 20_000
# Twice the time is wanted of a million people; of few, reading and writing vary more.
MOST_TIMES = 4.0


def test_the_page_shows_what_was_measured() -> None:
    """Every table of the page is the one that its results make."""
    text = generations_page.PAGE.read_text(encoding="utf-8")
    tables = generations_page.tables(generations_page.results())
    assert [
        name for name, table in tables.items() if f"<!-- {name} -->\n\n{table}\n\n<!-- end -->" not in text
    ] == []


def test_without_the_chain_hundreds_of_cells_are_certain() -> None:
    """Releases that do not know of each other make hundreds of cells certain with every method."""
    for ways in generations_page.results()["methods"].values():
        course = ways["without"]["generations"]
        assert course[0]["adversary"] == course[0]["certain"] == 0
        assert course[-1]["adversary"] > 500


def test_what_is_certain_is_measured_again() -> None:
    """Three quarters of few people, without the chain, make more and more cells certain."""
    course = generations.course("anatomize", 400, 3, is_chain=False)
    assert not course.refused
    certain = [generation.adversary for generation in course.generations]
    assert certain[0] == 0 < certain[1] < certain[2]


@pytest.mark.parametrize("name", ["anatomy, 2 %", "separate"])
def test_a_generation_takes_little_longer(name: str, tmp_path: Path) -> None:
    """Publishing again takes no more than a few times as long as the first time."""
    first, later = again.times(name, again.quarters(tmp_path, N), tmp_path / "again")
    assert later <= MOST_TIMES * first
