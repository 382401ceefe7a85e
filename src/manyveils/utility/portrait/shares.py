"""How common the values of an attribute are: in the original, and by what the release lets one estimate."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.domains import Domain
from manyveils.release import Release
from manyveils.table import Attribute
from manyveils.utility.portrait.scale import Scale, by_name, by_width, has_ranges

MOST_BARS = 16

Floats = NDArray[np.float64]
Shown = dict[str, object]


def compared(release: Release, columns: Sequence[Attribute], home: str) -> Shown:
    """The shares of values before and after; an attribute with several values in a cell has the share of each."""
    if columns[0].absence >= 0:
        before = {
            column.name: _part(column.codes.size - column.counts[column.absence], column.codes.size)
            for column in columns
        }
        order = sorted(before, key=lambda name: -before[name])[:MOST_BARS]
        return _atoms(release, home, order) | {"before": [before[name] for name in order]}
    column = columns[0]
    shares = column.counts / max(column.codes.size, 1)
    scale = _scale(column.texts, column.numbers if column.kind == "numeric" else None, shares)
    return _shares(release, column.name, scale) | {"before": scale.summed(column.texts, shares)}


def _part(part: int, whole: int) -> float:
    return float(part / whole) if whole else 0.0


def alone(release: Release, name: str) -> Shown:
    """The shares of an attribute's values by the release alone."""
    domain = release.reading.estimate.domains[name]
    return _shares(release, name, _scale(domain.texts, numbers_of(domain), _believed(release, name)))


def alone_by_atom(release: Release, home: str) -> Shown:
    """The shares of the values of an attribute with several in a cell, by the release alone."""
    names = release.manifest.derived[home]
    return _atoms(release, home, sorted(names, key=lambda name: -_presence(release, name))[:MOST_BARS])


def numbers_of(domain: Domain) -> Floats | None:
    """The values as numbers, if they are numbers for the most part."""
    return None if np.isnan(domain.numbers).mean() > 0.5 else domain.numbers


def _shares(release: Release, name: str, scale: Scale) -> Shown:
    texts = release.reading.estimate.domains[name].texts
    return {"bins": list(scale.bins), "after": scale.summed(texts, _believed(release, name))}


def _atoms(release: Release, home: str, names: Sequence[str]) -> Shown:
    return {
        "bins": [name.removeprefix(f"{home}=") for name in names],
        "after": [_presence(release, name) for name in names],
    }


def _scale(texts: Sequence[str], numbers: Floats | None, weights: Floats) -> Scale:
    if numbers is None or len(texts) <= MOST_BARS or not has_ranges(numbers):
        return by_name(texts, weights, most=MOST_BARS)
    return by_width(texts, numbers, most=MOST_BARS)


def _believed(release: Release, name: str) -> Floats:
    estimate = release.reading.estimate
    shape = next(step.shape for step in estimate.steps if name in step.new)
    n = len(estimate.domains[name].texts)
    return shape.mass({name: np.arange(n)}, n, {})


def _presence(release: Release, name: str) -> float:
    texts = release.reading.estimate.domains[name].texts
    return float(_believed(release, name)[np.array([text != "0" for text in texts])].sum())
