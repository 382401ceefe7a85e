"""Tables to be published together: their columns, and what each protects."""

from collections.abc import Sequence
from dataclasses import dataclass

from manyveils.methods.guardian.demands import Demand
from manyveils.policy.gnf import Schema, Verdict, check_gnf
from manyveils.policy.rules import PrivacyRule

STRONGEST = 2**31


@dataclass(frozen=True, repr=False)
class Piece:
    """Some columns; `protects` is the one that is hidden from whoever knows all the others, if any."""

    columns: frozenset[str]
    protects: str | None = None

    @property
    def schema(self) -> Schema:
        """The table for reasoning: what protects a column from all others satisfies any demand about it."""
        if self.protects is None:
            return Schema(self.columns)
        return Schema(self.columns, PrivacyRule(self.columns - {self.protects}, self.protects, STRONGEST))

    def with_column(self, name: str) -> "Piece":
        """The table with one column more."""
        return Piece(self.columns | {name}, self.protects)

    def without(self, name: str) -> "Piece":
        """The table with one column less."""
        return Piece(self.columns - {name}, None if self.protects == name else self.protects)


def verdicts(pieces: Sequence[Piece], demands: Sequence[Demand]) -> tuple[Verdict, ...]:
    """How every demand fares."""
    return check_gnf([piece.schema for piece in pieces], [demand.rule for demand in demands])


def all_kept(pieces: Sequence[Piece], demands: Sequence[Demand]) -> bool:
    """Whether the tables are in Guardian Normal Form."""
    return all(found.kept for found in verdicts(pieces, demands))


def tidy(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Without tables that are empty, or that protect nothing and stand in another table."""
    kept: list[Piece] = []
    for number, piece in enumerate(pieces):
        others = (*kept, *pieces[number + 1 :])
        if piece.columns and (piece.protects or not any(piece.columns <= other.columns for other in others)):
            kept.append(piece)
    return tuple(kept)
