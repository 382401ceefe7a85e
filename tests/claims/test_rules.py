"""Rules: what follows from what, and what known dependencies add."""

from collections import Counter
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.policy.rules import (
    Dependency,
    PrivacyRule,
    breaking,
    irreducible,
    protecting_one,
    settle,
    tellers,
)

LETTERS = "abcd"


@st.composite
def rules(draw):
    """A rule between attributes of one letter."""
    right = draw(st.sampled_from(LETTERS))
    left = draw(st.frozensets(st.sampled_from([x for x in LETTERS if x != right]), min_size=1))
    return PrivacyRule(left, right, draw(st.integers(2, 3)))


@st.composite
def dependencies(draw):
    """A dependency between attributes of one letter."""
    right = draw(st.sampled_from(LETTERS))
    left = draw(st.frozensets(st.sampled_from([x for x in LETTERS if x != right]), min_size=1, max_size=2))
    return Dependency(left, right)


@settings(max_examples=200, deadline=None)
@given(st.lists(rules(), max_size=6))
def test_irreducible(given_rules):
    """What is kept implies everything and contains nothing that is implied."""
    kept, implied = irreducible(given_rules)
    for each in given_rules:
        assert any(other.implies(each) for other in kept)
    assert not any(one != other and one.implies(other) for one in kept for other in kept)
    assert all(by in kept and by.implies(dropped) for dropped, by in implied)


def witness(asked):
    """The table of Theorem 3.1's proof: it breaks a rule and keeps every rule that does not imply it."""
    left = sorted(asked.given)
    others = [name for name in LETTERS if name not in asked.given and name != asked.protect]
    rows = []
    for cells in product(*(["0", "1", "a", "b"] for _ in left), *(["0", "1"] for _ in others)):
        row = dict(zip([*left, *others], cells, strict=True))
        row[asked.protect] = str(sum(row[name] in ("1", "b") for name in left) % 2)
        rows.append(row)
    return rows


def keeps(rows, asked):
    """Whether the table itself, published as it is, keeps a rule with l = 2."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in sorted(asked.given)), []).append(row[asked.protect])
    return all(2 * max(map(values.count, values)) <= len(values) for values in groups.values())


@settings(max_examples=150, deadline=None)
@given(one=rules(), other=rules())
def test_nothing_else_follows(one, other):
    """Theorem 3.1: a rule implies another only if it gives more and protects the same; otherwise a table parts them."""
    one, other = (PrivacyRule(each.given, each.protect, 2) for each in (one, other))
    if one.implies(other):
        assert not keeps(witness(other), one)
    else:
        rows = witness(other)
        assert not keeps(rows, other)
        assert keeps(rows, one)


@settings(max_examples=200, deadline=None)
@given(given_rules=st.lists(rules(), max_size=4), known=st.lists(dependencies(), max_size=4))
def test_dependencies(given_rules, known):
    """After settling, every dependency's left side is protected wherever its right side is, or the rule is hopeless."""
    settled = settle(given_rules, known)
    broken = {rule for rule, _ in settled.hopeless}
    for rule in given_rules:
        reached = set(rule.given)
        for _ in LETTERS:
            reached |= {each.target for each in known if each.source <= reached}
        tied = {rule.protect}
        for _ in LETTERS:
            for each in known:
                if tied & (each.source | {each.target}):
                    tied |= (each.source | {each.target}) - reached
        ruled_out = any(each.target in reached and tied & each.source for each in known)
        assert (rule.protect in reached or ruled_out) == (rule in broken) == bool(breaking(rule, known))
    for rule in settled.rules:
        for each in known:
            if each.target == rule.protect:
                reached = set(rule.given)
                for _ in LETTERS:
                    reached |= {other.target for other in known if other.source <= reached}
                unknown = each.source - reached
                assert any(
                    other.implies(PrivacyRule(rule.given, name, rule.l))
                    for name in unknown
                    for other in settled.rules
                )


def test_hopeless():
    """A chain of dependencies from what is given to what is protected is named, step by step."""
    zip_code, county = Dependency(frozenset({"zip"}), "county"), Dependency(frozenset({"county"}), "state")
    rule = PrivacyRule(frozenset({"zip", "age"}), "state")
    assert breaking(rule, [county, zip_code]) == (zip_code, county)
    assert settle([rule], [zip_code, county]).rules == ()


def test_tellers():
    """What decides a protected attribute tells of it, and so does what follows from it."""
    known = [Dependency(frozenset({"zip"}), "county"), Dependency(frozenset({"county"}), "state")]
    assert tellers(PrivacyRule(frozenset({"who"}), "county"), known) == {"zip", "state"}
    assert tellers(PrivacyRule(frozenset({"who"}), "who2"), known) == frozenset()
    # Who knows the county can rule out zip codes of other counties.
    assert breaking(PrivacyRule(frozenset({"county"}), "zip"), known)


@st.composite
def wide_rules(draw):
    """A rule as a policy has it, which may protect a combination."""
    right = draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=2, unique=True))
    left = draw(st.lists(st.sampled_from([x for x in LETTERS if x not in right]), min_size=1, unique=True))
    return {"given": left, "protect": right if len(right) > 1 else right[0]}


@settings(max_examples=200, deadline=None)
@given(st.lists(wide_rules(), max_size=5))
def test_a_combination_is_kept_by_one_of_its_attributes(asked):
    """Every rule follows, by corollary 3.1.1, from one that is kept; and none is added where another serves."""
    kept = protecting_one(asked)
    assert [rule["given"] for rule in kept] == [rule["given"] for rule in asked]
    lone = [rule for rule in asked if isinstance(rule["protect"], str)]
    for one, rule in zip(kept, asked, strict=True):
        assert one["protect"] in rule["protect"]
        served = [
            other
            for other in lone
            if {*rule["given"]} <= {*other["given"]} and other["protect"] in rule["protect"]
        ]
        assert not served or any(one["protect"] == other["protect"] for other in served)


def test_less_is_believed_of_combinations():
    """Where one attribute is l-diverse, so is every combination it stands in, and not the other way round."""
    rows = [("x", "p"), ("x", "q"), ("y", "p"), ("x", "r")]
    share = max(Counter(rows).values()) / len(rows)
    assert share <= min(max(Counter(column).values()) / len(rows) for column in zip(*rows, strict=True))
    assert (share, max(Counter(x for x, _ in rows).values()) / len(rows)) == (0.25, 0.75)


def rules_policy(*rules, method="guardian", **publish):
    """A policy of rules over the hospital table."""
    names = ("age", "sex", "zipcode", "diagnosis", "income")
    attributes = {name: {"role": "neutral"} for name in names}
    return mv.Policy(attributes=attributes, rules=list(rules), publish={"method": method, **publish})


def people():
    return mv.datasets.hospital(300).select("age", "sex", "zipcode", "diagnosis", "income")


@pytest.mark.parametrize("publish", [{}, {"decompose": "gd"}, {"method": "separate"}])
@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"t": 0.4}, "t-closeness"),
        ({"alpha": 0.5}, "alpha-k-anonymity"),
        ({"l": 3, "l_kind": "entropy"}, "entropy-l-diversity"),
        ({"beta": 4}, "beta-likeness"),
    ],
)
def test_rules_promise_other_guarantees(asked, kind, publish):
    """A rule may promise any guarantee of one attribute; methods keep it, and the audit judges it as a rule."""
    rule = {"given": ["age", "zipcode"], "protect": "diagnosis", "guarantee": asked}
    policy = rules_policy(rule, **publish)
    release = mv.publish(people(), policy, seed=1)
    audit = mv.audit(release, people(), policy)
    assert audit.kept
    assert kind in {finding.promise for finding in audit.findings}


def test_a_table_as_it_is_breaks_a_rule_with_t():
    """Diagnoses beside ages and zip codes are not close to the table's, and the audit says so."""
    rule = {"given": ["age", "zipcode"], "protect": "diagnosis", "guarantee": {"t": 0.4}}
    open_to_all = {name: {"role": "quasi"} for name in people().columns}
    plain = mv.publish(people(), mv.Policy(attributes=open_to_all), seed=1)
    findings = mv.audit(plain, people(), rules_policy(rule)).findings
    assert any(finding.promise == "t-closeness" and not finding.kept for finding in findings)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"protect": "diagnosis", "guarantee": {"k": 3}}, "no promise of a rule"),
        ({"protect": ["diagnosis", "income"], "guarantee": {"t": 0.1}}, "protects a combination"),
        ({"protect": ["diagnosis", "age"]}, "an attribute that it gives"),
        ({"protect": ["diagnosis", "incom"]}, "'incom' is not described"),
        ({"protect": []}, "names no attribute"),
    ],
)
def test_mistakes_in_rules(rule, told):
    """What a rule cannot say is refused with the reason."""
    with pytest.raises(mv.PolicyError, match=told):
        rules_policy({"given": ["age"], **rule})


def test_multi_sa_keeps_shares_only():
    """Bounds on shares are all that multi-sa keeps of rules."""
    rule = {"given": ["age"], "protect": "diagnosis", "guarantee": {"t": 0.4}}
    with pytest.raises(mv.PolicyError, match="no bound on shares"):
        mv.publish(people(), rules_policy(rule, method="multi-sa"), seed=1)


def test_a_combination_is_published():
    """A rule about zip code and diagnosis is kept by zip code, and diagnoses may be learnt."""
    rule = {"given": ["age"], "protect": ["zipcode", "diagnosis"], "l": 3}
    release = mv.publish(people(), rules_policy(rule), seed=1)
    assert mv.audit(release, people(), rules_policy(rule)).kept
    [listed] = release.manifest.promises
    assert listed["rule"] == {"given": ["age"], "protect": "zipcode"}


def test_upward_breaches_are_alpha_of_rare_values():
    """ρ1–ρ2 in a rule: with ρ1 = 0.2 and ρ2 = 0.5, no bucket of the guardian shows a value of at most 0.2 with more than 0.5."""
    ills = ["flu"] * 24 + ["cold"] * 8 + ["gout"] * 5 + ["mumps"] * 3
    frame = pl.DataFrame({"age": [20 + number % 7 for number in range(40)], "ill": ills})
    rare = [value for value in {*ills} if ills.count(value) <= 0.2 * len(ills)]
    rule = {"given": ["age"], "protect": "ill", "guarantee": {"alpha": 0.5, "alpha_values": sorted(rare)}}
    roles = {"age": {"role": "neutral", "kind": "categorical"}, "ill": {"role": "neutral"}}
    policy = mv.Policy(attributes=roles, rules=[rule], publish={"method": "guardian"})
    release = mv.publish(frame, policy, seed=1)
    assert mv.audit(release, frame, policy).kept
    [view] = release.views
    shown = release.tables[next(file.table for file in view.files if "ill" in file.attributes)]
    for _, bucket in shown.group_by("bucket"):
        values = bucket["ill"].to_list()
        assert all(2 * values.count(value) <= len(values) for value in rare)
