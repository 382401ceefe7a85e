"""Views that could be played off against each other: what the audit refuses though each view is fine."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits import audit
from manyveils.datasets import versatile_patients, versatile_rules
from manyveils.policy import Promise
from manyveils.policy.gnf import Schema, check_gnf
from manyveils.policy.guarantees import FrequencyDiversity
from manyveils.policy.rules import PrivacyRule
from manyveils.reading.evidence import Evidence
from manyveils.reading.sight import views_beyond_the_guardian
from manyveils.release import Draft, seal
from manyveils.table import hold

LETTERS = "abcde"


def sealed(frame, policy, drafts):
    """A release of given views."""
    table, restore = hold(frame, policy)
    return seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(1)), table


def example(buckets):
    """A release of the running example, with rows as the paper numbers them."""
    frame = versatile_patients()
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in frame.columns}, rules=versatile_rules()
    )
    drafts = []
    for number, (names, groups) in enumerate(buckets.items()):
        if not groups:
            drafts.append(Draft(f"t{number}", (names,), np.arange(6)))
            continue
        of_row = np.zeros(6, dtype=np.int64)
        for bucket, members in enumerate(groups):
            of_row[[member - 1 for member in members]] = bucket
        drafts.append(Draft(f"t{number}", (names[:-1], names[-1:]), np.arange(6), of_row))
    release, table = sealed(frame, policy, drafts)
    return audit(release, table, policy)


def test_table_2():
    """Three tables, each 2-diverse, are refused together: comparing them gives tuples away."""
    tables = {
        ("age", "icd", "race"): [(1, 6), (5, 4), (3, 2)],
        ("gender", "icd", "zipcode"): [(1, 6), (5, 4), (3, 2)],
        ("hospital", "race", "zipcode"): [(1, 3), (4, 2), (6, 5)],
    }
    together = example(tables)
    assert not together.kept
    assert {one.attribute for one in together.broken} == {"race", "zipcode"}
    for names, groups in tables.items():
        assert example({names: groups}).kept


def test_table_3():
    """Two tables in Guardian Normal Form are kept."""
    tables = {("gender", "icd", "hospital", "age"): [], ("race", "zipcode"): [(1, 3), (4, 2), (6, 5)]}
    assert example(tables).kept


@settings(max_examples=200, deadline=None)
@given(
    tables=st.lists(st.sets(st.sampled_from(LETTERS), min_size=1, max_size=4), min_size=1, max_size=4),
    protect=st.sampled_from(LETTERS),
    data=st.data(),
)
def test_views_to_compare(tables, protect, data):
    """If every view enforced whatever it could, a rule fails by Guardian Normal Form exactly where the audit finds two."""
    others = [letter for letter in LETTERS if letter != protect]
    known = data.draw(st.sets(st.sampled_from(others), min_size=1, max_size=3))
    frame = pl.DataFrame({letter: ["x", "y"] for letter in LETTERS})
    policy = mv.Policy(attributes={letter: {"role": "neutral"} for letter in LETTERS})
    drafts = [Draft(f"t{number}", (tuple(sorted(each)),), np.arange(2)) for number, each in enumerate(tables)]
    release, table = sealed(frame, policy, drafts)
    promise = Promise(FrequencyDiversity(2), tuple(sorted(known)), (protect,), is_rule=True)
    found = views_beyond_the_guardian(promise, Evidence(release, table, policy))
    schemas = [
        Schema(
            frozenset(each), PrivacyRule(frozenset(each) - {protect}, protect, 9) if protect in each else None
        )
        for each in tables
    ]
    [verdict] = check_gnf(schemas, [PrivacyRule(frozenset(known), protect)])
    assert verdict.kept == (not found)
