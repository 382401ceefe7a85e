"""A method and an attack for manyveils, as another package brings them along."""

import polars as pl

from manyveils.attacks import Outcome, Scene
from manyveils.methods import Method, Options, Work
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch_counts
from manyveils.release.plan import LeveledView, Plan


class OneGroupOptions(Options):
    """The method's own keys of [publish]."""

    view: str = "main"


def one_group(work: Work) -> Plan:
    """One view in which every quasi-identifier is at the top of its hierarchy, if all rows together keep the promises."""
    watches = watch_counts(work, work.promises, ())
    if breaks_as_one_group(watches, work.table.n_people):
        raise refuse(work, watches)
    assert isinstance(work.options, OneGroupOptions)
    top = {name: len(work.table[name].levels) - 1 for name in work.policy.quasi}
    return Plan((LeveledView(work.options.view, work.published, top),), {"groups": 1})


ONE_GROUP = Method("one-group", "an example", OneGroupOptions, one_group)


def loners(scene: Scene) -> Outcome:
    """Loners: whoever shares the published quasi-identifiers with nobody is found.

    Knows: the quasi-identifiers.
    """
    tables = [
        pl.DataFrame(scene.release.tables[view.name]) for view in scene.release.views if not view.bucketed
    ]
    known = [[name for name in scene.policy.quasi if name in table.columns] for table in tables]
    alone = [
        int(table.select(pl.struct(names).is_unique().sum()).item())
        for table, names in zip(tables, known, strict=True)
        if names
    ]
    if not alone:
        return Outcome("loners", "the quasi-identifiers", "none", reason="every view is in buckets.")
    found, targets = max(alone), scene.release.rows
    share = found / targets if targets else 0.0
    return Outcome(
        "loners",
        "the quasi-identifiers",
        "exact",
        targets,
        success=share,
        baseline=0.0,
        low=share,
        high=share,
        certain=found,
    )
