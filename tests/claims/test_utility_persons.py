"""Measures that count people count persons, each once in a group, where people have several rows."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.policy import Policy
from manyveils.release import Draft, seal
from manyveils.table import hold
from manyveils.utility import measure
from manyveils.utility.portrait import portrait

ROLES = {"q": {"role": "quasi", "kind": "categorical"}, "s": {"role": "sensitive", "kind": "categorical"}}


def released(rows, persons, columns, *, kept=None, buckets=None):
    """A table of persons, its policy, and one view of it by hand."""
    frame = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    policy = Policy(attributes=ROLES, guarantee={"k": 2})
    table, restore = hold(frame, policy)
    table = replace(table, persons=np.array(persons, dtype=np.int64))
    kept = np.arange(table.n_rows) if kept is None else np.array(kept)
    draft = Draft("main", columns, kept, None if buckets is None else np.array(buckets))
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
    return release, table, policy


def dense(persons):
    """Numbers without gaps."""
    return [sorted(set(persons)).index(person) for person in persons]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.sampled_from("uv")), min_size=1, max_size=12
    )
)
@settings(max_examples=50, deadline=None)
def test_groups_are_of_persons(rows):
    """Discernibility and class sizes are those of the different persons of every group."""
    persons = dense([person for person, *_ in rows])
    utility = measure(*released([row[1:] for row in rows], persons, (("q", "s"),)))
    sizes = [
        len({p for p, row in zip(persons, rows, strict=True) if row[1] == g})
        for g in {row[1] for row in rows}
    ]
    assert utility["discernibility"] == sum(size**2 for size in sizes)
    assert utility["average_class_size"] == pytest.approx(sum(sizes) / len(sizes))
    assert utility["c_avg"] == pytest.approx(sum(sizes) / len(sizes) / 2)
    assert utility["suppressed_share"] == 0


def test_persons_left_out_cost_all_persons():
    """Whoever is left out with three rows is one person of three, and costs as much as all three."""
    rows = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "u"), ("b", "v")]
    utility = measure(*released(rows, [0, 1, 2, 2, 2], (("q", "s"),), kept=[0, 1]))
    assert utility["discernibility"] == 2**2 + 3
    assert utility["suppressed_share"] == pytest.approx(1 / 3)


def test_cells_are_counted_as_before():
    """Measures of cells and queries do not ask who is who."""
    rows = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "u"), ("b", "v")]
    release, table, policy = released(rows, [0, 1, 2, 2, 2], (("q", "s"),), kept=[0, 1])
    persons, plain = (measure(release, own, policy) for own in (table, replace(table, persons=None)))
    changed = {key for key in plain if persons[key] != plain[key]}
    of_people = {"discernibility", "average_class_size", "c_avg", "suppressed_share", "singled_out"}
    of_finding = {"prosecutor_risk", "marketer_risk", "sample_uniques"}
    of_finding |= {"special_uniques", "special_uniques_by_attribute"}
    assert changed <= of_people | of_finding


def test_whoever_has_one_row_shown_is_singled_out():
    """A person is singled out by any of her rows, and counts once."""
    rows = [("a", "u"), ("b", "u"), ("b", "v"), ("b", "v")]
    release, table, policy = released(rows, [0, 0, 0, 1], (("q", "s"),))
    assert measure(release, table, policy)["singled_out"] == 1.0
    release, table, policy = released(rows, [0, 0, 0, 1], (("q", "s"),), kept=[0])
    assert measure(release, table, policy)["singled_out"] == 1 / 2
    assert measure(release, replace(table, persons=None), policy)["singled_out"] == 1 / 4


def test_a_portrait_draws_persons():
    """The groups that the owner is shown are of persons, and say so."""
    release, table, policy = released(
        [("a", "u"), ("a", "v"), ("a", "u"), ("b", "v")], [0, 0, 1, 2], (("q", "s"),)
    )
    (drawn,) = portrait(release, table, policy).group_sizes
    assert (drawn["smallest"], drawn["largest"], drawn["counts"]) == (1, 2, "people")
    (drawn,) = portrait(release, replace(table, persons=None), policy).group_sizes
    assert (drawn["largest"], "counts" in drawn) == (3, False)
