"""The distribution a release implies, and what can be read off it: counts, probabilities, synthetic rows."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from manyveils.errors import InputError, Problem
from manyveils.policy.hierarchies import Lines
from manyveils.reading.asked import in_originals
from manyveils.reading.columns import Masks
from manyveils.reading.counting import TooMany, bounds, share
from manyveils.reading.cover import Cover
from manyveils.reading.keys import Ids
from manyveils.reading.meanings import Listing, Meanings
from manyveils.reading.model import Estimate, estimate_of
from manyveils.reading.predicates import Condition, as_number, masks_of, parse
from manyveils.reading.sampling import draw
from manyveils.release import Release
from manyveils.table import Attribute, Table

__all__ = ["Count", "Estimate", "Reading", "beside", "estimate_of"]

DRAWN = 200_000
SECRET = "Compare it with a published code or grade; the trusted server tells what they mean."
SEED = 20_260_101


def _drawn(estimate: Estimate) -> dict[str, Ids]:
    return draw(estimate, DRAWN, np.random.default_rng(SEED))


def beside(release: Release, table: Table) -> Release:
    """The release as whoever has the original reads it."""
    read = copy(release)
    vars(read)["reading"] = Reading(read, table)
    return read


def _typed(texts: tuple[str, ...]) -> pl.Series:
    """Originals as whole numbers, as numbers or as texts, whichever fits all; a missing one is null."""
    values = pl.Series([text or None for text in texts], dtype=pl.String)
    for dtype in (pl.Int64, pl.Float64):
        numbers = values.cast(dtype, strict=False)
        if numbers.null_count() == values.null_count() and numbers.cast(pl.String).equals(values):
            return numbers
    return values


@dataclass(frozen=True)
class Count:
    """How many published rows conditions hold for, people where each has one: an estimate, and what it must lie between.

    `how` is "sum" where p̂ was summed, and "sample" where rows drawn from it were counted. With `compares_codes`,
    published codes or grades were compared, not what they stand for.
    """

    estimate: float
    low: int
    high: int
    how: Literal["sum", "sample"] = "sum"
    compares_codes: bool = False

    def __float__(self) -> float:
        return self.estimate


@dataclass(frozen=True, repr=False)
class Reading:
    """A release that is being read: its distribution is worked out once, for many questions."""

    release: Release
    # The original, for whoever has it.
    table: Table | None = None

    @cached_property
    def estimate(self) -> Estimate:
        """p̂ of the release."""
        return estimate_of(self.release, self.table)

    @property
    def is_recoded(self) -> bool:
        """Whether some label stands for several originals, or is listed as if it did."""
        columns = (column for view in self.estimate.views for column in view.columns)
        covers = (cover for column in columns for cover in column.covers.values())
        return bool(self.release.recodings) or any(cover.is_coarse for cover in covers)

    def shown(self, attribute: Attribute, lines: Lines | None) -> Iterator[tuple[pl.Series, Ids, Cover]]:
        """What each view shows of an attribute of the original: its labels, their rows and the originals they cover."""
        for view in (view for view in self.estimate.views if attribute.name in view.attributes):
            column = view.column_of(attribute.name)
            texts, labels = column.texts[attribute.name], column.labels[attribute.name]
            rows = np.bincount(labels, weights=column.counts, minlength=len(texts)).astype(np.int64)
            recoding = self.release.recodings.get((view.name, attribute.name))
            listed = None if recoding is None else Listing(recoding)
            yield texts, rows, Meanings(attribute, lines).cover(texts.to_list(), listed)

    def count(self, query: str) -> Count:
        """Estimate for how many published rows the conditions hold, such as "age >= 20 and disease = 'Flu'"."""
        conditions = parse(query)
        secret = [condition for condition in conditions if condition.name in self.release.manifest.secret]
        self._refuse_originals(secret)
        estimate = self._fine_enough(conditions)
        manifest = self.release.manifest
        masks = masks_of(
            in_originals(conditions, estimate), estimate.domains, manifest.derived, manifest.levels
        )
        return replace(self.count_of(masks, estimate), compares_codes=bool(secret))

    def _fine_enough(self, conditions: Sequence[Condition]) -> Estimate:
        """p̂ over originals among which are the numbers that ranges are compared with.

        Claim: low and high are certain although the originals between the ends of ranges are not known.
        Why: whether a comparison holds for all or for some of a range is decided by its ends and by the number
        itself, and these are among the originals.
        Tested by: tests/claims/test_ranges.py
        """
        more: dict[str, set[str]] = {}
        for condition in conditions:
            domain = self.estimate.domains.get(condition.name)
            if domain is not None and domain.has_ranges:
                numbers = [value for value in condition.values if as_number(value) is not None]
                codes = zip(numbers, domain.codes_of(numbers).tolist(), strict=True)
                if unknown := {value for value, code in codes if code < 0}:
                    more.setdefault(condition.name, set()).update(unknown)
        return estimate_of(self.release, self.table, more) if more else self.estimate

    def _refuse_originals(self, conditions: Sequence[Condition]) -> None:
        """Nobody without the key can say whom an original stands for that is published as codes."""
        problems = [
            Problem("query", f"{condition.name!r} is published in secret, and does not show this.", SECRET)
            for condition in conditions
            if condition.sign in ("=", "!=", "in")
            and not all(self._shows(condition.name, value) for value in condition.values)
        ]
        if problems:
            raise InputError(problems)

    def _shows(self, name: str, value: str) -> bool:
        return bool(self.estimate.domains[name].codes_of([value])[0] >= 0)

    def count_of(self, masks: Masks, estimate: Estimate | None = None) -> Count:
        """The same, for sets of originals of some attributes."""
        estimate = estimate or self.estimate
        published = bounds(estimate, masks, self.release.rows)
        # A row that was left out may or may not count.
        low, high = published.low, published.high + self.release.suppressed
        how: Literal["sum", "sample"] = "sum"
        try:
            held = 0.0 if low == high else share(estimate, masks)
        except TooMany:
            held, how = self._drawn_share(masks, estimate), "sample"
        return Count(float(min(max(held * estimate.n_people, low), high)), low, high, how)

    def sample(self, n: int, seed: int | None = None) -> pl.DataFrame:
        """Synthetic rows drawn from p̂; numbers as numbers, everything else as text, a missing value as null."""
        if not isinstance(n, int) or isinstance(n, bool) or n < 0:
            raise InputError([Problem("n", "must be a whole number, not negative.")])
        if seed is not None and (not isinstance(seed, int) or seed < 0):
            raise InputError([Problem("seed", "must be a whole number, not negative.")])
        drawn, domains = draw(self.estimate, n, np.random.default_rng(seed)), self.estimate.domains
        return pl.DataFrame({name: _typed(domains[name].texts).gather(drawn[name]) for name in drawn})

    @cached_property
    def drawn(self) -> dict[str, Ids]:
        """Many people drawn from p̂, always the same ones: the codes of each attribute."""
        return _drawn(self.estimate)

    def _drawn_share(self, masks: Masks, estimate: Estimate) -> float:
        fits = np.ones(DRAWN, dtype=bool)
        drawn = self.drawn if estimate is self.estimate else _drawn(estimate)
        for name, mask in masks.items():
            fits &= mask[drawn[name]]
        return float(fits.mean())
