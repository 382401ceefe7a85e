"""Of those who are seen in several groups, what remains possible is what enumeration says."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
)
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, seal
from manyveils.table import hold
from tests.kit import persons as oracle
from tests.kit.people import remains

small = st.integers(1, 3)
shares = st.sampled_from([Fraction(n, 12) for n in range(13)])
factors = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)])
about_words = st.one_of(
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(EntropyDiversity, small),
    st.builds(RecursiveDiversity, factors, small),
    st.builds(Closeness, shares, st.just("equal")),
    st.builds(CappedShare, shares),
    st.builds(Linkability, shares),
    st.builds(Likeness, factors),
)
about_numbers = st.one_of(
    st.builds(NumericSpread, st.sampled_from([Fraction(1), Fraction(2)])),
    st.builds(Proximity, st.sampled_from([Fraction(0), Fraction(1)]), small),
)
# Whose row it is, what is known of her, and its bucket in a second view.
rows_of_persons = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("xyz"), st.sampled_from("1234"), st.integers(0, 1)),
    min_size=2,
    max_size=12,
)


def policy(kind, *, constant):
    return Policy(
        data={"person": "p"},
        attributes={
            "p": {"role": "identifier"},
            "q": {"role": "quasi", "kind": "categorical"},
            "s": {"role": "sensitive", "kind": kind, "constant": constant},
        },
    )


def holds(promise, beliefs, rows):
    """Whether a promise holds of what is believed."""
    reference = oracle.distribution(rows)
    if isinstance(promise.guarantee, Likeness):
        # It is shares that are compared, not weights, where values change.
        reference = {value: oracle.share(rows, value) for value in reference}
    return remains(promise, beliefs, reference, sorted(reference), Fraction(0))


def judged(rows, guarantee, insensitive, *, constant, kind):
    """The finding about sightings in two views, and what enumeration says of each person."""
    wanted = policy(kind, constant=constant)
    values = [row[2] if kind == "ordinal" else int(row[2]) for row in rows]
    frame = pl.DataFrame({"p": [row[0] for row in rows], "q": [row[1] for row in rows], "s": values})
    table, restore = hold(frame, wanted)
    every = np.arange(len(rows), dtype=np.intp)
    buckets = np.array([row[3] for row in rows], dtype=np.int64)
    drafts = [Draft("a", (("q", "s"),), every), Draft("b", (("q",), ("s",)), every, buckets)]
    release = seal(drafts, table, wanted, restore, notes={}, rng=np.random.default_rng(5))
    promise = Promise(guarantee, ("q",), ("s",), insensitive)
    findings = list(judge(Evidence(release, table, wanted), promise, promised=True))
    found = [finding for finding in findings if finding.reading == "sightings"]
    listed = [(row[0], row[2]) for row in rows]
    sets = {}
    for person in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == person]
        sets[person] = frozenset({("a", row[1]) for row in own} | {("b", row[3]) for row in own})
    groups = {}
    for name, place in (("a", 1), ("b", 3)):
        for key in {row[place] for row in rows}:
            groups[name, key] = [(row[0], row[2]) for row in rows if row[place] == key]
    beliefs = {seen: oracle.seen([groups[key] for key in seen], listed) for seen in set(sets.values())}
    verdicts = {seen: holds(promise, believed, listed) for seen, believed in beliefs.items() if believed}
    return found, sets, verdicts


def checked(rows, guarantee, insensitive, *, kind="ordinal"):
    own = {row[0]: row[2] for row in rows}
    for constant in (False, True):
        if constant:
            rows = [(row[0], row[1], own[row[0]], row[3]) for row in rows]
        found, sets, verdicts = judged(rows, guarantee, insensitive, constant=constant, kind=kind)
        [finding] = found or [None]
        if not verdicts:
            assert finding is None or (finding.kept and finding.promised and constant)
            continue
        assert finding.promised == constant
        assert finding.groups == len(verdicts)
        assert finding.kept == all(verdicts.values())
        short = {person for person, seen in sets.items() if verdicts.get(seen) is False}
        assert finding.rows_short == sum(row[0] in short for row in rows)


harmless = st.sampled_from([frozenset[str](), frozenset({"1"})])


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_persons, guarantee=about_words, insensitive=harmless)
def test_words(rows, guarantee, insensitive):
    """Every guarantee about words is judged on what stays possible; it binds exactly where the attribute is constant."""
    if 1 < len({row[0] for row in rows}) < len(rows):
        checked(rows, guarantee, insensitive)


@settings(deadline=None, max_examples=100)
@given(rows=rows_of_persons, guarantee=about_words, insensitive=harmless)
def test_many_values(rows, guarantee, insensitive):
    """Where values are too many for a table of all of them, the values of the smallest group say the same."""
    if 1 < len({row[0] for row in rows}) < len(rows):
        with patch("manyveils.audits.combining.FEW_VALUES", 0):
            checked(rows, guarantee, insensitive)


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_persons, guarantee=about_numbers)
def test_numbers(rows, guarantee):
    """Spread and nearness are those of what stays possible."""
    if 1 < len({row[0] for row in rows}) < len(rows):
        checked(rows, guarantee, frozenset(), kind="numeric")
