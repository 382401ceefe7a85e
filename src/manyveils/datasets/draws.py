"""Draws from distributions that differ from class to class, and the facts and words that are drawn from."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]


def packaged(file: str) -> str:
    """The text of a file that comes with the data sets."""
    return files("manyveils.datasets").joinpath(file).read_text(encoding="utf-8")


def with_sections(own: dict[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a policy with some of them replaced; who is who is left out if its attribute is.

    >>> with_sections({"data": {"person": "record"}, "attributes": {"record": {}}}, {"attributes": {}})
    {'data': {}, 'attributes': {}}
    """
    merged = {**own, **sections}
    if "data" not in sections and own["data"]["person"] not in merged["attributes"]:
        merged["data"] = {key: value for key, value in own["data"].items() if key != "person"}
    return merged


def facts(file: str) -> SimpleNamespace:
    """The facts of a file by name: lists of numbers as arrays, lists of texts as tuples, anything else as it is."""
    return SimpleNamespace(**{name: _fact(value) for name, value in tomllib.loads(packaged(file)).items()})


def _fact(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(value) if isinstance(value[0], str) else np.array(value)


def draw(weights: Weights, classes: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw a column number for every row, by the weights of the row's class.

    >>> draw(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), np.random.default_rng(1))
    array([0, 1, 1])
    """
    n_classes, n_values = weights.shape
    shares = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    # Class c owns the stretch from c to c + 1 of one line, so that one search serves all classes.
    line = (shares + np.arange(n_classes)[:, None]).ravel()
    spots = np.searchsorted(line, classes + rng.random(len(classes)), side="right")
    drawn: Numbers = np.minimum(spots - classes * n_values, n_values - 1)
    return drawn


def draw_once(weights: Weights, n: int, rng: np.random.Generator) -> Numbers:
    """Draw n column numbers by the same weights."""
    return draw(weights[None, :], np.zeros(n, dtype=np.int64), rng)


def near(spot: Weights, reach: float, share: float, rng: np.random.Generator) -> Weights:
    """Move a share of the spots by up to the reach, and the others anywhere.

    The line from 0 to 1 is closed to a ring, so that spots that are spread evenly stay so.
    """
    stays = rng.random(len(spot)) < share
    step = reach * (rng.random(len(spot)) - rng.random(len(spot)))
    return np.where(stays, spot + step, rng.random(len(spot))) % 1.0


def dealt(spot: Weights, shares: Weights, rng: np.random.Generator) -> Numbers:
    """Deal values in the order of the spots, each to its share of the rows, rounded up or down by chance."""
    ends = np.floor(np.cumsum(shares) * len(spot) + rng.random()).astype(np.int64)
    ends[-1] = len(spot)
    codes = np.empty(len(spot), dtype=np.int64)
    codes[np.argsort(spot, kind="stable")] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return codes


def record_numbers(n: int, rng: np.random.Generator) -> pl.Series:
    """Record numbers in no order, all different."""
    return pl.Series(rng.permutation(n) + 1).cast(pl.String).str.zfill(7)


def words(texts: tuple[str, ...], numbers: Numbers) -> pl.Series:
    """Put the text with its number in the place of every number."""
    return pl.Series(texts, dtype=pl.String).gather(numbers)
