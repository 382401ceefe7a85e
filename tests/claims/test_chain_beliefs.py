"""Where the beliefs of a chain are those of counting all worlds, and where they only stand in for them."""

from collections import Counter
from fractions import Fraction
from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kit import chained as oracle

VALUES = "123"


def enumerated(person, releases, persons, p):
    """What somebody believes of a person who weighs every world by how often values are, and knows what groups have."""
    values = releases[-1].values
    told = [
        (group, Counter(release.values[one] for one in group))
        for release in releases
        for group in release.groups
    ]
    total = Counter()
    for world in product(sorted(p), repeat=len(persons)):
        has = dict(zip(persons, world, strict=True))
        if all(Counter(has[one] for one in group) == counts for group, counts in told):
            weight = Fraction(1)
            for value in world:
                weight *= p[value]
            total[has[person]] += weight
    assert values[person] in total
    return {value: weight / total.total() for value, weight in total.items()}


def alike(groups, values):
    """Whether all groups have the same counts."""
    return len({tuple(sorted(values[one] for one in group)) for group in groups}) == 1


@st.composite
def same_counts(draw, n_groups, size):
    """The values of persons who stand in groups with the same counts, group after group."""
    values = draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
    return dict(enumerate(value for _ in range(n_groups) for value in draw(st.permutations(values))))


@settings(deadline=None, max_examples=30)
@given(same_counts(3, 3))
def test_strangers_who_are_alike(values):
    """Beliefs are exact in a group of persons who were in no group together, and of whom the same was believed.

    Three persons come from three groups with the same counts; the others are held back.
    """
    first = [frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})]
    releases = [oracle.Published(values, first), oracle.Published(values, [frozenset({0, 3, 6})])]
    p = oracle.prior(releases[-1], oracle.Known())
    known = oracle.chain(releases)
    for person in (0, 3, 6):
        assert known.belief(person, p) == enumerated(person, releases, range(9), p)


@settings(deadline=None, max_examples=30)
@given(same_counts(4, 2))
def test_strangers_over_three_releases(values):
    """They are exact release after release, as long as strangers meet who are alike."""
    first = [frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5}), frozenset({6, 7})]
    second = [frozenset({0, 2}), frozenset({4, 6})]
    assume(alike(second, values))
    releases = [
        oracle.Published(values, first),
        oracle.Published(values, second),
        oracle.Published(values, [frozenset({0, 4})]),
    ]
    p = oracle.prior(releases[-1], oracle.Known())
    known = oracle.chain(releases)
    for person in (0, 4):
        assert known.belief(person, p) == enumerated(person, releases, range(8), p)


@settings(deadline=None, max_examples=60)
@given(same_counts(1, 6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_what_is_possible(values, there):
    """Where nobody comes, whatever the worlds leave possible is believed possible."""
    second = frozenset(person for person, stays in enumerate(there) if stays)
    assume(second)
    releases = [
        oracle.Published(values, [frozenset({0, 1, 2}), frozenset({3, 4, 5})]),
        oracle.Published(values, [second]),
    ]
    p = oracle.prior(releases[-1], oracle.Known())
    known = oracle.chain(releases)
    for person in range(6):
        assert set(enumerated(person, releases, range(6), p)) <= set(known.belief(person, p))


def judged_and_exact(person, values, *groups):
    """What is believed of a person after several releases, and what the worlds say."""
    releases = [oracle.Published(values, own) for own in groups]
    p = oracle.prior(releases[-1], oracle.Known())
    return oracle.chain(releases).belief(person, p), enumerated(person, releases, sorted(values), p)


def test_who_comes_hides_nobody():
    """Who comes while somebody leaves is judged as if it were known what she has: stricter than the worlds are."""
    values = {0: "1", 1: "2", 2: "3", 3: "3"}
    judged, exact = judged_and_exact(2, values, [frozenset({0, 1, 2})], [frozenset({0, 1, 3})])
    assert judged == {"3": 1}
    assert exact == {"1": Fraction(1, 4), "2": Fraction(1, 4), "3": Fraction(1, 2)}


def test_what_others_cannot_have():
    """Of strangers who are not alike, it is an approximation: that nobody else can have a value is not worked out.

    One of two is in a group with 1 and 2, the other in one with 2 and 3; together they have 1 and 2.
    """
    values = {0: "1", 1: "2", 2: "2", 3: "3"}
    judged, exact = judged_and_exact(0, values, [frozenset({0, 1}), frozenset({2, 3})], [frozenset({0, 2})])
    assert exact == {"1": 1}
    assert judged == {"1": Fraction(2, 3), "2": Fraction(1, 3)}
