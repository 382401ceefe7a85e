"""New rows in the words of a release: each gets the labels that the original's rows have."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import manyveils as mv

ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [10, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi"},
    "ill": {"role": "sensitive"},
}


def people(n=60):
    """Some people; ages leave every seventh year out."""
    return pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(n)],
            "age": [20 + row * 7 % 50 for row in range(n)],
            "zip": [f"47{row % 3}0{row % 5}" for row in range(n)],
            "sex": ["fm"[row % 2] for row in range(n)],
            "ill": [f"ill {row % 4}" for row in range(n)],
        }
    )


def released(**publish):
    """A release of them."""
    policy = mv.Policy(attributes=ATTRIBUTES, guarantee={"k": 5}, publish={"method": "generalize", **publish})
    return mv.publish(people(), policy, seed=1)


@pytest.mark.parametrize("publish", [{}, {"recoding": "mondrian", "labels": "sets"}])
def test_rows_of_the_original_get_their_labels(publish):
    """Where labels do not overlap, recoding the original gives the rows that were published."""
    release, names = released(**publish), ["age", "zip", "sex", "ill"]
    [published] = release.frames.values()
    recoded = release.recode(people()).select(pl.col(name).cast(pl.String) for name in names)
    shown = published.select(pl.col(name).cast(pl.String) for name in names)
    assert recoded.sort(names).equals(shown.sort(names))


@pytest.mark.parametrize("labels", ["auto", "ranges", "hierarchy"])
def test_labels_belong_together(labels):
    """Where labels overlap, rows get labels that the release has together, and that cover them."""
    release, names = released(recoding="mondrian", labels=labels), ["age", "zip", "sex"]
    [published] = release.frames.values()
    frame = people()
    recoded = release.recode(frame).select(pl.col(name).cast(pl.String) for name in names)
    shown = published.select(pl.col(name).cast(pl.String) for name in names)
    assert recoded.join(shown, on=names, how="anti").height == 0
    for (_, name), pairs in release.recodings.items():
        both = pl.DataFrame({"published": recoded[name], "original": frame[name].cast(pl.String)})
        assert both.join(pairs, on=["published", "original"], how="anti").height == 0


def test_values_that_are_new(tmp_path):
    """New values stand under the ranges and masks that say so, from a folder too; others and rows under none are missing."""
    release = released()
    release.save(tmp_path / "out")
    new = pl.DataFrame(
        {"age": [33, 33, None, 400], "zip": ["47099", "99999", "47000", "47000"], "sex": ["f", "f", "f", "x"]}
    )
    known = people().filter(pl.col("age").is_between(30, 39) & (pl.col("sex") == "f"))
    label = release.recode(known)["age"][0]
    for each in (release, mv.Release.load(tmp_path / "out")):
        recoded = each.recode(new)
        assert recoded["age"].to_list()[0] == label
        assert recoded["age"].to_list()[3] is None


@pytest.mark.parametrize("give", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, lambda frame: frame])
def test_kind_stays(give):
    """Rows come back as the kind that they came in as, with their other columns, and the texts of a csv file do as well."""
    frame = people()
    back = released().recode(give(frame.with_columns(pl.col("age").cast(pl.String))))
    assert type(back) is type(give(frame))
    shown = pl.DataFrame(back)
    assert shown.columns == frame.columns
    assert shown["name"].to_list() == frame["name"].to_list()
    assert shown["age"].to_list() == released().recode(frame)["age"].to_list()


def test_what_cannot_be_recoded():
    """Rows without any attribute that is recoded, and views that are not there, are refused."""
    with pytest.raises(mv.DataError, match="none of the attributes"):
        released(recoding="mondrian").recode(pl.DataFrame({"x": [1]}))
    with pytest.raises(mv.DataError, match="is not a view"):
        released().recode(people(), view="other")


@pytest.mark.parametrize(
    ("kind", "library"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_loaded_as_the_kind_asked_for(tmp_path, kind, library):
    """Tables and samples of a loaded release are of the kind that was asked for; a sample has as many rows as the release."""
    released().save(tmp_path / "out")
    loaded = mv.Release.load(tmp_path / "out", kind=kind)
    assert all(isinstance(table, library) for table in loaded.tables.values())
    assert len(loaded.sample(seed=1)) == loaded.rows
    with pytest.raises(mv.InputError, match="kind: must be one of"):
        mv.Release.load(tmp_path / "out", kind="excel")
