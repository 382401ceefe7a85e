"""Attributes protected as one that are published apart: what the release says of their combination.

Inside a bucket the columns of a view are independent, and so are views that nothing joins: the published
distribution of a combination is the product of its parts' distributions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

import polars as pl

from manyveils.audits.groups import Groups, cells_of, with_reference
from manyveils.policy import Promise
from manyveils.reading.evidence import BUCKET, Evidence
from manyveils.reading.labels import Labels
from manyveils.reading.people import people_in, with_people
from manyveils.reading.sight import Sight
from manyveils.table import Attribute, Table

Parts = tuple[Sight, ...]


def parts_of(promise: Promise, sights: Sequence[Sight]) -> Iterator[Parts]:
    """The ways to read a combination off the release: inside single views where possible, else across views."""
    views = {seen.view.name for seen in sights}
    single = [[seen for seen in sights if seen.view.name == view] for view in sorted(views)]
    complete = [
        within for within in single if {name for seen in within for name in seen.shows} >= {*promise.protects}
    ]
    for within in complete or [list(sights)]:
        yield from _choices(promise, within)


def _choices(promise: Promise, sights: Sequence[Sight]) -> Iterator[Parts]:
    whole = [seen for seen in sights if len(seen.shows) == len(promise.protects)]
    if whole:
        yield from ((seen,) for seen in whole)
        return
    holders = [[seen for seen in sights if name in seen.shows] for name in promise.protects]
    for chosen in product(*holders):
        shows: dict[str, tuple[str, ...]] = {}
        for name, seen in zip(promise.protects, chosen, strict=True):
            shows[seen.file.table] = (*shows.get(seen.file.table, ()), name)
        by_table = {seen.file.table: seen for seen in chosen}
        yield tuple(replace(seen, shows=shows[table]) for table, seen in by_table.items())


def product_groups(evidence: Evidence, promise: Promise, parts: Parts) -> Groups | None:
    """The groups of a combination whose attributes stand in several columns; None where they cannot be told."""
    matches = _matches(evidence, parts)
    if matches is None:
        return None
    found: list[pl.DataFrame] = []
    labels: list[Labels] = []
    for seen in parts:
        seen_labels, cells = cells_of(evidence, seen)
        found.append(
            cells.rename({f"part_{old}": f"part_{len(labels) + old}" for old in range(len(seen_labels))})
        )
        labels += seen_labels
    cells = matches.with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    cells = reduce(_multiplied, enumerate(found), cells.with_columns(count=_one(), size=_one()))
    return with_reference(evidence, promise, cells.drop("^match_.*$"), labels)


def _one() -> pl.Expr:
    return pl.lit(1, dtype=pl.Int128)


def _multiplied(so_far: pl.DataFrame, numbered: tuple[int, pl.DataFrame]) -> pl.DataFrame:
    place, cells = numbered
    part = cells.drop("rows").rename({"group": f"match_{place}", "count": "more", "size": "more_size"})
    joined = so_far.join(part, on=f"match_{place}")
    return joined.with_columns(
        count=pl.col("count") * pl.col("more").cast(pl.Int128),
        size=pl.col("size") * pl.col("more_size").cast(pl.Int128),
    ).drop("more", "more_size")


def _matches(evidence: Evidence, parts: Parts) -> pl.DataFrame | None:
    """Which groups of the parts one person may be in together: match_0, match_1, …, rows."""
    if all(not seen.key for seen in parts):
        return _crossed([_found_groups(evidence, seen) for seen in parts])
    if len({seen.view.name for seen in parts}) == 1:
        return _crossed([_found_groups(evidence, seen) for seen in parts])
    return _matched_by_original(evidence, parts)


def _found_groups(evidence: Evidence, seen: Sight) -> pl.DataFrame:
    """The groups of one part with their bucket, if they have one, and the rows of the bucket or of the group."""
    numbers = pl.Series("group", evidence.group_numbers(seen.file, seen.key))
    place = [BUCKET] if BUCKET in seen.key else []
    rows = evidence.frame(seen.file).select(place).with_columns(numbers) if place else numbers.to_frame()
    rows = with_people(rows, evidence.weights(seen.file))
    found = rows.group_by(*place, "group").agg(people_in(rows).alias("rows"))
    return found.with_columns(pl.col("rows").sum().over(BUCKET)) if place else found


def _crossed(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Every pair of groups that share a bucket, or every pair at all."""
    named = [part.rename({"group": f"match_{place}"}) for place, part in enumerate(parts)]
    crossed = named[0]
    for part in named[1:]:
        part = part.rename({"rows": "other"})
        shared = [BUCKET] if BUCKET in crossed.columns and BUCKET in part.columns else []
        joined = crossed.join(part, on=shared) if shared else crossed.join(part, how="cross")
        crossed = joined.with_columns(rows=pl.min_horizontal("rows", "other")).drop("other")
    return crossed.drop(BUCKET, strict=False)


def _matched_by_original(evidence: Evidence, parts: Parts) -> pl.DataFrame | None:
    """Follow the original's rows into the groups of every view; None where a row may be in several."""
    known = tuple(dict.fromkeys(name for seen in parts for name in seen.key if name != BUCKET))
    if not evidence.joins(known):
        return None
    table = evidence.table.whole(known)
    columns = {}
    for place, seen in enumerate(parts):
        followed = _followed(evidence, seen, table)
        if followed is None:
            return None
        columns[f"match_{place}"] = followed
    together = with_people(pl.DataFrame(columns), table.weights).drop_nulls()
    return together.group_by(*columns).agg(people_in(together).alias("rows"))


def _followed(evidence: Evidence, seen: Sight, table: Table) -> pl.Series | None:
    if BUCKET in seen.key:
        return None
    frame = evidence.frame(seen.file).select(seen.key)
    labels = {name: evidence.labels(seen.view, seen.file, name) for name in seen.key}
    if not all(found.is_exact for found in labels.values()):
        return None
    numbers = pl.Series("group", evidence.group_numbers(seen.file, seen.key))
    if not seen.key:
        return pl.zeros(table.n_rows, dtype=pl.Int64, eager=True)
    groups = (
        frame.with_columns(numbers)
        .unique("group")
        .with_columns(pl.col(name).cast(pl.String).fill_null("") for name in seen.key)
    )
    original = pl.DataFrame({name: _published_texts(found, table[name]) for name, found in labels.items()})
    return original.join(groups, on=list(seen.key), how="left", maintain_order="left")["group"]


def _published_texts(labels: Labels, column: Attribute) -> pl.Series:
    return pl.Series(labels.texts, dtype=pl.String).gather(labels.of_code[column.codes])
