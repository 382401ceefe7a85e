"""The anytime search never promises more than there is: its bound, the optimum and what it found stand in this order."""

from importlib import import_module
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import survey, survey_policy
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.methods import work_of
from manyveils.methods.generalize.demand import Demand
from manyveils.methods.generalize.lattice import lattice_of
from manyveils.methods.generalize.objectives import OBJECTIVES as COSTS
from manyveils.promises.keeping import watch_counts
from manyveils.run import publish
from manyveils.table import Streams, hold
from tests.claims.test_optimal_node import exhaustive
from tests.kit.strategies import cases

ANYTIME = import_module("manyveils.methods.generalize.anytime")
BLOCKS = import_module("manyveils.methods.generalize.blocks")
PLAN = import_module("manyveils.methods.generalize.full_domain")
OBJECTIVES = ["loss", "discernibility", "class-size", "height"]
ENOUGH = 100_000
many = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=["written", "halved"])
def way(request, monkeypatch):
    """Whether the lattice is written down to be closed, or halved into boxes; blocks are small in both ways."""
    monkeypatch.setattr(BLOCKS, "SIZES", (2, 8, 16))
    monkeypatch.setattr(ANYTIME, "MOST_WRITTEN", 10**6 if request.param == "written" else 0)


def searched(case):
    """The notes on a search; nothing where no node keeps the promises, and "unknown" where none was found."""
    try:
        return publish(case.frame, case.policy, seed=1).notes
    except InfeasibleError as error:
        return "unknown" if "that were checked" in str(error) else None


@pytest.mark.parametrize("objective", OBJECTIVES)
@many
@given(data=st.data())
def test_bound_optimum_found(way, objective, data):
    """However soon it is broken off, the bound is no more than the optimum, and the optimum no more than what is found."""
    checks = data.draw(st.integers(1, 60))
    options = {"method": "generalize", "objective": objective, "check_limit": checks}
    case = data.draw(cases(options, smallest=2, largest=16))
    try:
        notes = searched(case)
    except PolicyError:
        return
    optimum = exhaustive(case, objective)
    if notes == "unknown":
        return
    if notes is None:
        assert optimum is None
        return
    assert notes["nodes_checked"] <= checks
    assert notes["cost_at_least"] <= optimum * (1 + 1e-9)
    assert optimum <= notes["cost"] * (1 + 1e-9)
    assert notes["gap"] * notes["cost"] == pytest.approx(notes["cost"] - notes["cost_at_least"], abs=1e-6)
    if notes["is_optimal"]:
        assert notes["cost"] == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@many
@given(data=st.data())
def test_closes(way, objective, data):
    """With checks enough, what is found is the optimum and is said to be; what is refused cannot be."""
    options = {"method": "generalize", "objective": objective, "check_limit": ENOUGH}
    case = data.draw(cases(options, smallest=2, largest=16))
    try:
        notes = searched(case)
    except PolicyError:
        return
    optimum = exhaustive(case, objective)
    assert notes != "unknown"
    if notes is None:
        assert optimum is None
    else:
        assert notes["is_optimal"]
        assert notes["gap"] == 0
        assert notes["cost"] == pytest.approx(optimum, rel=1e-9)


def demand_of(case):
    """What a case asks of the nodes of its lattice."""
    table, _ = hold(case.frame, case.policy)
    work = work_of(case.policy, table, Streams(1))
    watches = watch_counts(work, work.promises, work.sensitive, work.quasi)
    lattice = lattice_of(tuple(table[name] for name in work.quasi), table, watches)
    return Demand(lattice, COSTS[case.policy.publish.options["objective"]](lattice), watches, work.limit)


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(many, max_examples=60)
@given(data=st.data())
def test_box_costs(objective, data):
    """No node of a box costs less than its finest node with the rows lost that fail at its coarsest."""
    case = data.draw(cases({"method": "generalize", "objective": objective}, smallest=4, largest=24))
    if data.draw(st.booleans()):
        # So that some rows, but not too many, must go.
        case.sections["guarantee"] = {"k": data.draw(st.integers(2, 4))}
        case.sections["publish"]["suppression"] = 0.9
    try:
        demand = demand_of(case)
    except PolicyError:
        return
    lattice, costs = demand.lattice, demand.objective
    high = data.draw(st.tuples(*[st.integers(0, size - 1) for size in lattice.shape]))
    coarsest = lattice.at(high)
    falling = demand.falling(coarsest)
    lost = np.where(demand.gone_below(coarsest, falling), lattice.base.sizes, 0)
    assert lost.sum() == falling.n
    least_rows = max(watched.promise.guarantee.least_rows for watched in demand.watches)
    for node in product(*(range(level + 1) for level in high)):
        choice = demand.choice(lattice.at(node), demand.falling(lattice.at(node)))
        if choice is None:
            continue
        assert falling.n <= choice.suppressed
        assert costs.whatever(least_rows) <= choice.cost
        for low in (node, (0,) * len(node)):
            least = costs.bound(lattice.at(low)) + costs.beyond(low, lost, demand.limit)
            assert least <= choice.cost * (1 + 1e-9)


def uneven(n_alone):
    """Two people of one city have one illness; of the others, half have it. Only without those two are all diverse."""
    cities = ["alone"] * n_alone + ["mixed"] * 8
    ills = ["flu"] * (n_alone + 4) + ["ulcer"] * 4
    frame = pl.DataFrame({"job": ["clerk"] * len(cities), "city": cities, "ill": ills})
    roles = {"job": {"role": "quasi"}, "city": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    options = {"method": "generalize", "suppression": 0.2, "check_limit": ENOUGH}
    return frame, mv.Policy(attributes=roles, guarantee={"l": 2, "l_kind": "frequency"}, publish=options)


def test_promises_that_finer_nodes_keep(way):
    """A promise that is broken at the top, and kept further down once some rows are left out, is not given up for lost."""
    frame, policy = uneven(2)
    notes = publish(frame, policy, seed=1).notes
    assert notes["is_optimal"]
    assert notes["levels"]["city"] == 0
    with pytest.raises(InfeasibleError):
        publish(*uneven(3), seed=1)


def wide(n_questions=20, n=1_000, **options):
    """The notes on a survey with many questions, and the release."""
    publishing = {"method": "generalize", "suppression": 0.05, **options}
    return publish(survey(n, n_questions), survey_policy(n_questions, publish=publishing), seed=1)


def test_larger_lattices_are_searched(monkeypatch):
    """A lattice that is too large for the exact search is searched as long as its size allows, and says so."""
    monkeypatch.setattr(PLAN, "MOST_CHECKS", 1_500)
    release = wide()
    notes = release.notes
    assert notes["nodes"] > PLAN.MOST_NODES
    assert notes["check_limit"] == notes["nodes_checked"] == 1_500
    assert 0 < notes["cost_at_least"] < notes["cost"] < 20 * 1_000
    assert 0 < notes["gap"] < 1
    assert not notes["is_optimal"]


def test_more_checks_find_no_worse():
    """More checks give no worse node, and a bound that is no lower."""
    few, more = (wide(check_limit=checks).notes for checks in (300, 3_000))
    assert more["cost"] <= few["cost"]
    assert more["cost_at_least"] >= few["cost_at_least"] > 0


def test_checks_give_the_same_release():
    """The number of checks decides what is published; the time they take and the seed do not."""
    first, second = wide(check_limit=500), wide(check_limit=500)
    assert first.notes == second.notes
    assert [frame.equals(second.tables[name]) for name, frame in first.tables.items()] == [True]


def test_stops_in_time():
    """A limit of time is kept, and the notes tell how many nodes were checked in it."""
    notes = wide(time_limit=0.5).notes
    assert notes["time_limit"] == 0.5
    assert notes["nodes_checked"] > 0
    assert "check_limit" not in notes


def test_exact_without_limits():
    """A lattice that is small enough is searched to the end if no limit is given, and finds what a limit finds."""
    notes, limited = wide(6).notes, wide(6, check_limit=ENOUGH).notes
    assert "gap" not in notes
    assert limited["is_optimal"]
    assert notes["cost"] == pytest.approx(limited["cost"], rel=1e-12)


def test_progress_is_told():
    """The share of the limit that is spent is reported, and never falls."""
    from manyveils.arguments import Order
    from manyveils.run import make

    shares = []
    policy = survey_policy(20, publish={"method": "generalize", "suppression": 0.05, "check_limit": 500})
    order = Order(
        survey(500, 20), policy, seed=1, progress=lambda stage, share: shares.append((stage, share))
    )
    make(order, *hold(order.data, order.policy))
    told = [share for stage, share in shares if stage == "searching the lattice"]
    assert told == sorted(told)
    assert 0.8 <= told[-1] <= 1


@pytest.mark.parametrize("command", ["plan", "publish"])
def test_commands_say_how_good_it_is(desk, command):
    """People are told whether the choice is the optimum, or how much a better one could save at most."""
    arguments = [command, desk.folder / "policy.toml"]
    arguments += ["--out", desk.out, "--force"] if command == "publish" else []
    desk.policy(publish={"method": "generalize", "check_limit": 1_000})
    assert "nodes checked, this is the optimum." in desk.run(*arguments).stdout.replace("\n", " ")
    desk.policy(publish={"method": "generalize", "check_limit": 2})
    assert "a better one could cost" in desk.run(*arguments).stdout.replace("\n", " ")


@pytest.mark.parametrize("n_questions", [37, 60])
def test_every_door_takes_wide_tables(n_questions):
    """A table with 37 or 60 quasi-identifiers is published, audited, measured, attacked and reported on."""
    data, policy = (
        survey(400, n_questions),
        survey_policy(n_questions, publish={"method": "generalize", "suppression": 0.05, "check_limit": 300}),
    )
    release = mv.publish(data, policy, seed=1)
    assert mv.audit(release, data, policy).kept
    assert 0 < mv.measure(release, data, policy)["loss"] <= 1
    assert mv.report(release, data, policy, only=["background-join"], seed=1).document["audit"]["kept"]


@pytest.mark.parametrize("method", ["anatomize", "slice", "separate"])
def test_every_method_takes_wide_tables(method):
    """Keys of sixty attributes do not fit one number, and every method that takes them still publishes."""
    policy = survey_policy(60, publish={"method": method}, guarantee={"l": 2})
    assert mv.publish(survey(400, 60), policy, seed=1).rows == 400
