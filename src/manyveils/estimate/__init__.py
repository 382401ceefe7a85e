"""The distribution a release implies, and what can be read off it: counts, probabilities, synthetic rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from manyveils.estimate.bounds import bounds
from manyveils.estimate.counting import TooMany, share
from manyveils.estimate.model import Estimate, estimate_of
from manyveils.estimate.parts import Ids, Masks
from manyveils.estimate.predicates import masks_of, parse
from manyveils.estimate.sampling import draw
from manyveils.release import Release

__all__ = ["Count", "Estimate", "Reading", "estimate_of"]

DRAWN = 200_000
SEED = 20_260_101


@dataclass(frozen=True)
class Count:
    """How many people conditions hold for: an estimate, and what it must lie between.

    `how` is "sum" where p̂ was summed, and "sample" where rows drawn from it were counted.
    """

    estimate: float
    low: int
    high: int
    how: Literal["sum", "sample"] = "sum"

    def __float__(self) -> float:
        return self.estimate


@dataclass(frozen=True, repr=False)
class Reading:
    """A release that is being read: its distribution is worked out once, for many questions."""

    release: Release

    @cached_property
    def estimate(self) -> Estimate:
        """p̂ of the release."""
        return estimate_of(self.release)

    def count(self, query: str) -> Count:
        """Estimate for how many people the conditions hold, such as "age >= 20 and disease = 'Flu'"."""
        masks = masks_of(parse(query), self.estimate.domains, self.release.manifest.derived)
        return self.count_of(masks)

    def count_of(self, masks: Masks) -> Count:
        """The same, for sets of originals of some attributes."""
        estimate = self.estimate
        found = bounds(estimate, masks, self.release.rows)
        # A row that was left out may or may not count.
        low, high = found.low, found.high + self.release.suppressed
        how: Literal["sum", "sample"] = "sum"
        try:
            part = 0.0 if low == high else share(estimate, masks)
        except TooMany:
            part, how = self._drawn_share(masks), "sample"
        return Count(float(min(max(part * estimate.n_people, low), high)), low, high, how)

    def sample(self, n: int, seed: int | None = None) -> pl.DataFrame:
        """Synthetic rows drawn from p̂, as texts; a missing value is null."""
        drawn = draw(self.estimate, n, np.random.default_rng(seed))
        columns = {}
        for name, codes in drawn.items():
            texts = pl.Series(self.estimate.domains[name].texts, dtype=pl.String)
            columns[name] = texts.gather(codes).replace("", None)
        return pl.DataFrame(columns)

    @cached_property
    def _rows(self) -> dict[str, Ids]:
        return draw(self.estimate, DRAWN, np.random.default_rng(SEED))

    def _drawn_share(self, masks: Masks) -> float:
        fits = np.ones(DRAWN, dtype=bool)
        for name, mask in masks.items():
            fits &= mask[self._rows[name]]
        return float(fits.mean())
