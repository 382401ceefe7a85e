"""Estimates of population uniques, against the published formulas in plain Python and against ARX's own numbers."""

import math
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyveils.utility.estimators import (
    Sample,
    dankar,
    pitman,
    sample_of,
    slide_negative_binomial,
    zayatz,
)

# The groups of the 30,162 complete rows of Adult by nine quasi-identifiers: how many there are of each size.
ADULT = {
    1: 15512, 2: 2098, 3: 754, 4: 375, 5: 189, 6: 155, 7: 97, 8: 73, 9: 39, 10: 37, 11: 29, 12: 18, 13: 23, 14: 14,
    15: 15, 16: 9, 17: 11, 18: 10, 19: 10, 20: 5, 21: 3, 22: 4, 23: 3, 24: 2, 25: 1, 26: 3, 27: 5, 29: 1, 30: 2, 32: 1,
    34: 1, 35: 1, 36: 1, 45: 1,
}  # fmt: skip


def adult(fraction):
    """Adult as a sample of a share of a population."""
    sizes, counts = np.array(list(ADULT)), np.array(list(ADULT.values()))
    return Sample(sizes, counts, round(int((sizes * counts).sum()) / fraction))


@pytest.mark.parametrize(
    ("model", "fraction", "share"),
    [
        (pitman, 0.1, 0.27684993883653597),
        (zayatz, 0.1, 0.3207402393466189),
        (dankar, 0.1, 0.27684993883653597),
        (zayatz, 0.2, 0.3577099234829125),
        (dankar, 0.01, 0.1446083531167384),
        (dankar, 1.0, 0.5142895033485844),
    ],
)
def test_shares_of_adult_are_those_of_arx(model, fraction, share):
    """On Adult the estimates are the numbers in ARX's own tests (TestRiskMetrics), to a millionth."""
    sample = adult(fraction)
    assert sample.n_groups / sample.n_people == pytest.approx(0.6465751607983555, abs=1e-15)
    assert model(sample) / sample.n_population == pytest.approx(share, abs=1e-6)


GROUPS = st.lists(st.one_of(st.integers(1, 3), st.integers(1, 12)), min_size=4, max_size=60)


def plain_zayatz(sizes, n_population):
    """Zayatz' estimate with whole numbers: the chance that of a group of i exactly one is drawn."""
    n = sum(sizes)
    once = lambda i: i * math.comb(n_population - i, n - 1) / math.comb(n_population, n)  # noqa: E731
    uniques = sizes.count(1)
    drawn = sum(once(i) for i in sizes) / len(sizes)
    return uniques * (uniques / len(sizes) * once(1) / drawn) * n_population / n


@settings(max_examples=100, deadline=None)
@given(sizes=GROUPS, times=st.integers(1, 30))
def test_zayatz_is_its_formula(sizes, times):
    """Zayatz' estimate is what whole numbers say."""
    n_population = sum(sizes) * times
    found = zayatz(sample_of(np.array(sizes), n_population))
    assert found == pytest.approx(plain_zayatz(sizes, n_population) if 1 in sizes else 0.0, rel=1e-9)


def likelihood_by(theta, alpha, sizes):
    """The derivatives of the logarithm of Pitman's sampling formula, term by term."""
    n, u = sum(sizes), len(sizes)
    by_theta = sum(1 / (theta + i * alpha) for i in range(1, u)) - sum(1 / (theta + i) for i in range(1, n))
    by_alpha = sum(i / (theta + i * alpha) for i in range(1, u))
    by_alpha -= sum(1 / (j - alpha) for size in sizes for j in range(1, size))
    return by_theta, by_alpha


def plain_pitman(sizes, n_population):
    """Pitman's estimate by searching the best parameters on ever finer grids of the likelihood itself."""
    n, u = sum(sizes), len(sizes)

    def likelihood(theta, alpha):
        total = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(
            math.log(theta + i) for i in range(1, n)
        )
        return total + sum(math.log(j - alpha) for size in sizes for j in range(1, size))

    low, high, least, most = math.log(1e-3), math.log(1e6), 1e-3, 0.999
    for _ in range(60):
        tried = [
            (likelihood(math.exp(x), alpha), x, alpha)
            for x in np.linspace(low, high, 9)
            for alpha in np.linspace(least, most, 9)
        ]
        _, x, alpha = max(tried)
        wide, deep = (high - low) / 3, (most - least) / 3
        low, high, least, most = x - wide, x + wide, max(alpha - deep, 1e-6), min(alpha + deep, 1 - 1e-9)
    theta = math.exp(x)
    return theta, alpha, math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * n_population**alpha


@pytest.mark.parametrize("seed", range(4))
def test_pitman_is_its_formula(seed):
    """Pitman's estimate is the one at the best parameters, which a search of the likelihood itself finds too."""
    rng = np.random.default_rng(seed)
    population = rng.multinomial(4000, (p := rng.pareto(1.0, 600) + 0.02) / p.sum())
    sizes = rng.binomial(population, 0.08)
    sizes = sizes[sizes > 0].tolist()
    theta, alpha, expected = plain_pitman(sizes, 4000)
    if theta < 1e-6:
        # The likelihood has no greatest value inside.
        assert math.isnan(pitman(sample_of(np.array(sizes), 4000)))
        return
    assert max(map(abs, likelihood_by(theta, alpha, sizes))) < 1e-2
    assert pitman(sample_of(np.array(sizes), 4000)) == pytest.approx(expected, rel=1e-4)


def expected_groups(alpha, beta, f, n_groups):
    """How many groups of one and of two a sample has, summed over all sizes that groups of the population can have."""
    ones, twos, chance = 0.0, 0.0, beta**alpha
    for size in range(1, 4000):
        ones += chance * size * f * (1 - f) ** (size - 1)
        twos += chance * math.comb(size, 2) * f**2 * (1 - f) ** max(size - 2, 0)
        chance *= (alpha + size - 1) / size * (1 - beta)
    return n_groups * ones, n_groups * twos


@pytest.mark.parametrize(
    ("alpha", "beta", "f"), [(0.4, 0.2, 0.3), (1.3, 0.4, 0.5), (0.1, 0.05, 0.2), (2.0, 0.7, 0.05)]
)
def test_slide_negative_binomial_finds_the_parameters(alpha, beta, f):
    """Where a sample has as many groups of one and of two as a model expects, summed term by term, its parameters are found."""
    from manyveils.utility import estimators

    ones, twos = (round(expected) for expected in expected_groups(alpha, beta, f, 10**9))
    sample = Sample(np.array([1, 2]), np.array([ones, twos]), round((ones + 2 * twos) / f))
    found = estimators._negative_binomial(sample, 10**9)
    assert found == pytest.approx((alpha, beta), rel=1e-5)


def test_slide_negative_binomial_is_near_the_truth():
    """Of a population that the model describes, the estimate is within a tenth of the truth."""
    rng = np.random.default_rng(1)
    population = 1 + rng.negative_binomial(1.2, 0.3, 5000)
    sizes = rng.binomial(population, 0.5)
    found = slide_negative_binomial(sample_of(sizes[sizes > 0], int(population.sum())))
    assert found == pytest.approx(int((population == 1).sum()), rel=0.1)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes=GROUPS, times=st.integers(1, 30))
def test_estimates_are_no_more_than_the_population(sizes, times):
    """Every model says a number of people there can be, or nothing; without sample uniques it is none; Dankar chooses one."""
    sample = sample_of(np.array(sizes), sum(sizes) * times)
    for model in (zayatz, pitman, slide_negative_binomial, dankar):
        found = model(sample)
        assert math.isnan(found) or 0 <= found <= sample.n_population * (1 + 1e-9)
        assert 1 in sizes or found == 0
    others = (zayatz(sample), pitman(sample), slide_negative_binomial(sample))
    assert any(dankar(sample) == other for other in others)


def test_a_whole_population_has_the_uniques_it_shows():
    """If everybody is in the sample, all that depend on the share sampled say what is seen."""
    sample = sample_of(np.array([1, 1, 2, 5]), 9)
    assert zayatz(sample) == pytest.approx(2)
    assert slide_negative_binomial(sample) == pytest.approx(2)


def test_a_search_that_gets_lost_ends():
    """From some samples Newton's steps lead billions away; another start is taken then, at once."""
    started = time.perf_counter()
    sample = sample_of(np.array([2, 1, 1, 2, 5, 5, 11, 10, 2]), 39 * 28)
    assert math.isnan(pitman(sample)) or 0 <= pitman(sample) <= sample.n_population
    assert time.perf_counter() - started < 10
