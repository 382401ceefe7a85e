"""Whether identifiers repeat, told by hashes on disk while rows are read; nobody's identifier is kept."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import PolicyError
from manyveils.policy import Policy
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Rows, Writing
from manyveils.streaming.tally import Tally
from manyveils.table.encode import as_read
from manyveils.table.persons import (
    Identifier,
    alike,
    keys_read,
    names_beside,
    names_of,
    refuse_empty,
    refuse_repeats,
    refuse_unlike,
)
from manyveils.wording import counted

FIRST, SECOND, PRESENT = "first", "second", "present"


@dataclass(repr=False)
class Seen:
    """What was seen of identifiers that are looked at together: two hashes of each row, and whether one is missing."""

    names: tuple[str, ...]
    writing: Writing
    # Whether they stand beside those that tell persons apart.
    is_beside: bool = False
    n_present: int = 0
    n_rows: int = 0
    # Nobody else's, so that what is on disk tells of no identifier.
    seeds: dict[str, int] = field(
        default_factory=lambda: {name: secrets.randbits(63) for name in (FIRST, SECOND)}
    )
    n_missing: dict[str, int] = field(default_factory=dict)

    def add(self, frame: pl.DataFrame, policy: Policy) -> None:
        """Look at one more batch."""
        keys = as_read(frame.select(self.names), policy)
        for name in self.names:
            missing = names_of(keys.select(name)).null_count()
            self.n_missing[name] = self.n_missing.get(name, 0) + missing
        told = names_of(keys).drop_nulls()
        hashes = {name: told.hash(seed).to_numpy().view(np.int64) for name, seed in self.seeds.items()}
        self.writing.add(hashes, len(told))
        self.n_present += len(told)
        self.n_rows += frame.height

    def identifier(self, room: Room) -> Identifier:
        """How many rows have a value, and how many values there are."""
        return Identifier(" and ".join(self.names), self.n_present, _n_different(self.writing.rows, room))


def _n_different(rows: Rows, room: Room) -> int:
    """How many different values rows have.

    Claim: two values are taken for one once in 2^128.
    Why: rows whose first hashes are equal are compared by their second ones too.
    Tested by: tests/streaming/test_persons.py
    """
    tally = Tally(1, rows.folder / "counts", room)
    for batch in rows.batches([FIRST]):
        tally.add([batch[FIRST].astype(np.int64)])
    n_once, repeated = 0, []
    for block in tally:
        n_once += int((block.times == 1).sum())
        repeated.append(block.keys[0][block.times > 1])
    tally.forget()
    again = np.concatenate(repeated) if repeated else np.zeros(0, dtype=np.int64)
    return n_once + (_n_among(rows, again, room) if again.size else 0)


def _n_among(rows: Rows, hashes: NDArray[np.int64], room: Room) -> int:
    tally = Tally(2, rows.folder / "again", room)
    for batch in rows.batches([FIRST, SECOND]):
        place = np.minimum(np.searchsorted(hashes, batch[FIRST]), hashes.size - 1)
        is_again = hashes[place] == batch[FIRST]
        tally.add([batch[FIRST][is_again].astype(np.int64), batch[SECOND][is_again].astype(np.int64)])
    n_different = sum(map(len, tally))
    tally.forget()
    return n_different


def looked_at(outline: pl.DataFrame, policy: Policy, folder: Path) -> list[Seen]:
    """What is looked at of the identifiers: those that tell persons apart together, and any other by itself."""
    keys = keys_read(policy)
    unlike = {name: type(outline.schema[name]).__name__ for name in keys if not alike(outline.schema[name])}
    refuse_unlike([*unlike], [*unlike.values()])
    together = [tuple(keys)] if policy.person and keys else [(name,) for name in keys]
    sets = [
        *((names, False) for names in together),
        *(((name,), True) for name in names_beside(outline, policy)),
    ]
    return [
        Seen(names, Writing(folder / f"identifier{place}", (FIRST, SECOND)), is_beside)
        for place, (names, is_beside) in enumerate(sets)
    ]


def refuse_several(seen: Sequence[Seen], policy: Policy, room: Room) -> tuple[Identifier, ...]:
    """Refuse data in which a person has several rows; the identifiers beside those that tell persons apart that repeat."""
    identifiers = [(one, one.identifier(room)) for one in seen]
    telling = [(one, found) for one, found in identifiers if not one.is_beside]
    if policy.person is None:
        refuse_repeats([found for _, found in telling], seen[0].n_rows if seen else 0, policy)
    for one, found in telling if policy.person else ():
        refuse_empty([name for name in one.names if one.n_missing[name] == one.n_rows])
        if found.repeats:
            what = f"some persons have several rows: {found.n_present:,} rows are of {counted(found.n_different, 'person')}."
            remedy = (
                "Rows of a person must be seen together, which is done in memory alone: leave memory out."
            )
            raise PolicyError.at(f"{policy.name}: data.person", what, remedy)
    # Nobody has several rows, so that there are as many persons with a value as rows.
    beside = (found for one, found in identifiers if one.is_beside and found.repeats)
    return tuple(replace(found, n_persons=found.n_present) for found in beside)
