"""What a release tells the next one of its chain: who was seen in which group, and what the groups have."""

import numpy as np
import polars as pl

from manyveils.policy import Policy
from manyveils.reading.chain import persons_hashed
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids, combined, dense
from manyveils.release import Release, View
from manyveils.release.ledger import KEY_BYTES, VALUES, Ledger
from manyveils.release.seal import LEFT_OUT
from manyveils.table import Table
from manyveils.table.streams import Streams


def ledger_of(release: Release, table: Table, policy: Policy) -> Ledger:
    """Who stands in which group of a release, by its placements, and what the groups have of each sensitive attribute."""
    key = Streams().secret("ledger")
    assert len(key) == KEY_BYTES
    hashes = persons_hashed(table, key)
    if table.earlier is not None:
        hashes = table.earlier.hashes[: table.n_persons]
    groups = _groups(release, table, policy)
    rows = np.flatnonzero(groups != LEFT_OUT)
    persons = np.arange(table.n_rows) if table.persons is None else table.persons
    seen = pl.DataFrame({"number": persons[rows], "group": dense(groups[rows])})
    pairs = seen.unique(maintain_order=True)
    sightings = pairs.select(person=hashes.gather(pairs["number"]), group="group").drop_nulls()
    values = [_values(seen, table, rows, name) for name in policy.sensitive if name in table.attributes]
    n_shown = int(pairs["group"].n_unique())
    listed = pl.concat(values) if values else pl.DataFrame(schema=VALUES)
    return Ledger(sightings, listed, n_shown, table.n_persons, release.manifest.method, key)


def _groups(release: Release, table: Table, policy: Policy) -> Ids:
    evidence, sensitive = Evidence(release, table, policy), set(table.expand(policy.sensitive))
    shown = [view for view in release.views if sensitive & {*view.attributes}] or release.views
    columns = [_group_of(evidence, view) for view in shown]
    left = np.any([column == LEFT_OUT for column in columns], axis=0)
    groups = combined([np.maximum(column, 0) for column in columns])
    return np.where(left, LEFT_OUT, groups)


def _group_of(evidence: Evidence, view: View) -> Ids:
    places = evidence.release.placements[view.name]
    if view.bucketed:
        return places
    [file] = view.files
    known = tuple(name for name in evidence.table.expand(evidence.policy.quasi) if name in file.attributes)
    numbers = evidence.group_numbers(file, known)
    return np.where(places == LEFT_OUT, LEFT_OUT, numbers[places])


def _values(seen: pl.DataFrame, table: Table, rows: Ids, name: str) -> pl.DataFrame:
    texts = pl.Series([text or None for text in table[name].texts], dtype=pl.String)
    own = seen.with_columns(code=pl.Series(table[name].codes[rows], dtype=pl.Int64))
    own = own.with_columns(share=1 / pl.len().over("number", "group"))
    counted = own.group_by("group", "code").agg(weight=pl.col("share").sum())
    counted = counted.with_columns(size=pl.col("weight").sum().over("group"))
    share = own.group_by("code").agg(p=pl.col("share").sum() / pl.lit(seen["number"].n_unique()))
    counted = counted.join(share, on="code")
    return counted.select(
        "group",
        attribute=pl.lit(name),
        value=texts.gather(counted["code"]),
        weight="weight",
        expected=pl.col("p") * pl.col("size"),
    )
