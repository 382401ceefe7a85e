"""Generalization: quasi-identifiers become coarser until every group keeps every promise.

Full-domain recoding finds the optimal node of the lattice of levels (as ARX does, with suppression);
Mondrian partitions rows top-down (LeFevre and others) and recodes each group by itself.
It promises any conjunction of guarantees, for any number of sensitive attributes.
It cannot break the link between sensitive attributes of one row: see `conditional`, or use another method.
"""

from typing import Literal

import numpy as np

from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.full_domain import decide_full_domain
from manyveils.methods.generalize.tables import cut_table, label_groups
from manyveils.methods.work import Decided, InParts, Made, Method, Options, drafted
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work
from manyveils.release import Draft


class GeneralizeOptions(Options):
    """Keys of [publish] for `method = "generalize"`."""

    recoding: Literal["full-domain", "mondrian"] = "full-domain"
    objective: Literal["loss", "discernibility", "class-size", "height"] = "loss"
    labels: Labels = "auto"
    cuts: Literal["strict", "relaxed"] = "relaxed"


def decide(work: Work) -> Decided | None:
    """The levels to publish at; nothing for Mondrian, which cuts rows."""
    options = work.options
    assert isinstance(options, GeneralizeOptions)
    if options.recoding == "full-domain" or not work.quasi:
        return decide_full_domain(work, options.objective)
    return None


def part(work: Work) -> InParts:
    """Mondrian goes on inside every part as it would have done."""
    options = work.options
    assert isinstance(options, GeneralizeOptions)
    return InParts(options, options.labels, work.sensitive)


def make(work: Work) -> Made:
    """Publish one view with one column, in which groups share their quasi-identifiers."""
    options = work.options
    assert isinstance(options, GeneralizeOptions)
    decided = decide(work)
    if decided is not None:
        return drafted(work, decided)
    return make_mondrian(work, labels=options.labels, relaxed=options.cuts == "relaxed")


def make_mondrian(work: Work, *, labels: Labels, relaxed: bool) -> Made:
    """Publish groups found by cutting the rows top-down, each with its own ranges, sets or labels."""
    watches = watch(work.promises, work.table, work.sensitive)
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    groups = cut_table(work, watches, labels=labels, relaxed=relaxed)
    notes = {
        "recoding": "mondrian",
        "labels": labels,
        "cuts": "relaxed" if relaxed else "strict",
        "groups": int(groups.max()) + 1,
    }
    rows = np.arange(work.table.n_rows)
    return Made(
        (Draft("main", (work.published,), rows, recodings=label_groups(work, groups, labels)),), notes
    )


METHOD = Method(
    "generalize",
    "LeFevre, DeWitt, Ramakrishnan 2005 and 2006; Kohlmayer and others 2012",
    GeneralizeOptions,
    make,
    decide,
    part,
    variants={"full-domain": {"recoding": "full-domain"}, "mondrian": {"recoding": "mondrian"}},
    tried=("mondrian",),
    demo={"generalize": {"suppression": 0.02}, "generalize-mondrian": {"recoding": "mondrian"}},
)
