"""Someone who holds the views of a release side by side."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known
from manyveils.attacks.people import Floats, People, alike
from manyveils.attacks.worlds.combine import Combined, combined
from manyveils.attacks.worlds.kinds import TooMany
from manyveils.attacks.worlds.solve import How, Limits


@dataclass(frozen=True, repr=False)
class Comparer:
    """Someone whose beliefs are shares over all possible worlds; what she works out once she remembers.

    Of people whom no world has she believes what is true of everybody; where there are more kinds of people than
    there is room for, what a reader of the release believes.
    """

    reader: Reader
    limits: Limits
    _worlds: dict[tuple[Known, str], Combined | None] = field(default_factory=dict)

    def worlds(self, known: Known, about: str) -> Combined | None:
        """The views, combined for one question; None where there are too many kinds of people."""
        names = tuple(sorted({*known} & self.reader.readable - {about}))
        if (names, about) not in self._worlds:
            try:
                self._worlds[names, about] = combined(self.reader.release, (*names, about), self.limits)
            except TooMany:
                self._worlds[names, about] = None
        return self._worlds[names, about]

    def how(self, known: Known, about: str) -> How:
        """How the beliefs of one question were worked out."""
        worlds = self.worlds(known, about)
        return "estimate" if worlds is None else worlds.how

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The share of each value among all who have the same known values, over all worlds."""
        worlds = self.worlds(known, about)
        if worlds is None:
            return self.reader.beliefs(people, known, about)
        codes = self.reader.known_of(people, sorted({*known} - {about}))
        row_of, firsts = alike([*codes.values()], people.n)
        profiles = pl.DataFrame({name: own[firsts] for name, own in codes.items()})
        profiles = profiles.with_columns(profile=pl.Series(np.arange(firsts.size)))
        rows = _dense(worlds, profiles, list(codes), about)
        everybody = _dense(worlds, pl.DataFrame({"profile": [0]}), [], about)
        rows = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, everybody)
        return Beliefs(rows, row_of).in_codes(self.reader.places[about])


def _dense(worlds: Combined, profiles: pl.DataFrame, given: list[str], about: str) -> Floats:
    rows = np.zeros((profiles.height, len(worlds.domains[about].texts)))
    beliefs = worlds.beliefs(profiles, given, about)
    rows[beliefs["profile"].to_numpy(), beliefs[about].to_numpy()] = beliefs["belief"].to_numpy()
    return rows
