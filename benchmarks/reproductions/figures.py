"""What became of a figure or table of a paper: what the paper says of it, and whether that holds here."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

YES, PARTLY, NO, NOTHING = "as in the paper", "in part", "differs", "nothing to compare"


@dataclass(frozen=True)
class Figure:
    """One figure or table: sentences of the paper, each with whether it holds here, and the numbers that came out.

    `why` is our best explanation, for where a sentence does not hold.
    """

    name: str
    what: str
    claims: Sequence[tuple[str, bool]]
    ours: str
    why: str = ""

    @property
    def status(self) -> str:
        """Whether all sentences hold, some, or none.

        >>> Figure("figure 1", "time", [("grows", True), ("doubles", False)], "1 to 2").status
        'in part'
        """
        holding = [holds for _, holds in self.claims]
        if not holding:
            return NOTHING
        return YES if all(holding) else PARTLY if any(holding) else NO

    @property
    def cells(self) -> tuple[str, ...]:
        """The figure as a line of the index."""
        paper = "; ".join(f"{claim} ({'yes' if holds else 'no'})" for claim, holds in self.claims)
        why = "" if self.status in (YES, NOTHING) else self.why
        return self.name, self.what, paper or "lost in our copy", self.ours, self.status, why

    def described(self) -> dict[str, Any]:
        """The figure for JSON."""
        return asdict(self)


def near(ours: float, paper: float, share: float = 0.05) -> bool:
    """Whether a number comes within some share of the paper's.

    >>> near(104, 100), near(106, 100)
    (True, False)
    """
    return abs(ours - paper) <= share * abs(paper)


def rises(values: Sequence[float], slack: float = 0.0) -> bool:
    """Whether no value falls below the one before by more than a slack."""
    return all(after >= before - slack for before, after in itertools.pairwise(values))
