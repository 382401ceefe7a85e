"""How well roles are guessed on public tables that the guessing never saw."""

import re
from collections import Counter
from pathlib import Path

import pytest

import manyveils as mv
from tests.kit.schemas import TABLES, columns_of, table_of

PAGE = Path(__file__).parents[2] / "docs" / "init.md"
LETTERS = {"identifier": "i", "drop": "i", "quasi": "q", "sensitive": "s", "neutral": "n", "?": "?"}
ROLES = {"i": "`identifier` or `drop`", "q": "`quasi`", "s": "`sensitive`"}


@pytest.fixture(scope="module")
def guessed():
    """The letters of the guessed role and of the label, for every column of every table."""
    return [
        (LETTERS[mv.profile(table_of(name)).decided[column].role], label)
        for name in TABLES
        for column, _, label in columns_of(name)
    ]


def test_precision_and_recall_are_those_of_the_page(guessed):
    """docs/init.md gives precision and recall of each role as they are measured here."""
    text = PAGE.read_text(encoding="utf-8")
    for letter, words in ROLES.items():
        told = [label for role, label in guessed if role == letter]
        there = [(role, label) for role, label in guessed if label[0] == letter]
        precision = sum(letter in label for label in told) / len(told)
        recall = sum(role in label for role, label in there) / len(there)
        assert f"| {words} | {precision:.2f} | {recall:.2f} | {len(there)} |" in text
    n_asked = Counter(role for role, _ in guessed)["?"]
    assert f"{n_asked} of {len(guessed)} columns are asked about" in re.sub(r"\s+", " ", text)


def test_no_name_is_published_by_a_guess(guessed):
    """What names people is neither quasi nor sensitive by a guess, in any of the tables but for one survey weight."""
    assert sum(label == "i" and role in "qsn" for role, label in guessed) <= 1
