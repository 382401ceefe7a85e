"""How many people of a population are the only ones of their kind, estimated from the sizes of groups in a sample.

Every estimate rests on a model of how a population divides into groups, and says nothing where that does not hold.
`sizes` are the different sizes of groups in the sample, and `counts` how many groups have each.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Equations = Callable[[Floats], tuple[Floats, Floats]]

# Equations hold if both sides are as near as this, as ARX has it; then a few steps more are taken.
ACCURACY = 1e-6
MOST_STEPS, MORE_STEPS = 1000, 5
# So far from its solutions nobody looks for Pitman's alpha.
FURTHEST = 10_000.0
# So far off, as a share, groups of one and of two may be from what a model expects.
NEAR = 1e-9
# Beside a first guess, these are tried.
STARTS = [(first, second) for first, second in product((0.0, 0.33, 0.66, 0.99), repeat=2)]
# A sample of at most this share of the population is small (Dankar and others 2012).
SMALL_SAMPLE = 0.1


@dataclass(frozen=True, repr=False)
class Sample:
    """The sizes of groups in a sample, and how many people the population has; a person is in one group."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_population: int

    @property
    def n_people(self) -> int:
        """The people of the sample."""
        return int((self.sizes * self.counts).sum())

    @property
    def n_groups(self) -> int:
        """The groups of the sample."""
        return int(self.counts.sum())

    @cached_property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.n_people / self.n_population

    def of_size(self, size: int) -> int:
        """How many groups have a size."""
        return int(self.counts[self.sizes == size].sum())


def sample_of(group_sizes: NDArray[np.int64], n_population: int) -> Sample:
    """A sample by the size of every group."""
    sizes, counts = np.unique(group_sizes, return_counts=True)
    return Sample(sizes.astype(np.int64), counts.astype(np.int64), n_population)


def zayatz(sample: Sample) -> float:
    """Population uniques by Zayatz 1991: the population divides into groups as the sample does.

    What is unique in the sample is so in the population with the chance that follows from drawing without replacement.
    """
    uniques = sample.of_size(1)
    if not uniques:
        return 0.0
    shares = sample.counts / sample.n_groups
    drawn_once = _drawn_once(sample)
    conditional = uniques / sample.n_groups * drawn_once[0] / float((shares * drawn_once[1]).sum())
    return float(uniques * conditional / sample.fraction)


def _drawn_once(sample: Sample) -> tuple[float, Floats]:
    """The chance that one of a group is drawn and no other (hypergeometric), for a group of one and for every size."""
    n, drawn = sample.n_population, sample.n_people
    others = np.arange(int(sample.sizes.max()) - 1)
    left = np.maximum(n - drawn - others, 0) / np.maximum(n - 1 - others, 1)
    none_other = np.append(1.0, np.cumprod(left))
    return drawn / n, sample.sizes * (drawn / n) * none_other[sample.sizes - 1]


def pitman(sample: Sample) -> float:
    """Population uniques by Pitman's sampling formula (Hoshino 2001), with its parameters by maximum likelihood.

    Not a number where the equations have no solution.
    """
    if not sample.of_size(1):
        return 0.0
    theta, alpha = _solved(_pitman_equations(sample), [_pitman_guess(sample), *STARTS], lambda at: at[0] >= 0)
    if math.isnan(theta) or alpha == 0 or theta + alpha <= 0:
        return math.nan
    logarithm = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(sample.n_population)
    uniques = math.exp(min(logarithm, 700.0))
    return uniques if uniques <= sample.n_population else math.nan


def _pitman_guess(sample: Sample) -> tuple[float, float]:
    """Where the search for the parameters begins (Hoshino 2001)."""
    n, groups, ones = sample.n_people, sample.n_groups, sample.of_size(1)
    c = ones * (ones - 1) / (sample.of_size(2) or 1)
    below = 2 * ones * groups + ones * c - n * c
    theta = (n * groups * c - ones * (n - 1) * (2 * groups + c)) / below if below else 1.0
    return theta, (theta * (ones - n) + (n - 1) * ones) / (n * groups)


def _pitman_equations(sample: Sample) -> Equations:
    """The derivatives of the likelihood by both parameters, and theirs."""
    from scipy.special import polygamma, psi  # Takes longer to load than most releases to measure.

    n, steps = sample.n_people, np.arange(1, sample.n_groups, dtype=np.float64)
    larger = sample.sizes > 1
    sizes, counts = sample.sizes[larger].astype(np.float64), sample.counts[larger]

    def at(parameters: Floats) -> tuple[Floats, Floats]:
        theta, alpha = parameters
        if not abs(alpha) <= FURTHEST:
            # A search that has got lost: solutions lie between 0 and 1, and far below 0 polygamma takes hours.
            return np.full(2, np.nan), np.full((2, 2), np.nan)
        inverse = 1 / (theta + steps * alpha)
        by_theta = inverse.sum() - (psi(n + theta) - psi(theta + 1))
        by_alpha = (steps * inverse).sum() - (counts * (psi(sizes - alpha) - psi(1 - alpha))).sum()
        both = -(steps * inverse**2).sum()
        theta_twice = polygamma(1, theta + 1) - polygamma(1, n + theta) - (inverse**2).sum()
        within = (counts * (polygamma(1, 1 - alpha) - polygamma(1, sizes - alpha))).sum()
        alpha_twice = -((steps * inverse) ** 2).sum() - within
        return np.array([by_theta, by_alpha]), np.array([[theta_twice, both], [both, alpha_twice]])

    return at


def slide_negative_binomial(sample: Sample) -> float:
    """Population uniques by the slide negative binomial model (Chen and Keller-McNulty 1998).

    The sizes of groups in the population, less one, have a negative binomial distribution, whose parameters are those
    that explain how many groups of one and of two the sample has. Not a number where the equations have no solution.
    """
    if not sample.of_size(1):
        return 0.0
    groups = _population_groups(sample)
    alpha, beta = _negative_binomial(sample, groups)
    uniques = groups * beta**alpha if not math.isnan(alpha) else math.nan
    return float(uniques) if 0 <= uniques <= sample.n_population else math.nan


def _population_groups(sample: Sample) -> float:
    """How many groups the population has (Haas and Stokes 1998)."""
    f, sizes, counts = sample.fraction, sample.sizes.astype(np.float64), sample.counts
    missed = (1 - f) ** sizes * counts
    again = float((sizes * f * f * (1 - f * f) ** (sizes - 1) * counts).sum())
    spread = float((missed * ((1 + f) ** sizes - 1)).sum())
    once = float((sizes * f * (1 - f) ** (sizes - 1) * counts).sum())
    if not spread or not once:
        return float(sample.n_groups)
    return sample.n_groups + sample.of_size(1) * again / spread * (float(missed.sum()) / once) ** 2


def _negative_binomial(sample: Sample, groups: float) -> tuple[float, float]:
    """The parameters with which as many groups of one and of two are expected as there are; not numbers if there are none."""
    from scipy.optimize import least_squares

    if sample.fraction >= 1:
        # Everybody is in the sample: groups of one are those of the population.
        return 1.0, sample.of_size(1) / groups
    f, seen = sample.fraction, np.array([sample.of_size(1), sample.of_size(2)], dtype=np.float64)

    def missed(parameters: Floats) -> Floats:
        alpha, beta = np.exp(parameters[0]), 1 / (1 + np.exp(-parameters[1]))
        rest = (1 - f) * (1 - beta)
        of_one = (beta / (1 - rest)) ** alpha * (alpha * rest / (1 - rest) + 1)
        of_two = (
            alpha * beta**alpha * f * (1 - beta) / 2 * (2 - (1 - alpha) * rest) / (1 - rest) ** (alpha + 2)
        )
        expected: Floats = groups * f * np.array([of_one, of_two])
        return (expected - seen) / np.maximum(seen, 1)

    with np.errstate(all="ignore"):
        for start in product((-2.0, 0.0, 2.0), (-4.0, -2.0, 0.0, 2.0)):
            try:
                found = least_squares(
                    missed, start, bounds=([-20, -30], [10, 30]), xtol=1e-15, ftol=1e-15, gtol=1e-15
                )
            except ValueError:
                continue
            if np.abs(found.fun).max() <= NEAR:
                return float(np.exp(found.x[0])), float(1 / (1 + np.exp(-found.x[1])))
    return math.nan, math.nan


def dankar(sample: Sample) -> float:
    """Population uniques by the rule of Dankar and others 2012, which chooses between the models by the share sampled.

    Pitman's for small samples; for others the smaller of slide negative binomial and Zayatz'; and Zayatz' where the
    chosen one has no solution.
    """
    if sample.fraction <= SMALL_SAMPLE:
        uniques = pitman(sample)
        return zayatz(sample) if math.isnan(uniques) else uniques
    other = slide_negative_binomial(sample)
    return zayatz(sample) if math.isnan(other) else min(other, zayatz(sample))


def _solved(
    equations: Equations, starts: list[tuple[float, float]], is_meant: Callable[[Floats], bool]
) -> tuple[float, float]:
    """Two unknowns by Newton's method from the first start that leads to a solution; not numbers where none does."""
    with np.errstate(all="ignore"):
        for start in starts:
            for found in _tries(equations, np.array(start, dtype=np.float64), is_meant):
                return float(found[0]), float(found[1])
    return math.nan, math.nan


def _tries(equations: Equations, at: Floats, is_meant: Callable[[Floats], bool]) -> Iterator[Floats]:
    """The solution that a start leads to, if it leads to one."""
    more = 0
    for _ in range(MOST_STEPS):
        values, derivatives = equations(at)
        if not np.isfinite(values).all() or not np.isfinite(derivatives).all():
            return
        is_near = bool((np.abs(values) <= ACCURACY).all())
        more += is_near
        if more > MORE_STEPS or (is_near and not values.any()):
            yield at
            return
        if abs(np.linalg.det(derivatives)) < 1e-300:
            return
        following = at - np.linalg.solve(derivatives, values)
        if not is_meant(following):
            if is_near:
                yield at
            return
        at = following
