"""A publication to be made: what its promises are decided on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pydantic import BaseModel

from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import KAnonymity, exact
from manyveils.promises.entries import Ids, numbered
from manyveils.table import Streams, Table
from manyveils.table.order import in_order

O = TypeVar("O", bound=BaseModel)


def silent(stage: str, share: float) -> None:
    """Report no progress."""


def of_rows(stage: str, n_rows: int) -> str:
    """The name of a stage in which so many rows are passed, so that a bar can tell how fast.

    >>> of_rows("sorting", 1_000_000)
    'sorting 1,000,000 rows'
    """
    return f"{stage} {n_rows:,} rows"


@dataclass(frozen=True)
class Work:
    """One publication to be made."""

    policy: Policy
    table: Table
    promises: tuple[Promise, ...]
    options: BaseModel
    streams: Streams
    progress: Callable[[str, float], None] = silent
    suppresses: bool = False
    counted: Callable[[tuple[str, ...]], Table] | None = None
    # Promises that are kept by hiding values in the groups that a method has made.
    hiding: tuple[Promise, ...] = ()
    # How many persons every group should have, so that those who leave it until the next release will differ.
    room: int = 1
    # Whether nobody may be left out, whatever the policy allows.
    leaves_nobody: bool = False

    @property
    def with_room(self) -> tuple[Promise, ...]:
        """The promises, and that groups have room for some to leave."""
        return (
            (*self.promises, Promise(KAnonymity(self.room), self.policy.quasi))
            if self.room > 1
            else self.promises
        )

    def counts(self, names: Iterable[str]) -> Table:
        """A table from which some columns can be counted together: all rows, or distinct ones with how often they occur.

        What is decided on it needs no more of the data, so it is decided alike wherever the rows are.
        """
        return self.table if self.counted is None else self.counted(tuple(dict.fromkeys(names)))

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The columns of the quasi-identifiers."""
        return self.table.expand(self.policy.quasi)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The columns of the sensitive attributes."""
        return self.table.expand(self.policy.sensitive)

    @cached_property
    def published(self) -> tuple[str, ...]:
        """The columns that may be published, in the order of the policy."""
        return self.table.expand(self.policy.published)

    def subject_of(self, promise: Promise) -> str:
        """What a promise protects, by the names of attributes; a 0/1 column's own name holds a value."""
        return "+".join(dict.fromkeys(self.table.home(name) for name in promise.protects))

    def options_as(self, kind: type[O]) -> O:
        """The options, which are of the method's own kind."""
        assert isinstance(self.options, kind)
        return self.options

    def n_leaves(self, name: str) -> int:
        """How many values the domain of an attribute has: those of its hierarchy, or else of the data."""
        return len(self.policy.lines(name) or ()) or self.table[name].n_values

    @property
    def least_rows(self) -> int:
        """How many rows every group needs, at least."""
        return max(self.room, *(promise.guarantee.least_rows for promise in self.promises), 1)

    @property
    def limit(self) -> int:
        """How many persons may be suppressed, with all their rows: the suppression share of them, rounded down."""
        share = 0 if self.leaves_nobody else self.policy.publish.suppression
        return int(exact(share) * self.table.n_persons)


def shuffled_rows(work: Work, purpose: str) -> Ids:
    """All rows in random order, which depends on their published values and the seed, never on the source's order.

    Rows with equal values are interchangeable, so sorting by values and then shuffling places forgets the source.
    """
    keys, _ = numbered(work.table, work.published)
    shuffled: Ids = in_order(keys)[work.streams.of(purpose).permutation(keys.size)]
    return shuffled
