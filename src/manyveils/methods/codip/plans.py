"""Plans: how sensitive attributes are divided among tables, within which limits, and how a plan is told."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from manyveils.errors import PolicyError, Problem
from manyveils.methods import united
from manyveils.methods.codip.anonymizers import Anonymizer, Names
from manyveils.methods.codip.association import Association, Frontier, Members, Plan, frontier_of
from manyveils.policy.shape import suggest
from manyveils.promises.work import Work


@dataclass(frozen=True)
class Limits:
    """What a plan may lose, what it may expose, and how coarse its tables may be."""

    alpha: Fraction
    beta: Fraction
    discernibility: float | None
    is_beta_usual: bool = False

    @property
    def told_beta(self) -> str:
        """Beta for messages."""
        return f"beta = {float(self.beta):g}" + (", the default" if self.is_beta_usual else "")


@dataclass(frozen=True)
class Merge:
    """A merge that was tried: the attributes it puts together, the plan it gives, and why it was refused, if it was."""

    members: Members
    plan: Plan
    refused: str = ""


@dataclass(frozen=True, repr=False)
class Outcome:
    """A plan, how it was found, the merges that led to it, and the frontier it can be compared with."""

    plan: Plan
    how: str
    merges: tuple[Merge, ...] = ()
    frontier: Frontier | None = None


@dataclass(frozen=True, repr=False)
class Search:
    """What every way to find a plan works with."""

    work: Work
    association: Association
    anonymizer: Anonymizer
    limits: Limits

    def names(self, members: Members) -> Names:
        """The names of some sensitive attributes."""
        return tuple(self.work.sensitive[member] for member in members)

    def fits(self, members: Members) -> bool:
        """Whether some sensitive attributes can be anonymized in one table."""
        return self.anonymizer.fits(self.names(members))

    def frontier(self, parts: Plan) -> Frontier:
        """The frontier of the plans whose tables can be anonymized."""
        return frontier_of(self.association, parts, self.fits, partial(self.work.progress, "trying tables"))


def given_plan(work: Work, lists: list[list[str]]) -> Plan:
    """The plan that the policy spells out; a multi-valued attribute stands for all its derived ones."""
    where = f"{work.policy.name}: publish.plan"
    listed = dict.fromkeys(name for part in lists for name in part)
    PolicyError.refuse(
        Problem(where, f"{name!r} is not a sensitive attribute.", suggest(name, work.policy.sensitive))
        for name in listed
        if not set(work.sensitive).issuperset(work.table.expand((name,)))
    )
    plan = [_members(work, part) for part in lists]
    times = Counter(member for part in plan for member in part)
    problems = [
        Problem(
            where,
            f"{work.table.home(name)!r} stands in {times[member] or 'no'} tables.",
            "Every sensitive attribute stands in exactly one.",
        )
        for member, name in enumerate(work.sensitive)
        if times[member] != 1
    ]
    problems += [
        Problem(where, f"{' and '.join(group)} are protected as one but stand apart.", "Put them together.")
        for group in work.policy.guarantee.joint
        if not any(_members(work, group) <= part for part in plan)
    ]
    PolicyError.refuse(dict.fromkeys(problems))
    return _sorted(part for part in plan if part)


def smallest_parts(work: Work) -> Plan:
    """Every sensitive attribute by itself, but what is protected as one attribute together."""
    joint = (_members(work, group) for group in work.policy.guarantee.joint)
    return _sorted(united(({member} for member in range(len(work.sensitive))), joint))


def _members(work: Work, names: Iterable[str]) -> set[int]:
    return {work.sensitive.index(name) for name in work.table.expand(tuple(names))}


def _sorted(parts: Iterable[Iterable[int]]) -> Plan:
    return tuple(sorted(tuple(sorted(part)) for part in parts))


def told(work: Work, plan: Plan) -> str:
    """A plan for messages: attributes by name, values of multi-valued ones by number."""
    return " ".join(f"{{{told_part(work, part)}}}" for part in plan)


def told_part(work: Work, part: Members) -> str:
    """One table of a plan for messages."""
    homes = Counter(work.table.home(work.sensitive[member]) for member in part)
    derived = work.table.derived
    return ", ".join(
        f"{home} ({times} of {len(derived[home])} values)" if home in derived else home
        for home, times in homes.items()
    )
