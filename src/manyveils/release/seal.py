"""The one way out: from drafts in table order to sorted, listed, public tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy, Promise
from manyveils.release.draft import Draft
from manyveils.release.names import Names
from manyveils.release.release import Release
from manyveils.release.views import ColumnFile, Manifest, View
from manyveils.table import Restore, Table

BUCKET = "bucket"
LARGEST_KEY = 2**62


def seal(
    drafts: Sequence[Draft],
    table: Table,
    policy: Policy,
    restore: Restore,
    *,
    notes: Mapping[str, object],
    rng: np.random.Generator,
    promises: Sequence[Promise] = (),
) -> Release:
    """Publish the columns of drafts as sorted multisets; nothing that is not on the policy's list gets out.

    Claim: what is published of a column is its multiset inside each bucket, and nothing else.
    Why: rows are sorted by their published values, so equal multisets give equal files whatever the source
    order was; bucket numbers are shuffled, so they tell nothing either.
    Tested by: tests/claims/test_seal.py
    """
    allowed = set(table.expand(policy.published))
    names, frames, recodings, views = Names(), {}, {}, []
    recoding_names = Names()
    for draft in _without_lost_bits(drafts, table):
        leaked = {name for column in draft.columns for name in column} - allowed
        if leaked:
            raise AssertionError(f"view {draft.name}: {len(leaked)} attributes may not be published")
        buckets = None if draft.buckets is None else _renumbered(draft.buckets, rng)
        files = []
        for attributes in draft.columns:
            stem = names.of(draft.name, attributes if buckets is not None else ())
            frames[stem] = _sorted_column(draft, attributes, table, buckets)
            types = {name: type_name(frames[stem][name].dtype) for name in attributes}
            files.append(ColumnFile(attributes, stem, types))
        views.append(View(draft.name, tuple(files), buckets is not None, len(draft.rows), draft.enforces))
        recodings.update(published_recodings(draft))
    rows = max((len(draft.rows) for draft in drafts), default=0)
    manifest = Manifest(
        method=policy.publish.method,
        rows=rows,
        suppressed=table.n_rows - rows,
        promises=described_promises(promises, table),
        views=tuple(views),
        derived=shown_bits(views, table),
        recodings={key: recoding_names.of(key[0], (key[1],)) for key in recodings},
        secret=_secret(drafts, table),
    )
    return Release(manifest, frames, recodings, restore=restore, notes=notes)


def _without_lost_bits(drafts: Sequence[Draft], table: Table) -> Iterator[Draft]:
    """Leave out 0/1 columns of values that only suppressed rows have: their names would tell."""
    bits = {column for columns in table.derived.values() for column in columns}
    for draft in drafts:
        lost = {
            name
            for column in draft.columns
            for name in column
            if name in bits and table[name].counts[1] and not table[name].codes[draft.rows].any()
        }
        columns = (tuple(name for name in column if name not in lost) for column in draft.columns)
        yield replace(draft, columns=tuple(column for column in columns if column)) if lost else draft


def _secret(drafts: Sequence[Draft], table: Table) -> tuple[str, ...]:
    """The columns whose labels only the holder of the data can read, in the order of the table."""
    hidden = {name for draft in drafts for name, recoding in draft.recodings.items() if recoding.is_secret}
    return tuple(name for name in table.attributes if name in hidden)


def shown_bits(views: Sequence[View], table: Table) -> dict[str, tuple[str, ...]]:
    """The published 0/1 columns of every attribute with several values in a cell."""
    shown = {name for view in views for name in view.attributes}
    return {name: tuple(bit for bit in bits if bit in shown) for name, bits in table.derived.items()}


def type_name(dtype: pl.DataType) -> str:
    """The type of a published field as the manifest names it."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    return {pl.Boolean(): "boolean", pl.Date(): "date"}.get(dtype, "text")


def described_promises(promises: Sequence[Promise], table: Table) -> tuple[Mapping[str, object], ...]:
    """The promises as the manifest lists them; the bits of a multi-valued attribute share one entry."""
    listed: list[Mapping[str, object]] = []
    for promise in promises:
        whole = replace(
            promise,
            given=tuple(dict.fromkeys(table.home(name) for name in promise.given)),
            protects=tuple(table.home(name) for name in promise.protects),
        )
        if whole.describe() not in listed:
            listed.append(whole.describe())
    return tuple(listed)


def _renumbered(buckets: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    _, dense = np.unique(buckets, return_inverse=True)
    n_buckets = int(dense.max()) + 1 if dense.size else 0
    shuffled: NDArray[np.int64] = rng.permutation(n_buckets)[dense]
    return shuffled


@dataclass(frozen=True)
class _Field:
    """One field of a published column: the rank of every row's value, and the values in order."""

    name: str
    codes: NDArray[np.integer]
    values: pl.Series | None
    n_values: int


def _sorted_column(
    draft: Draft, attributes: tuple[str, ...], table: Table, buckets: NDArray[np.int64] | None
) -> pl.DataFrame:
    """One published column: its rows in the order of their values, bucket by bucket."""
    fields = [_field(draft, name, table) for name in attributes]
    if buckets is not None:
        fields.insert(0, _Field(BUCKET, buckets, None, int(buckets.max(initial=0)) + 1))
    if math.prod(field.n_values for field in fields) < LARGEST_KEY:
        return pl.DataFrame(_sorted_as_numbers(fields))
    order = np.lexsort(tuple(field.codes for field in reversed(fields)))
    return pl.DataFrame([_series(field, field.codes[order]) for field in fields])


def unsorted_column(draft: Draft, attributes: tuple[str, ...], table: Table) -> pl.DataFrame:
    """One published column in the order of the table: not fit to be seen before it is sorted."""
    each = (coded_values(draft, name, table) for name in attributes)
    return pl.DataFrame(
        [values.gather(codes).alias(name) for name, (codes, values) in zip(attributes, each, strict=True)]
    )


def coded_values(draft: Draft, name: str, table: Table) -> tuple[NDArray[np.integer], pl.Series]:
    """What is published of an attribute: a code per row, and the value of each code."""
    recoding = draft.recodings.get(name)
    if recoding is None:
        return table[name].codes[draft.rows], table[name].domain
    return recoding.codes, recoding.values


def in_order(values: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """The rank of every value, and the values in order, a missing one first."""
    order = values.arg_sort(nulls_last=False)
    rank = np.empty(len(values), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(values))
    return rank, values.gather(order)


def _field(draft: Draft, name: str, table: Table) -> _Field:
    codes, domain = coded_values(draft, name, table)
    rank, values = in_order(domain)
    return _Field(name, rank[codes], values, max(len(domain), 1))


def _sorted_as_numbers(fields: list[_Field]) -> list[pl.Series]:
    """Sort rows as single 64-bit numbers, and take the fields apart again."""
    key = np.zeros(fields[0].codes.size, dtype=np.int64)
    for field in fields:
        key *= field.n_values
        key += field.codes
    key.sort()
    columns = []
    for field in reversed(fields):
        key, codes = np.divmod(key, field.n_values)
        columns.append(_series(field, codes))
    return columns[::-1]


def _series(field: _Field, codes: NDArray[np.integer]) -> pl.Series:
    if field.values is None:
        return pl.Series(field.name, codes.astype(np.int64))
    return field.values.gather(codes).alias(field.name)


def published_recodings(draft: Draft) -> dict[tuple[str, str], pl.DataFrame]:
    """Which originals each published label covers, by view and attribute."""
    published = {}
    for attribute, recoding in draft.recodings.items():
        if recoding.covers is None:
            continue
        labels, originals = recoding.covers
        pairs = pl.DataFrame(
            {"published": recoding.values.gather(labels), "original": pl.Series(originals, dtype=pl.String)}
        )
        published[draft.name, attribute] = (
            pairs.with_columns(
                pl.when(pl.col("original") == "").then(None).otherwise(pl.col("original")).alias("original")
            )
            .unique()
            .sort("published", "original")
        )
    return published
