"""Releases that somebody has touched: the audit where rows are says what the local audit says."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.arguments import licence_of
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to
from manyveils.spark.audit import audit_there
from manyveils.spark.held import hold_there

WAYS = {
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice", "columns": 3},
}
N = 120


def policy_for(name):
    """The hospital's policy with promises that many changes break."""
    guarantee = (
        {"k": 3, "l": 2, "l_kind": "frequency"} if name == "mondrian" else {"l": 2, "l_kind": "frequency"}
    )
    return hospital_policy().replaced(publish=WAYS[name], guarantee=guarantee)


@pytest.fixture(scope="module")
def originals(spark):
    """The original as Spark holds it; all policies have the same attributes."""
    return hold_there(spark.createDataFrame(hospital(n=N).to_arrow()), policy_for("slice"))


@pytest.fixture(scope="module")
def releases(spark, tmp_path_factory):
    """A release by each method; slices are made in parts, so that there are seams between them."""
    found = {}
    for name in WAYS:
        found[name] = tmp_path_factory.mktemp("sound") / "out"
        if name != "slice":
            mv.publish(hospital(n=N), policy_for(name), seed=1).save(found[name], format="parquet")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MANYVEILS_PART_ROWS", "30")
        rows = spark.createDataFrame(hospital(n=N).to_arrow())
        publish_to(policy_for("slice"), found["slice"], data=rows, seed=1)
    return found


def swapped(frame):
    """The last cells of the first and the last row are swapped."""
    name = frame.columns[-1]
    cells = frame[name].to_list()
    cells[0], cells[-1] = cells[-1], cells[0]
    return frame.with_columns(pl.Series(name, cells, dtype=frame[name].dtype)).sort(frame.columns)


def as_one_value(frame):
    """Ten rows have the last value of the first."""
    name = frame.columns[-1]
    cells = [frame[name][0]] * 10 + frame[name].to_list()[10:]
    return frame.with_columns(pl.Series(name, cells, dtype=frame[name].dtype)).sort(frame.columns)


TOUCHES = {
    "swapped": swapped,
    "one value": as_one_value,
    "added": lambda frame: pl.concat([frame[:1], frame]),
    "dropped": lambda frame: frame[1:],
    "reordered": lambda frame: frame.reverse(),
    "a column more": lambda frame: frame.with_columns(guest=pl.lit("x")),
    "empty and missing": lambda frame: frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0)
        .then(pl.lit(""))
        .when(pl.int_range(pl.len()) > 1)
        .then(pl.col("insurance"))
        .alias("insurance")
    ).sort(frame.columns),
    "a value nobody has": lambda frame: frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0)
        .then(pl.lit("stranger"))
        .otherwise(pl.col("insurance"))
        .alias("insurance")
        if "insurance" in frame.columns
        else pl.all()
    ),
}

CASES = [
    *(("mondrian", change) for change in TOUCHES),
    *(("anatomize", change) for change in ("swapped", "added")),
    *(("slice", change) for change in ("swapped", "one value")),
]


def touch(sound, folder, change):
    """A copy of a release with one table changed: the last one, which holds sensitive values."""
    mv.Release.load(sound).save(folder, format="parquet")
    tables = sorted(path for path in (folder / "tables").rglob("*.parquet") if path.is_file())
    chosen = next((path for path in tables if "insurance" in pl.read_parquet_schema(path)), tables[-1])
    change(pl.read_parquet(chosen)).write_parquet(chosen)
    return folder


@pytest.mark.parametrize(("name", "change"), CASES)
def test_the_same_verdict(
    spark, originals, releases, tmp_path, monkeypatch, parts_judged, said, name, change
):
    """Finding by finding, and refusal by refusal, judged in parts and as a whole."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "300")
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "60")
    folder, policy = touch(releases[name], tmp_path / "out", TOUCHES[change]), policy_for(name)
    there = said(lambda: audit_there(folder, originals, policy, spark=spark, licence=licence_of(policy)))
    here = said(lambda: mv.audit(folder, hospital(n=N), policy))
    assert there == here
    if isinstance(here, list):
        assert max(parts_judged) > 1


def test_buckets_are_whole_numbers(spark, originals, releases, tmp_path, monkeypatch):
    """Buckets that one reader tells apart and another does not are refused."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "300")
    halves = lambda frame: frame.with_columns(pl.col("bucket") + pl.int_range(pl.len()) % 2 / 2)  # noqa: E731
    folder = touch(releases["anatomize"], tmp_path / "out", halves)
    with pytest.raises(mv.DataError, match="its buckets are no whole numbers"):
        audit_there(
            folder,
            originals,
            policy_for("anatomize"),
            spark=spark,
            licence=licence_of(policy_for("anatomize")),
        )


def in_parts(folder, name, parts):
    """Write a table anew, in parts as given."""
    [path] = [path for path in (folder / "tables").iterdir() if name in path.name]
    path.unlink()
    path.mkdir()
    for place, part in enumerate(parts):
        part.write_parquet(path / f"part-{place:05d}.parquet")


def test_parts_in_another_order(spark, originals, releases, tmp_path, monkeypatch, said):
    """Parts that are sorted each by itself, and not one after another, are counted where they meet."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "300")
    folder, policy = (
        touch(releases["mondrian"], tmp_path / "out", lambda frame: frame),
        policy_for("mondrian"),
    )
    frame = mv.Release.load(folder).frames["main"]
    in_parts(folder, "main", [frame[80:], frame[:40], frame[40:80]])
    there = said(lambda: audit_there(folder, originals, policy, spark=spark, licence=licence_of(policy)))
    assert there == said(lambda: mv.audit(folder, hospital(n=N), policy))
    assert {each["measured"] for each in there if each["promise"] == "order-tells-nothing"} == {1}


def test_a_part_with_a_column_more(spark, originals, releases, tmp_path, monkeypatch):
    """A column that only a later part has does not go unseen."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "300")
    folder = touch(releases["mondrian"], tmp_path / "out", lambda frame: frame)
    frame = mv.Release.load(folder).frames["main"]
    in_parts(folder, "main", [frame[:80], frame[80:].with_columns(guest=pl.lit("x"))])
    with pytest.raises(mv.DataError, match="its parts have different columns"):
        audit_there(
            folder, originals, policy_for("mondrian"), spark=spark, licence=licence_of(policy_for("mondrian"))
        )
    with pytest.raises(mv.DataError, match="damaged"):
        mv.audit(folder, hospital(n=N), policy_for("mondrian"))
