"""A hospital's table, generated: three sensitive attributes, tied to what is known of people; and its policy."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import (
    Numbers,
    draw,
    draw_once,
    facts,
    packaged,
    record_numbers,
    with_sections,
    words,
)
from manyveils.policy import Policy

POLICY = "hospital.toml"
clinic = facts("hospital_facts.toml")
HEALTHY = clinic.diagnoses.index("None")


def hospital(n: int = 1000, seed: int = 1) -> pl.DataFrame:
    """Generate n patients; the same seed gives the same patients.

    >>> hospital(3).columns[:6]
    ['name', 'record', 'age', 'sex', 'zipcode', 'job']
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    age = _ages(n, rng)
    job = draw(clinic.job_weights, _band(age), rng)
    sex = (rng.random(n) >= clinic.women_per_job[job]).astype(np.int64)
    district = draw_once(clinic.district_weights, n, rng)
    diagnoses = _diagnoses(age, sex, job, rng)
    income = _incomes(age, job, district, rng)
    return pl.DataFrame(
        {
            "name": _names(n, rng),
            "record": record_numbers(n, rng),
            "age": age,
            "sex": words(clinic.sexes, sex),
            "zipcode": _zipcodes(district, rng),
            "job": _with_gaps(words(clinic.jobs, job), clinic.unknown_jobs, rng),
            "diagnosis": _cells(diagnoses),
            "income": income,
            "insurance": words(clinic.insurances, _insurances(income, job, rng)),
            "stay": _stays(age, diagnoses, rng),
            "choice": _with_gaps(
                pl.Series(draw_once(clinic.choices, n, rng) + 1), clinic.unknown_choices, rng
            ),
        }
    )


def hospital_policy(**sections: Any) -> Policy:
    """Make the hospital table's policy; a section given here (publish, guarantee, …) replaces its own.

    >>> hospital_policy(publish={"method": "slice", "columns": 3}).publish.options
    {'columns': 3}
    """
    return Policy(**with_sections(hospital_sections(), sections))


def hospital_sections(*, whole_cells: bool = False) -> dict[str, Any]:
    """List the sections of the hospital table's policy as plain dictionaries, free to be changed.

    With `whole_cells` a cell of several diagnoses is one value, as methods need it that give every value a code.
    """
    sections = tomllib.loads(packaged(POLICY))
    if whole_cells:
        sections["attributes"]["diagnosis"] = {"role": "sensitive", "insensitive": ["None"]}
    return sections


def write_hospital(folder: str | Path, n: int = 1000, seed: int = 1) -> Path:
    """Write `hospital.csv` and a commented `policy.toml` for it; returns the policy's path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hospital(n, seed).write_csv(folder / "hospital.csv")
    policy = folder / "policy.toml"
    policy.write_text(packaged(POLICY), encoding="utf-8", newline="\n")
    return policy


def _ages(n: int, rng: np.random.Generator) -> Numbers:
    """Adults, more of them in later life."""
    return (18 + np.floor(rng.beta(1.6, 1.5, n) * 73)).astype(np.int64)


def _band(age: Numbers) -> Numbers:
    return np.searchsorted(clinic.age_bands, age, side="right").astype(np.int64)


def _diagnoses(age: Numbers, sex: Numbers, job: Numbers, rng: np.random.Generator) -> Numbers:
    """One to three diagnoses a patient, in alphabetical order; repeats and gaps are the number of none."""
    by_age, by_sex, by_group = clinic.diagnoses_by_age, clinic.diagnoses_by_sex, clinic.diagnoses_by_job_group
    weights = (by_age[:, None, None] * by_sex[None, :, None] * by_group).reshape(-1, by_age.shape[1])
    classes = (_band(age) * len(by_sex) + sex) * len(by_group) + clinic.job_groups[job]
    first = draw(weights, classes, rng)
    second = draw(clinic.companions, first, rng)
    third = draw(clinic.companions, second, rng)
    third = np.where(third == first, HEALTHY, third)
    return np.sort(np.stack([first, second, third], axis=1), axis=1)


def _cells(diagnoses: Numbers) -> pl.Series:
    """Join the diagnoses of each patient in one cell, separated by `|`."""
    codes = diagnoses[:, 0] * 100 + diagnoses[:, 1] * 10 + diagnoses[:, 2]
    distinct, cell_of = np.unique(codes, return_inverse=True)
    cells = [_cell([code // 100, code // 10 % 10, code % 10]) for code in distinct.tolist()]
    return words(tuple(cells), cell_of)


def _cell(numbers: list[int]) -> str:
    ill = [clinic.diagnoses[number] for number in numbers if number != HEALTHY]
    return "|".join(ill) or clinic.diagnoses[HEALTHY]


def _incomes(age: Numbers, job: Numbers, district: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw a year's income in thousands: by job and district, rising until fifty."""
    career = 0.75 + 0.4 * np.minimum(age - 18, 32) / 32
    usual = clinic.job_incomes[job] * clinic.district_income[district] * career
    earned = usual * np.exp(rng.normal(0.0, 0.18, len(age)))
    income: Numbers = np.clip(np.rint(earned), 8, 80).astype(np.int64)
    return income


def _insurances(income: Numbers, job: Numbers, rng: np.random.Generator) -> Numbers:
    by_income, by_group = clinic.insurances_by_income, clinic.insurances_by_job_group
    weights = (by_income[:, None] * by_group[None, :]).reshape(-1, by_income.shape[1])
    band = np.searchsorted(clinic.income_bands, income, side="right")
    return draw(weights, band * len(by_group) + clinic.job_groups[job], rng)


def _stays(age: Numbers, diagnoses: Numbers, rng: np.random.Generator) -> Numbers:
    days: Numbers = rng.poisson(clinic.stay_days[diagnoses].max(axis=1) * (0.5 + age / 100))
    return days + 1


def _zipcodes(district: Numbers, rng: np.random.Generator) -> pl.Series:
    street = rng.integers(len(clinic.streets), size=len(district))
    codes = tuple(district + street for district in clinic.districts for street in clinic.streets)
    return words(codes, district * len(clinic.streets) + street)


def _names(n: int, rng: np.random.Generator) -> pl.Series:
    names = tuple(f"{first} {last}" for first in clinic.first_names for last in clinic.last_names)
    return words(names, rng.integers(len(names), size=n))


def _with_gaps(values: pl.Series, share: float, rng: np.random.Generator) -> pl.Series:
    """Leave about that share of the cells missing."""
    is_present = pl.Series(rng.random(len(values)) >= share)
    return values.to_frame("value").select(pl.when(is_present).then(pl.col("value"))).to_series()
