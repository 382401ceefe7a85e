"""Hospital discharges, generated: the attributes and domain sizes of the Texas file that paper 002 publishes."""

import numpy as np
import polars as pl

from manyveils.datasets.draws import Numbers, Weights, dealt, facts, near

FACTS = facts("discharges_facts.toml")
DOMAINS: dict[str, tuple[str, int]] = {name: tuple(domain) for name, domain in FACTS.domains.items()}
WORLD = 18  # Hospitals, places and illnesses are the same for every seed; only the patients differ.


def discharges(n: int = 177_148, seed: int = 1) -> pl.DataFrame:
    """Generate n discharges; the same seed gives the same discharges on any machine.

    County follows from pat_zip and hcfa_mdc from hcfa_drg. From the default n on, every value of every domain
    occurs; no value of an attribute with more than ten fills more than one row in eleven.

    >>> discharges(2).select("pat_zip", "county", "pat_age").rows()
    [('Z0103', 'C014', 'A04'), ('Z0901', 'C144', 'A15')]
    """
    world = np.random.Generator(np.random.PCG64(WORLD))
    county_of, zips = _nested("pat_zip", "county", _skewed("county", world))
    mdc_of, drgs = _nested("hcfa_drg", "hcfa_mdc", _skewed("hcfa_mdc", world))
    shares = {name: _skewed(name, world) for name in DOMAINS} | {
        "gender": _shares(FACTS.genders),
        "pat_zip": zips,
        "pat_age": _shares(FACTS.ages),
        "race": _shares(FACTS.races),
        "hcfa_drg": drgs,
        "rsk_mor": _shares(FACTS.risks),
    }
    codes = _patients(n, shares, np.random.Generator(np.random.PCG64(seed)))
    codes |= {"county": county_of[codes["pat_zip"]], "hcfa_mdc": mdc_of[codes["hcfa_drg"]]}
    return pl.DataFrame({name: _texts(name).gather(codes[name]) for name in DOMAINS})


def _patients(n: int, shares: dict[str, Weights], rng: np.random.Generator) -> dict[str, Numbers]:
    """Number the values of each row: home and illness are drawn, and everything else lies near one of them."""
    home, illness = rng.random(n), rng.random(n)
    age = near(3 * illness, 0.3, 0.8, rng)
    spots = {
        "thcic": near(home, 0.02, 0.9, rng),
        "gender": near(7 * illness, 0.2, 0.7, rng),
        "pat_zip": home,
        "pat_age": age,
        "race": near(5 * home, 0.4, 0.6, rng),
        "ad_diag": near(illness, 0.01, 0.9, rng),
        "prn_diag": illness,
        "diag1": near(illness, 0.01, 0.85, rng),
        "diag2": near(illness, 0.02, 0.8, rng),
        "diag3": near(illness, 0.03, 0.75, rng),
        "p_icd9": near(illness, 0.02, 0.8, rng),
        "hcfa_drg": near(illness, 0.01, 0.95, rng),
        "apr_drg": near(illness, 0.01, 0.95, rng),
        "rsk_mor": near(age, 0.15, 0.8, rng),
    }
    codes = {name: dealt(spot, shares[name], rng) for name, spot in spots.items()}
    for name, reach in (("and_md", 0.3), ("surgeon", 0.2)):
        # A hospital has its own stretch of physicians, ordered by what they treat; some help out elsewhere.
        spot = _within(codes["thcic"], near(illness, reach, 0.8, rng))
        codes[name] = dealt(near(spot, 0.0, 0.9, rng), shares[name], rng)
    return codes


def _within(codes: Numbers, inner: Weights) -> Weights:
    """Give each code a stretch of the line as long as its share, and each row a spot in its code's stretch."""
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    return (starts[codes] + counts[codes] * inner) / len(codes)


def _skewed(name: str, world: np.random.Generator) -> Weights:
    """Shares that fall with the rank as in Zipf's law, in no order; the larger the head, the lower the highest.

    A fifth is spread evenly, so that the rarest of 17,432 values still has two rows of 177,148.
    """
    n_values = DOMAINS[name][1]
    weights = 1.0 / (np.arange(n_values) + FACTS.heads.get(name, 3))
    return world.permutation(0.8 * weights / np.cumsum(weights)[-1] + 0.2 / n_values)


def _shares(weights: Numbers) -> Weights:
    return weights / weights.sum()


def _nested(child: str, parent: str, of_parents: Weights) -> tuple[Numbers, Weights]:
    """Give every parent one child, and more by its share; returns each child's parent and share."""
    n_children, n_parents = DOMAINS[child][1], DOMAINS[parent][1]
    n_more = n_children - n_parents
    more = np.searchsorted(np.cumsum(of_parents), (np.arange(n_more) + 0.5) / n_more)
    parents = np.sort(np.append(np.arange(n_parents), more))
    weights = 1.0 / (np.arange(n_children) - np.searchsorted(parents, parents) + 2)
    return parents, of_parents[parents] * weights / np.bincount(parents, weights)[parents]


def _texts(name: str) -> pl.Series:
    """The values of a domain: a letter and a number, so that nobody takes them for numbers."""
    letter, n_values = DOMAINS[name]
    width = max(2, len(str(n_values)))
    return pl.Series([f"{letter}{number:0{width}}" for number in range(n_values)])
