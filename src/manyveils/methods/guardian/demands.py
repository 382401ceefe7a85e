"""What a policy demands between columns: rules as they are written, and roles read as rules."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from manyveils.errors import PolicyError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import FrequencyDiversity, KAnonymity
from manyveils.policy.rules import Dependency, PrivacyRule, known_from
from manyveils.promises.work import Work


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
    if joint:
        raise PolicyError(
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
    if isinstance(guarantee, KAnonymity):
        for name in work.sensitive:
            yield Demand(frozenset(promise.given) - {name}, name, promise)
        return
    if isinstance(guarantee, FrequencyDiversity) and guarantee.l == 1:
        # Everything is as rare as that.
        return
    [protect] = promise.protects
    others = _others(work, protect) if promise.minds_company else ()
    yield Demand(frozenset((*promise.given, *others)) - {protect}, protect, promise)


def _others(work: Work, column: str) -> Iterator[str]:
    """The sensitive columns of other attributes."""
    family = work.table.derived.get(work.table.home(column), (column,))
    return (name for name in work.sensitive if name not in family)
