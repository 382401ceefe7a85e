"""What all experiments of the CODIP paper start from: the publication to be made, and the plans of CODIP*."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import polars as pl

from benchmarks.reproductions import census
from benchmarks.trail import work_of
from manyveils import Policy
from manyveils.methods import Work
from manyveils.methods.codip.association import Association, Members, Plan, associate
from manyveils.methods.codip.plans import Merge
from manyveils.methods.codip.search import merged_plan
from manyveils.table import hold

Hierarchies = Mapping[str, Mapping[str, Any]]


def works_for(
    frame: pl.DataFrame, ks: Iterable[int], hierarchies: Hierarchies = census.HIERARCHIES
) -> dict[int, Work]:
    """The publication to be made for every k; the table is coded once."""
    described = census.attributes(hierarchies)
    policies = {k: Policy(attributes=described, guarantee={"k": k}, publish={"method": "codip"}) for k in ks}
    table, _ = hold(frame, next(iter(policies.values())))
    return {k: work_of(policy, table) for k, policy in policies.items()}


def association_of(frame: pl.DataFrame) -> Association:
    """What the fifteen sensitive attributes tell of each other."""
    [work] = works_for(frame, (2,)).values()
    return associate(work.table, work.policy, work.sensitive)


def singles(association: Association) -> Plan:
    """Every attribute in a table of its own."""
    return tuple((member,) for member in range(len(association.names)))


def searched(association: Association, beta: Fraction, *, patient: bool = False) -> Plan:
    """The plan of CODIP*, or of its patient kind, if only beta limits it."""
    return merged_plan(association, singles(association), anything, beta, patient=patient)[0]


def merges_of(association: Association) -> tuple[Merge, ...]:
    """All merges of CODIP*, down to one table."""
    return merged_plan(association, singles(association), anything, Fraction(1), patient=False)[1]


def plans_of(association: Association) -> dict[int, Plan]:
    """The plans that CODIP* goes through, by their number of tables.

    Merging only adds to what is exposed, so whatever beta is, the plan of CODIP* is one of these.
    """
    merged = {len(merge.plan): merge.plan for merge in merges_of(association)}
    return {len(association.names): singles(association), **merged}


def anything(members: Members) -> bool:
    """Whether a table can be anonymized, where that is not asked."""
    return True


def short(name: str) -> str:
    """The name of an attribute, without that of the multi-valued attribute it comes from.

    >>> short("household_status=married")
    'married'
    """
    return name.partition("=")[2] or name
