"""The generated tables of codes, sets of codes and many questions are what their docstrings say."""

import hashlib

import polars as pl
import pytest

from manyveils.datasets import (
    code_tree,
    encounter_policy,
    encounters,
    histories,
    history_policy,
    survey,
    survey_policy,
)
from manyveils.errors import InputError
from manyveils.policy.hierarchies import tree_lines
from manyveils.run import publish
from manyveils.table import hold

CONSTANT = ("age", "race", "gender")


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    """The encounters at full size."""
    return encounters()


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """The histories at full size."""
    return histories()


def test_encounters_have_the_promised_values(visits: pl.DataFrame) -> None:
    """Five sensitive attributes, two of them with more than 700 codes."""
    sizes = [visits[name].n_unique() for name in encounter_policy().sensitive]
    assert visits.height == 101_766
    assert sizes == [717, 749, 75, 4, 3]


def test_patients_come_again_and_stay_themselves(visits: pl.DataFrame) -> None:
    """Seven patients to ten encounters; what is known of them does not change."""
    by_patient = visits.group_by("patient").agg(pl.len(), pl.col(CONSTANT).n_unique())
    assert 0.65 < by_patient.height / visits.height < 0.75
    assert by_patient["len"].max() == 10
    assert by_patient.select(CONSTANT).max().row(0) == (1, 1, 1)


def test_patients_come_again_with_what_they_had(visits: pl.DataFrame) -> None:
    """Two encounters of a patient share their chapter far more often than two of different ones."""
    chapters = {
        code: name for name, blocks in code_tree().items() for codes in blocks.values() for code in codes
    }
    ordered = visits.with_columns(pl.col("diagnosis").replace_strict(chapters)).sort("patient")
    same_patient = ordered["patient"] == ordered["patient"].shift(-1)
    same_chapter = ordered["diagnosis"] == ordered["diagnosis"].shift(-1)
    share = {known: same_chapter.filter(same_patient == known).mean() for known in (True, False)}
    assert share[True] > 2 * share[False]


@pytest.mark.parametrize("name", ["diagnosis", "second_diagnosis"])
def test_codes_are_skewed(visits: pl.DataFrame, name: str) -> None:
    """The commonest code has some percent of the rows, the rarest a few rows."""
    counts = visits[name].value_counts(sort=True)["count"]
    assert 0.03 < counts[0] / visits.height < 0.1
    assert counts[-1] <= 5


def test_histories_are_sets_of_codes(people: pl.DataFrame) -> None:
    """One to twenty different codes in order, four on average; most sets belong to one person."""
    sets = people["diagnoses"].str.split("|")
    assert sets.list.len().min() == 1
    assert 15 <= sets.list.len().max() <= 20
    assert 3.5 < sets.list.len().mean() < 4.5
    assert sets.list.unique().list.sort().equals(sets)
    assert sets.explode().n_unique() == 717
    assert people["diagnoses"].n_unique() > people.height / 2


def test_codes_stand_in_blocks_and_chapters() -> None:
    """Every code has one block of at most ten and one of 18 chapters."""
    lines = tree_lines(code_tree())
    assert len({line[0] for line in lines}) == len(lines) == 717
    assert len({line[2] for line in lines}) == 18
    assert max(len(codes) for blocks in code_tree().values() for codes in blocks.values()) <= 10


def test_a_survey_asks_what_is_wanted() -> None:
    """Questions of two to 36 answers, each with a hierarchy, and three sensitive ones."""
    forms = survey(2_000, n_questions=60)
    policy = survey_policy(n_questions=60)
    assert forms.shape == (2_000, 63)
    assert len(policy.quasi) == 60
    assert {forms[name].n_unique() for name in policy.quasi} == {2, 3, 4, 5, 6, 8, 12, 20, 36}
    hold(forms, policy)


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_few_rows(n: int) -> None:
    """Any number of rows can be had."""
    assert [table(n).height for table in (encounters, histories, survey)] == [n, n, n]


@pytest.mark.parametrize("table", [encounters, histories, survey])
def test_tables_are_of_a_whole_size(table: object) -> None:
    """Nobody gets fewer than no rows."""
    with pytest.raises(InputError, match="0 or more"):
        table(-1)  # type: ignore[operator]


def test_tables_depend_on_the_seed_alone() -> None:
    """The same seed gives the same table on any machine, another gives another."""
    written = "".join(table(500, seed=1).write_csv() for table in (encounters, histories, survey))
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == "08de62fed6da4ee0"
    assert all(not table(500, seed=1).equals(table(500, seed=2)) for table in (encounters, histories, survey))


@pytest.mark.parametrize(
    ("rows", "policy"),
    [
        (encounters(2_000), encounter_policy()),
        (survey(2_000, n_questions=5), survey_policy(n_questions=5)),
    ],
    ids=["encounters", "survey"],
)
def test_their_policies_can_be_published(rows: pl.DataFrame, policy: object) -> None:
    """Each table can be published by its own policy."""
    assert publish(rows, policy, seed=1).rows > 0  # type: ignore[arg-type]


def test_histories_fit_their_policy() -> None:
    """Every code is in the hierarchy, and has a derived attribute."""
    table, _ = hold(histories(500), history_policy())
    assert len(table.derived["diagnoses"]) > 300
