"""Order, frontier and recommendation, on results made by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.ranking import PREFERENCES, frontier, ordered, read_preference, recommend
from manyveils.comparing.trial import Result

QUERIES = PREFERENCES["query-error"]


def result(name, *, risk=0.0, error=0.5, **more):
    """A published result with one attack and one measure."""
    attacks = {} if risk is None else {"linkage": {"success": 0.2 + risk, "baseline": 0.2, "control": 0.1}}
    utility = {} if error is None else {"query_error": error, "learning": error}
    return Result(
        Configuration(name, {}, {}), attacks=attacks, utility=utility, **{"keeps_policy": True, **more}
    )


@pytest.mark.parametrize(
    ("baseline", "control", "risk"), [(0.1, 0.3, 0.4), (0.3, 0.1, 0.4), (0.1, None, 0.6), (0.9, 0.1, 0.0)]
)
def test_risk_is_what_nobody_knows_anyway(baseline, control, risk):
    """Risk is success beyond guessing and beyond people outside the data, whichever is more, and never below nothing."""
    attacks = {"linkage": {"success": 0.7, "baseline": baseline, "control": control}}
    found = Result(Configuration("one", {}, {}), attacks=attacks)
    assert found.risk == pytest.approx(risk)


def refused(name):
    """A refused result."""
    return Result(Configuration(name, {}, {}), "No.")


def advice(results, limit=0.1, preference=QUERIES, untried=()):
    """The recommendation among results in any order."""
    return recommend(
        ordered(results, preference), preference, limit=limit, policy_name="policy.toml", untried=untried
    )


some = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3]), st.sampled_from([0.1, 0.2, 0.3, None]), st.booleans()),
    min_size=1,
    max_size=8,
)


def cases(points):
    return [
        result(str(n), risk=risk, error=error, keeps_policy=keeps)
        for n, (risk, error, keeps) in enumerate(points)
    ]


@given(some, st.sampled_from(["query-error", "learning"]))
def test_frontier_by_definition(points, name):
    """A configuration is on the frontier if and only if it keeps the policy and no other that does dominates it."""
    results, preference = cases(points), PREFERENCES[name]
    sign = -1 if preference.larger_is_better else 1
    able = [each for each in results if each.keeps_policy and each.utility]
    wanted = set()
    for one in able:
        beaten = False
        for other in able:
            pair = (other.risk, sign * other.utility["query_error"])
            mine = (one.risk, sign * one.utility["query_error"])
            beaten |= pair != mine and pair[0] <= mine[0] and pair[1] <= mine[1]
        if not beaten:
            wanted.add(one.name)
    assert set(frontier(results, preference)) == wanted


@given(some, st.sampled_from([0.0, 0.15, 1.0]))
def test_recommendation_by_definition(points, limit):
    """The recommended one keeps the policy, is within the limit if any is, and then none within it is better."""
    results = cases(points)
    able = [each for each in results if each.keeps_policy and each.utility]
    found = advice(results, limit)
    if not able:
        assert found.name is None
        return
    chosen = next(each for each in results if each.name == found.name)
    within = [each for each in able if each.risk <= limit + 1e-9]
    if within:
        assert chosen in within
        best = min(each.utility["query_error"] for each in within)
        assert chosen.utility["query_error"] == best
        assert chosen.risk == min(each.risk for each in within if each.utility["query_error"] == best)
    else:
        assert chosen.risk == min(each.risk for each in able)
    assert found.name in frontier(results, QUERIES)


def test_order():
    """The best is first, then what has no such measure, then what was refused."""
    results = [
        refused("no"),
        result("silent", error=None),
        result("bad", error=0.9),
        result("good", error=0.1),
    ]
    assert [each.name for each in ordered(results, QUERIES)] == ["good", "bad", "silent", "no"]
    assert [each.name for each in ordered(results, PREFERENCES["learning"])][:2] == ["bad", "good"]


def test_secret_results_are_not_ranked():
    """A release with secret attributes has measures that leave them out, so it is neither ranked nor recommended."""
    results = [result("graded", error=0.0, secret=("income",)), result("open", error=0.3)]
    assert [each.name for each in ordered(results, QUERIES)] == ["open", "graded"]
    assert frontier(results, QUERIES) == ("open",)
    assert advice(results).name == "open"


def test_a_better_one_is_named_with_its_harm():
    """What is better by the preference is told, with the attack or the promise that speaks against it."""
    found = advice(
        [
            result("safe", error=0.5),
            result("leaky", error=0.1, risk=0.4),
            result("weak", error=0.2, keeps_policy=False),
        ]
    )
    assert found.name == "safe"
    assert (
        "leaky is better (0.1), but linkage is right for 40 % of targets beyond guessing and" in found.reason
    )
    assert "weak is better (0.2), but does not keep what policy.toml promises." in found.reason


def test_one_point():
    """A single configuration is recommended as the only one."""
    found = advice([result("lone"), refused("no")])
    assert found.name == "lone"
    assert "is the only configuration" in found.reason
    assert frontier([result("lone")], QUERIES) == ("lone",)


def test_ties_are_told():
    """Configurations that are just as good by the preference are named; the less risky one is taken."""
    found = advice([result("one", risk=0.05), result("two", risk=0.01)])
    assert found.name == "two"
    assert "Just as good by this measure: one" in found.reason


def test_digits_of_chance_do_not_count():
    """Risks that differ in the sixteenth digit are equal, for the frontier and among equals."""
    better, worse = result("better", risk=0.165, error=0.1), result("worse", error=0.2)
    attacks = {"linkage": {"success": better.risk - 5e-17, "baseline": 0.0, "control": None}}
    worse = Result(worse.configuration, attacks=attacks, utility=worse.utility, keeps_policy=True)
    assert worse.risk < better.risk
    assert frontier([better, worse], QUERIES) == ("better",)
    assert advice([better, worse]).name == "better"


def test_one_above_the_limit():
    """A single configuration that gives away too much is recommended with its risk and not as one of several."""
    found = advice([result("lone", risk=0.3)])
    assert (
        "linkage is right for 30 % of targets beyond guessing and beyond people outside the data."
        in found.reason
    )
    assert (
        "only configuration that keeps the promises of policy.toml, and exceeds the risk of 10 %"
        in found.reason
    )


def test_none_within_the_limit():
    """If every configuration gives away more than the limit, the least is taken, and this is said."""
    found = advice([result("much", risk=0.5, error=0.1), result("less", risk=0.3, error=0.9)])
    assert found.name == "less"
    assert "None of the 2 configurations" in found.reason
    assert "much is better" in found.reason


def test_without_attacks():
    """Without attacks there is no risk and no frontier, and the recommendation says that it did not look."""
    results = [result("one", risk=None), result("two", risk=None, error=0.1)]
    assert frontier(results, QUERIES) == ()
    found = advice(results)
    assert found.name == "two"
    assert any("no attack was tried" in said for said in found.ignores)


def test_what_is_ignored_is_said():
    """Attacks that were not tried and other measures are named."""
    found = advice([result("one")], untried=("membership",))
    assert any("membership" in said for said in found.ignores)
    assert any("divergence from the original" in said for said in found.ignores)


def test_nothing_to_recommend():
    """If nothing keeps the policy, there is a reason and no name."""
    assert advice([refused("no")]).name is None
    assert "can keep" in advice([refused("no")]).reason
    assert "promise less" in advice([result("weak", keeps_policy=False)]).reason


def test_unknown_preference():
    """An unknown preference is refused with the nearest; underlines are fine."""
    assert read_preference("query_error") is QUERIES
    with pytest.raises(mv.InputError, match="Did you mean 'learning'"):
        read_preference("learnin")


def measured(name, presence, relations, *, error=0.5, risk=0.0):
    """A result whose presence and relations were measured."""
    found = result(name, error=error, risk=risk)
    return replace(found, utility={**found.utility, "singled_out": presence, "relations": relations})


def test_presence_and_relations_are_weighed():
    """What shows everybody's presence, or keeps no relation, is not recommended while there is another, and the reason says why."""
    found = advice(
        [
            measured("shown", 1.0, 0.6, error=0.1),
            measured("torn", 0.0, 0.0, error=0.2),
            measured("sound", 0.2, 0.5),
        ]
    )
    assert found.name == "sound"
    assert "shown is better (0.1), but it shows the presence of all of the people." in found.reason
    assert (
        "torn is better (0.2), but it keeps hardly any of the relations between attributes." in found.reason
    )
    assert "What it gives up: it shows the presence of 20 % of the people; of the relations" in found.reason


@pytest.mark.parametrize(
    ("presence", "relations", "name"), [(0.89, 0.11, "first"), (0.9, 0.5, "second"), (0.5, 0.1, "second")]
)
def test_where_presence_and_relations_begin_to_count(presence, relations, name):
    """Nine tenths of the people are too many, and a tenth of the relations is too little."""
    assert (
        advice([measured("first", presence, relations, error=0.1), measured("second", 0.0, 0.9)]).name == name
    )


def test_without_a_better_one_it_is_said():
    """Where only such a way is within the risk, it is recommended with what it gives up, and the least risky other is named."""
    found = advice([measured("torn", 0.0, 0.0), measured("leaky", 0.0, 0.8, risk=0.4, error=0.1)])
    assert found.name == "torn"
    assert "of the relations between attributes it keeps hardly any." in found.reason
    assert "leaky is the least risky that gives up neither; there, linkage is right for 40 %" in found.reason
