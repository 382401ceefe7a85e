"""Counted from outside: the published tables joined to the original by SQL's own arithmetic, not by the product's."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import encounter_policy, encounters, hospital, visit_policy, visits

K = 5


def joined(release: mv.Release, frame: pl.DataFrame, person: str, quasi: tuple[str, ...]) -> pl.DataFrame:
    """Every row of the original with the labels that a view without buckets publishes, if its group is published."""
    [table] = release.tables.values()
    labelled = frame.select(pl.col(person).alias("person"), *quasi).with_columns(
        pl.col(quasi).cast(pl.String)
    )
    for name in quasi:
        recoding = release.recodings.get(("main", name))
        if recoding is not None:
            labels = dict(zip(recoding["original"].to_list(), recoding["published"].to_list(), strict=True))
            labelled = labelled.with_columns(pl.col(name).replace_strict(labels, default="nothing"))
    published = table.select(pl.col(quasi).cast(pl.String)).unique()
    return labelled.join(published, on=quasi, how="inner", nulls_equal=True)


def fewest(rows: pl.DataFrame, by: tuple[str, ...]) -> int:
    """SELECT MIN(n) of COUNT(DISTINCT person) BY group."""
    return rows.group_by(by).agg(pl.col("person").n_unique())["person"].min() or 0


@pytest.mark.parametrize("suppression", [0.0, 0.05])
def test_no_published_group_of_encounters_has_fewer_patients_than_k(suppression: float) -> None:
    """Joined to the original, every group of a full-domain release is of k patients, and whole patients are missing."""
    frame = encounters(6_000, seed=3)
    policy = encounter_policy(
        guarantee={"k": K, "l": 2},
        publish={"method": "generalize", "suppression": suppression},
    )
    release = mv.publish(frame, policy, seed=1)
    quasi = policy.quasi
    rows = joined(release, frame, "patient", quasi)
    n_rows = frame.group_by(pl.col("patient").alias("person")).len("all")
    whole = rows.join(n_rows, on="person").filter(pl.len().over("person") == pl.col("all"))
    assert whole.height == release.rows
    assert fewest(whole, quasi) >= K
    left_out = frame["patient"].n_unique() - whole["person"].n_unique()
    assert left_out <= int(suppression * frame["patient"].n_unique())
    assert release.suppressed == 0 or left_out


def test_rows_would_have_kept_k_where_patients_do_not() -> None:
    """Sixty patients with six rows each: taken as persons, rows are published in groups of one patient."""
    known = hospital(60).select("record", "age", "zipcode")
    frame = pl.concat([known] * 6)
    attributes = {
        "record": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20, 40]}},
        "zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
    }
    asked = {"attributes": attributes, "guarantee": {"k": K}, "publish": {"method": "generalize"}}
    found = {}
    for person in ("row", "record"):
        release = mv.publish(frame, asked | {"data": {"person": person}}, seed=1)
        found[person] = fewest(joined(release, frame, "record", ("age", "zipcode")), ("age", "zipcode"))
    assert found["row"] == 1
    assert found["record"] >= K


def test_a_bucket_of_anatomy_has_k_patients_and_all_rows_of_each() -> None:
    """Where quasi-identifiers tell every row, joining buckets to the original finds k patients in each, none in two."""
    frame = visits(1_500, seed=4).unique(["age", "sex", "zipcode", "date"], maintain_order=True)
    release = mv.publish(frame, visit_policy(publish={"method": "anatomize"}), seed=1)
    quasi = ("age", "sex", "zipcode", "date")
    [known] = (table for name, table in release.tables.items() if "age" in table.columns)
    buckets = known.with_columns(pl.col(quasi).cast(pl.String))
    rows = frame.select(pl.col("patient").alias("person"), *quasi).with_columns(pl.col(quasi).cast(pl.String))
    rows = rows.join(buckets, on=quasi, how="inner", nulls_equal=True)
    assert rows.height == release.rows
    assert fewest(rows, ("bucket",)) >= K
    assert rows.group_by("person").agg(pl.col("bucket").n_unique())["bucket"].max() == 1
