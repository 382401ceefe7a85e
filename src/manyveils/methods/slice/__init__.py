"""Slicing: correlated attributes stay together in columns, and links between columns are broken inside buckets.

Paper 003. Attributes are partitioned by correlation, columns are generalized where a value would be too rare,
rows are partitioned into buckets, and only the multiset of each column inside each bucket is published.
It promises any guarantee about what someone who knows a target's quasi-identifiers believes of a sensitive value.
It cannot promise anything against those who know sensitive attributes of the same column, unless `conditional` is set.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.methods import Method
from manyveils.methods.slice.buckets import Region, bucket_watches, cut_buckets, group_buckets, regions_of
from manyveils.methods.slice.layout import Layout, SliceOptions, lay_out
from manyveils.methods.slice.medians import halve_buckets
from manyveils.promises.entries import Ids, distinct, examples
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release.dealing import bucket_notes
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, InParts
from manyveils.wording import counted


def _sliced(layout: Layout, work: Work) -> Drafts:
    """One view with several columns, inside buckets."""
    options = work.options_as(SliceOptions)
    _refuse_parted(work, layout)
    order = shuffled_rows(work, "slice.order")
    regions = tuple(regions_of(work, column, order, column_k=options.column_k) for column in layout.columns)
    _refuse_double_recoding(work, regions)
    if work.table.earlier is not None:
        return _made(work, layout, regions, _continued(work, regions))
    if options.partition == "mondrian":
        buckets = cut_buckets(work, regions, order)
    elif options.partition == "median":
        buckets = halve_buckets(work, regions, order)
    else:
        buckets = group_buckets(work, regions, order, design=options.partition, size=options.bucket)
    _refuse_sightings(work, regions)
    return _made(work, layout, regions, buckets)


def _continued(work: Work, regions: tuple[Region, ...]) -> Ids:
    """Buckets of persons some of whom were in earlier releases; -1 for the rows of who is held back."""
    from manyveils.methods.nearness import places_of  # Few publications ask for it.
    from manyveils.methods.newcomers import rows_of
    from manyveils.methods.returning import cohorts_of

    whole, persons = work.table, work.table.persons
    assert persons is not None

    def cut(own: Work, some: Ids) -> Ids:
        rows = rows_of(whole, some)
        own_regions = tuple(replace(region, of_row=region.of_row[rows]) for region in regions)
        buckets = cut_buckets(own, own_regions, shuffled_rows(own, "slice.order"))
        return buckets if own.table.persons is None else buckets[examples(own.table.persons, some.size)]

    groups = cohorts_of(
        work,
        cut,
        lambda table: bucket_watches(replace(work, table=table), regions, overlap=True),
        places=places_of(whole, work.quasi, whole.n_persons),
        is_told_apart=False,
    )
    return groups[persons]


def _refuse_parted(work: Work, layout: Layout) -> None:
    """Attributes that are protected as one must share a column."""
    parted = [
        promise
        for promise in work.promises
        if promise.protects and not any(set(promise.protects) <= set(column) for column in layout.columns)
    ]
    if parted:
        names = dict.fromkeys(work.table.home(name) for name in parted[0].protects)
        what = f"{' and '.join(names)} are protected as one but stand in different columns."
        raise PolicyError.at(f"{work.policy.name}: publish.columns", what, "Put them into one column.")


def _refuse_double_recoding(work: Work, regions: tuple[Region, ...]) -> None:
    """An attribute that stands in several columns cannot be generalized in one of them alone."""
    where = f"{work.policy.name}: publish.overlap"
    names = [name for region in regions for name in region.column]
    doubled = {name for region in regions for name in region.recodings if names.count(name) > 1}
    remedy = "Drop it from overlap, or choose columns in which its values are frequent enough."
    PolicyError.refuse(
        Problem(where, f"{name!r} would have to be generalized in one of its columns.", remedy)
        for name in sorted({work.table.home(name) for name in doubled})
    )


def _refuse_sightings(work: Work, regions: tuple[Region, ...]) -> None:
    """Who is seen with a constant attribute beside several values of its column tells more of it than one row would."""
    persons = work.table.persons
    PolicyError.refuse(
        Problem(
            f"{work.policy.name}: attributes.{home}.constant",
            f"{counted(n_seen, 'person is', 'persons are')} seen with it beside several values of {' and '.join(known)}, and slicing does not "
            "judge what these tell together.",
            'Put it into a column without quasi-identifiers, or use method = "anatomize".',
        )
        for region in (regions if persons is not None else ())
        for home in sorted({work.table.home(name) for name in region.column})
        if work.policy.attributes[home].constant and home in work.policy.sensitive
        if (known := [name for name in work.policy.quasi if {*work.table.expand([name])} & {*region.column}])
        if persons is not None and (n_seen := _n_seen_apart(persons, region))
    )


def _n_seen_apart(persons: Ids, region: Region) -> int:
    """How many persons have rows in several regions of a column."""
    pairs = distinct(persons * region.n_regions + region.of_row)
    return int((np.bincount(pairs // region.n_regions) > 1).sum())


def _made(work: Work, layout: Layout, regions: tuple[Region, ...], buckets: Ids) -> Drafts:
    rows = np.flatnonzero(buckets >= 0)
    recodings = {
        name: recoding.of_rows(rows, work.table[name])
        for region in regions
        for name, recoding in region.recodings.items()
    }
    sizes = np.bincount(buckets[rows])
    is_single = len(layout.columns) == 1
    draft = Draft("main", layout.columns, rows, None if is_single else buckets[rows], recodings)
    notes = {
        "columns": [list(column) for column in layout.columns],
        "generalized": sorted(recodings),
        **bucket_notes(sizes, 1 if is_single else int(sizes.size)),
        "correlation": layout.correlation_notes,
    }
    return Drafts((draft,), notes)


def plan(work: Work) -> FromRows:
    """Columns are laid out by what all rows tell, and buckets cut inside every part.

    Claim: promises that hold in every part hold in the whole.
    Why: rows of two parts differ in a quasi-identifier of which no value stands in both, so nobody of one part
    matches a bucket of the other.
    Tested by: tests/spark/test_parts.py
    """
    options = work.options_as(SliceOptions)
    everything = watch_counts(work, work.promises, ())
    if breaks_as_one_group(everything, work.table.n_people):
        raise refuse(work, everything)
    layout = lay_out(work, options)
    notes = {"correlation": layout.correlation_notes}
    return FromRows(partial(_sliced, layout), InParts(layout.columns, "ranges", (), notes))


METHOD = Method(
    "slice", "Slicing: paper 003", SliceOptions, plan, demo={"slice": {"columns": 4}}, continues=True
)
