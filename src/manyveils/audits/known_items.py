"""How many rows whoever knows a group, and some values that a person has, still has before her."""

import numpy as np
import polars as pl

from manyveils.audits.members import members_of
from manyveils.policy.guarantees import KnownItems
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.persons import persons_in
from manyveils.reading.sight import Sight


def measure_known_items(evidence: Evidence, guarantee: KnownItems, sight: Sight) -> pl.DataFrame | None:
    """Of each group: the fewest rows that may have all of some values which one row has, its rows, and whether they suffice.

    A row may have a value if it shows it or hides it. A value that all rows of a group hide, or may have, tells no two
    of them apart and is left out. Where persons have several rows, they are counted; None where nobody can tell whose
    the rows are.
    """
    groups = evidence.group_numbers(sight.file, sight.key)
    sizes = evidence.tally(sight.file, groups)
    items = _items(evidence, guarantee, sight, groups)
    weights = evidence.weights(sight.file)
    people = np.ones(groups.size, dtype=np.int64) if weights is None else weights
    count = pl.col("people").sum()
    if evidence.table.persons is not None:
        members = members_of(evidence, sight.view, sight.file, sight.key)
        persons = persons_in(evidence, sight.view, sight.file)
        if members is None or persons is None:
            return None
        people, sizes = persons, members.sizes
        count = pl.col("people").n_unique().cast(pl.Int64)
    rows = pl.DataFrame({"row": np.arange(groups.size), "people": people})
    fewest = [pl.DataFrame({"group": np.arange(sizes.size), "measure": sizes})]
    sets = items.with_columns(value_1="value").drop("value")
    for size in range(1, guarantee.known_items + 1):
        if size > 1:
            more = items.select("row", "value")
            sets = sets.join(more, on="row").filter(pl.col("value") > pl.col(f"value_{size - 1}"))
            sets = sets.rename({"value": f"value_{size}"})
        known = ["group", *(f"value_{index}" for index in range(1, size + 1))]
        counted = sets.join(rows, on="row").group_by(known).agg(count)
        fewest.append(counted.group_by("group").agg(pl.col("people").min().alias("measure")))
    least = pl.concat(fewest).group_by("group").agg(pl.col("measure").min()).sort("group")["measure"]
    measured = {"measure": least.cast(pl.Float64), "rows": sizes, "kept": least >= guarantee.k}
    return pl.DataFrame(measured)


def _items(evidence: Evidence, guarantee: KnownItems, sight: Sight, groups: Ids) -> pl.DataFrame:
    """The values that rows may have, but for those that all rows of a group may have: row, group, value."""
    derived = {*evidence.table.derived[guarantee.attribute]}
    listed = [
        pl.DataFrame({"row": _may_have(evidence, sight, name)}).with_columns(
            value=pl.lit(index, dtype=pl.Int64)
        )
        for index, name in enumerate(sight.file.attributes)
        if name in derived
    ]
    empty = pl.DataFrame(schema={"row": pl.Int64, "value": pl.Int64})
    items = pl.concat([empty, *listed])
    items = items.with_columns(group=pl.Series(groups).gather(items["row"]))
    n_rows = pl.DataFrame({"group": groups}).group_by("group").len("n_rows")
    counted = items.group_by("group", "value").len("n_items").join(n_rows, on="group")
    telling = counted.filter(pl.col("n_items") < pl.col("n_rows"))
    return items.join(telling, on=["group", "value"], how="semi").select("row", "group", "value")


def _may_have(evidence: Evidence, sight: Sight, name: str) -> Ids:
    """The rows whose label covers having the value."""
    cover = evidence.cover(sight.view, sight.file, name)
    attribute = evidence.original(name)
    has = np.array([text != attribute.texts[attribute.absence] for text in attribute.texts], dtype=bool)
    return np.flatnonzero((cover.sums(has) > 0)[evidence.coded(sight.file, name).codes])
