"""k of chosen combinations of quasi-identifiers, and bounds on the chance of being found."""

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy.guarantees import KeyAnonymity, MarketerRisk, exact
from manyveils.run import publish
from manyveils.table import hold, resolve
from tests.claims.test_optimal_node import classes_at, cost_of, keeps
from tests.claims.test_whole_persons import ANYTIME, BLOCKS
from tests.claims.test_whole_persons import cost_of as cost_for_persons
from tests.kit.conformance import CONFIGURATIONS, check_promises
from tests.kit.people import drafted, people, work_for
from tests.kit.strategies import Case, cases

ASKED = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 3),
        "prosecutor_risk": st.sampled_from([0.25, 0.34, 0.5, 1.0]),
        "marketer_risk": st.sampled_from([0.2, 0.3, 0.45, 0.7]),
    },
)
KEYS = st.lists(
    st.fixed_dictionaries(
        {
            "attributes": st.lists(
                st.sampled_from(["age", "job", "sex"]), min_size=1, max_size=2, unique=True
            ),
            "k": st.integers(1, 7),
        }
    ),
    max_size=2,
    unique_by=lambda key: frozenset(key["attributes"]),
)


def with_keys(case, keys):
    """The case with promises about keys."""
    return Case(case.frame, case.sections | {"keys": keys})


def stay_together(groups, promises, table, quasi, sensitive):
    """The groups that stay once groups have gone, one after the other, that break a promise beside those that stay."""
    stay = dict(groups)
    while True:
        gone = [
            key
            for key in stay
            if not all(keeps_beside(p, key, stay, table, quasi, sensitive) for p in promises)
        ]
        if not gone:
            return stay
        # One at a time: in whatever order, the same groups stay in the end.
        del stay[gone[0]]


def keeps_beside(promise, key, stay, table, quasi, sensitive):
    """Whether a group keeps a promise if some groups stay."""
    if isinstance(promise.guarantee, MarketerRisk):
        return True
    if not isinstance(promise.guarantee, KeyAnonymity):
        return keeps(promise, stay[key], table, sensitive)
    places = [quasi.index(name) for name in promise.given]
    alike = [rows for other, rows in stay.items() if all(other[place] == key[place] for place in places)]
    return sum(map(len, alike)) >= promise.guarantee.k


def exhaustive(case, objective):
    """The lowest cost over all nodes, by plain enumeration."""
    policy = case.policy
    table, _ = hold(case.frame, policy)
    promises, quasi, sensitive = resolve(policy, table), policy.quasi, policy.sensitive
    risks = [promise.guarantee.risk for promise in promises if isinstance(promise.guarantee, MarketerRisk)]
    limit = int(exact(policy.publish.suppression) * table.n_rows)
    costs = []
    for node in product(*(range(len(table[name].levels)) for name in quasi)):
        groups = classes_at(node, table, quasi)
        stay = stay_together(groups, promises, table, quasi, sensitive)
        n_stay = sum(map(len, stay.values()))
        if (
            not stay
            or table.n_rows - n_stay > limit
            or any(Fraction(len(stay), n_stay) > risk for risk in risks)
        ):
            continue
        lost = {key: rows for key, rows in groups.items() if key not in stay}
        costs.append(cost_of(objective, node, stay, lost, table, quasi))
    return min(costs, default=None)


@pytest.mark.parametrize("objective", ["loss", "discernibility"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_optimum_is_exact_with_keys(objective, data):
    """Full-domain recoding reaches the cheapest node at which groups keep keys and risks together, or refuses."""
    publish_by = {"method": "generalize", "objective": objective}
    case = data.draw(cases(publish_by, smallest=2, largest=16, promised=ASKED))
    case = with_keys(case, data.draw(KEYS))
    try:
        release = publish(case.frame, case.policy, seed=1)
    except PolicyError:
        return
    except InfeasibleError:
        assert exhaustive(case, objective) is None
        return
    assert release.notes["cost"] == pytest.approx(exhaustive(case, objective), rel=1e-12)


@pytest.mark.parametrize("limit", [3, 20, 100_000])
@pytest.mark.parametrize("most_written", [0, 10**6])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_search_that_is_broken_off_bounds_the_optimum(most_written, limit, data):
    """With a limit of checks, what is found keeps the promises and the bound is not above the optimum."""
    case = data.draw(
        cases({"method": "generalize", "check_limit": limit}, smallest=2, largest=16, promised=ASKED)
    )
    case = with_keys(case, data.draw(KEYS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BLOCKS, "SIZES", (2, 8, 16))
        patch.setattr(ANYTIME, "MOST_WRITTEN", most_written)
        try:
            release = publish(case.frame, case.policy, seed=1)
        except (PolicyError, InfeasibleError):
            return
    best = exhaustive(case, "loss")
    assert best is not None
    assert release.notes["cost_at_least"] <= best + 1e-9 <= release.notes["cost"] + 2e-9
    if limit > 1000:
        assert release.notes["cost"] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("name", CONFIGURATIONS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_method_keeps_keys_and_risks(name, data):
    """Keys and risks hold in every group of every method by the oracle, or nothing is published."""
    case = data.draw(cases(CONFIGURATIONS[name], promised=ASKED))
    check_promises(with_keys(case, data.draw(KEYS)))


def hospital(**sections):
    """A policy about eight people."""
    described = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    return mv.Policy(attributes=described, **sections)


PEOPLE = pl.DataFrame({"age": [1, 1, 1, 1, 2, 2, 2, 2], "sex": list("ffmmfmmm"), "ill": ["flu", "cold"] * 4})


def found(verdict, kind):
    """The findings of a kind: about what, what is measured, whether it is kept."""
    return [(one.attribute, one.measured, one.kept) for one in verdict.findings if one.promise == kind]


def test_keys_are_judged_each_by_its_own_k():
    """Of two keys with the same k, each has its own finding, on both sides of the bound."""
    release = mv.publish(PEOPLE, hospital(publish={"method": "separate"}), seed=1)
    assert found(
        mv.audit(release, PEOPLE, hospital(keys=[{"attributes": ["age"], "k": 4}])), "key-k-anonymity"
    )
    whole = mv.publish(PEOPLE, hospital(), seed=1)
    for k, kept in ((3, True), (4, False)):
        asked = hospital(keys=[{"attributes": ["age"], "k": k}, {"attributes": ["sex"], "k": k}])
        judged = found(mv.audit(whole, PEOPLE, asked), "key-k-anonymity")
        assert judged == [("age", 4, True), ("sex", 3, kept)]


@pytest.mark.parametrize(
    ("kind", "key", "measured", "below"),
    [("prosecutor-risk", "prosecutor_risk", 1.0, 0.99), ("marketer-risk", "marketer_risk", 0.5, 0.499)],
)
def test_risks_are_judged_on_both_sides_of_the_bound(kind, key, measured, below):
    """A risk holds at its bound and breaks below it: groups of 2, 2, 1 and 3 of eight people."""
    whole = mv.publish(PEOPLE, hospital(), seed=1)
    for bound, kept in ((measured, True), (below, False)):
        verdict = mv.audit(whole, PEOPLE, hospital(guarantee={key: bound}))
        assert found(verdict, kind) == [("", measured, kept)]


def test_a_third_is_no_more_than_its_decimal_says():
    """Groups of three break 0.33 and keep 0.34: thresholds are the decimals that were written."""
    people = pl.concat([PEOPLE, PEOPLE, PEOPLE])
    ages = hospital(guarantee={"prosecutor_risk": 0.33})
    whole = mv.publish(people, hospital(), seed=1)
    assert found(mv.audit(whole, people, ages), "prosecutor-risk") == [("", pytest.approx(1 / 3), False)]
    ages = hospital(guarantee={"prosecutor_risk": 0.34})
    assert found(mv.audit(whole, people, ages), "prosecutor-risk") == [("", pytest.approx(1 / 3), True)]


def test_persons_are_counted_for_keys_and_risks():
    """Four rows of two persons are a group of two for every key and risk."""
    frame = PEOPLE.with_columns(who=pl.Series(list("aabbcccd")), sex=pl.lit("f"))
    described = {"who": {"role": "identifier"}} | {
        name: {"role": role} for name, role in (("age", "quasi"), ("sex", "quasi"), ("ill", "sensitive"))
    }
    sections = {"data": {"person": "who"}, "attributes": described}
    release = mv.publish(frame, sections, seed=1)
    asked = sections | {
        "guarantee": {"prosecutor_risk": 0.4, "marketer_risk": 0.5},
        "keys": [{"attributes": ["age"], "k": 2}],
    }
    verdict = mv.audit(release, frame, mv.Policy(**asked))
    assert found(verdict, "prosecutor-risk") == [("", 0.5, False)]
    assert found(verdict, "marketer-risk") == [("", 0.5, True)]
    assert found(verdict, "key-k-anonymity") == [("age", 2, True)]


@pytest.mark.parametrize("decompose", ["uad", "gd"])
def test_guardian_tables_need_not_hold_a_key(decompose):
    """A key of attributes that stand in different tables is kept by what each table tells of it."""
    frame = pl.DataFrame(
        {
            "age": [20, 21, 22, 23] * 6,
            "job": ["clerk", "clerk", "miner", "miner"] * 6,
            "ill": ["flu", "cold", "ulcer"] * 8,
            "pay": ["low", "low", "high", "high", "fair", "fair"] * 4,
        }
    )
    roles = {"age": "quasi", "job": "quasi", "ill": "sensitive", "pay": "sensitive"}
    policy = mv.Policy(
        attributes={name: {"role": role} for name, role in roles.items()},
        guarantee={"l": 2},
        keys=[{"attributes": ["age", "job"], "k": 3}],
        publish={"method": "guardian", "decompose": decompose},
    )
    verdict = mv.audit(mv.publish(frame, policy, seed=1), frame, policy)
    assert verdict.kept
    assert all(kept for _, _, kept in found(verdict, "key-k-anonymity"))


def test_keys_do_not_hinder_other_measures():
    """Models that learn from a release, and measures of graded ones, take no notice of keys."""
    policy = hospital(keys=[{"attributes": ["age", "sex"], "k": 1}], population={"size": 10})
    release = mv.publish(PEOPLE, policy, seed=1)
    assert mv.measure(release, PEOPLE, policy)["loss"] == 0
    graded = hospital(
        keys=[{"attributes": ["age"], "k": 2}], publish={"method": "grade", "then": "generalize"}
    )
    assert "prosecutor_risk" in mv.measure(mv.publish(PEOPLE, graded, seed=1), PEOPLE, graded)


def test_levels_of_risks_are_looked_at():
    """The audit says what falls short of another risk, or of another k of every key."""
    policy = hospital(guarantee={"prosecutor_risk": 1.0}, keys=[{"attributes": ["sex"], "k": 2}])
    release = mv.publish(PEOPLE, policy, seed=1)
    looked_at = mv.audit(release, PEOPLE, policy, levels={"prosecutor_risk": 0.5, "k": 4})
    unpromised = [(one.promise, one.required, one.kept) for one in looked_at.findings if not one.promised]
    assert ("prosecutor-risk", 0.5, False) in unpromised
    assert ("key-k-anonymity", 4, False) in unpromised


@pytest.mark.parametrize("objective", ["loss", "discernibility"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_optimum_is_exact_with_keys_of_persons(objective, data):
    """Where somebody has several rows, a key counts persons, who go with all their rows: the cheapest node is found."""
    publish_by = {"method": "generalize", "objective": objective}
    case, whose = data.draw(people(publish_by, smallest=2, largest=16, promised=OF_PERSONS))
    sizes = {
        key: value for key, value in case.sections["guarantee"].items() if key in ("k", "prosecutor_risk")
    }
    asked = Case(case.frame, case.sections | {"guarantee": sizes})
    work = work_for(with_keys(asked, data.draw(KEYS)).policy, case.frame, whose)
    if work is None:
        return
    lowest = cheapest_of_persons(work, objective)
    try:
        drafts = drafted(work)
    except InfeasibleError:
        assert lowest is None
        return
    assert drafts.notes["cost"] == pytest.approx(lowest, rel=1e-12)


OF_PERSONS = st.fixed_dictionaries(
    {}, optional={"k": st.integers(1, 3), "prosecutor_risk": st.sampled_from([0.34, 0.5, 1.0])}
)


def cheapest_of_persons(work, objective):
    """The lowest cost over all nodes, where persons go one after another who are in a group or a key with too few."""
    table, quasi = work.table, work.quasi
    persons = list(range(table.n_rows)) if table.persons is None else table.persons.tolist()
    costs = []
    for node in product(*(range(len(table[name].levels)) for name in quasi)):
        keys = [
            tuple(
                int(table[n].levels[level].label_of[table[n].codes[row]])
                for n, level in zip(quasi, node, strict=True)
            )
            for row in range(table.n_rows)
        ]
        stay = set(persons)
        while gone := [who for who in stay if not is_crowded(who, stay, keys, persons, work)]:
            stay.discard(gone[0])
        stays = np.array([who in stay for who in persons])
        if stays.any() and len(set(persons)) - len(stay) <= work.limit:
            numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
            groups = np.array([numbers[key] for key in keys])
            costs.append(cost_for_persons(objective, node, stays, groups, table, quasi))
    return min(costs, default=None)


def is_crowded(who, stay, keys, persons, work):
    """Whether every row of a person has enough persons of those who stay who are alike in what is known."""
    for promise in work.promises:
        places = [work.quasi.index(name) for name in promise.given]
        for own in (key for key, other in zip(keys, persons, strict=True) if other == who):
            alike = {
                other
                for key, other in zip(keys, persons, strict=True)
                if other in stay and all(key[place] == own[place] for place in places)
            }
            if len(alike) < promise.guarantee.least_rows:
                return False
    return True
