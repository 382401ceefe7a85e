"""Supersets, lists of values and known items count persons too."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    Closeness,
    FrequencyDiversity,
    KnownItems,
    Linkability,
    SupersetCloseness,
)
from manyveils.reading.evidence import Evidence
from tests.claims.test_persons_judged import WORDS, groups_by, published, rows_of_words, shares
from tests.kit import persons as oracle
from tests.kit.people import held_by

LISTS = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "multivalued": "|"},
    }
)
rows_of_lists = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("xy"), st.sets(st.sampled_from("abc"), max_size=3)),
    min_size=2,
    max_size=12,
)


def first(release, table, policy, promise):
    return next(iter(judge(Evidence(release, table, policy), promise, promised=True)))


@settings(deadline=None, max_examples=150)
@given(rows=rows_of_words, n=st.integers(1, 7), t=shares, ground=st.sampled_from(["equal", "ordered"]))
def test_supersets_are_large_by_their_persons(rows, n, t, ground):
    """A group of n persons or more keeps (n,t)-closeness, and any that is close to all n or more persons does."""
    if len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    release = published(table, WORDS, (("q", "s", "z"),), None)
    finding = first(release, table, WORDS, Promise(SupersetCloseness(n, t, ground), ("q",), ("s",)))
    listed = [(row[0], row[2]) for row in rows]
    groups = groups_by([row[1] for row in rows], listed)
    domain = list(table["s"].texts)
    persons_of_all = len(oracle.persons(listed))
    sound = [
        len(oracle.persons(group)) >= n
        or (
            persons_of_all >= n
            and oracle.keeps(Closeness(t - Fraction(1, 10**6), ground), group, listed, domain)
        )
        for group in groups
    ]
    # The only ancestor of a value without a hierarchy is everybody.
    loose = [
        len(oracle.persons(group)) >= n
        or (persons_of_all >= n and oracle.keeps(Closeness(t, ground), group, listed, domain))
        for group in groups
    ]
    assert finding.kept or not all(sound)
    assert all(loose) or not finding.kept


@settings(deadline=None, max_examples=150)
@given(rows=rows_of_lists, bound=shares)
def test_a_person_has_a_value_if_one_of_her_rows_has_it(rows, bound):
    """Of lists of values, shares are those of persons with the value in any of their rows in the group."""
    present = sorted(set().union(*(row[2] for row in rows)))
    if not present or len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame({"q": [row[1] for row in rows], "s": ["|".join(sorted(row[2])) for row in rows]})
    table = held_by(frame, LISTS, [row[0] for row in rows])
    names = tuple(f"s={value}" for value in present)
    release = published(table, LISTS, (("q", *names),), None)
    for value, name in zip(present, names, strict=True):
        for guarantee in (Linkability(bound), FrequencyDiversity(2)):
            promise = Promise(guarantee, ("q",), (name,), frozenset({"0"}))
            finding = first(release, table, LISTS, promise)
            listed = [(row[0], "1" if value in row[2] else "0") for row in rows]
            groups = groups_by([row[1] for row in rows], listed)
            verdicts = [oracle.keeps(guarantee, group, listed, ["0", "1"], {"0"}) for group in groups]
            assert (finding.kept, finding.groups_short) == (all(verdicts), verdicts.count(False))


@settings(deadline=None, max_examples=150)
@given(rows=rows_of_lists, k=st.integers(1, 3), m=st.integers(1, 2))
def test_known_items_leave_k_persons(rows, k, m):
    """Whoever knows the group and m values of one row has k persons before her who have them all in a row."""
    present = sorted(set().union(*(row[2] for row in rows)))
    if not present or len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame({"q": [row[1] for row in rows], "s": ["|".join(sorted(row[2])) for row in rows]})
    table = held_by(frame, LISTS, [row[0] for row in rows])
    release = published(table, LISTS, (("q", *(f"s={value}" for value in present)),), None)
    finding = first(release, table, LISTS, Promise(KnownItems(k, m, "s"), ("q",)))
    fewest = min(
        len({row[0] for row in rows if row[1] == own[1] and {*known} <= row[2]})
        for own in rows
        for size in range(m + 1)
        for known in combinations(sorted(own[2]), size)
    )
    assert finding.measured == fewest
    assert finding.kept == (fewest >= k)


def test_a_person_with_many_rows_is_one_person():
    """Someone with a thousand rows counts once, and what she has is spread over them."""
    rows = [(0, "x", "ab"[index % 2]) for index in range(1000)] + [(1, "x", "a"), (2, "x", "b")]
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": ["u"] * len(rows)}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    release = published(table, WORDS, (("q", "s", "z"),), None)
    finding = first(release, table, WORDS, Promise(Linkability(Fraction(2, 3)), ("q",), ("s",)))
    assert (finding.measured, finding.worst_group_size, finding.kept) == (np.float64(2 / 3), 3, True)
    closeness = first(release, table, WORDS, Promise(Closeness(Fraction(0), "equal"), ("q",), ("s",)))
    assert closeness.kept
