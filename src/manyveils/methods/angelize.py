"""Angelization: quasi-identifiers generalized in groups, sensitive attributes shuffled inside batches, cut apart from each other.

Tao, Chen, Xiao, Zhou and Zhang 2009 (ANGEL). Groups hide who is there, batches hide who has what; because they are made
independently, neither has to be coarser than its own purpose asks for.
A batch is a bucket of the one view, and a group is shown by the labels of its quasi-identifiers.
With `batches = "own"` groups and batches meet many to many, as in (c,k)-anonymization of several sensitive attributes;
with `batches = "groups"` every group is a batch, as in (p,k)-angelization.
It promises any guarantee batch by batch, and k group by group too.
It cannot hide a quasi-identifier's distribution, nor who is there where a group is alone in its range.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from manyveils.errors import PolicyError
from manyveils.methods import Gap, Method, anatomize, drafts_of
from manyveils.methods.anatomize import AnatomizeOptions
from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.labels import cut_table, label_groups
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Ids
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work
from manyveils.release.dealing import bucket_notes
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows
from manyveils.table import Table


class AngelizeOptions(AnatomizeOptions):
    """Keys of [publish] for `method = "angelize"`."""

    group_k: int = Field(5, ge=1, strict=True)
    batches: Literal["own", "groups"] = "own"
    labels: Labels = "auto"


def plan(work: Work) -> FromRows:
    """Batches are filled as buckets of anatomy are; groups are cut among the rows that have a batch."""
    if not work.sensitive:
        what = "angelize needs a sensitive attribute."
        raise PolicyError.at(work.policy.name, what, 'Use method = "generalize".')
    is_one_to_one = work.options_as(AngelizeOptions).batches == "groups"
    if is_one_to_one and work.table.persons is not None:
        what = "makes batches of groups of rows, and persons have several."
        raise PolicyError.at(f"{work.policy.name}: publish.batches", what, 'Use batches = "own".')
    return FromRows(_one_to_one if is_one_to_one else _many_to_many)


def _many_to_many(work: Work) -> Drafts:
    """Batches that keep all promises, and groups that keep those about rows.

    Claim: whoever matches several batches believes nothing of a value that a promise forbids.
    Why: every batch keeps what any mixture of batches then keeps, however the rows of her group are spread over them.
    Tested by: tests/claims/test_angelize.py
    """
    about_rows = tuple(promise for promise in work.promises if not promise.protects)
    batched = replace(work, promises=_for_batches(work))
    [draft] = drafts_of(batched, anatomize.plan(batched)).views
    placed = (
        work if draft.rows.size == work.table.n_rows else replace(work, table=_some(work.table, draft.rows))
    )
    return _drafted(placed, draft, _groups(placed, about_rows))


def _some(table: Table, rows: Ids) -> Table:
    """Some rows, whose persons are numbered without gaps."""
    taken = table.taking(rows)
    if taken.persons is None:
        return taken
    return replace(taken, persons=np.unique(taken.persons, return_inverse=True)[1])


def _one_to_one(work: Work) -> Drafts:
    """Groups that keep all promises, each of them a batch."""
    promises = _for_batches(work)
    watches = watch(promises, work.table, work.sensitive)
    if breaks_as_one_group(watches, work.table.n_people):
        raise refuse(work, watches)
    groups = _groups(work, promises)
    columns = anatomize.columns_of(work)
    return _drafted(work, Draft("main", columns, np.arange(work.table.n_rows), buckets=groups), groups)


def _for_batches(work: Work) -> tuple[Promise, ...]:
    """What every batch must keep so that the promises hold for whoever matches several."""
    return tuple(promise.for_mixtures() for promise in work.promises)


def _groups(work: Work, promises: tuple[Promise, ...]) -> Ids:
    """The group of every row, by Mondrian, with `group_k` persons or more where there are as many."""
    options = work.options_as(AngelizeOptions)
    if not work.quasi:
        return np.zeros(work.table.n_rows, dtype=np.int64)
    least = min(options.group_k, work.table.n_persons)
    large = Promise(KAnonymity(least), work.quasi)
    return cut_table(work, (*promises, large), work.sensitive, labels=options.labels, relaxed=True)


def _drafted(work: Work, draft: Draft, groups: Ids) -> Drafts:
    """The view of rows that have a batch, with the labels of their groups."""
    options = work.options_as(AngelizeOptions)
    recodings = label_groups(work, groups, options.labels, work.quasi)
    assert draft.buckets is not None
    sizes = np.bincount(draft.buckets)
    notes = {
        "groups": int(groups.max(initial=-1)) + 1,
        "batches": options.batches,
        **bucket_notes(sizes, int(sizes.size)),
    }
    return Drafts((replace(draft, recodings=recodings),), notes)


METHOD = Method(
    "angelize",
    "Tao, Chen, Xiao, Zhou, Zhang 2009: ANGEL",
    AngelizeOptions,
    plan,
    variants={"own": {"batches": "own"}, "groups": {"batches": "groups"}},
    suppresses=True,
    leaves_out=lambda options: options.batches == "own",
    demo={"angelize": {"suppression": 0.02}},
    gap=Gap(
        "its groups and its batches are made from all rows, each without regard to the other",
        'Use method = "anatomize" or "generalize", or the local engine.',
    ),
    why_not="its groups are cut anew, so that who shares one with whom changes from release to release",
)
