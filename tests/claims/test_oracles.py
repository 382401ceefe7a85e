"""The oracles say what the definitions say."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)
from tests.kit.oracles import ancestor_distance, earth_movers, holds, verdict

DOMAIN = ["a", "b", "c", "d", "e"]
LEVELS = [
    {value: value for value in DOMAIN},
    {"a": "ab", "b": "ab", "c": "cd", "d": "cd", "e": "e"},
    {"a": "abcd", "b": "abcd", "c": "abcd", "d": "abcd", "e": "e"},
    dict.fromkeys(DOMAIN, "*"),
]
COSTS = {
    "equal": lambda x, y: float(x != y),
    "ordered": lambda x, y: abs(DOMAIN.index(x) - DOMAIN.index(y)) / (len(DOMAIN) - 1),
    "hierarchical": lambda x, y: float(ancestor_distance(x, y, LEVELS)),
}
some_values = st.lists(st.sampled_from(DOMAIN), min_size=1, max_size=8)


def transport(one, other, cost):
    """The cheapest way to move one distribution onto another, by linear programming."""
    m = len(DOMAIN)
    costs = [cost(x, y) for x in DOMAIN for y in DOMAIN]
    leaving, arriving = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    shares = [values.count(value) / len(values) for values in (one, other) for value in DOMAIN]
    return linprog(costs, A_eq=np.vstack([leaving, arriving]), b_eq=shares).fun


@given(one=some_values, other=some_values, ground=st.sampled_from(sorted(COSTS)))
def test_the_closed_forms_are_earth_movers_distances(one, other, ground):
    """For every ground distance the closed form equals the cheapest transport."""
    closed = earth_movers(ground, one, other, domain=DOMAIN, levels=LEVELS)
    assert float(closed) == pytest.approx(transport(one, other, COSTS[ground]), abs=1e-9)


@pytest.mark.parametrize(
    ("grouping", "attribute", "distance"),
    [
        ("bb", "diagnosis", 0.5),
        ("cc", "diagnosis", 0.25),
        ("cc", "family", 0.5),
        ("dd", "diagnosis", 0.25),
        ("dd", "job", 0.5),
    ],
)
def test_table_1_of_the_codip_paper(grouping, attribute, distance):
    """The groupings (b), (c) and (d) are as close as the paper says."""
    column = {"diagnosis": "HT HT DB AS", "family": "HT DB HT AS", "job": "teacher lawyer farmer teacher"}[
        attribute
    ].split()
    groups = {"bb": [(0, 1), (2, 3)], "cc": [(0, 2), (1, 3)], "dd": [(0, 3), (1, 2)]}[grouping]
    distances = [
        earth_movers("equal", [column[row] for row in rows], column, domain=sorted(set(column)))
        for rows in groups
    ]
    assert float(max(distances)) == distance


AABC = ["a", "a", "b", "c"]
TABLE = ["a", "a", "b", "c", "d", "d", "b", "c"]
BOTH_SIDES = [
    (KAnonymity(4), KAnonymity(5), AABC),
    (DistinctDiversity(3), DistinctDiversity(4), AABC),
    (FrequencyDiversity(2), FrequencyDiversity(3), AABC),
    (EntropyDiversity(2), EntropyDiversity(3), AABC),
    (EntropyDiversity(3), EntropyDiversity(4), ["a", "b", "c"]),
    (RecursiveDiversity(Fraction(101, 100), 2), RecursiveDiversity(Fraction(1), 2), AABC),
    (Closeness(Fraction(1, 4), "equal"), Closeness(Fraction(24, 100), "equal"), AABC),
    (SupersetCloseness(4, Fraction(0), "equal"), SupersetCloseness(5, Fraction(0), "equal"), AABC),
    (CappedShare(Fraction(1, 2)), CappedShare(Fraction(49, 100)), AABC),
    (CappedShare(Fraction(1, 4), ("b",)), CappedShare(Fraction(1, 4), ("a",)), AABC),
    (Linkability(Fraction(1, 2)), Linkability(Fraction(49, 100)), AABC),
    (Likeness(Fraction(1)), Likeness(Fraction(99, 100)), AABC),
    (Disclosure(Fraction(7, 10)), Disclosure(Fraction(69, 100)), ["a", "a", "b", "c", "d", "d", "d", "d"]),
    (NumericSpread(Fraction("0.2")), NumericSpread(Fraction("0.21")), ["0.1", "0.3", ""]),
    (Proximity(Fraction("0.2"), 1), Proximity(Fraction("0.2"), 2), ["0.1", "0.3", ""]),
]


@pytest.mark.parametrize(("kept", "broken", "group"), BOTH_SIDES)
def test_every_guarantee_holds_up_to_its_bound_and_breaks_beyond(kept, broken, group):
    """Each guarantee holds at one threshold and breaks at the next."""
    table = TABLE if group[0] in "abcd" else group
    assert holds(kept, group, table)
    assert not holds(broken, group, table)


def test_a_group_without_sensitive_values_passes():
    """Diversity asks nothing of a group in which every value is insensitive."""
    for guarantee in (
        DistinctDiversity(2),
        FrequencyDiversity(2),
        EntropyDiversity(2),
        RecursiveDiversity(Fraction(1), 2),
    ):
        assert holds(guarantee, ["none", "none"], ["none", "flu"], insensitive={"none"})
        assert not holds(guarantee, ["flu", "flu"], ["none", "flu"], insensitive={"none"})


def test_a_missing_value_from_delta_disclosure_is_infinitely_far():
    """A value of the table that a group does not have breaks delta-disclosure whatever delta is."""
    assert verdict(Disclosure(Fraction(1000)), ["a"], ["a", "b"]).measure == float("inf")
