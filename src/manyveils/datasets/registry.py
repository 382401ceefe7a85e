"""A tumour registry, generated: the six sensitive attributes that paper 001 publishes, tied to what is known of people."""

from copy import deepcopy
from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import (
    Numbers,
    Weights,
    draw,
    draw_once,
    facts,
    record_numbers,
    with_sections,
    words,
)
from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.policy.hierarchies import tree_lines

Tree = dict[str, Any]

FACTS = facts("registry_facts.toml")
QUASI, SENSITIVE = FACTS.quasi, FACTS.sensitive
COLUMNS = ("record", *QUASI, *SENSITIVE)
# Whoever is alive when the registry closes is not followed further.
FIRST_YEAR, LAST_YEAR, CLOSED = 2005, 2014, 2026
SCHOOL_AGE, STUDENT_AGE = 16, 24
LARGEST = 200


def _calendar(first: int, last: int) -> Tree:
    """Months in quarters, in years, in decades."""
    decades: Tree = {}
    for year in range(first, last + 1):
        quarters = {
            f"{year}-Q{start // 3 + 1}": [f"{year}-{month:02}" for month in range(start + 1, start + 4)]
            for start in range(0, 12, 3)
        }
        decades.setdefault(f"{year // 10 * 10}s", {})[str(year)] = quarters
    return decades


def _leaves(tree: Tree) -> tuple[str, ...]:
    """The values of a tree in the order in which it lists them."""
    return tuple(line[0] for line in tree_lines(tree))


TREES: dict[str, Tree] = FACTS.trees | {"diagnosis_date": _calendar(FIRST_YEAR, LAST_YEAR)}
PUPIL = _leaves(TREES["occupation"]).index("Pupil or student")
SITES_BY_SEX, (AGES, SPREADS, SIZES_BY_SITE, OUTLOOKS) = np.split(
    np.array([FACTS.sites[site] for site in _leaves(TREES["tumor_topography"])]).T, [2]
)
EXPOSURE_OF_SITE = np.array([FACTS.exposures.get(site, 0) for site in _leaves(TREES["tumor_topography"])])
HISTOLOGY_WEIGHTS = np.array(
    [
        [FACTS.histologies_by_site[site].get(name, 0) for name in _leaves(TREES["histology"])]
        for site in _leaves(TREES["tumor_topography"])
    ]
)
MEDIAN_YEARS = np.concatenate([FACTS.years_by_family[family] for family in TREES["histology"]])


def tumours(n: int = 30_000, seed: int = 1) -> pl.DataFrame:
    """Generate n records; the same seed gives the same records on any machine.

    Birth year, date and age agree. Histology depends on topography, survival on both, age and size.

    >>> tumours(2).select("birth_year", "tumor_topography", "diagnosis_date", "age_at_diagnosis").rows()
    [(1937, 'Colon', '2013-08', 75), (1975, 'Bone marrow', '2012-07', 37)]
    """
    if not isinstance(n, int) or n < 0:
        raise InputError.at("tumours", f"n is {n} and must be 0 or more.", "Give a whole number.")
    rng = np.random.Generator(np.random.PCG64(seed))
    sex = draw_once(FACTS.sex_weights, n, rng)
    site = draw(SITES_BY_SEX, sex, rng)
    age = _ages(site, rng)
    month = rng.integers(12 * (LAST_YEAR - FIRST_YEAR + 1), size=n)
    birth_year = _birth_years(age, month, rng)
    education = draw(FACTS.educations_by_birth, _schooling(birth_year, age), rng)
    histology = draw(HISTOLOGY_WEIGHTS, site, rng)
    size = _sizes(site, rng)
    usual = MEDIAN_YEARS[histology] * OUTLOOKS[site]
    numbers = {
        "region": _regions(site, rng),
        "marital_status": _marital_statuses(sex, age, rng),
        "occupation": _occupations(sex, age, education, site, rng),
        "education": education,
        "tumor_topography": site,
        "histology": histology,
        "diagnosis_date": month,
    }
    texts = {name: words(_leaves(TREES[name]), codes) for name, codes in numbers.items()}
    return pl.DataFrame(
        {
            "record": record_numbers(n, rng),
            "birth_year": birth_year,
            "sex": words(FACTS.sexes, sex),
            **texts,
            "survival_years": _survivals(usual, age, size, month, rng),
            "age_at_diagnosis": age,
            "tumor_size": size,
        }
    ).select(COLUMNS)


def tumour_policy(n_sensitive: int = 6, **sections: Any) -> Policy:
    """Make the registry's policy; a section given here (publish, guarantee, …) replaces its own.

    >>> tumour_policy(n_sensitive=2).sensitive
    ('tumor_topography', 'histology')
    """
    return Policy(**with_sections(tumour_sections(n_sensitive), sections))


def tumour_sections(n_sensitive: int = 6) -> dict[str, Any]:
    """List the sections of the registry's policy as plain dictionaries, free to be changed.

    The sensitive attributes after the first n_sensitive are not published, as if they were identifiers.
    """
    if n_sensitive not in range(1, len(SENSITIVE) + 1):
        what = f"n_sensitive is {n_sensitive} and must be from 1 to {len(SENSITIVE)}."
        raise InputError.at("tumour_sections", what, "Give a whole number.")
    # Identifiers only to be left out: they number nobody.
    left_out = {"accept": [f"identifier-shared: {name}" for name in SENSITIVE[n_sensitive:]]}
    return {
        **(left_out if n_sensitive < len(SENSITIVE) else {}),
        "data": {"person": "record"},
        "attributes": {name: _attribute(name, n_sensitive) for name in COLUMNS},
        "guarantee": {"k": 10, "l": 3},
        "publish": {"method": "generalize", "recoding": "mondrian"},
    }


def _attribute(name: str, n_sensitive: int) -> dict[str, Any]:
    published = "quasi" if name in QUASI else "sensitive"
    body = {"role": published if name in (*QUASI, *SENSITIVE[:n_sensitive]) else "identifier"}
    if name in FACTS.widths:
        return body | {"kind": "numeric", "hierarchy": {"widths": list(FACTS.widths[name])}}
    if name in TREES:
        kind = "ordinal" if name in FACTS.ordinal else "categorical"
        return body | {"kind": kind, "hierarchy": {"tree": deepcopy(TREES[name])}}
    return body


def _ages(site: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw whole years around what is usual for the site; three throws in sum are nearly normal."""
    # Logarithms and the like differ in their last digits from machine to machine; sums do not.
    throws = rng.random(len(site)) + rng.random(len(site)) + rng.random(len(site)) - 1.5
    years = np.abs(AGES[site] + 2 * SPREADS[site] * throws)
    return np.minimum(np.floor(years), 99).astype(np.int64)


def _birth_years(age: Numbers, month: Numbers, rng: np.random.Generator) -> Numbers:
    """Count back the years of the age and some of the months since the last birthday."""
    born = 12 * (FIRST_YEAR - age) + month - rng.integers(12, size=len(age))
    years: Numbers = born // 12
    return years


def _schooling(birth_year: Numbers, age: Numbers) -> Numbers:
    by_birth = np.searchsorted(FACTS.birth_years, birth_year, side="right")
    last = len(FACTS.educations_by_birth) - 1
    grown = np.where(age < STUDENT_AGE, last - 1, by_birth)
    return np.where(age < SCHOOL_AGE, last, grown)


def _regions(site: Numbers, rng: np.random.Generator) -> Numbers:
    weights = FACTS.more_by_region * FACTS.region_weights
    return draw(weights, EXPOSURE_OF_SITE[site], rng)


def _marital_statuses(sex: Numbers, age: Numbers, rng: np.random.Generator) -> Numbers:
    band = np.searchsorted(FACTS.age_bands, age, side="right")
    return draw(FACTS.marital_statuses_by_age, sex * (len(FACTS.age_bands) + 1) + band, rng)


def _occupations(
    sex: Numbers, age: Numbers, education: Numbers, site: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw by education and sex, more often what goes with the exposure that the site tells of."""
    women = FACTS.women_per_occupation
    by_sex, by_exposure = np.stack([women, 1 - women]), FACTS.more_by_occupation
    by_education = FACTS.occupations_by_education
    weights = by_education[:, None, None] * by_sex[None, :, None] * by_exposure
    group = FACTS.education_groups[education] * len(by_sex) + sex
    classes = group * len(by_exposure) + EXPOSURE_OF_SITE[site]
    drawn = draw(weights.reshape(-1, weights.shape[-1]), classes, rng)
    return np.where(age < SCHOOL_AGE, PUPIL, drawn)


def _sizes(site: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw millimetres around the median of the site."""
    size = SIZES_BY_SITE[site] * _multiples(FACTS.sizes, len(site), rng)
    return np.clip(np.rint(size), 1, LARGEST).astype(np.int64)


def _survivals(
    usual: Weights, age: Numbers, size: Numbers, month: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw whole years until death or until the registry closes; large tumours and old people have fewer."""
    median = usual * (1.5 - age / 100) * 42 / (size + 15)
    lived = np.floor(median * _multiples(FACTS.lifetimes, len(age), rng)).astype(np.int64)
    followed = CLOSED - FIRST_YEAR - 1 - month // 12
    return np.minimum(lived, followed)


def _multiples(quantiles: Weights, n: int, rng: np.random.Generator) -> Weights:
    return np.interp(rng.random(n), FACTS.chances, quantiles)
