"""How long a search may go on: until so many nodes are checked, or for so many seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

OFTEN = 64


class Spent(Exception):
    """Nothing may be checked any more."""


class Budget:
    """The nodes that may be checked, counted as they are."""

    def __init__(
        self,
        checks: int | None = None,
        seconds: float | None = None,
        progress: Callable[[float], None] = lambda share: None,
    ) -> None:
        self._checks, self._seconds = inf if checks is None else checks, inf if seconds is None else seconds
        self._started = monotonic()
        self._progress = progress
        self._most = 1.0
        self.n_checked = 0

    @property
    def share(self) -> float:
        """How much of it is spent."""
        spent = self.n_checked / self._checks
        return spent if self._seconds == inf else max(spent, (monotonic() - self._started) / self._seconds)

    def spend(self) -> None:
        """Count one node that is about to be checked; one too many is an error."""
        if self.share >= self._most:
            raise Spent
        if self.n_checked % OFTEN == 0:
            self._progress(min(self.share, 1.0))
        self.n_checked += 1

    @contextmanager
    def up_to(self, share: float) -> Iterator[None]:
        """Leave the rest to others: what is begun here is broken off when so much is spent."""
        most, self._most = self._most, min(self._most, share)
        try:
            yield
        except Spent:
            pass
        finally:
            self._most = most
