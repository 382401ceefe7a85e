"""Labels that read as intervals of numbers, as other tools write them: `[20, 30[`, `(20,30]`, `>=90`."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.reading.cover import Ids

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
# Both ends, each with a bracket that says whether it is in: [ and ] as ARX turns them, ( and ) as R and pandas do.
TWO_ENDS = rf"^([\[\](]){NUMBER}, ?{NUMBER}([\[\])])$"
ONE_END = rf"^(<=?|>=?){NUMBER}$"


@dataclass(frozen=True, repr=False)
class Intervals:
    """The intervals among some texts: which texts they are, and their ends as texts; null where there is none.

    `starts_after` and `stops_after` say whether what equals an end lies before the interval's start, or before its stop.
    """

    labels: Ids
    low: pl.Series
    high: pl.Series
    starts_after: pl.Series
    stops_after: pl.Series


def intervals_in(texts: pl.Series) -> Intervals:
    """Find the texts that read as intervals.

    >>> found = intervals_in(pl.Series(["[20, 30[", "30", "(1,2]", ">=90"]))
    >>> found.labels.tolist(), found.low.to_list(), found.high.to_list()
    ([0, 2, 3], ['20', '1', '90'], ['30', '2', None])
    >>> found.starts_after.to_list(), found.stops_after.to_list()
    ([False, True, False], [False, True, True])
    """
    read = pl.DataFrame({"text": texts}).with_columns(
        opens=pl.col("text").str.extract(TWO_ENDS, 1),
        closes=pl.col("text").str.extract(TWO_ENDS, 4),
        sign=pl.col("text").str.extract(ONE_END, 1),
        end=pl.col("text").str.extract(ONE_END, 2),
    )
    is_above = pl.col("sign").str.starts_with(">")
    read = read.select(
        low=pl.when(is_above).then("end").otherwise(pl.col("text").str.extract(TWO_ENDS, 2)),
        high=pl.when(~is_above).then("end").otherwise(pl.col("text").str.extract(TWO_ENDS, 3)),
        starts_after=pl.col("opens").is_in(["]", "("]) | (pl.col("sign") == ">"),
        stops_after=(pl.col("closes") == "]") | (pl.col("sign") != "<"),
    )
    is_one = read.select((pl.col("low").is_not_null() | pl.col("high").is_not_null()).alias("is")).to_series()
    found = read.filter(is_one).with_columns(
        pl.col("starts_after").fill_null(value=False), pl.col("stops_after").fill_null(value=False)
    )
    return Intervals(np.flatnonzero(is_one.to_numpy()), *found.get_columns())
