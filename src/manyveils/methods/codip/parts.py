"""From names in a policy to parts of a plan, and back to names that give no value away."""

from collections import Counter

from manyveils.errors import PolicyError, Problem
from manyveils.methods.codip.association import Members, Plan
from manyveils.policy.check import suggest
from manyveils.promises.work import Work


def given_plan(work: Work, lists: list[list[str]]) -> Plan:
    """The plan that the policy spells out; a multi-valued attribute stands for all its 0/1 columns."""
    where = f"{work.policy.name}: publish.plan"
    place = {name: number for number, name in enumerate(work.sensitive)}
    unknown = [name for part in lists for name in part if not all(c in place for c in _columns(work, name))]
    if unknown:
        raise PolicyError(
            Problem(where, f"{name!r} is not a sensitive attribute.", suggest(name, work.policy.sensitive))
            for name in dict.fromkeys(unknown)
        )
    plan = tuple(
        tuple(sorted({place[column] for name in part for column in _columns(work, name)})) for part in lists
    )
    times = Counter(member for part in plan for member in part)
    problems = [
        Problem(
            where,
            f"{work.table.home(name)!r} stands in {times[number] or 'no'} tables.",
            "Every sensitive attribute stands in exactly one.",
        )
        for name, number in place.items()
        if times[number] != 1
    ]
    problems += [
        Problem(where, f"{' and '.join(group)} are protected as one but stand apart.", "Put them together.")
        for group in work.policy.guarantee.joint
        if not any({place[c] for c in work.table.expand(tuple(group))} <= set(part) for part in plan)
    ]
    if problems:
        raise PolicyError(dict.fromkeys(problems))
    return tuple(sorted(part for part in plan if part))


def smallest_parts(work: Work) -> Plan:
    """Every sensitive column by itself, but what is protected as one attribute together."""
    place = {name: number for number, name in enumerate(work.sensitive)}
    parts = [{number} for number in range(len(work.sensitive))]
    for group in work.policy.guarantee.joint:
        joint = {place[column] for column in work.table.expand(tuple(group))}
        touched = [part for part in parts if part & joint]
        if touched:
            parts = [part for part in parts if not part & joint] + [set().union(*touched)]
    return tuple(sorted(tuple(sorted(part)) for part in parts))


def told(work: Work, plan: Plan) -> str:
    """A plan for messages: attributes by name, values of multi-valued ones by number."""
    return " ".join(f"{{{', '.join(told_part(work, part))}}}" for part in plan)


def told_part(work: Work, part: Members) -> list[str]:
    """One table of a plan for messages."""
    homes = Counter(work.table.home(work.sensitive[member]) for member in part)
    return [
        f"{home} ({times} of {len(work.table.derived[home])} values)" if home in work.table.derived else home
        for home, times in homes.items()
    ]


def _columns(work: Work, name: str) -> tuple[str, ...]:
    return work.table.derived.get(name, (name,))
