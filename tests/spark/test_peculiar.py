"""Peculiar tables on Spark: odd names, kinds and holes, one value nearly everywhere, hardly any rows."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.errors import ManyveilsError
from tests.kit.engines import seen_by_both

# Names that need quotes in a query, and names that the engine gives to columns of its own.
ATTRIBUTES = {
    "a b": {"role": "quasi", "kind": "numeric"},
    "`": {"role": "quasi", "kind": "categorical"},
    "é": {"role": "quasi"},
    "x.y": {"role": "quasi"},
    "part": {"role": "sensitive", "kind": "categorical"},
    "count": {"role": "sensitive", "multivalued": "|"},
    "c0": {"role": "neutral"},
    "file": {"role": "neutral"},
    "note": {"role": "neutral", "kind": "numeric"},
    "rank": {"role": "identifier"},
}
FROM_COUNTS = {
    "full-domain": ({"method": "generalize"}, {"k": 3}),
    "codip": ({"method": "codip", "beta": 1.0}, {"k": 3}),
    "separate": ({"method": "separate"}, {}),
}
FROM_ROWS = {
    "anatomize": ({"method": "anatomize"}, {"l": 2}),
    "mondrian": ({"method": "generalize", "recoding": "mondrian"}, {"k": 3}),
    "slice": ({"method": "slice", "columns": 3}, {"alpha": 0.8}),
}


def odd(n=60):
    """People with odd attributes; a tenth of the cells are missing, and one value stands in nine of ten rows."""
    rng = np.random.default_rng(8)
    first = date(2020, 2, 27)
    columns = {
        "a b": rng.integers(-3, 9, n).tolist(),
        "`": np.where(rng.random(n) < 0.9, "it's", "`;\n").tolist(),
        "é": [first + timedelta(days=int(days)) for days in rng.integers(0, 4, n)],
        "x.y": (rng.random(n) < 0.5).tolist(),
        "part": [f"part {code}" for code in rng.integers(0, 4, n)],
        "count": np.array(["u", "u|v", "w|v", "w", '"x"'])[rng.integers(0, 5, n)].tolist(),
        "c0": [" ", "NA", "ß", "a,b"] * (n // 4),
        "file": (rng.integers(0, 3, n) / 3).tolist(),
        "note": [1e-7, 12345678.5, -0.5] * (n // 3),
        "rank": [f"name {place}" for place in range(n)],
    }
    holes = {name: rng.random(n) < 0.1 for name in columns}
    return pl.DataFrame(
        {
            name: [None if hole else cell for cell, hole in zip(cells, holes[name], strict=True)]
            for name, cells in columns.items()
        }
    )


def policy(way, missing="category"):
    """The policy of the odd table."""
    publish, guarantee = way
    return mv.Policy(
        accept=["neutral-unique: c0", "no-quasi: k"],
        attributes=ATTRIBUTES,
        guarantee=guarantee,
        publish=publish,
        data={"missing": missing, "source": "odd"},
    )


def cells(release):
    """All cells of a release, in order, with the types of its columns."""
    return {name: (frame.schema, frame.rows()) for name, frame in release.frames.items()}


def locally(data, asked):
    """The release of the local engine, or what it refuses."""
    try:
        return mv.publish(data, asked, seed=1), ""
    except ManyveilsError as error:
        return None, f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    ("name", "missing"),
    [("full-domain", "category"), ("full-domain", "drop"), ("codip", "drop"), ("separate", "category")],
)
def test_odd_tables_as_locally(publish, name, missing):
    """Kinds, texts and holes are read, and published, as the local engine does."""
    data, asked = odd(), policy(FROM_COUNTS[name], missing)
    there, here = publish(data, asked, 7, shuffled=3), mv.publish(data, asked, seed=1)
    assert not there.refused
    assert there.tables == cells(here)
    assert there.release.manifest == here.manifest
    assert seen_by_both(there.audit).describe() == seen_by_both(mv.audit(here, data, asked)).describe()


@pytest.mark.parametrize("name", FROM_ROWS)
def test_odd_tables_keep_promises(publish, monkeypatch, name):
    """Wherever odd rows are, they are published alike, and the local audit finds what Spark's does."""
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "20")
    missing = "drop" if name == "mondrian" else "category"
    data, asked = odd(), policy(FROM_ROWS[name], missing)
    one, other = (publish(data, asked, n, shuffled=n) for n in (1, 6))
    assert not one.refused
    assert one.tables == other.tables
    found = mv.audit(one.release, data, asked)
    assert found.kept
    assert seen_by_both(one.audit).describe() == seen_by_both(found).describe()


def test_missing_cells_are_refused_as_locally(publish):
    """Where the policy allows no missing cell, both engines say the same about all columns."""
    data, asked = odd(), policy(FROM_COUNTS["full-domain"], "error")
    with pytest.raises(mv.DataError) as here:
        mv.publish(data, asked, seed=1)
    assert publish(data, asked).refused == f"DataError: {here.value}"


@pytest.mark.parametrize(
    ("name", "n"),
    [("full-domain", 1), ("codip", 12), ("anatomize", 1), ("mondrian", 12), ("slice", 1), ("slice", 12)],
)
def test_hardly_any_rows(publish, name, n):
    """One row, or twelve that are alike, in more partitions than there are different rows: published or refused as here."""
    way, _ = {**FROM_COUNTS, **FROM_ROWS}[name]
    data, asked = pl.concat([odd()[:1]] * n), policy((way, {"k": 1}))
    there = publish(data, asked, 7)
    release, refused = locally(data, asked)
    assert there.refused == refused
    assert release is None or there.tables == cells(release)
