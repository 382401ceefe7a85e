"""What people chose is read once, for the method, its audit and the attacks."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.keys.choices import ACTUAL, GENERALIZED, HIDDEN, PSEUDONYM, choices_of, n_categories
from manyveils.methods.grade import GradeOptions
from manyveils.table import hold

CELLS = ["1", "2.0", "3", None, "2"]


def chosen(**publish):
    """What five people chose, one of whom left her cell empty."""
    frame = pl.DataFrame({"q": list("abcde"), "s": list("uvuvu"), "wish": CELLS})
    roles = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "wish": {"role": "choice"}}
    policy = mv.Policy(attributes=roles, publish={"method": "grade", **publish})
    table, _ = hold(frame, policy)
    choices = choices_of(policy, table.attributes)
    return choices.of({"wish": table["wish"].codes}, table.n_rows).tolist()


@pytest.mark.parametrize("default", [ACTUAL, GENERALIZED, HIDDEN])
def test_cells_mean_choices(default):
    """A cell means the choice it names, however it is written, and an empty one the policy's default."""
    assert chosen(default_choice=default) == [ACTUAL, GENERALIZED, HIDDEN, default, GENERALIZED]


def test_defaults_are_those_of_the_method():
    """Where the policy says nothing, its options mean what the method takes them for."""
    options = GradeOptions()
    assert chosen()[3] == options.default_choice
    policy = mv.Policy(attributes={"x": {"role": "sensitive"}}, publish={"method": "grade"})
    assert n_categories(policy, "x") == options.categories
    assert choices_of(policy, {}).of({}, 2).tolist() == [options.default_choice] * 2


@pytest.mark.parametrize(
    ("categories", "n"), [(7, 7), ([[0, 5], [5, 9]], 2), ({"x": 3}, 3), ({"x": [[0, 9]]}, 1), ({"y": 3}, 5)]
)
def test_categories_asked_for(categories, n):
    """Categories are given as a number or as a list, for all attributes or for one."""
    publish = {"method": "grade", "categories": categories}
    policy = mv.Policy(attributes={"x": {"role": "sensitive"}}, publish=publish)
    assert n_categories(policy, "x") == n


def test_pseudonyms_have_their_form():
    """All that is published for people who hide their value is a pseudonym, and no value of the data looks like one."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"q": np.arange(40), "s": rng.choice(["flu", "ulcer"], 40)})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi", "kind": "numeric"}, "s": {"role": "sensitive"}},
        publish={"method": "grade"},
    )
    cells = mv.publish(frame, policy, seed=1).tables["main"]["s"].unique().to_list()
    assert len(cells) == 2
    assert all(PSEUDONYM.fullmatch(cell) for cell in cells)
    assert not any(PSEUDONYM.fullmatch(value) for value in ("flu", "ulcer", "ABCDEFGHI1", "ABCDEFGHIJK"))
