"""What a plan needs of a way to anonymize its tables."""

from typing import Protocol

from manyveils.methods.codip.anonymized import Anonymized

Names = tuple[str, ...]


class Anonymizer(Protocol):
    """Makes the projected table of any sensitive attributes; says first whether it can."""

    @property
    def looks_up(self) -> bool:
        """Whether asking for one more table costs next to nothing."""
        ...

    def fits(self, names: Names) -> bool:
        """Whether a table with these sensitive attributes can keep every promise within the discernibility limit."""
        ...

    def best_closeness(self, names: Names, discernibility: float | None) -> float | None:
        """The least closeness such a table can reach, promises of values apart, without being coarser than told.

        None if there is no such table, or if the anonymizer cannot tell.
        """
        ...

    def anonymized(self, names: Names) -> Anonymized:
        """Make the table; it must fit."""
        ...
