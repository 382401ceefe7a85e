"""Every attribute in a table of its own: nothing is linked to anything, so marginal shares are all one learns.

The baseline that every other method must beat in utility (paper 002 calls it single-attribute).
It promises what the whole table keeps as one group, and keeps any rule of that strength.
"""

import numpy as np

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods import Method, Options
from manyveils.policy.guarantees import CappedShare, Diversity, Linkability
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch, watch_counts
from manyveils.promises.work import Work
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, LeveledView, Plan

# What holds for one attribute holds for any combination with it, when attributes are published apart.
IMPLIED = (Diversity, CappedShare, Linkability)


class SeparateOptions(Options):
    """`method = "separate"` has no keys of its own."""


def plan(work: Work) -> Plan | FromRows:
    """One view per attribute, if the whole table keeps the promises."""
    _refuse_joint(work)
    if work.table.earlier is not None:
        return FromRows(_continued)
    # Nothing else is published beside an attribute, so knowing other attributes does not help.
    watches = watch_counts(work, work.promises, ())
    if breaks_as_one_group(watches, work.table.n_people):
        raise refuse(work, watches)
    return Plan(tuple(LeveledView(name, (name,)) for name in work.published), {"views": len(work.published)})


def _continued(work: Work) -> Drafts:
    """One view per attribute of everybody, but for those who are held back, beside earlier releases."""
    from manyveils.methods.newcomers import rows_of  # Few publications ask for it.
    from manyveils.methods.returning import cohorts_of

    everybody = cohorts_of(
        work,
        lambda own, _: np.zeros(own.table.n_persons, dtype=np.int64),
        lambda table: watch(work.promises, table, ()),
        lambda groups: np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64),
    )
    rows = rows_of(work.table, np.flatnonzero(everybody >= 0))
    drafts = tuple(Draft(name, ((name,),), rows) for name in work.published)
    return Drafts(drafts, {"views": len(drafts)})


def _refuse_joint(work: Work) -> None:
    """Combinations are not published, so nothing can be promised of how they are distributed."""
    problems = (
        Problem(
            f"{work.policy.name}: {work.subject_of(promise)}",
            f"{promise.guarantee.kind} of a combination cannot be kept: its attributes are published apart.",
            'Drop the combination from joint, or use method = "anatomize".',
        )
        for promise in work.promises
        if len(promise.protects) > 1 and not isinstance(promise.guarantee, IMPLIED)
    )
    InfeasibleError.refuse(dict.fromkeys(problems))


METHOD = Method(
    "separate",
    "Jin, Zhang, Das 2010: single-attribute tables",
    SeparateOptions,
    plan,
    takes_rules=True,
    hides=True,
    demo={"separate": {}},
    continues=True,
)
