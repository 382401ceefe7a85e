"""How much work may still be done, counted so that the same question always gets the same work on any machine.

Work is counted in steps of the solvers and never by the clock; one unit takes about a second.
"""

from collections.abc import Iterator
from contextlib import contextmanager

CHOICE = 3e-6
CELL = 5e-6
PIVOT = 2e-7
SCALING = 2e-8
CALL = 2e-4


class Effort:
    """Units of work that are left; whoever works says how many it took."""

    def __init__(self, left: float) -> None:
        self.left = left

    def __repr__(self) -> str:
        return f"<Effort: {self.left:.3g} left>"

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def spend(self, units: float) -> None:
        """Take units away; the last work may take more than was left."""
        self.left -= units

    @contextmanager
    def share(self, part: float) -> Iterator["Effort"]:
        """A part of what is left, for one task; what the task does not need stays.

        >>> whole = Effort(10.0)
        >>> with whole.share(0.5) as half:
        ...     half.spend(2.0)
        >>> whole
        <Effort: 8 left>
        """
        given = max(self.left, 0.0) * part
        task = Effort(given)
        try:
            yield task
        finally:
            self.spend(given - task.left)
