"""How common the values of an attribute are: in the original, and by what the release lets one estimate."""

from collections.abc import Sequence

import numpy as np

from manyveils.reading.domains import Domain
from manyveils.release import Release
from manyveils.table import Attribute
from manyveils.utility.portrait.scale import Floats, Scale, by_name, by_width, has_ranges

MOST_BARS = 16

Shown = dict[str, object]


def compared(release: Release, attributes: Sequence[Attribute], name: str) -> Shown:
    """The shares of values before and after; a multi-valued attribute, given as its derived ones, has one per value."""
    attribute = attributes[0]
    if attribute.absence >= 0:
        n_rows = max(attribute.codes.size, 1)
        before = {
            derived.name: float((derived.codes.size - derived.counts[derived.absence]) / n_rows)
            for derived in attributes
        }
        order = sorted(before, key=lambda derived: -before[derived])[:MOST_BARS]
        return _by_atom(release, name, order) | {"before": [before[derived] for derived in order]}
    shares = attribute.counts / max(attribute.codes.size, 1)
    scale = _scale(attribute.texts, attribute.numbers if attribute.kind == "numeric" else None, shares)
    return _after(release, name, scale) | {"before": scale.summed(attribute.texts, shares)}


def alone(release: Release, name: str) -> Shown:
    """The shares of an attribute's values by the release alone."""
    domain = release.reading.estimate.domains[name]
    return _after(release, name, _scale(domain.texts, numbers_of(domain), _estimated(release, name)))


def alone_by_atom(release: Release, name: str) -> Shown:
    """The shares of the values of a multi-valued attribute, by the release alone."""
    order = sorted(release.manifest.derived[name], key=lambda derived: -_presence(release, derived))
    return _by_atom(release, name, order[:MOST_BARS])


def numbers_of(domain: Domain) -> Floats | None:
    """The values as numbers, if they are numbers for the most part."""
    return None if np.isnan(domain.numbers).mean() > 0.5 else domain.numbers


def _after(release: Release, name: str, scale: Scale) -> Shown:
    texts = release.reading.estimate.domains[name].texts
    return {"bins": list(scale.bins), "after": scale.summed(texts, _estimated(release, name))}


def _by_atom(release: Release, name: str, order: Sequence[str]) -> Shown:
    return {
        "bins": [derived.removeprefix(f"{name}=") for derived in order],
        "after": [_presence(release, derived) for derived in order],
    }


def _scale(texts: Sequence[str], numbers: Floats | None, weights: Floats) -> Scale:
    if numbers is None or len(texts) <= MOST_BARS or not has_ranges(numbers):
        return by_name(texts, weights, most=MOST_BARS)
    return by_width(texts, numbers, most=MOST_BARS)


def _estimated(release: Release, name: str) -> Floats:
    """The share of every value of an attribute."""
    estimate = release.reading.estimate
    view = next(step.shape for step in estimate.steps if name in step.new)
    n_values = len(estimate.domains[name].texts)
    return view.mass({name: np.arange(n_values)}, n_values, {})


def _presence(release: Release, derived: str) -> float:
    """The share of people who have the value of a derived attribute."""
    texts = release.reading.estimate.domains[derived].texts
    return float(_estimated(release, derived)[np.array([text != "0" for text in texts])].sum())
