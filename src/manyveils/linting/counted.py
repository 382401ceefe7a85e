"""Doubts about a policy whose rows are elsewhere, from counts."""

from manyveils.linting import Lint, lint
from manyveils.policy import Policy
from manyveils.table import Table
from manyveils.table.counting import Counting, TooManyError


def lint_counted(policy: Policy, counts: Counting) -> Lint:
    """Doubts about the policy; attributes together are only looked at if their counts fit."""
    found = [
        lint(table, policy)
        for table in (Table({}, 1, repeating=counts.held.sketch.repeating), *_tables(policy, counts))
    ]
    doubts = dict.fromkeys(doubt for part in found for doubt in part.doubts)
    return Lint(tuple(doubts), tuple(policy.accept), policy.name)


def _tables(policy: Policy, counts: Counting) -> list[Table]:
    held = counts.held.sketch.attributes
    neutral, sensitive = (
        tuple(name for name in names if name in held)
        for names in (policy.having("neutral"), policy.sensitive)
    )
    alone = [(name,) for name in (*neutral, *sensitive)]
    if not neutral:
        return list(map(counts.of, alone))
    try:
        return [counts.of((*neutral, *sensitive))]
    except TooManyError:
        return list(map(counts.of, alone))
