"""Guardian Normal Form against a plain reading of Definitions 3 to 5, and the running example of paper 002."""

from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.policy.gnf import Schema, check_gnf
from manyveils.policy.rules import PrivacyRule

LETTERS = "abcdef"
sets = st.frozensets(st.sampled_from(LETTERS), max_size=4)
ages = {"h": "hospital", "a": "age", "g": "gender", "z": "zipcode", "r": "race", "i": "icd"}


def rule(left, right, l=2):
    """A rule between attributes of one letter."""
    return PrivacyRule(frozenset(left), right, l)


@st.composite
def rules(draw):
    """A rule whose sides are apart."""
    right = draw(st.sampled_from(LETTERS))
    left = draw(st.frozensets(st.sampled_from([x for x in LETTERS if x != right]), min_size=1, max_size=3))
    return PrivacyRule(left, right, draw(st.integers(2, 3)))


@st.composite
def schemas(draw):
    """A table that may enforce a rule within its own attributes."""
    attributes = draw(st.frozensets(st.sampled_from(LETTERS), min_size=1, max_size=4))
    if len(attributes) == 1 or draw(st.booleans()):
        return Schema(attributes)
    right = draw(st.sampled_from(sorted(attributes)))
    left = draw(st.frozensets(st.sampled_from(sorted(attributes - {right})), min_size=1))
    return Schema(attributes, PrivacyRule(left, right, draw(st.integers(2, 3))))


def edges(tables):
    """Pairs of attributes that stand in one table."""
    return {(x, y) for table in tables for x in table for y in table if x != y}


def are_reachable(one, other, tables):
    """Definition 3, by walking the graph; an attribute reaches itself if some table has it."""
    if not any(one in table for table in tables):
        return False
    seen, pairs = {one}, edges(tables)
    while True:
        more = {y for x, y in pairs if x in seen} - seen
        if not more:
            return other in seen
        seen |= more


def is_guardian(place, tables, asked):
    """Definition 4, condition by condition."""
    own = tables[place]
    if asked.protect not in own.attributes:
        return False
    others = [table.attributes for number, table in enumerate(tables) if number != place]
    star = {
        x
        for x in own.attributes - {asked.protect}
        if any(x == q or are_reachable(q, x, others) for q in asked.given)
    }
    needed = (asked.given & own.attributes) | star
    enforced = own.enforces
    if (
        enforced is None
        or enforced.protect != asked.protect
        or enforced.l < asked.l
        or not needed <= enforced.given
    ):
        return False
    stripped = [*others, own.attributes - {asked.protect}]
    return not any(are_reachable(q, asked.protect, stripped) for q in asked.given)


@settings(max_examples=400, deadline=None)
@given(tables=st.lists(schemas(), min_size=1, max_size=4), asked=rules())
def test_definitions(tables, asked):
    """A rule is kept exactly if nothing given reaches what it protects, or a table is its guardian."""
    [found] = check_gnf(tables, [asked])
    shown = [table.attributes for table in tables]
    reached = any(are_reachable(q, asked.protect, shown) for q in asked.given)
    guardians = [place for place in range(len(tables)) if is_guardian(place, tables, asked)]
    assert found.kept == (not reached or bool(guardians))
    if reached and guardians:
        assert found.guardian in guardians
    if not found.kept:
        assert tables[found.path[0]].attributes & asked.given
        assert asked.protect in tables[found.path[-1]].attributes
        assert all(
            tables[one].attributes & tables[other].attributes
            for one, other in zip(found.path, found.path[1:], strict=False)
        )


RULES = [rule("ai", "r"), rule("gi", "z"), rule("hr", "z")]


def test_table_2():
    """Three tables that each keep their rule do not keep them together."""
    tables = [
        Schema(frozenset("air"), rule("ai", "r")),
        Schema(frozenset("giz"), rule("gi", "z")),
        Schema(frozenset("hrz"), rule("hr", "z")),
    ]
    assert [found.kept for found in check_gnf(tables, RULES)].count(False) >= 2


def test_table_3():
    """Two tables: the first two rules are out of reach, the second table is the guardian of the third."""
    tables = [Schema(frozenset("giha")), Schema(frozenset("rz"), rule("r", "z"))]
    found = check_gnf(tables, RULES)
    assert [each.kept for each in found] == [True, True, True]
    assert [each.guardian for each in found] == [None, None, 1]
    assert [each.reason for each in found] == ["not reachable", "not reachable", "table 2 is its guardian"]


def test_table_4():
    """Four tables: the third is the guardian of rule 1, and rule 2 has none."""
    tables = [
        Schema(frozenset("gih"), rule("ig", "h")),
        Schema(frozenset("ahz"), rule("h", "z")),
        Schema(frozenset("ahgr"), rule("ahg", "r")),
        Schema(frozenset("az")),
    ]
    first, second, _ = check_gnf(tables, RULES)
    assert first.kept
    assert first.guardian == 2
    assert not second.kept
    assert "unguarded" in second.reason
