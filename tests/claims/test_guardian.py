"""Guardian tables: both decompositions, what they enforce, and what all tables together let one believe."""

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.arguments import Order
from manyveils.datasets import versatile_patients, versatile_rules
from manyveils.methods.guardian.decompose import by_colouring, by_repair, repaired, repaired_as_drawn
from manyveils.methods.guardian.pieces import Demand, Demands, Piece
from manyveils.policy import Promise
from manyveils.policy.gnf import Schema, check_gnf
from manyveils.policy.guarantees import FrequencyDiversity
from manyveils.policy.rules import Dependency, PrivacyRule, settle
from manyveils.reading.counting import share
from manyveils.run import make
from manyveils.table import hold
from manyveils.utility import measure

LETTERS = "abcdef"
quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def rule_sets(draw, letters=LETTERS, most=5):
    """Some rules between attributes of one letter."""
    rules = []
    for _ in range(draw(st.integers(1, most))):
        protect = draw(st.sampled_from(letters))
        others = [letter for letter in letters if letter != protect]
        rules.append((sorted(draw(st.sets(st.sampled_from(others), min_size=1, max_size=3))), protect))
    return rules


def demands(rules, known=()):
    """Rules as a method sees them, with what dependencies add."""
    dependencies = tuple(Dependency(frozenset(left), right) for left, right in known)
    settled = settle([PrivacyRule(frozenset(left), right) for left, right in rules], dependencies)
    return Demands(
        tuple(
            Demand(
                each.given,
                each.protect,
                Promise(FrequencyDiversity(2), tuple(each.given), (each.protect,), is_rule=True),
            )
            for each in settled.rules
        ),
        dependencies,
    )


def fewest_tables(pieces):
    """A score that prefers tables with many columns."""
    return -sum(len(piece.columns) ** 2 for piece in pieces)


known_dependencies = st.one_of(st.just([]), rule_sets(most=2))


@quick
@given(rules=rule_sets(), known=known_dependencies)
def test_colouring(rules, known):
    """The tables of UAD share no column, lose none, and are in Guardian Normal Form."""
    pieces = by_colouring(LETTERS, demands(rules, known))
    assert sorted(name for piece in pieces for name in piece.columns) == sorted(LETTERS)
    assert demands(rules, known).all_kept(pieces)


@quick
@given(rules=rule_sets(), known=known_dependencies)
def test_repair(rules, known):
    """The tables of GD lose no column and are in Guardian Normal Form, before and after columns are added back."""
    asked = demands(rules, known)
    for pieces in (repaired(LETTERS, asked), by_repair(LETTERS, asked, fewest_tables, lambda _: None)):
        assert set().union(*(piece.columns for piece in pieces)) == set(LETTERS)
        assert demands(rules, known).all_kept(pieces)


@quick
@given(rule_sets())
@example([(["a"], "c"), (["a", "c"], "d"), (["d"], "a"), (["b"], "a")])
def test_nothing_more_can_be_added(rules):
    """After GD no column can be added to a table, as far as the score gains by it."""
    pieces = by_repair(LETTERS, demands(rules), fewest_tables, lambda _: None)
    for place, piece in enumerate(pieces):
        for name in set(LETTERS) - piece.columns:
            more = [*pieces[:place], Piece(piece.columns | {name}, piece.protects), *pieces[place + 1 :]]
            assert not demands(rules).all_kept(more)


@st.composite
def tables(draw):
    """A table of four attributes with rules that its attributes can bear."""
    n = draw(st.integers(6, 20))
    columns = {x: draw(st.lists(st.sampled_from("pqr"), min_size=n, max_size=n)) for x in "abcd"}
    return pl.DataFrame(columns), draw(rule_sets("abcd", 3))


def policy_for(rules, **publish):
    """A policy of rules alone."""
    return mv.Policy(
        attributes={x: {"role": "neutral", "kind": "categorical"} for x in "abcd"},
        rules=[{"given": left, "protect": right} for left, right in rules],
        publish={"method": "guardian", **publish},
    )


@few
@given(
    drawn=tables(),
    decompose=st.sampled_from(["uad", "gd"]),
    anonymizer=st.sampled_from(["anatomize", "generalize", "slice"]),
)
def test_releases(drawn, decompose, anonymizer):
    """What is published is audited, in Guardian Normal Form by its manifest, and refused only if a value is too common."""
    frame, rules = drawn
    policy = policy_for(rules, decompose=decompose, anonymizer=anonymizer)
    try:
        release = mv.publish(frame, policy, seed=1)
    except mv.InfeasibleError:
        worst = max(frame[right].value_counts()["count"].max() for _, right in rules)
        assert 2 * worst > frame.height
        return
    schemas = [
        Schema(
            frozenset(view.attributes),
            view.enforces
            and PrivacyRule(frozenset(view.enforces["given"]), view.enforces["protect"], view.enforces["l"]),
        )
        for view in release.views
    ]
    asked = [PrivacyRule(frozenset(left), right) for left, right in rules]
    assert all(found.kept for found in check_gnf(schemas, asked))
    assert {name for view in release.views for name in view.attributes} == set("abcd")


@few
@given(drawn=tables(), decompose=st.sampled_from(["uad", "gd"]))
def test_beliefs(drawn, decompose):
    """Over all tables together, nobody who knows a rule's left side believes in a right side with more than 1/l."""
    frame, rules = drawn
    try:
        release = mv.publish(frame, policy_for(rules, decompose=decompose), seed=1)
    except mv.InfeasibleError:
        return
    reading = release.reading
    for left, right in rules:
        masks = defaultdict(float)
        domain = reading.estimate.domains
        for row in frame.select(left).unique().iter_rows():
            known = {
                name: [text == value for text in domain[name].texts]
                for name, value in zip(left, row, strict=True)
            }
            for value in domain[right].texts:
                asked = {**known, right: [text == value for text in domain[right].texts]}
                masks[value] = share_of(reading, asked)
            whole = share_of(reading, known)
            assert max(masks.values()) <= whole / 2 + 1e-9


def share_of(reading, masks):
    """p̂ of sets of originals."""
    return share(reading.estimate, {name: np.array(mask) for name, mask in masks.items()})


def test_running_example():
    """Both decompositions of the running example keep its three rules, and GD keeps more of the distribution."""
    frame = versatile_patients()
    kl = {}
    for decompose in ("uad", "gd"):
        policy = mv.Policy(
            attributes={name: {"role": "neutral"} for name in frame.columns},
            rules=versatile_rules(),
            publish={"method": "guardian", "decompose": decompose},
        )
        release = mv.publish(frame, policy, seed=1)
        kl[decompose] = measure(release, hold(frame, policy)[0], policy)["kl"]
    assert kl["gd"] <= kl["uad"]


def test_roles_are_rules():
    """With roles, quasi-identifiers must not lead to sensitive attributes, and with `conditional` those not to each other."""
    rows = range(60)
    frame = pl.DataFrame(
        {"q": [str(n % 5) for n in rows], "s": [str(n % 4) for n in rows], "t": [str(n % 3) for n in rows]}
    )
    roles = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "t": {"role": "sensitive"}}
    for conditional in (False, True):
        policy = mv.Policy(
            attributes=roles,
            guarantee={"k": 2, "l": 2, "l_kind": "frequency", "conditional": conditional},
            publish={"method": "guardian"},
        )
        release = mv.publish(frame, policy, seed=1)
        together = [set(column) for view in release.views for column in view.columns]
        assert not any({"q", x} <= column for column in together for x in "st")
        if conditional:
            assert not any({"s", "t"} <= column for column in together)


def test_combinations_are_refused():
    """A guardian table protects one attribute."""
    frame = pl.DataFrame({"q": ["1", "2"] * 6, "s": ["a", "b", "c"] * 4, "t": ["x", "y"] * 6})
    roles = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "t": {"role": "sensitive"}}
    policy = mv.Policy(
        attributes=roles, guarantee={"l": 2, "joint": [["s", "t"]]}, publish={"method": "guardian"}
    )
    with pytest.raises(mv.PolicyError, match="s\\+t cannot be protected as one"):
        mv.publish(frame, policy)


def test_dependencies_add_rules():
    """A dependency that someone may know protects its left side too; one that gives a right side away is refused."""
    rows = range(48)
    frame = pl.DataFrame(
        {
            "who": [str(n % 6) for n in rows],
            "zip": [str(n // 2 % 8) for n in rows],
            "county": [str(n // 2 % 8 // 2) for n in rows],
        }
    )
    roles = {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns}
    sections = {
        "attributes": roles,
        "rules": [{"given": ["who"], "protect": "county"}],
        "dependencies": [{"from": ["zip"], "to": "county"}],
        "publish": {"method": "guardian"},
    }
    notes = mv.publish(frame, sections, seed=1).notes
    assert notes["rules_from_dependencies"] == ["who ⇏ zip because of zip → county"]
    assert {each["protect"] for each in notes["rules"]} == {"county", "zip"}
    hopeless = sections | {"rules": [{"given": ["zip"], "protect": "county"}]}
    with pytest.raises(mv.InfeasibleError, match="knows zip → county"):
        mv.publish(frame, hopeless)


def test_implied_rules_are_shown():
    """A rule that follows from another is dropped, and the notes say from which."""
    frame = pl.DataFrame({x: ["p", "q", "r"] * 8 for x in "abcd"})
    rules = [(["a", "b"], "c"), (["a"], "c")]
    assert mv.publish(frame, policy_for(rules), seed=1).notes["implied_rules"] == [
        "a ⇏ c follows from a, b ⇏ c"
    ]


def test_tables_cannot_be_compared_over_a_dependency():
    """What tells of a protected attribute by a known dependency is not published where it can be reached as well."""
    rows = range(96)
    frame = pl.DataFrame(
        {
            "who": [str(n % 6) for n in rows],
            "age": [str(n // 6 % 5) for n in rows],
            "zip": [str(n * 7 % 16) for n in rows],
            "county": [str(n * 7 % 16 // 2) for n in rows],
        }
    )
    sections = {
        "attributes": {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns},
        "rules": [
            {"given": ["who"], "protect": "county", "l": 4},
            {"given": ["who"], "protect": "zip", "l": 4},
        ],
        "dependencies": [{"from": ["zip"], "to": "county"}],
    }
    for decompose in ("uad", "gd"):
        publish = {"method": "guardian", "decompose": decompose}
        release = mv.publish(frame, sections | {"publish": publish}, seed=1)
        reached = {"who"}
        for _ in release.views:
            for view in release.views:
                if reached & set(view.attributes):
                    reached |= set(view.attributes)
        assert not {"zip", "county"} <= reached


def test_nothing_that_follows_stands_beside():
    """What follows from a protected attribute is not published where the attribute's table leads."""
    rows = range(200)
    frame = pl.DataFrame(
        {
            "hospital": [str(n % 8) for n in rows],
            "gender": [str(n % 2) for n in rows],
            "zip": [str(n * 7 % 20) for n in rows],
        }
    ).with_columns(county=(pl.col("zip").cast(pl.Int64) // 2).cast(pl.String))
    sections = {
        "attributes": {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns},
        "rules": [{"given": ["hospital", "gender"], "protect": "zip", "l": 5}],
        "dependencies": [{"from": ["zip"], "to": "county"}],
    }
    for decompose in ("uad", "gd"):
        release = mv.publish(
            frame, sections | {"publish": {"method": "guardian", "decompose": decompose}}, seed=1
        )
        assert not any(
            {"hospital", "gender"} & set(v.attributes) and "county" in v.attributes for v in release.views
        )


def test_what_follows_from_the_given_is_known():
    """Who knows a knows what follows from a, so that may not stand beside what is protected from a either."""
    rows = range(80)
    frame = pl.DataFrame(
        {"a": [str(n % 8) for n in rows], "s": [str(n % 4) for n in rows], "d": [str(n % 5) for n in rows]}
    )
    frame = frame.with_columns(b=(pl.col("a").cast(pl.Int64) // 2).cast(pl.String))
    sections = {
        "attributes": {name: {"role": "neutral", "kind": "categorical"} for name in frame.columns},
        "rules": [{"given": ["a"], "protect": "s"}, {"given": ["a"], "protect": "d"}],
        "dependencies": [{"from": ["a"], "to": "b"}],
        "publish": {"method": "guardian"},
    }
    release = mv.publish(frame, sections, seed=1)
    for view in release.views:
        for column in view.columns:
            assert not ("b" in column and {"s", "d"} & set(column))


def test_slices_give_way():
    """A slice hides the bucket; where another table would tell it, the table is anatomized."""
    frame = versatile_patients()
    policy = {
        "attributes": {name: {"role": "neutral"} for name in frame.columns},
        "rules": versatile_rules(),
        "publish": {"method": "guardian", "decompose": "gd", "anonymizer": "slice"},
    }
    release = mv.publish(frame, policy, seed=1)
    for view in release.views:
        others = [each for each in release.views if each is not view]
        if any(set(view.attributes) & set(other.attributes) for other in others) and view.bucketed:
            assert view.columns[-1] == (view.enforces["protect"],)


ROLES = {
    "a": "quasi",
    "b": "quasi",
    "c": "quasi",
    "n": "neutral",
    "m": "neutral",
    "s": "sensitive",
    "t": "sensitive",
}


@st.composite
def crowds(draw):
    """A table with quasi-identifiers and up to two sensitive attributes, a k, perhaps l, and rules between the rest."""
    n, rng = draw(st.integers(8, 40)), np.random.default_rng(draw(st.integers(0, 9999)))
    names = [name for name in ROLES if name in "abn" or draw(st.booleans())]
    wide = {name: int(rng.integers(2, 7)) for name in names}
    frame = pl.DataFrame(
        {name: [f"{name}{code}" for code in rng.integers(0, wide[name], n)] for name in names}
    )
    others = [name for name in names if ROLES[name] != "sensitive"]
    rules = [
        {"given": order[1 : draw(st.integers(2, 3))], "protect": order[0]}
        for order in draw(st.lists(st.permutations(others), max_size=2))
    ]
    policy = {
        "accept": ["no-quasi: k", "no-sensitive: l"]
        + [f"neutral-unique: {name}" for name in names if ROLES[name] == "neutral"],
        "attributes": {name: {"role": ROLES[name], "kind": "categorical"} for name in names},
        "guarantee": {
            "k": draw(st.integers(2, 4)),
            **draw(st.sampled_from([{}, {"l": 2, "l_kind": "frequency"}])),
        },
        "rules": rules,
        "publish": {
            "method": "guardian",
            "decompose": draw(st.sampled_from(["uad", "gd"])),
            "anonymizer": draw(st.sampled_from(["anatomize", "generalize", "slice"])),
        },
    }
    return frame, mv.Policy(**policy)


def smallest_group(release, view):
    """The fewest rows that stand in one bucket, and look alike in the quasi-identifiers of a column beside it."""
    sizes = []
    for file in view.files:
        frame = release.frames[file.table]
        hidden = any(ROLES[name] == "sensitive" for name in view.attributes)
        known = [name for name in file.attributes if ROLES[name] == "quasi"]
        # Around a sensitive attribute the bucket is the group; without one, rows of a column are told apart.
        keys = [
            name
            for name in frame.columns
            if name == "bucket" or (name in known and not (hidden and view.bucketed))
        ]
        sizes += Counter(frame.select(keys).rows()).values() if keys else [frame.height]
    return min(sizes)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowds())
def test_every_group_has_k_rows(drawn):
    """In every view with quasi-identifiers and another attribute, rows alike are k or more, and the audit agrees."""
    frame, policy = drawn
    table, restore = hold(frame, policy)
    try:
        release = make(Order(None, policy, seed=1), table, restore)
    except mv.InfeasibleError:
        return
    assert {name for view in release.views for name in view.attributes} == set(frame.columns)
    for view in release.views:
        if len(view.attributes) > 1 and any(ROLES[name] == "quasi" for name in view.attributes):
            assert smallest_group(release, view) >= policy.guarantee.k
    assert "k-anonymity" not in {finding.promise for finding in mv.audit(release, frame, policy).broken}


def test_small_groups_are_published_attribute_by_attribute():
    """What no table hides stands together as long as groups are large enough, and apart when k is one more."""
    frame = pl.DataFrame({"a": ["1", "2"] * 6, "b": ["x"] * 12, "d": ["p", "q", "r"] * 4})
    roles = {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "d": {"role": "neutral"}}
    shown = {}
    for k in (6, 7):
        policy = mv.Policy(attributes=roles, guarantee={"k": k}, publish={"method": "guardian"})
        table, restore = hold(frame, policy)
        release = make(Order(None, policy, seed=1), table, restore)
        shown[k] = [view.attributes for view in release.views]
    assert shown == {6: [("a", "b", "d")], 7: [("a",), ("b",), ("d",)]}


def test_repairs_that_alternate_for_ever():
    """Two rules that protect what the other gives send the literal loop round; drawn or not, it is then given up."""
    rules = [
        {"given": ["sex", "zipcode"], "protect": "age"},
        {"given": ["age", "zipcode"], "protect": "sex"},
        {"given": ["age", "sex"], "protect": "zipcode"},
    ]
    each = tuple(
        Demand(
            frozenset(rule["given"]),
            rule["protect"],
            Promise(FrequencyDiversity(2), tuple(rule["given"]), (rule["protect"],), is_rule=True),
        )
        for rule in rules
    )
    names, demands = ("age", "sex", "zipcode", "job"), Demands(each)
    assert repaired_as_drawn(names, demands, np.random.default_rng(1)) is None
    assert demands.all_kept(repaired(names, demands))


@pytest.mark.parametrize("seed", range(4))
def test_drawn_repairs_keep_every_rule(seed):
    """Whatever order is drawn, tables are in Guardian Normal Form and releases keep their rules."""
    names = ["age", "sex", "zipcode", "job", "diagnosis"]
    rules = [
        {"given": ["age", "sex"], "protect": "diagnosis"},
        {"given": ["diagnosis", "job"], "protect": "zipcode"},
        {"given": ["zipcode", "age"], "protect": "job"},
    ]
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in names},
        rules=rules,
        publish={"method": "guardian", "decompose": "gd", "repairs": "drawn"},
    )
    frame = mv.datasets.hospital(200).select(names)
    release = mv.publish(frame, policy, seed=seed)
    assert mv.audit(release, frame, policy).kept
