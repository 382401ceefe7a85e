"""How many people are alike in each group of a view, and the chances of finding somebody that follow."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import polars as pl

from manyveils.audits.members import members_of
from manyveils.audits.posterior import measure_target_sizes
from manyveils.policy.guarantees import (
    JournalistRisk,
    KAnonymity,
    KeyAnonymity,
    KMap,
    LeastSize,
    MarketerRisk,
    PopulationSize,
    ProsecutorRisk,
)
from manyveils.reading.evidence import Evidence, lines_of
from manyveils.reading.keys import Ids
from manyveils.reading.population import people_alike
from manyveils.reading.sight import Sight

SIZE = pl.col("size")


def measure_sizes(evidence: Evidence, guarantee: LeastSize, sight: Sight) -> pl.DataFrame | None:
    """The people of each group, or those who may be each target: rows, measure, kept; None where that cannot be told."""
    if sight.is_spread:
        told = measure_target_sizes(guarantee.least_rows, evidence, sight)
        return None if told is None else SCALES[type(guarantee)](guarantee, told)
    sizes = evidence.tally(sight.file, evidence.group_numbers(sight.file, sight.key))
    if evidence.table.persons is not None:
        members = members_of(evidence, sight.view, sight.file, sight.key)
        if members is None:
            return None
        sizes = members.sizes
    told = pl.DataFrame({"rows": sizes, "size": sizes})
    lines = lines_of(evidence)
    if lines is not None and evidence.table.persons is None:
        # Groups overlap, and each is that of some rows only.
        numbers = evidence.group_numbers(sight.file, sight.key)
        told = told.with_columns(people=np.bincount(numbers[lines], minlength=sizes.size))
    return SCALES[type(guarantee)](guarantee, told)


def measure_population(evidence: Evidence, guarantee: PopulationSize, sight: Sight) -> pl.DataFrame | None:
    """The people of the population who look like each group; None where buckets part what is known of them."""
    if evidence.table.population is None or sight.view.bucketed:
        return None
    sizes = evidence.tally(sight.file, evidence.group_numbers(sight.file, sight.key))
    alike = people_alike(evidence, sight.view, sight.file, sight.key)
    return SCALES[type(guarantee)](guarantee, pl.DataFrame({"rows": sizes, "size": alike}))


def _in_people(guarantee: KAnonymity | KeyAnonymity | KMap, told: pl.DataFrame) -> pl.DataFrame:
    """People, of whom there must be k."""
    least = int(guarantee.required)
    return told.select("rows", measure=SIZE.cast(pl.Float64), kept=least <= SIZE)


def _in_chances(guarantee: ProsecutorRisk | JournalistRisk, told: pl.DataFrame) -> pl.DataFrame:
    """The chance of finding one of so many people; nobody is certainly found where there is nobody to be told from."""
    risk = guarantee.risk
    kept = SIZE.cast(pl.Int128) * risk.numerator >= risk.denominator
    return told.select("rows", measure=1 / pl.max_horizontal(SIZE, 1).cast(pl.Float64), kept=kept)


def _on_average(guarantee: MarketerRisk, told: pl.DataFrame) -> pl.DataFrame:
    """The mean chance over all people, which is the same for every group."""
    people = told["people"] if "people" in told.columns else told["rows"]
    average = mean_chance(people.to_numpy(), told["size"].to_numpy())
    return told.select("rows", measure=pl.lit(float(average)), kept=pl.lit(average <= guarantee.risk))


def mean_chance(people: Ids, sizes: Ids) -> Fraction:
    """The mean of one over the size, for so many people of each size; a fraction, so that no bound is missed by rounding.

    >>> mean_chance(np.array([2, 3]), np.array([2, 3]))
    Fraction(2, 5)
    """
    different, places = np.unique(sizes, return_inverse=True)
    totals = np.bincount(places, weights=people).astype(np.int64)
    chances = (Fraction(n, max(size, 1)) for n, size in zip(totals.tolist(), different.tolist(), strict=True))
    return sum(chances, Fraction(0)) / max(int(people.sum()), 1)


SCALES: dict[type, Callable[..., pl.DataFrame]] = {
    KAnonymity: _in_people,
    KeyAnonymity: _in_people,
    KMap: _in_people,
    ProsecutorRisk: _in_chances,
    JournalistRisk: _in_chances,
    MarketerRisk: _on_average,
}
