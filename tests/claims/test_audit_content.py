"""A release that shows too much, too little or in a telling order is found out."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from manyveils.audits import audit
from manyveils.policy import Policy
from manyveils.release import Draft, Recoding, Release
from manyveils.release.draft import recode_to_level
from tests.kit import sealed

FRAME = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dan", None],
        "age": [30, 31, 40, 41, None],
        "job": ["x", None, "y", "y", "x"],
        "ill": ["flu", "flu", "cold", "flu", "cold"],
    }
)
SECTIONS = {
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [10]}},
        "job": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
}


def policy(suppression=0.0):
    return Policy(**SECTIONS, publish={"suppression": suppression})


def plain():
    return sealed(FRAME, policy(), columns=[("age", "job", "ill")])


def bucketed():
    return sealed(FRAME, policy(), columns=[("age", "job"), ("ill",)], buckets=[0, 0, 1, 1, 1])


def generalized(rows=(0, 1, 2, 3, 4)):
    kept = np.array(rows, dtype=np.intp)
    _, table = plain()
    draft = Draft(
        "main", (("age", "job", "ill"),), kept, recodings={"age": recode_to_level(table["age"], 1, kept)}
    )
    return sealed(FRAME, policy(), draft)


def broken(release, table, of=None):
    return {finding.promise for finding in audit(release, table, of or policy()).broken}


def changed(release, table_name, change):
    frames = {name: change(frame) if name == table_name else frame for name, frame in release.frames.items()}
    return Release(release.manifest, frames, release.recodings)


@pytest.mark.parametrize("made", [plain, bucketed, generalized])
def test_a_sealed_release_is_clean(made, tmp_path):
    """What comes out of the seal has no fault of content, in memory or read back from files."""
    release, table = made()
    assert broken(release, table) == set()
    for kind in ("csv", "parquet"):
        assert broken(Release.load(release.save(tmp_path / kind, format=kind)), table) == set()


def test_an_extra_column_is_found():
    """A column that the manifest does not list breaks `nothing-but-listed`."""
    release, table = plain()
    leaky = changed(release, "main", lambda frame: frame.with_columns(row=pl.int_range(frame.height)))
    assert broken(leaky, table) == {"nothing-but-listed"}


def test_an_identifier_in_the_manifest_is_found():
    """Listing an attribute does not make it publishable."""
    release, table = plain()
    [view] = release.views
    listing = dataclasses.replace(view.files[0], attributes=(*view.files[0].attributes, "name"))
    manifest = dataclasses.replace(release.manifest, views=(dataclasses.replace(view, files=(listing,)),))
    frames = {"main": release.frames["main"].with_columns(name=pl.lit("Ann"))}
    assert "nothing-but-listed" in broken(Release(manifest, frames, {}), table)


def test_a_missing_column_or_table_is_found_and_nothing_crashes():
    """A listed column that is not there breaks the promises about it, for want of anything to measure."""
    with_promise = Policy(**SECTIONS, guarantee={"k": 2, "l": 2})
    release, table = plain()
    poor = changed(release, "main", lambda frame: frame.drop("ill"))
    assert {"nothing-but-listed", "nothing-lost", "k-anonymity", "distinct-l-diversity"} <= broken(
        poor, table, with_promise
    )
    assert "nothing-but-listed" in broken(Release(release.manifest, {}, {}), table, with_promise)


def test_a_table_that_no_view_lists_is_found():
    """A stray table breaks `nothing-but-listed`."""
    release, table = plain()
    stray = Release(release.manifest, {**release.frames, "more": FRAME}, release.recodings)
    assert broken(stray, table) == {"nothing-but-listed"}


@pytest.mark.parametrize("made", [plain, bucketed, generalized])
def test_rows_out_of_order_are_found(made):
    """Two rows changing places break `order-tells-nothing`."""
    release, table = made()
    first = next(iter(release.frames))
    assert broken(changed(release, first, lambda frame: frame.reverse()), table) == {"order-tells-nothing"}


def test_missing_cells_come_first():
    """Rows with a missing cell at the end are out of order."""
    release, table = plain()
    last = changed(release, "main", lambda frame: frame.sort("age", "job", "ill", nulls_last=True))
    assert broken(last, table) == {"order-tells-nothing"}


def test_a_lost_row_is_found():
    """A row fewer than the manifest says breaks `nothing-lost`."""
    release, table = plain()
    assert broken(changed(release, "main", lambda frame: frame.slice(1)), table) == {"nothing-lost"}


def test_an_invented_value_is_found():
    """A value that the original does not have, or has less often, breaks `nothing-lost`."""
    release, table = plain()
    for value in ("plague", "flu"):
        invented = changed(
            release,
            "main",
            lambda frame, value=value: frame.with_columns(ill=pl.lit(value)).sort(frame.columns),
        )
        assert broken(invented, table) == {"nothing-lost", "rows-true"}


def test_an_unlisted_label_is_found():
    """A label that the recoding does not list breaks `recodings-true`."""
    release, table = generalized()
    pairs = release.recodings["main", "age"]
    poor = Release(
        release.manifest, release.frames, {("main", "age"): pairs.filter(pl.col("published") != "[30, 39]")}
    )
    assert broken(poor, table) == {"recodings-true"}


def test_a_label_cannot_stand_for_more_rows_than_it_covers():
    """Publishing one label for all rows is found, where the label covers two of them."""
    release, table = generalized()
    wide = changed(
        release, "main", lambda frame: frame.with_columns(age=pl.lit("[30, 39]")).sort(frame.columns)
    )
    assert broken(wide, table) == {"nothing-lost", "recodings-true", "rows-true"}


def test_labels_that_overlap_are_counted_by_what_they_may_cover():
    """Local recoding lets one value have several labels, and the release is still accounted for."""
    everyone = np.arange(5, dtype=np.intp)
    covers = (np.array([0, 0, 1, 1, 2]), ("30", "31", "31", "40", "41"))
    local = Recoding(np.array([0, 0, 1, 2, 3], dtype=np.int32), ("[30, 31]", "[31, 40]", "41", None), covers)
    covers_missing = (np.append(covers[0], 3), (*covers[1], ""))
    local = dataclasses.replace(local, covers=covers_missing)
    release, table = sealed(
        FRAME, policy(), Draft("main", (("age", "job", "ill"),), everyone, recodings={"age": local})
    )
    assert broken(release, table) == set()


def test_suppression_is_allowed_up_to_its_share_rounded_down():
    """One row of five may go at 0.2 and at 0.39, none at 0.19."""
    release, table = generalized(rows=(0, 1, 2, 3))
    assert broken(release, table, policy(0.19)) == {"suppression"}
    assert broken(release, table, policy(0.2)) == broken(release, table, policy(0.39)) == set()


def test_buckets_of_different_sizes_are_found():
    """A row that moves to another bucket in one column only breaks `buckets-agree`."""
    release, table = bucketed()
    name = next(name for name in release.frames if name.endswith("ill"))
    moved = changed(
        release, name, lambda frame: frame.with_columns(bucket=pl.lit(0, dtype=pl.Int64)).sort(frame.columns)
    )
    assert broken(moved, table) == {"buckets-agree"}


def test_an_empty_release_keeps_groups_and_loses_everybody():
    """With no row published no group falls short, and the suppression is what is broken."""
    with_promise = Policy(**SECTIONS, guarantee={"k": 2, "l": 2, "t": 0.1})
    release, table = sealed(
        FRAME, with_promise, Draft("main", (("age", "job", "ill"),), np.array([], dtype=np.intp))
    )
    assert broken(release, table, with_promise) == {"suppression"}


def test_numbers_as_labels_are_sorted_as_texts():
    """Labels that look like numbers keep the order of texts, in which 10 comes before 9."""
    frame = pl.DataFrame({"name": ["Ann", "Bob"], "age": [9, 10], "job": ["x", "x"], "ill": ["flu", "cold"]})
    everyone = np.arange(2, dtype=np.intp)
    labels = Recoding(np.array([0, 1], dtype=np.int32), ("9", "10"), (np.array([0, 1]), ("9", "10")))
    release, table = sealed(
        frame, policy(), Draft("main", (("age", "job", "ill"),), everyone, recodings={"age": labels})
    )
    assert release.frames["main"]["age"].to_list() == ["10", "9"]
    assert broken(release, table) == set()


def test_an_original_in_place_of_its_label_is_found():
    """A value that should have been recoded, and that the recoding does not list, breaks `recodings-true`."""
    release, table = generalized(rows=(0, 2, 3, 4))
    bare = changed(
        release,
        "main",
        lambda frame: frame.with_columns(pl.col("age").replace("[30, 39]", "31")).sort(frame.columns),
    )
    assert broken(release, table, policy(0.2)) == set()
    assert broken(bare, table, policy(0.2)) == {"recodings-true", "rows-true"}
