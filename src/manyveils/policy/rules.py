"""Privacy rules between arbitrary attributes: what follows from what, and what known dependencies add (paper 002)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any


def as_names(names: Iterable[str]) -> frozenset[str]:
    """Names of attributes as a set; a single text is none."""
    if isinstance(names, str):
        raise TypeError("give a list of attributes, not a text")
    return frozenset(names)


@dataclass(frozen=True)
class PrivacyRule:
    """Whoever knows `given` must not learn `protect` with more confidence than one in l."""

    given: frozenset[str]
    protect: str
    l: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", as_names(self.given))

    def implies(self, other: "PrivacyRule") -> bool:
        """Whether keeping this rule keeps the other: more is known, the same is protected, no more weakly.

        Claim: nothing else follows from a rule.
        Why: Theorem 3.1; for any other rule there is a table that keeps this one and breaks it.
        Tested by: tests/claims/test_rules.py
        """
        return self.protect == other.protect and other.given <= self.given and other.l <= self.l

    def __str__(self) -> str:
        return f"{', '.join(sorted(self.given)) or 'nothing'} ⇏ {self.protect}"


def protecting_one(rules: Sequence[Any]) -> list[Any]:
    """Rules as a policy has them, with one attribute in place of several whose combination is protected.

    It is one that another rule protects anyway from those who know as much, or else the first.

    Claim: whoever keeps the rules that are returned keeps those that were given.
    Why: of a combination nobody believes more than of one of its values, so l of one attribute is l of all that it
    stands in; and a rule follows from another with more on the left and less on the right (corollary 3.1.1).
    Tested by: tests/claims/test_rules.py
    """
    return [
        {**rule, "protect": _one_of(rule, rules)} if isinstance(rule.get("protect"), list) else rule
        for rule in rules
    ]


def _one_of(rule: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> str:
    def follows(name: str, other: Mapping[str, Any]) -> bool:
        terms = [(own.get("l"), own.get("guarantee")) for own in (rule, other)]
        return other.get("protect") == name and {*rule["given"]} <= {*other["given"]} and terms[0] == terms[1]

    kept = (name for name in rule["protect"] if any(follows(name, other) for other in rules))
    return str(next(kept, rule["protect"][0]))


@dataclass(frozen=True)
class Dependency:
    """Equal values of `source` always go with equal values of `target`."""

    source: frozenset[str]
    target: str

    def __str__(self) -> str:
        return f"{', '.join(sorted(self.source))} → {self.target}"


@dataclass(frozen=True)
class Rules:
    """Rules in irreducible form, and how they came about.

    `implied` pairs each rule that was dropped with the one it follows from; `derived` pairs each rule that a
    dependency adds with the dependency; `hopeless` pairs rules with the dependencies that break them.
    """

    rules: tuple[PrivacyRule, ...]
    implied: tuple[tuple[PrivacyRule, PrivacyRule], ...] = ()
    derived: tuple[tuple[PrivacyRule, Dependency], ...] = ()
    hopeless: tuple[tuple[PrivacyRule, tuple[Dependency, ...]], ...] = ()


def settle(rules: Sequence[PrivacyRule], dependencies: Sequence[Dependency] = ()) -> Rules:
    """Add what dependencies demand, drop what is implied, and name rules that cannot be kept.

    >>> str(settle([PrivacyRule(frozenset("a"), "c"), PrivacyRule(frozenset("ab"), "c")]).rules[0])
    'a, b ⇏ c'
    """
    chains = {rule: breaking(rule, dependencies) for rule in rules}
    hopeless = tuple((rule, chains[rule]) for rule in rules if chains[rule])
    expanded, derived = _expanded([rule for rule in rules if not chains[rule]], dependencies)
    minimal, implied = irreducible(expanded)
    return Rules(minimal, implied, derived, hopeless)


def irreducible(
    rules: Iterable[PrivacyRule],
) -> tuple[tuple[PrivacyRule, ...], tuple[tuple[PrivacyRule, PrivacyRule], ...]]:
    """The rules that follow from no other, and each dropped one with a rule it follows from."""
    distinct = list(dict.fromkeys(rules))
    # Only rules about the same attribute imply each other.
    about: dict[str, list[PrivacyRule]] = {}
    for rule in distinct:
        about.setdefault(rule.protect, []).append(rule)
    minimal = dict.fromkeys(
        rule
        for rule in distinct
        if not any(other != rule and other.implies(rule) for other in about[rule.protect])
    )
    implied = tuple(
        (rule, next(other for other in about[rule.protect] if other in minimal and other.implies(rule)))
        for rule in distinct
        if rule not in minimal
    )
    return tuple(minimal), implied


def breaking(rule: PrivacyRule, dependencies: Sequence[Dependency]) -> tuple[Dependency, ...]:
    """The dependencies that lead from what is given to what is protected, or back; nothing if none does.

    If something given follows from what is protected, it rules out all values that it does not follow from.
    """
    return _leading(rule, dependencies) or _ruling_out(rule, dependencies)


def _ruling_out(rule: PrivacyRule, dependencies: Sequence[Dependency]) -> tuple[Dependency, ...]:
    known, tied = known_from(rule.given, dependencies), {rule.protect} | tellers(rule, dependencies)
    ruling = (step for step in dependencies if step.target in known and not tied.isdisjoint(step.source))
    return tuple(islice(ruling, 1))


def _leading(rule: PrivacyRule, dependencies: Sequence[Dependency]) -> tuple[Dependency, ...]:
    known, used = set(rule.given), []
    while rule.protect not in known:
        step = next((d for d in dependencies if d.source <= known and d.target not in known), None)
        if step is None:
            return ()
        known.add(step.target)
        used.append(step)
    return tuple(_needed(used, rule))


def tellers(rule: PrivacyRule, dependencies: Sequence[Dependency]) -> frozenset[str]:
    """Attributes that known dependencies tie to what a rule protects, in either direction, beyond what is known anyway.

    Who sees one of them can rule out values of what is protected, even if it does not decide it.
    """
    known = known_from(rule.given, dependencies)
    ends = [dependency.source | {dependency.target} for dependency in dependencies]

    def tied_to(tied: set[str]) -> Iterator[frozenset[str]]:
        return (names - known for names in ends if not tied.isdisjoint(names))

    return frozenset(grown({rule.protect}, tied_to) - {rule.protect})


def _needed(used: list[Dependency], rule: PrivacyRule) -> Iterator[Dependency]:
    """Only the steps that the last one rests on, in their order."""
    wanted, needed = {rule.protect}, []
    for step in reversed(used):
        if step.target in wanted:
            needed.append(step)
            wanted |= step.source
    yield from reversed(needed)


def known_from(given: frozenset[str], dependencies: Sequence[Dependency]) -> set[str]:
    """Everything that dependencies give away to those who know something."""
    return grown(given, lambda known: ({step.target} for step in dependencies if step.source <= known))


def grown(names: Iterable[str], following: Callable[[set[str]], Iterable[Collection[str]]]) -> set[str]:
    """Names, and those that follow from them, and from those, until nothing more does."""
    reached: set[str] = set()
    more = set(names)
    while not more <= reached:
        reached |= more
        more = set().union(*following(reached))
    return reached


def _expanded(
    rules: list[PrivacyRule], dependencies: Sequence[Dependency]
) -> tuple[list[PrivacyRule], tuple[tuple[PrivacyRule, Dependency], ...]]:
    """With every rule Q ⇏ S and dependency X → S also Q ⇏ x, for one x of X that is neither given nor follows from it.

    Whoever is unsure of one attribute of X is unsure of X; one is enough, and no weaker demand is.
    """
    expanded, derived = list(dict.fromkeys(rules)), []
    for rule in expanded:
        for dependency in dependencies:
            unknown = sorted(dependency.source - known_from(rule.given, dependencies))
            if dependency.target != rule.protect or not unknown:
                continue
            demands = [replace(rule, protect=name) for name in unknown if name != rule.protect]
            if not demands or any(known.implies(demand) for demand in demands for known in expanded):
                continue
            # A list grows while it is read, so demands of demands are met too.
            expanded.append(demands[0])
            derived.append((demands[0], dependency))
    return expanded, tuple(derived)
