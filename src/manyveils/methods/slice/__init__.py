"""Slicing: correlated attributes stay together in columns, and links between columns are broken inside buckets.

Paper 003. Attributes are partitioned by correlation, columns are generalized where a value would be too rare,
rows are partitioned into buckets, and only the multiset of each column inside each bucket is published.
It promises any guarantee about what someone who knows a target's quasi-identifiers believes of a sensitive value.
It cannot promise anything against those who know sensitive attributes of the same column, unless `conditional` is set.
"""

from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from manyveils.errors import PolicyError, Problem
from manyveils.methods.slice.grouping import cut_buckets, group_buckets
from manyveils.methods.slice.layout import Layout, lay_out
from manyveils.methods.slice.regions import Region, regions_of
from manyveils.methods.work import Method, Options
from manyveils.promises.entries import Ids
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, InParts


class SliceOptions(Options):
    """Keys of [publish] for `method = "slice"`."""

    columns: Annotated[int, Field(ge=1)] | list[list[str]] | Literal["auto"] = "auto"
    discretize: Literal["equal-width", "cluster"] = "equal-width"
    bins: int = Field(10, ge=2)
    column_k: int = Field(1, ge=1)
    joint: bool = False
    overlap: list[str] = []
    partition: Literal["mondrian", "random", "membership"] = "mondrian"
    bucket: int = Field(100, ge=1)


def _sliced(layout: Layout, work: Work) -> Drafts:
    """One view with several columns, inside buckets."""
    options = work.options
    assert isinstance(options, SliceOptions)
    _refuse_parted(work, layout)
    order = shuffled_rows(work, "slice.order")
    regions = tuple(regions_of(work, column, order, column_k=options.column_k) for column in layout.columns)
    _refuse_double_recoding(work, regions)
    if options.partition == "mondrian":
        buckets = cut_buckets(work, regions, order)
    else:
        buckets = group_buckets(work, regions, order, design=options.partition, size=options.bucket)
    return _made(work, layout, regions, buckets)


def _layout(work: Work, options: SliceOptions) -> Layout:
    return lay_out(
        work,
        columns=options.columns,
        discretize=options.discretize,
        bins=options.bins,
        overlap=options.overlap,
        joint=options.joint,
    )


def _refuse_parted(work: Work, layout: Layout) -> None:
    """Attributes that are protected as one must share a column."""
    for promise in work.promises:
        if promise.protects and not any(set(promise.protects) <= set(column) for column in layout.columns):
            what = f"{' and '.join(promise.protects)} are protected as one but stand in different columns."
            raise PolicyError(
                [Problem(f"{work.policy.name}: publish.columns", what, "Put them into one column.")]
            )


def _refuse_double_recoding(work: Work, regions: tuple[Region, ...]) -> None:
    """An attribute that stands in several columns cannot be generalized in one and not in the other."""
    names = [name for region in regions for name in region.column]
    doubled = sorted({name for region in regions for name in region.recodings if names.count(name) > 1})
    if doubled:
        raise PolicyError(
            Problem(
                f"{work.policy.name}: publish.overlap",
                f"{name!r} would have to be generalized in one of its columns.",
                "Drop it from overlap, or choose columns in which its values are frequent enough.",
            )
            for name in doubled
        )


def _made(work: Work, layout: Layout, regions: tuple[Region, ...], buckets: Ids) -> Drafts:
    recodings = {name: recoding for region in regions for name, recoding in region.recodings.items()}
    sizes = np.bincount(buckets)
    single = len(layout.columns) == 1
    draft = Draft(
        "main", layout.columns, np.arange(work.table.n_rows), None if single else buckets, recodings
    )
    notes = {
        "columns": [list(column) for column in layout.columns],
        "generalized": sorted(recodings),
        "buckets": 1 if single else int(sizes.size),
        "smallest_bucket": int(sizes.min()),
        "largest_bucket": int(sizes.max()),
        **_described(layout),
    }
    return Drafts((draft,), notes)


def _described(layout: Layout) -> dict[str, object]:
    return {
        "correlation": {
            name: dict(zip(layout.names, (round(float(x), 4) for x in row), strict=True))
            for name, row in zip(layout.names, layout.correlation, strict=True)
        },
    }


def plan(work: Work) -> FromRows:
    """Columns are laid out by what all rows tell, and buckets cut inside every part.

    Claim: promises that hold in every part hold in the whole.
    Why: rows of two parts differ in a quasi-identifier of which no value stands in both, so nobody of one part
    matches a bucket of the other.
    Tested by: tests/spark/test_parts.py
    """
    options = work.options
    assert isinstance(options, SliceOptions)
    everything = watch_counts(work, work.promises, ())
    if breaks_as_one_group(everything, work.table.n_people):
        raise refuse(work, everything)
    layout = _layout(work, options)
    return FromRows(partial(_sliced, layout), InParts(layout.columns, "ranges", (), _described(layout)))


METHOD = Method("slice", "Slicing: paper 003", SliceOptions, plan)
