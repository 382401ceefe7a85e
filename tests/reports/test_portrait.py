"""What charts draw is what is there: sizes, shares and associations against the plainest counting."""

from collections import Counter
from math import isclose

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.table import hold
from manyveils.utility.portrait import portrait, public_portrait
from manyveils.utility.portrait.scale import by_name, by_rank, by_width
from manyveils.utility.portrait.sizes import sized
from manyveils.utility.portrait.ties import cramers_v

ROWS = st.lists(
    st.tuples(st.integers(20, 29), st.sampled_from("xyz"), st.sampled_from("abcd"), st.integers(0, 90)),
    min_size=8,
    max_size=60,
)


def frame(rows):
    """Hold rows as a table of an age, a town, an illness and an income."""
    return pl.DataFrame(rows, schema=["age", "town", "illness", "income"], orient="row")


def policy(method, **publish):
    """Promise two rows to a group."""
    return mv.Policy(
        attributes={
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [2, 4]}},
            "town": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "income": {"role": "sensitive", "kind": "numeric"},
        },
        guarantee={"k": 2},
        publish={"method": method, **publish},
    )


@given(ROWS)
def test_sizes_and_shares(rows):
    """Groups are counted as a plain count does, and shares before are those of the original."""
    data, rules = frame(rows), policy("generalize")
    release = mv.publish(data, rules, seed=1)
    drawn = portrait(release, hold(data, rules)[0], rules)
    shown = release.frames["main"]
    groups = Counter(zip(shown["age"], shown["town"], strict=True))
    (view,) = drawn.group_sizes
    assert (view["groups"], view["smallest"], view["largest"]) == (
        len(groups),
        min(groups.values()),
        max(groups.values()),
    )
    assert sum(band["rows"] for band in view["bands"]) == len(rows)
    assert sum(band["groups"] for band in view["bands"]) == len(groups)
    counts = Counter(row[2] for row in rows)
    found = dict(zip(drawn.shares["illness"]["bins"], drawn.shares["illness"]["before"], strict=True))
    assert all(isclose(found[value], count / len(rows)) for value, count in counts.items())
    for shares in drawn.shares.values():
        assert isclose(sum(shares["before"]), 1)
        assert isclose(sum(shares["after"]), 1)


@given(ROWS, st.sampled_from(["generalize", "anatomize", "separate"]))
def test_sensitive_values_are_kept(rows, method):
    """Methods that leave sensitive values alone show no bar that moves."""
    data, rules = frame(rows), policy(method)
    rules = rules.replaced(guarantee={})
    drawn = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules)
    for shares in drawn.shares.values():
        assert np.allclose(shares["before"], shares["after"])


@given(ROWS)
def test_public_portrait_needs_the_release_alone(rows):
    """The public portrait has nothing to compare with, and draws the same release in the same way."""
    data, rules = frame(rows), policy("generalize")
    release = mv.publish(data, rules, seed=1)
    shown = public_portrait(release)
    assert all("before" not in shares for shares in shown.shares.values())
    assert "before" not in shown.associations


def test_associations_of_one_table_are_kept():
    """In a table published as it is, associations in the release are those of the original."""
    rng = np.random.default_rng(5)
    ills = rng.integers(0, 4, 4000)
    rows = [(20 + i % 3, "xyz"[i % 3], "abcd"[i], 10 * i + j % 10) for j, i in enumerate(ills)]
    data, rules = frame(rows), policy("generalize")
    found = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules).associations
    assert np.allclose(found["before"], found["after"], atol=0.02)
    apart = policy("separate")
    found = portrait(mv.publish(data, apart, seed=1), hold(data, apart)[0], apart).associations
    assert np.max(np.array(found["after"]) - np.eye(4)) < 0.02


def plain_v(left, right):
    """Work out Bergsma's V with loops."""
    n, rows, columns = len(left), sorted(set(left)), sorted(set(right))
    pairs, lefts, rights = Counter(zip(left, right, strict=True)), Counter(left), Counter(right)
    phi = sum(
        (pairs[a, b] - lefts[a] * rights[b] / n) ** 2 / (lefts[a] * rights[b] / n)
        for a in rows
        for b in columns
    )
    r, c = len(rows), len(columns)
    phi = max(phi / n - (r - 1) * (c - 1) / (n - 1), 0)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min((phi / least) ** 0.5, 1) if min(r, c) > 1 and least > 1e-12 else 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=50))
def test_cramers_v(pairs):
    """Cramér's V is what its definition says."""
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    found = cramers_v((left, 4), (right, 3), n_people=len(pairs))
    assert isclose(found, plain_v(left.tolist(), right.tolist()), abs_tol=1e-9)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_bands_hold_every_group(sizes):
    """Every group stands in exactly one band."""
    bands = sized("v", pl.Series(sizes))["bands"]
    for band in bands:
        inside = [size for size in sizes if band["low"] <= size <= band["high"]]
        assert (len(inside), sum(inside)) == (band["groups"], band["rows"])
    assert sum(band["groups"] for band in bands) == len(sizes)


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=80, unique=True), st.integers(2, 12))
def test_scales_place_every_value_once(numbers, most):
    """A scale has no more bins than asked for, up to one that is begun, and each value is in one of them."""
    numbers = sorted(numbers)
    texts = [str(number) for number in numbers]
    weights = np.ones(len(texts))
    values = np.array(numbers, dtype=np.float64)
    for scale in (
        by_name(texts, weights, most=most),
        by_width(texts, values, most=most),
        by_rank(texts, values, weights, most=most),
    ):
        places = scale.of(texts)
        assert places.min() >= 0
        assert places.max() < len(scale.bins) <= most + 1
        assert isclose(sum(scale.summed(texts, weights)), len(texts))
    assert (np.diff(by_width(texts, values, most=most).of(texts)) >= 0).all()
