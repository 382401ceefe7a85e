"""A tumour registry, generated: the six sensitive attributes that paper 001 publishes, tied to what is known of people."""

import numpy as np
import polars as pl

from manyveils.datasets import oncology, residents
from manyveils.datasets.draws import Numbers, Weights, draw, draw_once, record_numbers, words
from manyveils.errors import InputError

QUASI = ("birth_year", "sex", "region", "marital_status", "occupation", "education")
SENSITIVE = (
    "tumor_topography",
    "histology",
    "survival_years",
    "diagnosis_date",
    "age_at_diagnosis",
    "tumor_size",
)
COLUMNS = ("record", *QUASI, *SENSITIVE)
TREES = {
    "region": residents.REGIONS,
    "marital_status": residents.MARITAL_STATUSES,
    "occupation": residents.OCCUPATIONS,
    "education": residents.EDUCATIONS,
    "tumor_topography": oncology.TOPOGRAPHIES,
    "histology": oncology.HISTOLOGIES,
    "diagnosis_date": oncology.MONTHS,
}


def tumours(n: int = 30_000, seed: int = 1) -> pl.DataFrame:
    """Generate n records; the same seed gives the same records on any machine.

    Birth year, date and age agree. Histology depends on topography, survival on both, age and size.

    >>> tumours(2).select("birth_year", "tumor_topography", "diagnosis_date", "age_at_diagnosis").rows()
    [(1937, 'Colon', '2013-08', 75), (1975, 'Bone marrow', '2012-07', 37)]
    """
    if not isinstance(n, int) or n < 0:
        raise InputError.at("tumours", f"n is {n} and must be 0 or more.", "Give a whole number.")
    rng = np.random.Generator(np.random.PCG64(seed))
    sex = draw_once(oncology.SEX_WEIGHTS, n, rng)
    site = draw(oncology.SITES_BY_SEX, sex, rng)
    age = _ages(site, rng)
    month = rng.integers(12 * (oncology.LAST_YEAR - oncology.FIRST_YEAR + 1), size=n)
    birth_year = _birth_years(age, month, rng)
    education = draw(residents.EDUCATIONS_BY_BIRTH, _schooling(birth_year, age), rng)
    histology = draw(oncology.HISTOLOGY_WEIGHTS, site, rng)
    size = _sizes(site, rng)
    usual = oncology.MEDIAN_YEARS[histology] * oncology.OUTLOOKS[site]
    numbers = {
        "region": _regions(site, rng),
        "marital_status": _marital_statuses(sex, age, rng),
        "occupation": _occupations(sex, age, education, site, rng),
        "education": education,
        "tumor_topography": site,
        "histology": histology,
        "diagnosis_date": month,
    }
    said = {name: words(oncology.leaves(TREES[name]), codes) for name, codes in numbers.items()}
    return pl.DataFrame(
        {
            "record": record_numbers(n, rng),
            "birth_year": birth_year,
            "sex": words(oncology.SEXES, sex),
            **said,
            "survival_years": _survivals(usual, age, size, month, rng),
            "age_at_diagnosis": age,
            "tumor_size": size,
        }
    ).select(COLUMNS)


def _ages(site: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw whole years around what is usual for the site; three throws in sum are nearly normal."""
    # Logarithms and the like differ in their last digits from machine to machine; sums do not.
    throws = rng.random(len(site)) + rng.random(len(site)) + rng.random(len(site)) - 1.5
    years = np.abs(oncology.AGES[site] + 2 * oncology.SPREADS[site] * throws)
    return np.minimum(np.floor(years), 99).astype(np.int64)


def _birth_years(age: Numbers, month: Numbers, rng: np.random.Generator) -> Numbers:
    """Count back the years of the age and some of the months since the last birthday."""
    born = 12 * (oncology.FIRST_YEAR - age) + month - rng.integers(12, size=len(age))
    years: Numbers = born // 12
    return years


def _schooling(birth_year: Numbers, age: Numbers) -> Numbers:
    by_birth = np.searchsorted(residents.BIRTH_YEARS, birth_year, side="right")
    last = len(residents.EDUCATIONS_BY_BIRTH) - 1
    grown = np.where(age < residents.STUDENT_AGE, last - 1, by_birth)
    return np.where(age < residents.SCHOOL_AGE, last, grown)


def _regions(site: Numbers, rng: np.random.Generator) -> Numbers:
    weights = residents.MORE_BY_REGION * residents.REGION_WEIGHTS
    return draw(weights, residents.EXPOSURE_OF_SITE[site], rng)


def _marital_statuses(sex: Numbers, age: Numbers, rng: np.random.Generator) -> Numbers:
    band = np.searchsorted(residents.AGE_BANDS, age, side="right")
    return draw(residents.MARITAL_STATUSES_BY_AGE, sex * (len(residents.AGE_BANDS) + 1) + band, rng)


def _occupations(
    sex: Numbers, age: Numbers, education: Numbers, site: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw by education and sex, more often what goes with the exposure that the site tells of."""
    women = residents.WOMEN_PER_OCCUPATION
    by_sex, by_exposure = np.stack([women, 1 - women]), residents.MORE_BY_OCCUPATION
    by_education = residents.OCCUPATIONS_BY_EDUCATION
    weights = by_education[:, None, None] * by_sex[None, :, None] * by_exposure
    group = residents.EDUCATION_GROUPS[education] * len(by_sex) + sex
    classes = group * len(by_exposure) + residents.EXPOSURE_OF_SITE[site]
    drawn = draw(weights.reshape(-1, weights.shape[-1]), classes, rng)
    return np.where(age < residents.SCHOOL_AGE, residents.PUPIL, drawn)


def _sizes(site: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw millimetres around the median of the site."""
    size = oncology.SIZES_BY_SITE[site] * _multiples(oncology.SIZES, len(site), rng)
    return np.clip(np.rint(size), 1, oncology.LARGEST).astype(np.int64)


def _survivals(
    usual: Weights, age: Numbers, size: Numbers, month: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw whole years until death or until the registry closes; large tumours and old people have fewer."""
    median = usual * (1.5 - age / 100) * 42 / (size + 15)
    lived = np.floor(median * _multiples(oncology.LIFETIMES, len(age), rng)).astype(np.int64)
    followed = oncology.CLOSED - oncology.FIRST_YEAR - 1 - month // 12
    return np.minimum(lived, followed)


def _multiples(quantiles: Weights, n: int, rng: np.random.Generator) -> Weights:
    return np.interp(rng.random(n), oncology.CHANCES, quantiles)
