"""Doubts about a policy before anything is published: roles that would make a promise say less than it seems to.

`lint` looks at the policy and the table alone and knows no method; one file per kind of finding.
"""

from manyveils.linting.copies import copies
from manyveils.linting.finding import Doubt, Lint
from manyveils.linting.idle import idle_promises
from manyveils.linting.repeats import repeats
from manyveils.linting.singling import singling
from manyveils.linting.texts import free_texts, free_texts_among
from manyveils.linting.together import settling
from manyveils.policy import Policy
from manyveils.table import Table

__all__ = ["Doubt", "Lint", "lint"]


def lint(table: Table, policy: Policy) -> Lint:
    """Everything about the roles of a policy that its data give reason to doubt, all at once.

    Claim: no table is published in which a neutral attribute, or up to three of them together, single out more than
    a twentieth of the persons, unless the policy accepts it.
    Why: `run.make` and the Spark engine call this before a method plans, and refuse what is not accepted.
    Tested by: tests/claims/test_lint.py
    """
    texts = free_texts_among(table, policy)
    copied = tuple(copies(table, policy))
    doubts = [
        *idle_promises(policy),
        *repeats(table, policy),
        *free_texts(texts, table, policy),
        *singling(table, policy, spared=texts),
        *copied,
        *settling(table, policy, alone={doubt.about for doubt in copied}),
    ]
    return Lint(tuple(doubts), tuple(policy.accept), policy.name)
