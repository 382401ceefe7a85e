"""Rules: what follows from what, and what known dependencies add."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.policy.rules import Dependency, PrivacyRule, breaking, irreducible, settle, tellers

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
