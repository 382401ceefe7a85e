"""The groups that tell most of whoever stands in them, for the owner to look at; and some rows, before and after."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from manyveils.reading.evidence import BUCKET
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Table

Shown = dict[str, Any]
# Nobody reads more of them.
MOST_VIEWS, MOST_GROUPS, MOST_NAMES, MOST_ROWS = 3, 8, 8, 6
_ALL, _WORST = "\0all", "\0worst"


def telling_groups(release: Release, quasi: Sequence[str], sensitive: Sequence[str]) -> list[Shown]:
    """Of each column that shows something protected, the groups in which one value is the most common of all.

    `known` are the attributes that tell the group, and `groups` has their labels, the rows, and of each protected
    attribute how many values differ, the most common one and its share.
    """
    derived = {name for names in release.manifest.derived.values() for name in names}
    protected = [name for name in sensitive if name not in derived][:MOST_NAMES]
    shown = (
        _of_column(release, view, file, own, quasi)
        for view in release.views
        for file in view.files
        if (own := [name for name in protected if name in file.attributes])
    )
    return [told for told in shown if told["groups"]][:MOST_VIEWS]


def _of_column(
    release: Release, view: View, file: ColumnFile, protected: list[str], quasi: Sequence[str]
) -> Shown:
    known = [name for name in file.attributes if name in quasi]
    key = [BUCKET, *known] if view.bucketed else known
    # Attributes may be called anything.
    numbered = {f"key_{number}": name for number, name in enumerate(key)}
    named = {f"protected_{number}": name for number, name in enumerate(protected)}
    frame = release.frames[file.table].select(
        **{number: pl.col(name) for number, name in (numbered | named).items()}
    )
    groups = _measured(frame, list(numbered), list(named))
    labels = groups.select(pl.col(list(numbered)).cast(pl.String).fill_null("")) if key else pl.DataFrame()
    return {
        "view": view.name,
        "known": key[:MOST_NAMES],
        "left_out": max(len(key) - MOST_NAMES, 0),
        "groups": [
            {
                "labels": list(labels.row(place)[:MOST_NAMES]) if key else [],
                "rows": group["rows"],
                "values": [
                    {
                        "attribute": name,
                        "different": group[f"different_{number}"],
                        "value": group[f"value_{number}"],
                        "share": group[f"share_{number}"],
                    }
                    for number, name in enumerate(protected)
                ],
            }
            for place, group in enumerate(groups.iter_rows(named=True))
        ],
    }


def _measured(frame: pl.DataFrame, key: list[str], protected: list[str]) -> pl.DataFrame:
    """The groups with the largest share of one value; of equal ones, those with the fewest rows, then by their labels."""
    groups = frame.with_columns(**{_ALL: pl.lit(0)}) if not key else frame
    by = key or [_ALL]
    told = groups.group_by(by).agg(rows=pl.len().cast(pl.Int64))
    for number, name in enumerate(protected):
        counts = groups.group_by(*by, pl.col(name).cast(pl.String).fill_null("").alias("value")).len("n")
        most = counts.sort("n", "value", descending=[True, False])
        most = most.group_by(by, maintain_order=True).agg(
            pl.col("value").first().alias(f"value_{number}"),
            pl.col("n").first().alias(f"share_{number}"),
            pl.len().cast(pl.Int64).alias(f"different_{number}"),
        )
        told = told.join(most, on=by, nulls_equal=True)
    shares = [f"share_{number}" for number in range(len(protected))]
    told = told.with_columns(pl.col(shares) / pl.col("rows"))
    largest = pl.max_horizontal(shares).alias(_WORST)
    order = [_WORST, "rows", *by]
    ranked = told.with_columns(largest).sort(order, descending=[True, *(False for _ in order[1:])])
    return ranked.head(MOST_GROUPS).drop(_WORST)


def some_rows(release: Release, table: Table | None, names: Sequence[str] = ()) -> list[Shown]:
    """Rows of the original, where the owner looks, and of each table; spaced evenly, so not of the same people."""
    files = [(file.table, release.frames[file.table]) for view in release.views for file in view.files]
    shown = [_spaced(name, frame) for name, frame in files[:MOST_VIEWS]]
    return shown if table is None else [_original(table, names), *shown]


def _original(table: Table, names: Sequence[str]) -> Shown:
    own = [name for name in names if name in table.attributes or name in table.derived]
    places = range(0, table.n_rows, max(table.n_rows // MOST_ROWS, 1))[:MOST_ROWS]
    return _cut("", own, [[_cell(table, name, place) for name in own] for place in places])


def _cell(table: Table, name: str, place: int) -> str:
    if name not in table.derived:
        return table[name].texts[table[name].codes[place]]
    has = [own for own in table.derived[name] if table[own].texts[table[own].codes[place]] == "1"]
    return ", ".join(own.removeprefix(f"{name}=") for own in has)


def _spaced(name: str, frame: pl.DataFrame) -> Shown:
    rows = frame.gather_every(max(frame.height // MOST_ROWS, 1)).head(MOST_ROWS)
    texts = rows.select(pl.all().cast(pl.String).fill_null(""))
    return _cut(name, texts.columns, [list(row) for row in texts.rows()])


def _cut(table: str, columns: Sequence[str], rows: list[list[str]]) -> Shown:
    most = 2 * MOST_NAMES
    return {
        "table": table,
        "columns": list(columns[:most]),
        "rows": [row[:most] for row in rows],
        "left_out": max(len(columns) - most, 0),
    }
