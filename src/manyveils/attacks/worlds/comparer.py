"""Someone who holds the views of a release side by side."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from manyveils.attacks.beliefs import Beliefs
from manyveils.attacks.minds import Known, Reader
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.worlds.combine import Combined, combined
from manyveils.attacks.worlds.kinds import TooMany
from manyveils.attacks.worlds.solve import How, Limits
from manyveils.reading.matching import numbered


@dataclass(frozen=True, repr=False)
class Comparer:
    """Someone whose beliefs are shares over all possible worlds; what she works out once she remembers.

    Of people whom no world has she believes what is true of everybody; where there are more kinds of people than
    there is room for, what a reader of the release believes.
    """

    reader: Reader
    limits: Limits
    _found: dict[tuple[Known, str], Combined | None] = field(default_factory=dict)

    def asked(self, known: Known, about: str) -> Combined | None:
        """The views, combined for one question."""
        names = tuple(sorted({*known} & self.reader.readable - {about}))
        if (names, about) not in self._found:
            try:
                self._found[names, about] = combined(self.reader.release, (*names, about), self.limits)
            except TooMany:
                self._found[names, about] = None
        return self._found[names, about]

    def how(self, known: Known, about: str) -> How:
        """How the beliefs of one question were worked out."""
        views = self.asked(known, about)
        return "estimate" if views is None else views.how

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """The share of each value among all who have the same known values, over all worlds."""
        views = self.asked(known, about)
        held = self.reader.known_of(people, tuple(sorted({*known} - {about})))
        if views is None:
            return self.reader.of(people, known, about)
        of, firsts = _different(held, people.n)
        frame = pl.DataFrame({name: codes[firsts] for name, codes in held.items()})
        frame = frame.with_columns(profile=pl.Series(np.arange(firsts.size)))
        rows = _dense(views, frame, list(held), about)
        everybody = _dense(views, pl.DataFrame({"profile": [0]}), [], about)
        rows = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, everybody)
        return Beliefs(_as_in_the_original(rows, self.reader, about), of)


def _different(held: dict[str, Ids], n: int) -> tuple[Ids, Ids]:
    """The number of each person's profile, and where each profile stands first."""
    if not held:
        return np.zeros(n, dtype=np.int64), np.zeros(min(n, 1), dtype=np.int64)
    sizes = [int(codes.max(initial=0)) + 2 for codes in held.values()]
    return numbered([codes + 1 for codes in held.values()], sizes)


def _dense(views: Combined, profiles: pl.DataFrame, given: list[str], about: str) -> Floats:
    rows = np.zeros((profiles.height, len(views.domains[about].texts)))
    found = views.beliefs(profiles, given, [about])
    assert found is not None, "the attribute is published"
    rows[found["profile"].to_numpy(), found[about].to_numpy()] = found["belief"].to_numpy()
    return rows


def _as_in_the_original(rows: Floats, reader: Reader, about: str) -> Floats:
    """Beliefs in the original's codes; values only the release has stand after them."""
    places, n_values = reader.places[about], reader.table[about].n_values
    strange = np.setdiff1d(np.arange(rows.shape[1]), places)
    result = np.zeros((rows.shape[0], n_values + strange.size))
    result[:, :n_values] = np.where(places >= 0, rows[:, np.maximum(places, 0)], 0.0)
    result[:, n_values:] = rows[:, strange]
    return result
