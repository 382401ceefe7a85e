"""The one way out: views become sorted, listed, public tables, whichever engine holds the rows."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy, Promise
from manyveils.release.dealing import LARGEST_KEY
from manyveils.release.draft import Draft
from manyveils.release.release import Release
from manyveils.release.views import ColumnFile, Manifest, Names, View
from manyveils.table import Restore, Table
from manyveils.table.order import in_order as order_of

if TYPE_CHECKING:
    from manyveils.keys import Key

BUCKET = "bucket"
# Where a row of the original stands that is in no view.
LEFT_OUT = -1
Recodings = Mapping[tuple[str, str], pl.DataFrame]


@dataclass(frozen=True, repr=False)
class OutgoingColumn:
    """One column on its way out: its attributes, their types, and the rows as the engine has them."""

    attributes: tuple[str, ...]
    types: Mapping[str, str]
    rows: Any


@dataclass(frozen=True, repr=False)
class OutgoingView:
    """One view on its way out; `forget` lets go of what was kept to make it."""

    name: str
    columns: tuple[OutgoingColumn, ...]
    n_rows: int
    bucketed: bool
    recodings: Recodings = field(default_factory=dict)
    enforces: Mapping[str, Any] | None = None
    secret: frozenset[str] = frozenset()
    forget: Callable[[], object] = lambda: None


def list_views(
    views: Iterable[OutgoingView],
    table: Table,
    policy: Policy,
    promises: Sequence[Promise],
    write: Callable[[str, OutgoingView, OutgoingColumn], None],
) -> Release:
    """Name and list all that goes out, and let `write` put every column under its name.

    Nothing that is not on the policy's list gets out.
    """
    names, recoding_names, listed, secret = Names(), Names(), list[View](), set[str]()
    recodings: dict[tuple[str, str], pl.DataFrame] = {}
    for view in views:
        try:
            shown = {name for column in view.columns for name in column.attributes}
            _refuse_leaks(view.name, shown, table, policy)
            files = []
            for column in view.columns:
                stem = names.of(view.name, column.attributes if view.bucketed else ())
                write(stem, view, column)
                files.append(ColumnFile(column.attributes, stem, column.types))
        finally:
            view.forget()
        listed.append(View(view.name, tuple(files), view.bucketed, view.n_rows, view.enforces))
        recodings |= view.recodings
        secret |= view.secret
    n_rows = max((view.rows for view in listed), default=0)
    manifest = Manifest(
        method=policy.publish.method,
        rows=n_rows,
        suppressed=table.n_people - n_rows,
        promises=described_promises([_of_codes(promise, table, secret) for promise in promises], table),
        views=tuple(listed),
        derived=shown_bits(listed, table),
        recodings={key: recoding_names.of(key[0], (key[1],)) for key in recodings},
        secret=tuple(name for name in table.attributes if name in secret),
        levels=levels_of(policy),
        kinds=kinds_of(listed, table, secret),
    )
    return Release(manifest, {}, recodings)


def levels_of(policy: Policy) -> dict[str, int]:
    """The levels at which multi-valued attributes are published, where these are not their values."""
    attributes = policy.attributes.items()
    return {
        name: attribute.level
        for name, attribute in attributes
        if attribute.level and name in policy.published
    }


def _refuse_leaks(view: str, attributes: set[str], table: Table, policy: Policy) -> None:
    leaked = attributes - set(table.expand(policy.published))
    if leaked:
        raise AssertionError(f"view {view}: {len(leaked)} attributes may not be published")


def seal(
    drafts: Sequence[Draft],
    table: Table,
    policy: Policy,
    restore: Restore,
    *,
    notes: Mapping[str, object],
    rng: np.random.Generator,
    promises: Sequence[Promise] = (),
    key: "Key | None" = None,
) -> Release:
    """Publish the columns of drafts as sorted multisets.

    Claim: what is published of a column is its multiset inside each bucket, and nothing else.
    Why: rows are sorted by their published values, so equal multisets give equal files whatever the source
    order was; bucket numbers are shuffled, so they tell nothing either; and texts are written anew, so that no
    buffer holds one that is not published.
    Tested by: tests/claims/test_seal.py
    """
    frames: dict[str, pl.DataFrame] = {}
    placements: dict[str, NDArray[np.int64]] = {}

    def write(stem: str, view: OutgoingView, column: OutgoingColumn) -> None:
        frames[stem] = pl.DataFrame(_sorted(column.rows))

    def outgoing(draft: Draft) -> OutgoingView:
        view = _outgoing(draft, table, rng)
        # Where persons are named, a later release has to know where they stood.
        if table.persons is not None or table.keys is not None:
            placements[draft.name] = _placement(draft, view, table)
        return view

    for draft in drafts:
        _refuse_leaks(draft.name, {*draft.attributes}, table, policy)
    outline = list_views(map(outgoing, drafts), table, policy, promises, write)
    private: dict[str, Any] = {"notes": notes, "key": key, "placements": placements}
    return Release(outline.manifest, frames, outline.recodings, restore=restore, **private)


def _outgoing(draft: Draft, table: Table, rng: np.random.Generator) -> OutgoingView:
    draft = without_absent(draft, table)
    buckets = None if draft.buckets is None else _renumbered(draft.buckets, rng)
    columns = tuple(_column(draft, attributes, table, buckets) for attributes in draft.columns)
    secret = frozenset(name for name, recoding in draft.recodings.items() if recoding.is_secret)
    about = published_recodings(draft), draft.enforces, secret
    return OutgoingView(draft.name, columns, len(draft.rows), buckets is not None, *about)


def _placement(draft: Draft, view: OutgoingView, table: Table) -> NDArray[np.int64]:
    """Where each row of the table stands: its bucket as published, or its line; -1 where it is left out."""
    first = view.columns[0].rows
    standing = np.full(table.n_rows, LEFT_OUT, dtype=np.int64)
    if view.bucketed:
        standing[draft.rows] = first[0].codes
    else:
        standing[draft.rows[_order(first)]] = np.arange(len(draft.rows))
    return standing


def without_absent(draft: Draft, table: Table) -> Draft:
    """Leave out the derived attributes of values that only suppressed rows have: their names would tell."""
    derived = {name for names in table.derived.values() for name in names if name in table.attributes}
    absent = {
        name
        for name in derived & {*draft.attributes}
        if table[name].counts[1] and not table[name].codes[draft.rows].any()
    }
    columns = (tuple(name for name in column if name not in absent) for column in draft.columns)
    return replace(draft, columns=tuple(column for column in columns if column)) if absent else draft


def kinds_of(views: Sequence[View], table: Table, secret: set[str]) -> dict[str, str]:
    """The kinds of published attributes, in the order of the table; what is secret or 0/1 by its name needs none."""
    shown = {name for view in views for name in view.attributes} - secret
    return {
        name: attribute.kind
        for name, attribute in table.attributes.items()
        if name in shown and table.atom(name) is None
    }


def shown_bits(views: Sequence[View], table: Table) -> dict[str, tuple[str, ...]]:
    """The published derived attributes of every attribute with several values in a cell."""
    shown = {name for view in views for name in view.attributes}
    return {home: tuple(name for name in derived if name in shown) for home, derived in table.derived.items()}


def type_name(dtype: pl.DataType) -> str:
    """The type of a published field as the manifest names it."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    return {pl.Boolean(): "boolean", pl.Date(): "date"}.get(dtype, "text")


def described_promises(promises: Sequence[Promise], table: Table) -> tuple[Mapping[str, object], ...]:
    """The promises as the manifest lists them; those of derived attributes share one entry."""
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


def _of_codes(promise: Promise, table: Table, secret: Collection[str]) -> Promise:
    """The promise as it is kept: codes in place of values have no order, and any two are as far apart as any others."""
    guarantee, name = promise.guarantee, promise.protects[0] if len(promise.protects) == 1 else ""
    if name not in secret or table[name].kind == "numeric" or guarantee.parameters.get("ground") != "ordered":
        return promise
    return replace(promise, guarantee=guarantee.for_combination())


def _renumbered(buckets: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    _, dense = np.unique(buckets, return_inverse=True)
    n_buckets = int(dense.max()) + 1 if dense.size else 0
    shuffled: NDArray[np.int64] = rng.permutation(n_buckets)[dense]
    return shuffled


@dataclass(frozen=True)
class _Values:
    """One field of a published column: the rank of every row's value, and the values in order."""

    name: str
    codes: NDArray[np.integer]
    domain: pl.Series | None
    n_values: int

    def series(self, codes: NDArray[np.integer]) -> pl.Series:
        """The published values of some ranks."""
        if self.domain is None:
            return pl.Series(self.name, codes.astype(np.int64))
        return self.domain.gather(codes).alias(self.name)


def _column(
    draft: Draft, attributes: tuple[str, ...], table: Table, buckets: NDArray[np.int64] | None
) -> OutgoingColumn:
    """One published column, not yet sorted."""
    fields = [_field(draft, name, table) for name in attributes]
    types = {values.name: type_name(values.domain.dtype) for values in fields if values.domain is not None}
    if buckets is not None:
        fields.insert(0, _Values(BUCKET, buckets, None, int(buckets.max(initial=0)) + 1))
    return OutgoingColumn(attributes, types, fields)


def _field(draft: Draft, name: str, table: Table) -> _Values:
    codes, domain = coded_values(draft, name, table)
    present = np.bincount(codes, minlength=len(domain)) > 0
    rank, values = in_order(domain.filter(present))
    ranks = np.zeros(len(domain), dtype=np.int32)
    ranks[present] = rank
    return _Values(name, ranks[codes], rewritten(values), max(len(values), 1))


def rewritten(values: pl.Series) -> pl.Series:
    """The same values; texts in buffers of their own, which hold no other text of where they came from."""
    return values + "" if values.dtype == pl.String else values


def unsorted_column(draft: Draft, attributes: tuple[str, ...], table: Table) -> pl.DataFrame:
    """One published column in the order of the table: not fit to be seen before it is sorted."""
    coded = {name: coded_values(draft, name, table) for name in attributes}
    return pl.DataFrame([values.gather(codes).alias(name) for name, (codes, values) in coded.items()])


def coded_values(draft: Draft, name: str, table: Table) -> tuple[NDArray[np.integer], pl.Series]:
    """What is published of an attribute: a code per row, and the value of each code."""
    recoding = draft.recodings.get(name)
    if recoding is None:
        return table[name].codes[draft.rows], table[name].domain
    return recoding.codes, recoding.values


def in_order(values: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """The rank of every value, and the values in order, a missing one first; labels that read alike are one value."""
    rank = np.empty(len(values), dtype=np.int32)
    if values.dtype.is_integer() and not values.null_count():
        # There may be hundreds of yes or no columns.
        ordered = np.argsort(values.to_numpy(), kind="stable")
        rank[ordered] = np.arange(len(values))
        return rank, pl.Series(values.name, values.to_numpy()[ordered], dtype=values.dtype)
    order = values.arg_sort(nulls_last=False)
    in_turn = values.gather(order)
    is_new = in_turn.is_first_distinct()
    rank[order.to_numpy()] = is_new.cum_sum().to_numpy() - 1
    return rank, in_turn.filter(is_new)


def _key(fields: list[_Values]) -> NDArray[np.int64] | None:
    """The rows of a column as single 64-bit numbers in the order of their values; None where they do not fit."""
    if math.prod(values.n_values for values in fields) >= LARGEST_KEY:
        return None
    key = np.zeros(fields[0].codes.size, dtype=np.int64)
    for values in fields:
        key *= values.n_values
        key += values.codes
    return key


def _order(fields: list[_Values]) -> NDArray[np.int64]:
    """The rows of a column in the order of their values."""
    key = _key(fields)
    if key is None:
        return np.lexsort(tuple(values.codes for values in reversed(fields)))
    return order_of(key)


def _sorted(fields: list[_Values]) -> list[pl.Series]:
    """The rows of a column in the order of their values, sorted as single 64-bit numbers where they fit."""
    key = _key(fields)
    if key is None:
        order = _order(fields)
        return [values.series(values.codes[order]) for values in fields]
    key.sort()
    columns = []
    for values in reversed(fields):
        key, codes = np.divmod(key, values.n_values)
        columns.append(values.series(codes))
    return columns[::-1]


def published_recodings(draft: Draft) -> dict[tuple[str, str], pl.DataFrame]:
    """Which originals each published label covers, by view and attribute."""
    published = {}
    for attribute, recoding in draft.recodings.items():
        if recoding.covers is None:
            continue
        labels, originals = recoding.covers
        texts = pl.Series([text or None for text in originals], dtype=pl.String)
        pairs = pl.DataFrame({"published": recoding.values.gather(labels), "original": texts})
        pairs = pairs.unique().sort("published", "original")
        published[draft.name, attribute] = pl.DataFrame([rewritten(pairs[name]) for name in pairs.columns])
    return published
