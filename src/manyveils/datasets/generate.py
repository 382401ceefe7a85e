"""A hospital's table, generated: three sensitive attributes, tied to what is known of people."""

import numpy as np
import polars as pl

from manyveils.datasets import clinic
from manyveils.datasets.draws import Numbers, draw, draw_once, record_numbers, words


def hospital(n: int = 1000, seed: int = 1) -> pl.DataFrame:
    """Generate n patients; the same seed gives the same patients.

    >>> hospital(3).columns[:6]
    ['name', 'record', 'age', 'sex', 'zipcode', 'job']
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    age = _ages(n, rng)
    job = draw(clinic.JOB_WEIGHTS, _band(age), rng)
    sex = (rng.random(n) >= clinic.WOMEN_PER_JOB[job]).astype(np.int64)
    district = draw_once(clinic.DISTRICT_WEIGHTS, n, rng)
    diagnoses = _diagnoses(age, sex, job, rng)
    income = _incomes(age, job, district, rng)
    return pl.DataFrame(
        {
            "name": _names(n, rng),
            "record": record_numbers(n, rng),
            "age": age,
            "sex": words(clinic.SEXES, sex),
            "zipcode": _zipcodes(district, rng),
            "job": _with_gaps(words(clinic.JOBS, job), clinic.UNKNOWN_JOBS, rng),
            "diagnosis": _cells(diagnoses),
            "income": income,
            "insurance": words(clinic.INSURANCES, _insurances(income, job, rng)),
            "stay": _stays(age, diagnoses, rng),
            "choice": _with_gaps(
                pl.Series(draw_once(clinic.CHOICES, n, rng) + 1), clinic.UNKNOWN_CHOICES, rng
            ),
        }
    )


def _ages(n: int, rng: np.random.Generator) -> Numbers:
    """Adults, more of them in later life."""
    return (18 + np.floor(rng.beta(1.6, 1.5, n) * 73)).astype(np.int64)


def _band(age: Numbers) -> Numbers:
    return np.searchsorted(clinic.AGE_BANDS, age, side="right").astype(np.int64)


def _diagnoses(age: Numbers, sex: Numbers, job: Numbers, rng: np.random.Generator) -> Numbers:
    """One to three diagnoses a patient, in alphabetical order; repeats and gaps are the number of none."""
    by_age, by_sex, by_group = clinic.DIAGNOSES_BY_AGE, clinic.DIAGNOSES_BY_SEX, clinic.DIAGNOSES_BY_JOB_GROUP
    weights = (by_age[:, None, None] * by_sex[None, :, None] * by_group).reshape(-1, by_age.shape[1])
    classes = (_band(age) * len(by_sex) + sex) * len(by_group) + clinic.JOB_GROUPS[job]
    first = draw(weights, classes, rng)
    second = draw(clinic.COMPANIONS, first, rng)
    third = draw(clinic.COMPANIONS, second, rng)
    third = np.where(third == first, clinic.HEALTHY, third)
    return np.sort(np.stack([first, second, third], axis=1), axis=1)


def _cells(diagnoses: Numbers) -> pl.Series:
    """Join the diagnoses of each patient in one cell, separated by `|`."""
    codes = diagnoses[:, 0] * 100 + diagnoses[:, 1] * 10 + diagnoses[:, 2]
    distinct, place = np.unique(codes, return_inverse=True)
    cells = [_cell([code // 100, code // 10 % 10, code % 10]) for code in distinct.tolist()]
    return words(tuple(cells), place)


def _cell(numbers: list[int]) -> str:
    ill = [clinic.DIAGNOSES[number] for number in numbers if number != clinic.HEALTHY]
    return "|".join(ill) or clinic.DIAGNOSES[clinic.HEALTHY]


def _incomes(age: Numbers, job: Numbers, district: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw a year's income in thousands: by job and district, rising until fifty."""
    career = 0.75 + 0.4 * np.minimum(age - 18, 32) / 32
    usual = clinic.JOB_INCOMES[job] * clinic.DISTRICT_INCOME[district] * career
    earned = usual * np.exp(rng.normal(0.0, 0.18, len(age)))
    income: Numbers = np.clip(np.rint(earned), 8, 80).astype(np.int64)
    return income


def _insurances(income: Numbers, job: Numbers, rng: np.random.Generator) -> Numbers:
    by_income, by_group = clinic.INSURANCES_BY_INCOME, clinic.INSURANCES_BY_JOB_GROUP
    weights = (by_income[:, None] * by_group[None, :]).reshape(-1, by_income.shape[1])
    band = np.searchsorted(clinic.INCOME_BANDS, income, side="right")
    return draw(weights, band * len(by_group) + clinic.JOB_GROUPS[job], rng)


def _stays(age: Numbers, diagnoses: Numbers, rng: np.random.Generator) -> Numbers:
    days: Numbers = rng.poisson(clinic.STAY_DAYS[diagnoses].max(axis=1) * (0.5 + age / 100))
    return days + 1


def _zipcodes(district: Numbers, rng: np.random.Generator) -> pl.Series:
    street = rng.integers(len(clinic.STREETS), size=len(district))
    codes = tuple(place + end for place in clinic.DISTRICTS for end in clinic.STREETS)
    return words(codes, district * len(clinic.STREETS) + street)


def _names(n: int, rng: np.random.Generator) -> pl.Series:
    names = tuple(f"{first} {last}" for first in clinic.FIRST_NAMES for last in clinic.LAST_NAMES)
    return words(names, rng.integers(len(names), size=n))


def _with_gaps(values: pl.Series, share: float, rng: np.random.Generator) -> pl.Series:
    """Leave about that share of the cells missing."""
    kept = pl.Series(rng.random(len(values)) >= share)
    return values.to_frame("value").select(pl.when(kept).then(pl.col("value"))).to_series()
