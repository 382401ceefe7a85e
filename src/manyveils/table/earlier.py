"""Where persons were seen in earlier releases, by someone who has all of them: each release sorts them into groups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class Held:
    """How often groups have the values of one attribute, in order of group and code.

    A value that the table does not have has a code of its own, after those of the table.
    `weights` counts persons, each of whom weighs 1; `expected` is what someone who had read all releases before
    would have expected that count to be. `more` are the texts of the values that the table does not have.
    """

    groups: Ids
    codes: Ids
    weights: Floats
    expected: Floats
    n_values: int
    more: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Earlier:
    """The groups in which persons were seen, in order of person and group; groups of all releases are numbered through.

    Persons have the numbers that the table gives them; those who are in no row of it come after. A group is one that a
    release shows, or one that can be told from two releases: who left a group, or came into it.
    """

    # The keyed hash of each person; missing where her identity is.
    hashes: pl.Series
    persons: Ids
    groups: Ids
    # The release of each group, oldest first, and whether it is one that the release shows.
    release_of: Ids
    is_shown: Bools
    held: Mapping[str, Held]
    # The code of each person's value of attributes that do not change, as `held` has it; -1 where it is not known.
    values: Mapping[str, Ids] = field(default_factory=dict)
    # The persons of the table who were held back from the last release, and come first now.
    held_back: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def n_persons(self) -> int:
        """How many persons there are, with those who are gone."""
        return len(self.hashes)

    @property
    def n_groups(self) -> int:
        """How many groups there are in all releases."""
        return self.release_of.size

    @property
    def n_releases(self) -> int:
        """How many releases there are."""
        return int(self.release_of.max(initial=-1)) + 1

    def telling(self, names: Collection[str]) -> Bools:
        """Which groups tell of some of the attributes."""
        tells = np.zeros(self.n_groups, dtype=bool)
        for name in names:
            tells[self.held[name].groups] = True
        return tells
