"""How well roles are guessed on public tables that the guessing never saw."""

import re
from collections import Counter
from pathlib import Path

import pytest

import manyveils as mv
from tests.kit.schemas import TABLES, UNSEEN, columns_of, table_of

PAGE = Path(__file__).parents[2] / "docs" / "init.md"
LETTERS = {"identifier": "i", "drop": "i", "quasi": "q", "sensitive": "s", "neutral": "n", "?": "?"}
ROLES = {"i": "`identifier` or `drop`", "q": "`quasi`", "s": "`sensitive`"}

UNSEEN_NAMED = 0


def guessed(names):
    """The letters of the guessed role and of the label, for every column of some tables."""
    return [
        (LETTERS[mv.profile(table_of(name)).decided[column].role], label)
        for name in names
        for column, _, label in columns_of(name)
    ]


@pytest.fixture(scope="module", params=["known", "unseen"])
def measured(request):
    """What was guessed of the tables that the list began with, or of those written after the guessing."""
    return request.param, guessed(TABLES if request.param == "known" else UNSEEN)


def test_precision_and_recall_are_those_of_the_page(measured):
    """docs/init.md gives precision and recall of each role as they are measured here."""
    which, roles = measured
    text = PAGE.read_text(encoding="utf-8").partition("written afterwards")[0 if which == "known" else 2]
    for letter, words in ROLES.items():
        told = [label for role, label in roles if role == letter]
        there = [(role, label) for role, label in roles if label[0] == letter]
        precision = sum(letter in label for label in told) / len(told)
        recall = sum(role in label for role, label in there) / len(there)
        assert f"| {words} | {precision:.2f} | {recall:.2f} | {len(there)} |" in text
    n_asked = Counter(role for role, _ in roles)["?"]
    assert f"{n_asked} of {len(roles)} columns are asked about" in re.sub(r"\s+", " ", text)


def test_what_names_people_is_not_published_by_a_guess(measured):
    """What names people is neither quasi nor sensitive by a guess, but for as many columns as docs/init.md says."""
    which, roles = measured
    allowed = {"known": 1, "unseen": UNSEEN_NAMED}[which]
    assert sum(label == "i" and role in "qsn" for role, label in roles) == allowed
