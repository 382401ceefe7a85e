"""The visits of a hospital's patients, generated: several rows for most of them; and the policy."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import Numbers, draw_once, packaged, record_numbers, words
from manyveils.datasets.patients import hospital
from manyveils.policy import Policy

POLICY = "visits.toml"
BLOOD = {"0": 0.41, "A": 0.43, "B": 0.11, "AB": 0.05}
FIRST_DAY, DAYS = np.datetime64("2025-01-01"), 365
# How often a visit is about what the patient has anyway, and what a day in hospital costs.
USUAL, A_DAY = 0.5, 12


def visits(n: int = 1000, seed: int = 1) -> pl.DataFrame:
    """Generate n visits of somewhat more than half as many patients; the same seed gives the same visits.

    What is known of patients, and their blood group, stays the same from visit to visit; diagnoses and charges differ.

    >>> visits(3).columns
    ['patient', 'visit', 'age', 'sex', 'zipcode', 'date', 'diagnosis', 'charge', 'blood']
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    patients = hospital(n, seed).sort("record")
    # Chance brings some patients often, and some never.
    patient = np.sort((rng.random(n) ** 1.6 * n).astype(np.int64))
    known = patients.select(pl.col("record").alias("patient"), "age", "sex", "zipcode")[patient]
    blood = words(tuple(BLOOD), draw_once(np.array(list(BLOOD.values())), n, rng))[patient]
    return known.with_columns(
        visit=record_numbers(n, rng),
        date=pl.Series(FIRST_DAY + rng.integers(DAYS, size=n)),
        diagnosis=_diagnoses(patients, patient, rng),
        charge=_charges(patients["stay"].to_numpy()[patient], rng),
        blood=blood,
    ).select("patient", "visit", "age", "sex", "zipcode", "date", "diagnosis", "charge", "blood")


def visit_policy(**sections: Any) -> Policy:
    """Make the policy of visits; a section given here (publish, guarantee, …) replaces its own.

    >>> visit_policy().data.person
    'patient'
    """
    return Policy(**(tomllib.loads(packaged(POLICY)) | sections))


def write_visits(folder: str | Path, n: int = 1000, seed: int = 1) -> Path:
    """Write `visits.csv` and a commented `visits.toml` for it; returns the policy's path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    visits(n, seed).write_csv(folder / "visits.csv")
    policy = folder / POLICY
    policy.write_text(packaged(POLICY), encoding="utf-8", newline="\n")
    return policy


def _diagnoses(patients: pl.DataFrame, patient: Numbers, rng: np.random.Generator) -> pl.Series:
    """One diagnosis a visit: the patient's own first one, or that of somebody else."""
    first = patients["diagnosis"].str.split("|").list.first()
    whose = np.where(rng.random(patient.size) < USUAL, patient, rng.integers(patient.size, size=patient.size))
    return first.gather(whose)


def _charges(days: Numbers, rng: np.random.Generator) -> Numbers:
    charges: Numbers = 5 * np.rint(days * A_DAY * np.exp(rng.normal(0.0, 0.5, days.size)) / 5).astype(
        np.int64
    )
    return np.maximum(charges, 5)
