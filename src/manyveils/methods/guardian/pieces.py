"""Tables to be published together: what is demanded of them, what each protects, and how it is published by itself."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from manyveils.errors import PolicyError, Problem
from manyveils.methods import Method, load
from manyveils.policy import Promise
from manyveils.policy.gnf import Schema, Verdict, check_gnf
from manyveils.policy.guarantees import FrequencyDiversity, KAnonymity, LeastSize
from manyveils.policy.rules import Dependency, PrivacyRule, irreducible, known_from, tellers
from manyveils.promises.work import Work

STRONGEST = 2**31


@dataclass(frozen=True, repr=False)
class Demand:
    """Whoever knows `given` must not learn `protect`, as a promise says."""

    given: frozenset[str]
    protect: str
    promise: Promise

    @property
    def rule(self) -> PrivacyRule:
        """The demand for reasoning about tables; promises of other kinds than l are taken as equally strong."""
        guarantee = self.promise.guarantee
        l = guarantee.l if self.promise.is_rule and isinstance(guarantee, FrequencyDiversity) else 1
        return PrivacyRule(self.given, self.protect, l)


def demands_of(work: Work) -> tuple[Demand, ...]:
    """Every promise as demands between single columns.

    With roles, the quasi-identifiers are given and each sensitive column is protected; k asks the same for every
    sensitive column.
    """
    joint = {work.subject_of(promise) for promise in work.promises if len(promise.protects) > 1}
    PolicyError.refuse(
        Problem(
            f"{work.policy.name}: guarantee.joint",
            f"{subject} cannot be protected as one: a guardian table protects one attribute.",
            'Drop it, or use method = "anatomize".',
        )
        for subject in sorted(joint)
    )
    dependencies = column_dependencies(work)
    return tuple(
        replace(demand, given=frozenset(known_from(demand.given, dependencies)) - {demand.protect})
        for promise in work.promises
        for demand in _demands(work, promise)
    )


def column_dependencies(work: Work) -> tuple[Dependency, ...]:
    """What an adversary may know, between columns."""
    expand = work.table.expand
    return tuple(
        Dependency(frozenset(expand(dependency.from_)), column)
        for dependency in work.policy.dependencies
        for column in expand([dependency.to])
    )


def _demands(work: Work, promise: Promise) -> Iterator[Demand]:
    guarantee = promise.guarantee
    if isinstance(guarantee, LeastSize):
        # Whoever knows fewer of the quasi-identifiers has no fewer people before her.
        crowded = Promise(KAnonymity(guarantee.least_rows), work.quasi)
        for name in work.sensitive:
            yield Demand(frozenset(work.quasi) - {name}, name, crowded)
        return
    if guarantee.is_void:
        return
    [protect] = promise.protects
    yield Demand(frozenset(promise.given) - {protect}, protect, promise)
    if promise.minds_company:
        yield Demand(frozenset((*promise.given, *_others(work, protect))) - {protect}, protect, promise)


def _others(work: Work, column: str) -> Iterator[str]:
    """The sensitive columns of other attributes."""
    family = work.table.derived.get(work.table.home(column), (column,))
    return (name for name in work.sensitive if name not in family)


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
        """The demands that follow from no other; a piece protects its column from everyone, so l makes no difference.

        With dependencies, who knows less may learn from what others know anyway, so each demand stands for itself.
        """
        rules = dict.fromkeys(PrivacyRule(demand.given, demand.protect) for demand in self.each)
        return tuple(rules) if self.dependencies else irreducible(rules)[0]

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
        return next(self._broken(pieces), None)

    def every_broken(self, pieces: Sequence[Piece]) -> list[PrivacyRule]:
        """All demands that are not kept."""
        return list(self._broken(pieces))

    def _broken(self, pieces: Sequence[Piece]) -> Iterator[PrivacyRule]:
        schemas = [piece.schema for piece in pieces]
        for rule in self._rules:
            [verdict] = check_gnf(schemas, [rule], self.dependencies)
            if not verdict.kept:
                yield rule

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


def inner_work(work: Work, piece: Piece, demands: Sequence[Demand], anonymizer: str) -> tuple[Method, Work]:
    """The publication of one table by itself, and the method for it."""
    assert piece.protects is not None
    method = load(anonymizer)
    columns = tuple(name for name in work.published if name in piece.columns)
    # Identifiers stay, for they say who is who.
    identifiers = {name: {"role": "identifier"} for name in work.policy.having("identifier")}
    policy = work.policy.replaced(
        attributes=identifiers | {name: _described(work, name, piece) for name in columns},
        population={},
        guarantee={},
        keys=[],
        rules=[],
        dependencies=[],
        publish={"method": anonymizer},
    )
    table = replace(work.table, attributes={name: work.table[name] for name in columns}, derived={})
    promises = _promises(piece.protects, _given(work, piece), demands)
    streams = work.streams.apart(chance_of(work, piece))
    inner = Work(policy, table, promises, method.options(), streams, work.progress, counted=work.counted)
    return method, inner


def _given(work: Work, piece: Piece) -> tuple[str, ...]:
    return tuple(name for name in work.published if name in piece.columns and name != piece.protects)


def chance_of(work: Work, piece: Piece) -> str:
    """The name of a table's own chance: buckets of two tables made by the same chance would tell of each other."""
    return f"{_given(work, piece)} and {piece.protects}"


def _promises(protect: str, given: tuple[str, ...], demands: Sequence[Demand]) -> tuple[Promise, ...]:
    """What the table must keep by itself: every promise about what it protects, whoever knows the rest of it."""
    promises = (
        replace(demand.promise, given=given, conditional=False, is_rule=False)
        for demand in demands
        if demand.protect == protect
    )
    return tuple(dict.fromkeys(promises))


def _described(work: Work, column: str, piece: Piece) -> dict[str, Any]:
    home = work.table.home(column)
    keys = work.policy.attributes[home].model_dump(exclude_unset=True)
    kind = work.table[column].kind
    hierarchy = {"hierarchy": keys["hierarchy"]} if "hierarchy" in keys and home == column else {}
    role = "sensitive" if column == piece.protects else "quasi"
    constant = {"constant": True} if keys.get("constant") else {}
    return {"role": role, "kind": kind, **hierarchy, **constant}


def strength(protect: str, demands: Sequence[Demand]) -> int | None:
    """The largest l that is demanded of all values of a column; nothing if only other guarantees are."""
    ls = [
        demand.promise.guarantee.weakest
        for demand in demands
        if demand.protect == protect and isinstance(demand.promise.guarantee, FrequencyDiversity)
    ]
    return max(ls, default=None)
