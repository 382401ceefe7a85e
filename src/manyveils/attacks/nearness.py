"""Beliefs about numbers that lie near each other."""

import numpy as np

from manyveils.attacks.beliefs import TOLERANCE, Beliefs, Seen
from manyveils.attacks.people import Floats, Ids
from manyveils.table import Attribute

BOUND = "half of the doubt, since nothing is promised of intervals"


def span_of(attribute: Attribute) -> float:
    """How far apart the least and the greatest number are; nothing for an attribute without numbers."""
    numbers = (
        attribute.numbers[np.isfinite(attribute.numbers)] if attribute.kind == "numeric" else np.zeros(0)
    )
    return float(numbers.max() - numbers.min()) if numbers.size else 0.0


def near(beliefs: Beliefs, attribute: Attribute, codes: Ids, within: float) -> Seen:
    """Guess a number and be right if the truth is within a distance of it; the truth is believed with all around it."""
    numbers = attribute.numbers[np.isfinite(attribute.numbers)]
    low = np.searchsorted(numbers, numbers - within - TOLERANCE, side="left")
    high = np.searchsorted(numbers, numbers + within + TOLERANCE, side="right")
    around = _between(beliefs.rows[:, : numbers.size], low, high)
    best = around.max(axis=1, keepdims=True, initial=0.0)
    likeliest = (around >= best - TOLERANCE).astype(np.float64)
    inside = _between(likeliest, low, high) / likeliest.sum(axis=1, keepdims=True)
    is_number = (codes >= 0) & (codes < numbers.size)
    index = np.where(is_number, codes, 0)
    right = np.where(is_number, inside[beliefs.row_of, index], 0.0)
    return Seen(right, np.where(is_number, around[beliefs.row_of, index], 0.0))


def _between(rows: Floats, low: Ids, high: Ids) -> Floats:
    """The sum of each row from one index to another."""
    ends = np.concatenate([np.zeros((rows.shape[0], 1)), np.cumsum(rows, axis=1)], axis=1)
    return ends[:, high] - ends[:, low]
