"""Generalization: quasi-identifiers become coarser until every group keeps every promise.

Full-domain recoding finds the optimal node of the lattice of levels (as ARX does, with suppression);
Mondrian partitions rows top-down (LeFevre and others) and recodes each group by itself.
It promises any conjunction of guarantees, for any number of sensitive attributes.
It cannot break the link between sensitive attributes of one row: see `conditional`, or use another method.
"""

from typing import Literal

import numpy as np

from manyveils.methods.entries import Ids, dense
from manyveils.methods.explain import refuse, whole_table_problems
from manyveils.methods.generalize.cutting import Labels, cutting_of, style_of
from manyveils.methods.generalize.full_domain import make_full_domain
from manyveils.methods.generalize.labels import recoding_of_groups
from manyveils.methods.generalize.mondrian import partition
from manyveils.methods.keeping import watch
from manyveils.methods.work import Made, Method, Options, Work, shuffled_rows
from manyveils.release import Draft, Recoding


class GeneralizeOptions(Options):
    """Keys of [publish] for `method = "generalize"`."""

    recoding: Literal["full-domain", "mondrian"] = "full-domain"
    objective: Literal["loss", "discernibility", "class-size", "height"] = "loss"
    labels: Labels = "auto"
    cuts: Literal["strict", "relaxed"] = "relaxed"


def make(work: Work) -> Made:
    """Publish one view with one column, in which groups share their quasi-identifiers."""
    options = work.options
    assert isinstance(options, GeneralizeOptions)
    if options.recoding == "full-domain" or not work.quasi:
        return make_full_domain(work, options.objective)
    return make_mondrian(work, labels=options.labels, relaxed=options.cuts == "relaxed")


def make_mondrian(work: Work, *, labels: Labels, relaxed: bool) -> Made:
    """Publish groups found by cutting the rows top-down, each with its own ranges, sets or labels."""
    watches = watch(work.promises, work.table, work.sensitive)
    if any(True for _ in whole_table_problems(work, watches)):
        raise refuse(work, watches)
    columns = tuple(work.table[name] for name in work.quasi)
    leaves = tuple(len(work.policy.lines(name) or ()) or work.table[name].n_values for name in work.quasi)
    order = _near_order(work)
    cutting = cutting_of(columns, leaves, labels)
    groups = partition(
        cutting, order, watches, relaxed=relaxed, progress=lambda share: work.progress("cutting", share)
    )
    n_groups = int(groups.max()) + 1
    recodings: dict[str, Recoding] = {}
    for column in columns:
        recoding = recoding_of_groups(column, groups, n_groups, style_of(column, labels))
        if recoding is not None:
            recodings[column.name] = recoding
    notes = {
        "recoding": "mondrian",
        "labels": labels,
        "cuts": "relaxed" if relaxed else "strict",
        "groups": n_groups,
    }
    rows = np.arange(work.table.n_rows)
    return Made((Draft("main", (work.published,), rows, recodings=recodings),), notes)


def _near_order(work: Work) -> Ids:
    """All rows with like quasi-identifiers next to each other, and equal ones shuffled.

    Where a cut must part equal values, the rows that stay behind are then alike in other attributes too.
    """
    shuffled = shuffled_rows(work, "mondrian.order")
    keys, _ = dense(work.table.codes(work.quasi), work.table.sizes(work.quasi), work.table.n_rows)
    near: Ids = shuffled[np.argsort(keys[shuffled], kind="stable")]
    return near


METHOD = Method(
    "generalize",
    "LeFevre, DeWitt, Ramakrishnan 2005 and 2006; Kohlmayer and others 2012",
    GeneralizeOptions,
    make,
)
