"""Codes in reports: names and not amounts, whatever they look like."""

import json

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.utility.portrait import portrait, public_portrait
from manyveils.utility.portrait.values import by_width

N = 3_000
RNG = np.random.default_rng(4)
# Three in a hundred have a letter, and one cell in a thousand is missing.
CODES = [*(str(code) for code in range(250, 1_000, 25)), "V57", "E812"]
CELLS = [None if n % 1_000 == 0 else str(code) for n, code in enumerate(RNG.choice(CODES, N))]
FRAME = pl.DataFrame({"age": RNG.integers(20, 60, N), "diag": CELLS, "room": RNG.integers(100, 140, N)})


@pytest.fixture(scope="module")
def release():
    """A release with a sensitive code among letters, and one of numbers alone."""
    policy = mv.Policy(
        attributes={
            "age": {"role": "quasi"},
            "diag": {"role": "sensitive"},
            "room": {"role": "sensitive", "kind": "categorical"},
        },
        guarantee={"k": 5, "l": 2},
        publish={"method": "anatomize"},
    )
    return mv.publish(FRAME, policy, seed=1)


def test_kinds_are_in_the_manifest(release, tmp_path):
    """The manifest says of every published attribute what kind it is, and a loaded one says the same."""
    kinds = {"age": "numeric", "diag": "categorical", "room": "categorical"}
    folder = release.save(tmp_path / "out")
    assert json.loads((folder / "release.json").read_text(encoding="utf-8"))["kinds"] == kinds
    assert mv.Release.load(folder).manifest.kinds == kinds


@pytest.mark.parametrize("name", ["diag", "room"])
def test_codes_are_drawn_by_name(release, name):
    """In the public report the commonest codes stand by name with their shares, and no range of codes is drawn."""
    drawn = public_portrait(release).shares[name]
    assert all(
        label in {*map(str, FRAME[name].drop_nulls().to_list()), "missing"} for label in drawn["bins"][:-1]
    )
    assert drawn["bins"][-1].endswith(" others")
    assert "1e+03" not in mv.public_report(release).html


def test_missing_is_what_is_missing(release):
    """What a report calls missing is the share of empty cells, with letters among the codes or without."""
    few = FRAME.with_columns(pl.col("diag").replace(dict.fromkeys(CODES[5:-2], "250")))
    policy = mv.Policy(
        attributes={"age": {"role": "quasi"}, "diag": {"role": "sensitive"}},
        guarantee={"k": 5, "l": 2},
        publish={"method": "anatomize"},
    )
    drawn = public_portrait(mv.publish(few.drop("room"), policy, seed=1)).shares["diag"]
    missing = drawn["after"][drawn["bins"].index("missing")]
    assert missing == pytest.approx(few["diag"].null_count() / N)


def test_what_is_no_number_is_not_missing():
    """Among numbers, empty cells are missing and other texts are not."""
    texts = ["1", "7", "12", "", "*"]
    scale = by_width(texts, np.array([1.0, 7.0, 12.0, np.nan, np.nan]), most=4)
    assert scale.bins == ("0–4", "5–9", "10–14", "missing", "not a number")
    assert [scale.bins[scale.bin_of[text]] for text in ("", "*")] == ["missing", "not a number"]


def test_older_releases_without_kinds(release):
    """A release that says nothing of kinds is read as before: what looks like numbers is drawn as numbers."""
    from dataclasses import replace

    older = mv.Release(replace(release.manifest, kinds={}), release.frames, release.recodings)
    assert any("–" in label for label in public_portrait(older).shares["room"]["bins"])


def test_the_owner_sees_the_same_names(release):
    """The owner's report draws the same codes as the public one, with their true shares beside."""
    from manyveils.table import hold

    policy = mv.Policy(
        attributes={
            "age": {"role": "quasi"},
            "diag": {"role": "sensitive"},
            "room": {"role": "sensitive", "kind": "categorical"},
        },
        guarantee={"k": 5, "l": 2},
        publish={"method": "anatomize"},
    )
    drawn = portrait(release, hold(FRAME, policy)[0], policy).shares["diag"]
    public = public_portrait(release).shares["diag"]
    assert set(drawn["bins"]) == set(public["bins"])
    assert drawn["before"] == pytest.approx(drawn["after"])
