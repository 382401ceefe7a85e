"""The different values of one column, numbered as they come, while rows are read batch by batch."""

import numpy as np
import polars as pl

from manyveils.streaming.rows import Number, narrow

VALUE, NUMBER = "value", "number"
# Whole numbers that lie so close together are looked up in a list.
CLOSE = 1 << 20


class Dictionary:
    """Values and their numbers; a missing value is one of them.

    Claim: equal values have one number and different values have different ones.
    Why: a value that is not known yet gets the next number, and known ones are never numbered again.
    Tested by: tests/streaming/test_rows.py
    """

    def __init__(self, name: str, dtype: pl.DataType) -> None:
        # Categories are as many types as there are sets of them.
        self.dtype = pl.String() if dtype in (pl.Categorical, pl.Enum, pl.Null) else dtype
        self.name = name
        self._known = pl.DataFrame(schema={VALUE: self.dtype, NUMBER: pl.Int64})
        self._counts = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return self._known.height

    @property
    def values(self) -> pl.Series:
        """The value of each number."""
        return self._known[VALUE].alias(self.name)

    @property
    def counts(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """How many cells have each value."""
        return self._counts

    def numbered(self, cells: pl.Series) -> Number:
        """The number of each cell, as narrow as those that are known by now."""
        cells = cells.cast(self.dtype).alias(VALUE)
        if cells.dtype.is_float():
            # Both zeros are one value, and only one of them is written.
            cells = cells + 0.0
        unique = cells.unique()
        numbers = self._numbers(unique)
        codes = numbers[_places(cells, unique)].astype(narrow(len(self)))
        counts = np.bincount(codes, minlength=len(self))
        counts[: self._counts.size] += self._counts
        self._counts = counts
        return codes

    def _numbers(self, unique: pl.Series) -> Number:
        """The numbers of different values, of which new ones are learnt."""
        joined = unique.to_frame().join(
            self._known, on=VALUE, how="left", nulls_equal=True, maintain_order="left"
        )
        is_new = joined[NUMBER].is_null()
        n_new = int(is_new.sum())
        if n_new:
            first = len(self)
            learnt = pl.DataFrame(
                {VALUE: unique.filter(is_new), NUMBER: np.arange(first, first + n_new, dtype=np.int64)}
            )
            self._known = pl.concat([self._known, learnt], rechunk=True)
            numbers = joined[NUMBER].fill_null(0).to_numpy().copy()
            numbers[is_new.to_numpy()] = learnt[NUMBER].to_numpy()
            return numbers
        return joined[NUMBER].to_numpy()


def _places(cells: pl.Series, unique: pl.Series) -> Number:
    """The place of each cell among the different values."""
    if cells.dtype == pl.String:
        present = unique.drop_nulls()
        # The missing one stands last here, wherever it stands there.
        order = np.append(
            np.flatnonzero(unique.is_not_null().to_numpy()), np.flatnonzero(unique.is_null().to_numpy())
        )
        places = cells.cast(pl.Enum(present)).to_physical().cast(pl.Int64).fill_null(len(present)).to_numpy()
        return order[places]
    if cells.dtype.is_integer() and len(cells) and not cells.null_count():
        low, high = int(cells.min()), int(cells.max())  # type: ignore[arg-type]
        if high - low < CLOSE and high < 2**62:
            lookup = np.zeros(high - low + 1, dtype=np.int64)
            lookup[unique.to_numpy().astype(np.int64) - low] = np.arange(len(unique))
            return lookup[cells.to_numpy().astype(np.int64) - low]
    listed = unique.to_frame().with_row_index(NUMBER)
    joined = cells.to_frame().join(listed, on=VALUE, how="left", nulls_equal=True, maintain_order="left")
    return joined[NUMBER].to_numpy().astype(np.int64)
