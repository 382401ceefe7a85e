"""The original beside a release with secret labels: as far as the public can see it, or without what is secret."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.sections import Kind
from manyveils.reading.evidence import coded_field
from manyveils.reading.meanings import texts_of
from manyveils.release.release import Release
from manyveils.release.seal import LEFT_OUT
from manyveils.release.views import View
from manyveils.table import Attribute, Table
from manyveils.table.levels import value_or_top


def as_published(release: Release, table: Table) -> Table:
    """The table with secret attributes as the release shows them.

    They have the published values with their counts, and which row has which is lost; so promises about them are
    judged against what is published of them over all.
    """
    homes = {name: _home(release, name) for name in release.manifest.secret if name in table.attributes}
    shown = {name: _attribute(release, name, home) for name, home in homes.items() if home is not None}
    if not shown:
        return table
    return replace(table, attributes={**table.attributes, **shown}, reference=_Whole(table, shown, homes).of)


@dataclass(frozen=True, repr=False)
class _Whole:
    """Counts over all people: of secret columns as the release shows them, of all others as the original has them."""

    table: Table
    shown: Mapping[str, Attribute]
    homes: Mapping[str, str | None]

    def of(self, names: tuple[str, ...]) -> Table:
        """A table in which columns that are secret, or columns that are not, can be counted together."""
        secret = {name: self.shown[name] for name in names if name in self.shown}
        if not secret:
            return self.table.whole(names)
        if len({self.homes[name] for name in secret}) > 1:
            secret = _side_by_side(secret)
        first = next(iter(secret.values()))
        return Table(secret, len(first.codes), derived=self.table.derived, weights=first.weights)


def _side_by_side(columns: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Columns of different tables row by row, as they were published; of a damaged release as far as all go."""
    rows = {
        name: column.codes if column.weights is None else np.repeat(column.codes, column.weights)
        for name, column in columns.items()
    }
    n_rows = min(len(codes) for codes in rows.values())
    return {
        name: replace(column, codes=rows[name][:n_rows], weights=None) for name, column in columns.items()
    }


def _home(release: Release, name: str) -> str | None:
    """The first table that shows an attribute."""
    tables = [file.table for view in release.views for file in view.files if name in file.attributes]
    return next((table for table in tables if name in release.frames.get(table, pl.DataFrame())), None)


def _attribute(release: Release, name: str, home: str) -> Attribute:
    field = coded_field(release.frames[home][name])
    order = field.values.arg_sort(nulls_last=True)
    domain = field.values.gather(order)
    codes = np.argsort(order.to_numpy()).astype(np.int32)[field.codes]
    kind: Kind = "numeric" if domain.dtype.is_numeric() else "categorical"
    levels = value_or_top(texts_of(domain).to_list())
    return Attribute(name, kind, codes, domain.alias(name), levels, weights=release.weights.get(home))


def without_secrets(release: Release, table: Table) -> tuple[Release, Table]:
    """The release and the original without the columns that cannot be compared."""
    secret = set(release.manifest.secret)
    if not secret:
        return release, table
    views = tuple(view for view in (_open(view, secret) for view in release.views) if view.files)
    files = {file.table for view in views for file in view.files}
    tables = {
        name: frame.drop(secret, strict=False) for name, frame in release.frames.items() if name in files
    }
    orders = {name: frame.select(pl.arg_sort_by(frame.columns)).to_series() for name, frame in tables.items()}
    frames = {name: frame[orders[name]] for name, frame in tables.items()}
    recodings = {key: pairs for key, pairs in release.recodings.items() if key[1] not in secret}
    manifest = replace(release.manifest, views=views, secret=(), derived={})
    attributes = {name: column for name, column in table.attributes.items() if name not in secret}
    derived = {name: bits for name, bits in table.derived.items() if not secret & set(bits)}
    placements = {
        view.name: own if view.bucketed else _moved(own, orders[view.files[0].table])
        for view in views
        if (own := release.placements.get(view.name)) is not None and view.files[0].table in orders
    }
    left = replace(table, attributes=attributes, derived=derived)
    return Release(manifest, frames, recodings, placements=placements), left


def _moved(placement: NDArray[np.int64], order: pl.Series) -> NDArray[np.int64]:
    """The lines of rows after the lines were put into another order; -1 for rows that are left out, or stand nowhere."""
    lines = np.full(len(order) + 1, LEFT_OUT, dtype=np.int64)
    lines[order.to_numpy()] = np.arange(len(order))
    stands = (placement >= 0) & (placement < len(order))
    return lines[np.where(stands, placement, -1)]


def _open(view: View, secret: set[str]) -> View:
    files = tuple(
        replace(file, attributes=tuple(name for name in file.attributes if name not in secret))
        for file in view.files
    )
    return replace(view, files=tuple(file for file in files if file.attributes))
