"""Tables to be published together: their columns, and what each protects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from manyveils.methods.guardian.demands import Demand
from manyveils.policy.gnf import Schema, Verdict, check_gnf
from manyveils.policy.rules import Dependency, PrivacyRule, irreducible, tellers

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


@dataclass(frozen=True, repr=False)
class Crowd:
    """Groups of k, which tables that guard no sensitive attribute must have as they are.

    `known` are the quasi-identifiers and what follows from them; `smallest` tells how many people the smallest group
    of some columns has.
    """

    k: int
    known: frozenset[str]
    sensitive: frozenset[str]
    smallest: Callable[[frozenset[str]], int]

    def is_kept(self, piece: Piece, pieces: Sequence[Piece]) -> bool:
        """Whether nobody stands in a smaller group, for those who read other tables too.

        A table of one column is a list of frequencies; one that guards a sensitive attribute is cut to size by itself.
        """
        seen = piece.columns & _reached(self.known, [other for other in pieces if other is not piece])
        if len(piece.columns) == 1 or not seen:
            return True
        if piece.protects in self.sensitive:
            # Beside another sensitive attribute, what is known of a row would divide the buckets.
            return not (seen - {piece.protects} and self.sensitive & piece.columns - {piece.protects})
        # So it would in buckets around what is not sensitive.
        return piece.protects is None and self.smallest(seen) >= self.k


def _reached(known: frozenset[str], pieces: Sequence[Piece]) -> frozenset[str]:
    """What is known, and all that chains of overlapping tables join to it."""
    touched = [piece for piece in pieces if known & piece.columns]
    more = known.union(*(piece.columns for piece in touched))
    return known if more == known else _reached(more, pieces)


@dataclass(frozen=True, repr=False)
class Demands:
    """Everything that tables must keep, against those who know some dependencies."""

    each: tuple[Demand, ...]
    dependencies: tuple[Dependency, ...] = ()
    crowd: Crowd | None = None

    @cached_property
    def _rules(self) -> tuple[PrivacyRule, ...]:
        """The demands that follow from no other; a piece protects its column from everyone, so l makes no difference."""
        return irreducible(PrivacyRule(demand.given, demand.protect) for demand in self.each)[0]

    def verdicts(self, pieces: Sequence[Piece]) -> tuple[Verdict, ...]:
        """How every demand fares."""
        rules = [demand.rule for demand in self.each]
        return check_gnf([piece.schema for piece in pieces], rules, self.dependencies)

    def all_kept(self, pieces: Sequence[Piece]) -> bool:
        """Whether the tables are in Guardian Normal Form, and leave nobody in a group that is too small."""
        return all(self._is_crowded(piece, pieces) for piece in pieces) and self.broken(pieces) is None

    def _is_crowded(self, piece: Piece, pieces: Sequence[Piece]) -> bool:
        return self.crowd is None or self.crowd.is_kept(piece, pieces)

    def apart(self, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
        """The tables, those with groups that are too small attribute by attribute.

        Claim: tables in Guardian Normal Form stay in it.
        Why: what leads from one attribute to another leads through a table that has both, and none is added.
        Tested by: tests/claims/test_guardian.py
        """
        parted = [
            part
            for piece in pieces
            for part in ([piece] if self._is_crowded(piece, pieces) else map(_alone, sorted(piece.columns)))
        ]
        return tuple(pieces) if len(parted) == len(pieces) else tidy(parted)

    def broken(self, pieces: Sequence[Piece]) -> PrivacyRule | None:
        """The first demand that is not kept."""
        schemas = [piece.schema for piece in pieces]
        for rule in self._rules:
            [verdict] = check_gnf(schemas, [rule], self.dependencies)
            if not verdict.kept:
                return rule
        return None

    def silenced(self, pieces: Sequence[Piece], rule: PrivacyRule) -> tuple[Piece, ...]:
        """The tables without what tells of a rule's right side, which gets tables of its own."""
        telling = sorted(tellers(rule, self.dependencies))
        for name in telling:
            pieces = [piece.without(name) for piece in pieces]
        return (*pieces, *map(_alone, telling))


def _alone(name: str) -> Piece:
    return Piece(frozenset({name}))


def tidy(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Without tables that are empty, or that protect nothing and stand in another table."""
    tables: list[Piece] = []
    for number, piece in enumerate(pieces):
        others = (*tables, *pieces[number + 1 :])
        if piece.columns and (piece.protects or not any(piece.columns <= other.columns for other in others)):
            tables.append(piece)
    return tuple(tables)
