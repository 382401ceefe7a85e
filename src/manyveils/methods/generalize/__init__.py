"""Generalization: quasi-identifiers become coarser until every group keeps every promise.

Full-domain recoding finds the optimal node of the lattice of levels (as ARX does, with suppression);
Mondrian partitions rows top-down (LeFevre and others) and recodes each group by itself.
It promises any conjunction of guarantees, for any number of sensitive attributes.
It cannot break the link between sensitive attributes of one row: see `conditional`, or use another method.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from manyveils.methods import Method, Options
from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.demand import Demand
from manyveils.methods.generalize.full_domain import Limits, demand_of, plan_full_domain
from manyveils.methods.generalize.labels import cut_table, label_groups
from manyveils.promises.entries import Ids
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, InParts, Plan


class GeneralizeOptions(Options):
    """Keys of [publish] for `method = "generalize"`."""

    recoding: Literal["full-domain", "mondrian"] = "full-domain"
    objective: Literal["loss", "discernibility", "class-size", "height"] = "loss"
    labels: Labels = "auto"
    cuts: Literal["strict", "relaxed"] = "relaxed"
    check_limit: int | None = Field(None, ge=1, strict=True)
    time_limit: float | None = Field(None, gt=0, strict=True)


def plan(work: Work) -> Plan | FromRows:
    """The levels to publish at; Mondrian cuts rows, and goes on inside every part of them as it would have done."""
    options = work.options_as(GeneralizeOptions)
    if options.recoding == "full-domain" or not work.quasi:
        return plan_full_domain(work, options.objective, Limits(options.check_limit, options.time_limit))
    if work.table.earlier is not None:
        return FromRows(_continued)
    return FromRows(_mondrian, InParts((work.published,), options.labels, work.sensitive))


def _mondrian(work: Work) -> Drafts:
    """One view with one column: groups found by cutting the rows top-down, each with its own ranges, sets or labels."""
    options = work.options_as(GeneralizeOptions)
    watches = watch(work.promises, work.table, work.sensitive)
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    relaxed = options.cuts == "relaxed"
    groups = cut_table(work, work.with_room, work.sensitive, labels=options.labels, relaxed=relaxed)
    return _labelled(work, groups)


def _continued(work: Work) -> Drafts:
    """The same beside earlier releases."""
    from manyveils.methods.generalize.cohorts import groups_beside  # Few publications ask for it.

    options = work.options_as(GeneralizeOptions)
    return _labelled(work, groups_beside(work, options.labels, relaxed=options.cuts == "relaxed"))


def _labelled(work: Work, groups: Ids) -> Drafts:
    """One view of all rows that have a group, with the labels of their groups."""
    options = work.options_as(GeneralizeOptions)
    rows = np.flatnonzero(groups >= 0)
    placed = work if rows.size == groups.size else replace(work, table=work.table.taking(rows))
    recodings = label_groups(placed, groups[rows], options.labels, work.quasi)
    notes = {
        "recoding": "mondrian",
        "labels": options.labels,
        "cuts": options.cuts,
        "groups": int(groups.max()) + 1,
    }
    draft = Draft("main", (work.published,), rows, recodings=recodings)
    return Drafts((draft,), notes)


def lattice(work: Work) -> Demand | None:
    """What is asked of every node, where levels are chosen for all rows together."""
    options = work.options_as(GeneralizeOptions)
    return demand_of(work, options.objective) if options.recoding == "full-domain" else None


METHOD = Method(
    "generalize",
    "LeFevre, DeWitt, Ramakrishnan 2005 and 2006; Kohlmayer and others 2012",
    GeneralizeOptions,
    plan,
    variants={"full-domain": {"recoding": "full-domain"}, "mondrian": {"recoding": "mondrian"}},
    tried=("mondrian",),
    hides=True,
    demo={"generalize": {"suppression": 0.02}, "generalize-mondrian": {"recoding": "mondrian"}},
    continues=True,
    counts_population=lambda options: options.recoding == "full-domain",
    leaves_out=lambda options: options.recoding == "full-domain",
    lattice=lattice,
)
