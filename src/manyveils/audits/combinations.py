"""Attributes protected as one that are published apart: what the release says of their combination.

Inside a bucket the columns of a view are independent, and so are views that nothing joins: the published
distribution of a combination is the product of its columns' distributions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import polars as pl

from manyveils.audits.groups import Groups, Together, cells_in, multiplied, with_reference
from manyveils.audits.kinds import known_parts
from manyveils.audits.matched import matched
from manyveils.audits.originals import rows_of_persons
from manyveils.audits.persons import Placed, placed_in
from manyveils.policy import Promise
from manyveils.reading.evidence import BUCKET, Evidence
from manyveils.reading.keys import people_in, with_people
from manyveils.reading.labels import Labels
from manyveils.reading.meanings import texts_of
from manyveils.reading.sight import Sight
from manyveils.table import Table

# No attribute is named so.
GROUP = "\0group"
# The columns from which a value or a combination is read.
Way = tuple[Sight, ...]


def ways_of(promise: Promise, sights: Sequence[Sight]) -> Iterator[Way]:
    """The ways to read a combination off the release: inside single views where possible, else across views."""
    views = sorted({sight.view.name for sight in sights})
    single = [[sight for sight in sights if sight.view.name == view] for view in views]
    complete = [
        within
        for within in single
        if {name for sight in within for name in sight.shows} >= {*promise.protects}
    ]
    for within in complete or [list(sights)]:
        yield from _choices(promise, within)


def _choices(promise: Promise, sights: Sequence[Sight]) -> Iterator[Way]:
    whole = [sight for sight in sights if len(sight.shows) == len(promise.protects)]
    if whole:
        yield from ((sight,) for sight in whole)
        return
    holders = [[sight for sight in sights if name in sight.shows] for name in promise.protects]
    for chosen in product(*holders):
        shows: dict[str, tuple[str, ...]] = {}
        for name, sight in zip(promise.protects, chosen, strict=True):
            shows[sight.file.table] = (*shows.get(sight.file.table, ()), name)
        by_table = {sight.file.table: sight for sight in chosen}
        yield tuple(replace(sight, shows=shows[table]) for table, sight in by_table.items())


def product_groups(evidence: Evidence, promise: Promise, way: Way) -> Groups | None:
    """The groups of a combination whose attributes stand in several columns; None where they cannot be told."""
    matches = _matches(evidence, way)
    if matches is None:
        return None
    groups = matches.with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    if evidence.table.persons is not None:
        return _of_persons(evidence, promise, way, groups)
    labels, cells = cells_in(evidence, way)
    return with_reference(evidence, promise, _multiplied(groups, cells), labels)


def _multiplied(groups: pl.DataFrame, cells: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The cells of combinations, from those of the columns in which each group is matched."""
    columns = [column.drop("rows").rename({"group": f"match_{index}"}) for index, column in enumerate(cells)]
    return multiplied(groups, columns, "match").drop("^match_.*$", "fewest")


def _of_persons(evidence: Evidence, promise: Promise, way: Way, groups: pl.DataFrame) -> Groups | None:
    """The same for persons with several rows: what holds of each column is multiplied, as columns are independent.

    There are so many different combinations of different persons as the product of what there is in each column.
    """
    labels, columns = list[Labels](), list[Placed]()
    for sight in way:
        told = placed_in(evidence, sight)
        if told is None:
            return None
        columns.append(told[1].numbered_from(len(labels)))
        labels += told[0]
    if rows_of_persons(evidence, labels) is None:
        return None
    return groups_together(evidence, promise, labels, columns, groups)


def groups_together(
    evidence: Evidence,
    promise: Promise,
    labels: Sequence[Labels],
    columns: Sequence[Placed],
    groups: pl.DataFrame,
) -> Groups:
    """The groups of combinations from who has what in each column; `groups` says which of theirs are one: group, match_…."""
    holders = _multiplied(groups, [own.holders(*own.parts) for own in columns])
    weights = _multiplied(groups, [own.weighed(None, *own.parts) for own in columns])
    shared, spread = (with_reference(evidence, promise, cells, labels) for cells in (holders, weights))
    matches = [known_parts(promise.guarantee, labels, own) for own in columns]
    return replace(shared, together=Together(spread.cells, _matched_together(groups, matches)))


def _matched_together(groups: pl.DataFrame, columns: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """How many different combinations different persons have, from who has what in each column: group, n_matched."""
    product_of = groups.with_columns(n_matched=pl.lit(1, dtype=pl.Int64))
    for index, rows in enumerate(columns):
        own = matched(rows).rename({"group": f"match_{index}", "n_matched": "own"})
        joined = product_of.join(own, on=f"match_{index}", how="left")
        product_of = joined.with_columns(n_matched=pl.col("n_matched") * pl.col("own").fill_null(1)).drop(
            "own"
        )
    return product_of.select("group", "n_matched")


def _matches(evidence: Evidence, way: Way) -> pl.DataFrame | None:
    """Which groups of the columns one person may be in together: match_0, match_1, …, rows."""
    if len({sight.view.name for sight in way}) > 1 and any(sight.key for sight in way):
        return _matched_by_original(evidence, way)
    return _crossed([_groups_with_buckets(evidence, sight) for sight in way])


def _groups_with_buckets(evidence: Evidence, sight: Sight) -> pl.DataFrame:
    """The groups of one column with their bucket, if they have one, and the rows of the bucket or of the group."""
    numbers = pl.DataFrame({"group": evidence.group_numbers(sight.file, sight.key)})
    bucket = [BUCKET] if BUCKET in sight.key else []
    rows = numbers.with_columns(evidence.frame(sight.file)[name] for name in bucket)
    rows = with_people(rows, evidence.weights(sight.file))
    groups = rows.group_by(*bucket, "group").agg(people_in(rows).alias("rows"))
    return groups.with_columns(pl.col("rows").sum().over(BUCKET)) if bucket else groups


def _crossed(columns: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Every pair of groups that share a bucket, or every pair at all."""
    first, *others = (column.rename({"group": f"match_{index}"}) for index, column in enumerate(columns))
    crossed = first
    for column in others:
        column = column.rename({"rows": "rows_beside"})
        is_shared = BUCKET in crossed.columns and BUCKET in column.columns
        joined = crossed.join(column, on=BUCKET) if is_shared else crossed.join(column, how="cross")
        crossed = joined.with_columns(rows=pl.min_horizontal("rows", "rows_beside")).drop("rows_beside")
    return crossed.drop(BUCKET, strict=False)


def _matched_by_original(evidence: Evidence, way: Way) -> pl.DataFrame | None:
    """Follow the original's rows into the groups of every view; None where a row may be in several."""
    known = tuple(dict.fromkeys(name for sight in way for name in sight.key if name != BUCKET))
    if not evidence.joins(known):
        return None
    table = evidence.table.whole(known)
    columns = {}
    for index, sight in enumerate(way):
        followed = _followed(evidence, sight, table)
        if followed is None:
            return None
        columns[f"match_{index}"] = followed
    together = with_people(pl.DataFrame(columns), table.weights).drop_nulls()
    return together.group_by(*columns).agg(people_in(together).alias("rows"))


def _followed(evidence: Evidence, sight: Sight, table: Table) -> pl.Series | None:
    """The group of each row of the original; null where its values are not published, None where it may have several."""
    if BUCKET in sight.key:
        return None
    if not sight.key:
        return pl.zeros(table.n_rows, dtype=pl.Int64, eager=True)
    labels = {name: evidence.labels(sight.view, sight.file, name) for name in sight.key}
    if not all(own.is_exact for own in labels.values()):
        return None
    published = {name: texts_of(evidence.frame(sight.file)[name]) for name in sight.key}
    groups = pl.DataFrame({**published, GROUP: evidence.group_numbers(sight.file, sight.key)})
    original = {
        name: pl.Series(own.texts, dtype=pl.String).gather(own.of_code[table[name].codes])
        for name, own in labels.items()
    }
    keyed = groups.unique(GROUP)
    return pl.DataFrame(original).join(keyed, on=[*labels], how="left", maintain_order="left")[GROUP]
