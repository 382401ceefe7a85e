"""Generalizing a table in which persons have several rows: groups of persons, who go with all their rows or stay."""

from importlib import import_module
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.methods.generalize.lattice import lattice_of
from manyveils.methods.generalize.mondrian import NO_CUTS
from manyveils.methods.generalize.objectives import OBJECTIVES as COSTS
from manyveils.methods.generalize.together import Together
from manyveils.policy import Policy
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch
from manyveils.promises.sightings import about_constants, sightings_of
from tests.kit.people import (
    broken,
    drafted,
    groups_of,
    guarantees,
    is_whole,
    people,
    told,
    unchanging,
    work_for,
)

ANYTIME = import_module("manyveils.methods.generalize.anytime")
LEAVING = import_module("manyveils.methods.generalize.leaving")
BLOCKS = import_module("manyveils.methods.generalize.blocks")
OBJECTIVES = ["loss", "discernibility", "class-size", "height"]
many = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


def staying(stays, groups, n_groups, watches, persons, seen=None):
    """Who stays: as long as a group breaks a promise, everybody in it goes with all her rows."""
    while True:
        # Those who went are a group of their own, which nobody asks about.
        fine = kept_by_groups(watches, np.where(stays, groups, n_groups), n_groups + 1)
        if seen is not None and fine[groups[stays]].all():
            order = seen.each[0].persons.order
            fine = ~seen.unfit(np.where(stays, groups, -1)[order], n_groups)
        out = {persons[row] for row in np.flatnonzero(stays) if not fine[groups[row]]}
        if not out:
            return stays
        stays = stays & ~np.isin(persons, list(out))


def cost_of(objective, node, stays, groups, table, quasi):
    """The cost of a node by definition."""
    sizes = np.bincount(groups[stays])
    match objective:
        case "height":
            return sum(node)
        case "discernibility":
            return int((sizes * sizes).sum()) + int((~stays).sum()) * table.n_rows
        case "class-size":
            return table.n_rows / np.count_nonzero(sizes)
        case _:
            levels = [table[name].levels[level] for name, level in zip(quasi, node, strict=True)]
            columns = [table[name].codes for name in quasi]
            return sum(
                level.loss[level.label_of[column[row]]] if stays[row] else 1.0
                for level, column in zip(levels, columns, strict=True)
                for row in range(table.n_rows)
            )


def exhaustive(work, objective):
    """The lowest cost over all nodes, by plain enumeration; nothing where none keeps the promises."""
    table, quasi = work.table, work.quasi
    persons = np.arange(table.n_rows) if table.persons is None else table.persons
    watches = watch(work.promises, table, work.sensitive)
    falling = tuple(w for w in watches if (w.one_part_heals if work.limit else w.merging_keeps))
    seen = sightings_of(about_constants(work.policy, table, work.promises), table, work.sensitive)
    best = None
    for node in product(*(range(len(table[name].levels)) for name in quasi)):
        keys = [
            tuple(
                int(table[n].levels[level].label_of[table[n].codes[row]])
                for n, level in zip(quasi, node, strict=True)
            )
            for row in range(table.n_rows)
        ]
        # Of groups with as many rows, the first goes, in the order of their labels.
        numbers = {key: number for number, key in enumerate(sorted({*keys}))}
        groups = np.array([numbers[key] for key in keys])
        stays = np.ones(table.n_rows, dtype=bool)
        for which, together in ((falling, None), (watches, seen)):
            stays = staying(stays, groups, len(numbers), which, persons, together)
        n_lost = np.unique(persons).size - np.unique(persons[stays]).size
        if stays.any() and n_lost <= work.limit:
            cost = cost_of(objective, node, stays, groups, table, quasi)
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("way", ["exact", "written", "halved"])
@many
@given(data=st.data())
def test_the_optimum_for_persons_is_exact(objective, way, data):
    """Whichever way the lattice is searched, the cheapest node is found, and refused only where no node keeps the promises."""
    options = {"method": "generalize", "objective": objective}
    options |= {} if way == "exact" else {"check_limit": 100_000}
    case, whose = data.draw(people(options, smallest=2, largest=16, promised=guarantees()))
    case = unchanging(case, whose) if data.draw(st.booleans()) else case
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    lowest = exhaustive(work, objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BLOCKS, "SIZES", (2, 8, 16))
        patch.setattr(ANYTIME, "MOST_WRITTEN", 0 if way == "halved" else 10**6)
        # Groups are looked up one by one, or never.
        patch.setattr(LEAVING, "LOOKED_UP", 10**6 if way == "exact" else 0)
        try:
            drafts = drafted(work)
        except InfeasibleError:
            assert lowest is None
            return
    assert drafts.notes["cost"] == pytest.approx(lowest, rel=1e-12)
    [draft] = drafts.views
    assert not broken(work, draft)
    assert is_whole(work, draft)


@settings(many, max_examples=150)
@given(data=st.data())
def test_groups_of_a_draft_keep_every_promise_to_persons(data):
    """Every group of a draft keeps every promise in plain Python, and who is left out is left out with all her rows."""
    case, whose = data.draw(people({"method": "generalize"}, smallest=2, largest=40, promised=guarantees()))
    case.sections["publish"]["suppression"] = data.draw(st.sampled_from([0.0, 0.1, 0.3, 0.6]))
    is_constant = data.draw(st.booleans())
    case = unchanging(case, whose) if is_constant else case
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    try:
        [draft] = drafted(work).views
    except InfeasibleError:
        return
    assert not broken(work, draft)
    assert is_whole(work, draft)
    assert not is_constant or not told(work, groups_of(draft, work))


@many
@given(data=st.data())
def test_one_subject_is_counted_as_all_of_them(data):
    """What a lattice counts of one subject at a node is what it counts of it beside all others."""
    case, whose = data.draw(people({"method": "generalize"}, smallest=2, largest=16, promised=guarantees()))
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    watches = watch(work.promises, work.table, work.sensitive)
    lattice = lattice_of(tuple(work.table[name] for name in work.quasi), work.table, watches)
    node = tuple(data.draw(st.integers(0, size - 1)) for size in lattice.shape)
    counted = lattice.at(node)
    for number, beside in enumerate(counted.entries):
        alone = lattice.subject_at(node, number)
        assert (alone is None) == (beside is None)
        if alone is not None and beside is not None:
            both = [vars(counts) for counts in (alone, beside)]
            assert all(np.array_equal(both[0][name], both[1][name]) for name in vars(beside))


@many
@given(data=st.data())
def test_cheaper_nodes_are_not_passed_over_for_a_bound(data):
    """No node costs less than its objective's bound, at the node itself and at every finer one."""
    objective = data.draw(st.sampled_from(OBJECTIVES))
    case, whose = data.draw(people({"method": "generalize"}, smallest=2, largest=16, promised=guarantees()))
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    lattice = lattice_of(tuple(work.table[name] for name in work.quasi), work.table, ())
    costs = COSTS[objective](lattice)
    low = data.draw(st.tuples(*[st.integers(0, size - 1) for size in lattice.shape]))
    high = tuple(
        data.draw(st.integers(level, size - 1)) for level, size in zip(low, lattice.shape, strict=True)
    )
    counted = lattice.at(high)
    stay = data.draw(st.lists(st.booleans(), min_size=work.table.n_rows, max_size=work.table.n_rows))
    lost = np.bincount(lattice.owners_of_rows(high)[~np.array(stay)], minlength=counted.sizes.size)
    if lattice.persons is None and ((lost > 0) & (lost < counted.sizes)).any():
        return
    if (lost < counted.sizes).any():
        assert costs.bound(lattice.at(low)) <= costs.bound(counted) + 1e-9
        assert costs.bound(counted) <= costs.cost(counted, lost) * (1 + 1e-9)


@pytest.mark.parametrize("cuts", ["relaxed", "strict"])
@settings(many, max_examples=100)
@given(data=st.data())
def test_groups_that_are_cut_keep_every_promise_to_persons(cuts, data):
    """Cutting rows into groups leaves nobody out, and every group keeps every promise in plain Python."""
    options = {"method": "generalize", "recoding": "mondrian", "cuts": cuts}
    case, whose = data.draw(people(options, smallest=2, largest=40, promised=guarantees()))
    is_constant = data.draw(st.booleans())
    case = unchanging(case, whose) if is_constant else case
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    watches = watch(work.promises, work.table, work.sensitive)
    try:
        [draft] = drafted(work).views
    except InfeasibleError:
        assert not kept_by_groups(watches, np.zeros(work.table.n_rows, dtype=np.int64), 1)[0]
        return
    assert draft.rows.tolist() == list(range(work.table.n_rows))
    assert not broken(work, draft)
    assert not is_constant or not told(work, groups_of(draft, work))


def test_groups_that_read_alike_are_one_group():
    """Two groups in which half of the same two persons have a value are undone where both read alike: together all have it."""
    frame = pl.DataFrame({"city": ["a", "b", "a", "b"], "ill": ["flu", "ulcer", "ulcer", "flu"]})
    policy = Policy(
        attributes={"city": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee={"l": 2, "l_kind": "frequency"},
    )
    work = work_for(policy, frame, [0, 1, 0, 1])
    watches, groups = watch(work.promises, work.table, work.sensitive), np.array([0, 0, 1, 1])
    cuts = NO_CUTS.and_of(np.array([0]))
    apart = Together(watches, None, lambda groups: np.arange(groups.max() + 1))
    assert apart.settled(groups, cuts).tolist() == groups.tolist()
    together = Together(watches, None, lambda groups: np.zeros(groups.max() + 1, dtype=np.int64))
    assert together.settled(groups, cuts).tolist() == [0, 0, 0, 0]


@settings(many, max_examples=150)
@given(data=st.data())
def test_groups_that_are_merged_keep_every_promise_to_persons(data):
    """What alpha-beta-k merges leaks nothing about persons and keeps every other promise, in plain Python."""
    case, whose = data.draw(people({"method": "alpha-beta-k"}, smallest=3, largest=30, promised=guarantees()))
    case.sections["guarantee"] = {
        key: value for key, value in case.sections["guarantee"].items() if key != "conditional"
    }
    case.sections["guarantee"] |= {} if "beta" in case.sections["guarantee"] else {"eliminations": 1}
    try:
        work = work_for(case.policy, case.frame, whose)
        if work is None:
            return
        [draft] = drafted(work).views
    except (InfeasibleError, PolicyError):
        return
    assert draft.rows.tolist() == list(range(work.table.n_rows))
    assert work.table.persons is None or not broken(work, draft)


def test_ten_visits_of_three_patients_are_refused():
    """Three patients are no group of four, however many visits they pay; as a group of three they are published together."""
    frame = pl.DataFrame(
        {
            "patient": ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"],
            "age": [30, 31, 32, 33, 50, 51, 52, 70, 71, 72],
            "ill": ["flu", "hiv", "flu", "ulcer", "flu", "ulcer", "hiv", "flu", "hiv", "colic"],
            "drug": ["x", "y", "z", "x", "y", "z", "x", "y", "z", "x"],
        }
    )
    roles = {"patient": {"role": "identifier"}}
    roles |= {"age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [10, 50]}}}
    roles |= {name: {"role": "sensitive"} for name in ("ill", "drug")}
    about = {"data": {"person": "patient"}, "attributes": roles}
    for options in ({}, {"recoding": "mondrian"}, {"suppression": 0.5}):
        publish = {"method": "generalize", **options}
        with pytest.raises((PolicyError, InfeasibleError), match="3 persons"):
            mv.publish(frame, Policy(**about, guarantee={"k": 4, "l": 3}, publish=publish), seed=1)
        release = mv.publish(frame, Policy(**about, guarantee={"k": 3, "l": 3}, publish=publish), seed=1)
        assert release.frames["main"]["age"].n_unique() == 1
        assert release.frames["main"].height == 10


@pytest.mark.parametrize("anonymizer", ["full-domain", "mondrian"])
@settings(many, max_examples=100)
@given(data=st.data())
def test_every_table_keeps_every_promise_to_persons(anonymizer, data):
    """Each of codip's tables keeps in plain Python what is promised of the attributes that stand in it."""
    options = {"method": "codip", "anonymizer": anonymizer, "alpha": 1.0, "beta": 1.0}
    case, whose = data.draw(people(options, smallest=3, largest=30, promised=guarantees()))
    is_constant = data.draw(st.booleans())
    case = unchanging(case, whose) if is_constant else case
    case.sections["publish"]["suppression"] = 0.0
    work = work_for(case.policy, case.frame, whose)
    if work is None:
        return
    try:
        drafts = drafted(work).views
    except (InfeasibleError, PolicyError):
        return
    for draft in drafts:
        assert draft.rows.tolist() == list(range(work.table.n_rows))
        assert not broken(work, draft)
        if is_constant and "ill" in draft.attributes:
            beside = tuple(set(work.sensitive) & set(draft.attributes))
            assert not told(work, groups_of(draft, work), beside)
