"""Counts of combinations whose rows are elsewhere: what is known already is not counted again."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from manyveils.errors import InfeasibleError
from manyveils.table.attributes import Table
from manyveils.table.sketch import Numbered, compact, projected


class TooManyError(InfeasibleError):
    """Counts that do not fit where they are to be decided on."""


@dataclass(frozen=True, repr=False)
class Counting(ABC):
    """What has been counted so far of rows that others hold; the same question is asked once."""

    held: Numbered
    most_cells: int
    _found: dict[frozenset[str], Table] = field(default_factory=dict)

    def of(self, names: tuple[str, ...]) -> Table:
        """Distinct combinations of some columns, with how many rows have each."""
        key = frozenset(names)
        if key not in self._found:
            self._found[key] = self._counted(tuple(sorted(key)))
        return self._found[key]

    @abstractmethod
    def brought(self, names: tuple[str, ...]) -> Table:
        """Counted from all rows, as far as that fits."""

    def _counted(self, names: tuple[str, ...]) -> Table:
        """Counted from what is here already, if it has these columns; from all rows otherwise."""
        if len(names) < 2:
            return compact(self.held.sketch.alone(names), {})[0]
        everything = tuple(sorted(self.held.sketch.attributes))
        known = [table for table in self._found.values() if set(names) <= set(table.attributes)]
        if known:
            return compact(projected(min(known, key=lambda table: table.n_rows), names), {})[0]
        if self.held.sketch.n_people * (len(everything) + 1) <= self.most_cells and names != everything:
            # So few rows that all of them can be counted at once.
            self.of(everything)
            return self._counted(names)
        return self.brought(names)
