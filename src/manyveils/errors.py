"""Every exception a caller can meet.

::

    ManyveilsError
    ├── InputError           policy, data or arguments are wrong             exit status 2
    │   ├── PolicyError      the policy contradicts itself or the data
    │   └── DataError        the data cannot be read or do not fit
    ├── InfeasibleError      no release of this data keeps the promise       exit status 1
    └── BrokenPromise        a release does not keep what it promises        exit status 1

A message names files, keys, columns, counts and thresholds, never a cell of the data.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from traceback import extract_tb
from typing import Self


@dataclass(frozen=True)
class Change:
    """A key of a policy, and the value with which this problem would be gone.

    Of a promise about one `attribute`, which may have keys of its own that come before those of [guarantee].
    """

    section: str
    key: str
    value: str | int | float | bool
    attribute: str = ""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, where it stands and what would put it right; in words, and as changes of which one is enough."""

    where: str
    what: str
    remedy: str = ""
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        sentence = f"{self.where}: {self.what}" if self.where else self.what
        return f"{sentence} {self.remedy}".rstrip()

    @property
    def words(self) -> tuple[str, str, str]:
        """Where, what and the remedy, without changes."""
        return self.where, self.what, self.remedy

    def within(self, place: str) -> "Problem":
        """The same problem, said of a place further out (a file, a section).

        >>> str(Problem("k", "must be at least 1.").within("policy.toml"))
        'policy.toml: k: must be at least 1.'
        """
        return replace(self, where=f"{place}: {self.where}" if self.where else place)


class ManyveilsError(Exception):
    """An error with a list of problems, shown all at once."""

    exit_status = 1
    heading = "This cannot be done:"

    def __init__(self, problems: Iterable[Problem] | str) -> None:
        self.problems: Sequence[Problem] = (
            (Problem("", problems),) if isinstance(problems, str) else tuple(problems)
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def at(cls, where: str, what: str, remedy: str = "") -> Self:
        """An error with a single problem.

        >>> str(DataError.at("people.csv", "is empty.", "Add a header line and rows."))
        'people.csv: is empty. Add a header line and rows.'
        """
        return cls([Problem(where, what, remedy)])

    @classmethod
    def refuse(cls, problems: Iterable[Problem]) -> None:
        """Raise an error with these problems, if there are any."""
        if listed := tuple(problems):
            raise cls(listed)

    def __reduce__(self) -> tuple[type["ManyveilsError"], tuple[Sequence[Problem]]]:
        return type(self), (self.problems,)


class InputError(ManyveilsError):
    """The policy, the data or the arguments are wrong."""

    exit_status = 2


class PolicyError(InputError):
    """The policy contradicts itself or the data."""

    heading = "The policy has problems:"


class DataError(InputError):
    """The data cannot be read or do not fit the policy."""

    heading = "The data have problems:"


class InfeasibleError(ManyveilsError):
    """No release of this data by this method keeps the promise."""

    heading = "A promise cannot be kept:"


class BrokenPromise(ManyveilsError):
    """A release does not keep what it promises."""

    heading = "A promise is broken:"


FOR_MEMORY = (
    "Leave out columns that are not published, publish a part of the rows, or use a machine with more memory; "
    "with --engine spark, tables may be larger than memory."
)


def out_of_memory() -> DataError:
    """What is said where memory ran out in the middle of the work."""
    return DataError.at("memory", "there is not enough of it for this table.", FOR_MEMORY)


def fault(error: BaseException) -> Problem:
    """Where something unforeseen happened; its message is left out, because it may quote cells."""
    frame = extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    return Problem(where, f"{type(error).__name__}.", "Please report this message; it quotes no data.")
