"""Adult as the versatile-publishing paper coarsens it: seven attributes with two to seven values each."""

import numpy as np
import polars as pl

from benchmarks.reproductions import occ

TAKEN = {
    "age": "age",
    "native-country": "country",
    "education": "education",
    "marital-status": "marital_status",
    "occupation": "occupation",
    "salary": "income",
    "sex": "sex",
}
AGES = ((24, "17-24"), (34, "25-34"), (44, "35-44"), (54, "45-54"), (64, "55-64"), (90, "65-90"))
EDUCATION = {
    "preschool": ("Preschool",),
    "elementary": ("1st-4th", "5th-6th", "7th-8th"),
    "secondary": ("9th", "10th", "11th", "12th", "HS-grad"),
    "some college": ("Some-college",),
    "associate degree": ("Assoc-voc", "Assoc-acdm"),
    "university": ("Bachelors", "Prof-school"),
    "postgraduate": ("Masters", "Doctorate"),
}
OCCUPATION = {
    "white collar": ("Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales"),
    "blue collar": (
        "Craft-repair",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Priv-house-serv",
        "Tech-support",
        "Transport-moving",
    ),
    "others": ("Armed-Forces", "Farming-fishing", "Other-service", "Protective-serv"),
}
N_ROWS = 10_000
SEED = 1


def coarsened(n: int | None = N_ROWS, seed: int = SEED) -> pl.DataFrame:
    """Draw n of the 45,222 complete rows, or take all of them, every cell being one of the paper's values."""
    frame = occ.read(tuple(TAKEN)).rename(TAKEN)
    frame = frame.with_columns(
        age=pl.col("age").cast(pl.Int64).map_elements(_age, return_dtype=pl.String),
        country=pl.when(pl.col("country") == "United-States")
        .then(pl.lit("U.S."))
        .otherwise(pl.lit("non-U.S.")),
        education=pl.col("education").replace_strict(_inverted(EDUCATION)),
        occupation=pl.col("occupation").replace_strict(_inverted(OCCUPATION)),
    )
    if n is None:
        return frame
    rng = np.random.Generator(np.random.PCG64(seed))
    return frame[np.sort(rng.permutation(frame.height)[:n])]


def _age(years: int) -> str:
    return next(name for last, name in AGES if years <= last)


def _inverted(classes: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {value: name for name, values in classes.items() for value in values}
