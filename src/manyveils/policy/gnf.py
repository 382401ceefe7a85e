"""Guardian Normal Form: whether tables that overlap keep rules together, seen from their attributes alone (paper 002)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from manyveils.policy.rules import Dependency, PrivacyRule, as_names, grown, known_from, tellers


@dataclass(frozen=True)
class Schema:
    """The attributes of a published table, and the rule it enforces by itself, if any."""

    attributes: frozenset[str]
    enforces: PrivacyRule | None = None
    # Whether what a rule protects is there by a dependency only; used while judging.
    tells: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", as_names(self.attributes))


@dataclass(frozen=True)
class Verdict:
    """How a rule fares: kept because nothing leads to what it protects, kept by a guardian, or broken along a path.

    `guardian` and `path` are indices of tables.
    """

    rule: PrivacyRule
    kept: bool
    guardian: int | None = None
    path: tuple[int, ...] = ()

    @property
    def reason(self) -> str:
        """The verdict in words; tables are counted from 1."""
        if not self.kept:
            return f"broken: tables {' – '.join(str(index + 1) for index in self.path)} lead there unguarded"
        return "not reachable" if self.guardian is None else f"table {self.guardian + 1} is its guardian"


def check_gnf(
    tables: Sequence[Schema], rules: Sequence[PrivacyRule], dependencies: Sequence[Dependency] = ()
) -> tuple[Verdict, ...]:
    """Judge every rule against tables published together.

    A table with an attribute that a known dependency leads from to what a rule protects tells of it too, so it counts
    as having it; otherwise it could be compared with the guardian.

    Claim: if all rules are kept here, someone who knows the left side of a rule learns no more of its right side
    from all tables together than from its guardian alone.
    Why: Theorem 4.1; every path from what she knows to what is protected runs through the guardian.
    Tested by: tests/claims/test_gnf.py
    """
    return tuple(_judged(tables, rule, dependencies) for rule in rules)


def _judged(tables: Sequence[Schema], rule: PrivacyRule, dependencies: Sequence[Dependency]) -> Verdict:
    if rule.protect in rule.given:
        raise ValueError(f"a rule cannot protect what it gives: {rule.protect}")
    # Who knows something knows what follows from it.
    known = replace(rule, given=frozenset(known_from(rule.given, dependencies)) - {rule.protect})
    silent = tellers(rule, dependencies)
    return replace(_verdict([_telling(table, rule, silent) for table in tables], known), rule=rule)


def _telling(table: Schema, rule: PrivacyRule, tied: frozenset[str]) -> Schema:
    """The table, with what a rule protects if it has something that tells of it; it is no guardian then."""
    if table.attributes.isdisjoint(tied):
        return table
    return Schema(table.attributes | {rule.protect}, None, tells=True)


def _verdict(tables: Sequence[Schema], rule: PrivacyRule) -> Verdict:
    path = _path(tables, rule, without=None)
    if not path:
        return Verdict(rule, kept=True)
    for index in _candidates(tables, rule):
        if not _path(tables, rule, without=index):
            return Verdict(rule, kept=True, guardian=index)
    return Verdict(rule, kept=False, path=path)


def _candidates(tables: Sequence[Schema], rule: PrivacyRule) -> Iterator[int]:
    """Tables that enforce the rule by themselves, whatever leads into them."""
    for index, table in enumerate(tables):
        if rule.protect not in table.attributes:
            continue
        reached = reachable(rule.given, [*tables[:index], *tables[index + 1 :]])
        needed = (table.attributes & (rule.given | reached)) - {rule.protect}
        demand = PrivacyRule(frozenset(needed), rule.protect, rule.l)
        if table.enforces is not None and table.enforces.implies(demand):
            yield index


def reachable(known: frozenset[str], tables: Sequence[Schema]) -> frozenset[str]:
    """Everything that a chain of overlapping tables joins to something known."""
    sets = [table.attributes for table in tables]
    return frozenset(grown(known, lambda reached: (names for names in sets if not reached.isdisjoint(names))))


def _path(tables: Sequence[Schema], rule: PrivacyRule, *, without: int | None) -> tuple[int, ...]:
    """A shortest chain of tables from a given attribute to the protected one; in table `without` that is ignored."""
    visible = [
        table.attributes - {rule.protect} if index == without and not table.tells else table.attributes
        for index, table in enumerate(tables)
    ]
    paths: list[tuple[int, ...]] = [
        (index,) for index, attributes in enumerate(visible) if not attributes.isdisjoint(rule.given)
    ]
    seen = {index for index, *_ in paths}
    # The list grows while it is read, shorter paths first.
    for path in paths:
        if rule.protect in visible[path[-1]]:
            return path
        touching = (index for index, names in enumerate(visible) if not names.isdisjoint(visible[path[-1]]))
        for index in (index for index in touching if index not in seen):
            seen.add(index)
            paths.append((*path, index))
    return ()
