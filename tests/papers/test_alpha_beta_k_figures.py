"""(α,β,k): what docs/reproductions/alpha-beta-k.md argues from, and small versions of what it measures."""

from itertools import combinations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.reproductions.alpha_beta_k_classes import coarse_original, coarsened
from benchmarks.reproductions.alpha_beta_k_exponential import largest_part
from benchmarks.reproductions.alpha_beta_k_trials import (
    EXPONENTIAL,
    K_ALONE,
    KL,
    OURS,
    Asked,
    original_of,
    published,
    short_of,
    tried,
)
from manyveils.datasets import tumours
from manyveils.datasets.registry import SENSITIVE


@pytest.fixture(scope="module")
def registry():
    """A small registry."""
    return tumours(3_000, seed=1)


def keeps_definition_1(part, l):
    """Whether every attribute has l values for those who know all others, in plain Python."""
    for place in range(len(part[0])):
        values = {}
        for each in part:
            values.setdefault((*each[:place], *each[place + 1 :]), set()).add(each[place])
        if any(len(found) < l for found in values.values()):
            return False
    return True


@given(
    st.sampled_from([(1, "abcd"), (2, "abc"), (3, "ab")]).flatmap(
        lambda kind: st.lists(st.tuples(*[st.sampled_from(kind[1])] * kind[0]), min_size=1, max_size=15)
    ),
    st.integers(1, 3),
)
@example([("a", "a"), ("b", "a"), ("b", "b"), ("c", "b")], 2)
def test_definition_1_needs_a_power_of_rows(rows, l):
    """The largest part that keeps Definition 1 holds all others, and each of them has ℓ^i combinations or more."""
    names = [f"s{place}" for place in range(len(rows[0]))]
    kept = largest_part(pl.DataFrame(rows, schema=names, orient="row"), names, l)
    occurring = sorted(set(rows))
    parts = [
        part
        for size in range(1, len(occurring) + 1)
        for part in combinations(occurring, size)
        if keeps_definition_1(part, l)
    ]
    assert set(kept.rows()) == {each for part in parts for each in part}
    assert all(len(part) >= l ** len(names) for part in parts)


def test_the_registry_has_no_release_by_definition_1(registry):
    """Some histologies occur at one site only, so Exponential-ℓ has a release for one attribute and not for two."""
    assert tried(original_of(registry, 1), EXPONENTIAL, Asked(20, 2, 1))
    assert tried(original_of(registry, 2), EXPONENTIAL, Asked(20, 2, 2)) is None
    assert largest_part(registry, SENSITIVE[:2], 2).height < registry.height


def test_classes_have_one_that_grows_fast(registry):
    """With four classes for each attribute it has one, whose groups are far larger than those of k-ℓ."""
    original, asked = coarse_original(coarsened(registry), 2), Asked(20, 2, 2)
    exponential, plain = (published(original, algorithm, asked) for algorithm in (EXPONENTIAL, KL))
    assert min(exponential.sizes) >= asked.smallest
    assert exponential.discernibility > 3 * plain.discernibility


def test_one_attribute_makes_no_difference(registry):
    """With one sensitive attribute the three algorithms publish the same groups."""
    original = original_of(registry, 1)
    trials = [published(original, each, Asked(20, 8, 1)) for each in (OURS, KL, EXPONENTIAL)]
    assert len({(trial.discernibility, trial.t_disr) for trial in trials}) == 1


def test_leaks_go_both_ways(registry):
    """Where ruling out a value makes another certain, ruling out that one makes the first certain; ours has neither."""
    original, asked = original_of(registry, 2), Asked(3, 2, 2)
    leaking, mended = (
        [
            finding.groups_short
            for finding in short_of(published(original, each, asked), "elimination", eliminations=1)
        ]
        for each in (KL, OURS)
    )
    assert leaking[0] == leaking[1] > 0
    assert mended == [0, 0]


def test_dividing_by_k_alone_breaks_beta(registry):
    """Groups that nobody asks for β values come cheaper and do not all have them."""
    original, asked = coarse_original(coarsened(registry), 2), Asked(20, 4, 2)
    plain, alone = (published(original, algorithm, asked) for algorithm in (KL, K_ALONE))
    assert alone.discernibility < plain.discernibility
    assert any(finding.groups_short for finding in short_of(alone, "distinct-l-diversity", l=4))
    assert not any(finding.groups_short for finding in short_of(plain, "distinct-l-diversity", l=4))
