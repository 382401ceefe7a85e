"""Beliefs about numbers that lie near each other."""

import numpy as np

from manyveils.attacks.beliefs import ALMOST, Beliefs
from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.score import Seen
from manyveils.table import Attribute


def span_of(column: Attribute) -> float:
    """How far apart the least and the greatest number are."""
    numbers = column.numbers[np.isfinite(column.numbers)]
    return float(numbers.max() - numbers.min()) if numbers.size else 0.0


def near(beliefs: Beliefs, column: Attribute, codes: Ids, within: float) -> Seen:
    """Guess a number and be right if the truth is within a distance of it; the truth is believed with all around it."""
    finite = np.isfinite(column.numbers)
    numbers = column.numbers[finite]
    low = np.searchsorted(numbers, numbers - within - ALMOST, side="left")
    high = np.searchsorted(numbers, numbers + within + ALMOST, side="right")
    around = _between(beliefs.rows[:, : numbers.size], low, high)
    best = around.max(axis=1, keepdims=True, initial=0.0)
    likeliest = (around >= best - ALMOST).astype(np.float64)
    inside = _between(likeliest, low, high) / likeliest.sum(axis=1, keepdims=True)
    is_number = (codes >= 0) & (codes < numbers.size)
    place = np.where(is_number, codes, 0)
    right = np.where(is_number, inside[beliefs.of, place], 0.0)
    return Seen(right, np.where(is_number, around[beliefs.of, place], 0.0))


def _between(rows: Floats, low: Ids, high: Ids) -> Floats:
    """The sum of each row from one place to another."""
    ends = np.concatenate([np.zeros((rows.shape[0], 1)), np.cumsum(rows, axis=1)], axis=1)
    return ends[:, high] - ends[:, low]
