"""Beliefs against every possible world, listed in plain Python."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import slicing_patients

NAMES = ("a", "b", "s")


def policy_of(names, sensitive="s"):
    return mv.Policy(
        attributes={name: {"role": "sensitive" if name == sensitive else "quasi"} for name in names},
        guarantee={"l": 2},
    )


def worlds(rows, buckets, columns):
    """Every table that a bucketed view may come from: inside a bucket its columns go together in any order."""
    per_bucket = []
    for bucket in sorted(set(buckets)):
        inside = [row for row, own in zip(rows, buckets, strict=True) if own == bucket]
        orders = [list(permutations(range(len(inside)))) for _ in columns]
        per_bucket.append(
            [
                [
                    {
                        name: inside[order[place]][name]
                        for order, column in zip(chosen, columns, strict=True)
                        for name in column
                    }
                    for place in range(len(inside))
                ]
                for chosen in product(*orders)
            ]
        )
    return [[row for part in chosen for row in part] for chosen in product(*per_bucket)]


def believed(all_worlds, known):
    """The shares of the sensitive value among all rows of all worlds that match what is known."""
    found = Counter(
        row["s"] for world in all_worlds for row in world if all(row[name] == known[name] for name in known)
    )
    return {value: Fraction(count, found.total()) for value, count in found.items()}


def compare(scene, rows, all_worlds, known):
    column = scene.table["s"]
    beliefs = scene.reader.beliefs(scene.people, known, "s")
    for place, row in enumerate(rows):
        expected = believed(all_worlds, {name: row[name] for name in known})
        for code, text in enumerate(column.texts):
            assert beliefs.of([place]).dense()[0, code] == pytest.approx(float(expected.get(text, 0)))


@settings(max_examples=30)
@given(
    cells=st.lists(st.tuples(*[st.sampled_from("xy")] * 2, st.sampled_from("uvw")), min_size=5, max_size=5),
    columns=st.sampled_from(
        [(("a", "b"), ("s",)), (("a",), ("b", "s")), (("a",), ("b",), ("s",)), (("a", "b", "s"),)]
    ),
)
def test_buckets(cells, columns):
    """In buckets beliefs are the shares over all worlds, whichever attributes are known."""
    import numpy as np

    from manyveils.attacks.scene import Scene
    from manyveils.release import Draft, seal
    from manyveils.table import Streams, hold

    rows = [dict(zip(NAMES, cell, strict=True)) for cell in cells]
    buckets = [0, 0, 0, 1, 1]
    policy, frame = policy_of(NAMES), pl.DataFrame(rows)
    table, restore = hold(frame, policy)
    draft = Draft("main", columns, np.arange(5), np.array(buckets, dtype=np.int64))
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
    scene = Scene(release, table, policy, streams=Streams(1))
    all_worlds = worlds(rows, buckets, columns)
    for known in (("a", "b"), ("a",), ()):
        compare(scene, rows, all_worlds, known)


def test_labels(released, scene_of):
    """A label stands evenly for what it covers: beliefs are the shares over all fillings of the labels."""
    rows = [dict(zip(NAMES, cell, strict=True)) for cell in ("xpu", "ypv", "xqu", "zqw")]
    labels = ["{x, y}", "{x, y}", "{x, z}", "{x, z}"]
    covers = {"{x, y}": ["x", "y"], "{x, z}": ["x", "z"]}
    policy, frame = policy_of(NAMES), pl.DataFrame(rows)
    release = released(frame, policy, [NAMES], recodings={"a": (labels, covers)})
    scene = scene_of(release, frame, policy)
    fillings = [
        [{**row, "a": value} for row, value in zip(rows, chosen, strict=True)]
        for chosen in product(*(covers[label] for label in labels))
    ]
    compare(scene, rows, fillings, ("a",))
    compare(scene, rows, fillings, ("a", "b"))


def test_two_views(released, scene_of):
    """Two views that share the sensitive attribute only are independent given it."""
    rows = [dict(zip(NAMES, cell, strict=True)) for cell in ("xpu", "xpv", "yqu", "xqv", "yqv")]
    policy, frame = policy_of(NAMES), pl.DataFrame(rows)
    scene = scene_of(released(frame, policy, [("a", "s")], [("b", "s")]), frame, policy)
    beliefs = scene.reader.beliefs(scene.people, ("a", "b"), "s")
    for place, row in enumerate(rows):
        weights = {}
        for value in "uv":
            same = [each for each in rows if each["s"] == value]
            alike = [sum(each[name] == row[name] for each in same) for name in "ab"]
            weights[value] = alike[0] * alike[1] / len(same)
        for code, text in enumerate(scene.table["s"].texts):
            assert beliefs.of([place]).dense()[0, code] == pytest.approx(
                weights[text] / sum(weights.values())
            )


def test_slicing_table_1f(released, scene_of):
    """Table 1(f) of slicing: the first patient has dyspepsia or flu, each with one half."""
    frame = slicing_patients()
    policy = policy_of(frame.columns, sensitive="disease")
    release = released(frame, policy, [("age", "sex"), ("zipcode", "disease")], buckets=[0] * 4 + [1] * 4)
    scene = scene_of(release, frame, policy)
    beliefs = scene.reader.beliefs(scene.people, ("age", "sex", "zipcode"), "disease")
    first = dict(zip(scene.table["disease"].texts, beliefs.of([0]).dense()[0].tolist(), strict=True))
    assert first == {"Dyspepsia": 0.5, "Flu": 0.5, "Bronchitis": 0, "Gastritis": 0}


def test_nobody_like_that(released, scene_of):
    """Of someone who matches nothing, a release says what it says of everybody."""
    frame = pl.DataFrame({"a": list("xxyy"), "s": list("uvuu")})
    policy = policy_of(("a", "s"))
    release = released(frame, policy, [("a", "s")])
    scene = scene_of(release, pl.DataFrame({"a": list("xxyyz"), "s": list("uvuuu")}), policy)
    beliefs = scene.reader.beliefs(scene.people, ("a",), "s")
    assert beliefs.of([4]).dense()[0].tolist() == [0.75, 0.25]


def test_no_place_in_a_view(released, scene_of):
    """A view that has no place for somebody takes nothing away from what another view says of her, whichever is first."""
    frame = pl.DataFrame({"a": list("xxyyzzz"), "b": list("ppqqppp"), "s": list("uvuuvvu")})
    policy = policy_of(NAMES)
    moved = frame.with_columns(b=pl.Series(list("ppqqrrr")))
    alone = scene_of(released(frame, policy, [("a", "s")]), moved, policy)
    expected = alone.reader.beliefs(alone.people, ("a", "b"), "s")
    assert expected.of([5]).dense()[0].tolist() == pytest.approx([1 / 3, 2 / 3])
    for views in (
        ([("a", "s")], [("a", "b", "s")]),
        ([("a", "b", "s")], [("a", "s")]),
        ([("b", "s")], [("a", "s")]),
    ):
        scene = scene_of(released(frame, policy, *views), moved, policy)
        beliefs = scene.reader.beliefs(scene.people, ("a", "b"), "s")
        assert beliefs.of([5]).dense()[0].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_labels_that_do_not_overlap(released, scene_of):
    """Originals under one label look alike, and different from those under another."""
    rows = [dict(zip(NAMES, cell, strict=True)) for cell in ("wpu", "xpv", "ypv", "zqw", "zqu")]
    labels = ["{w, x}", "{w, x}", "{y, z}", "{y, z}", "{y, z}"]
    covers = {"{w, x}": ["w", "x"], "{y, z}": ["y", "z"]}
    policy, frame = policy_of(NAMES), pl.DataFrame(rows)
    scene = scene_of(released(frame, policy, [NAMES], recodings={"a": (labels, covers)}), frame, policy)
    fillings = [
        [{**row, "a": value} for row, value in zip(rows, chosen, strict=True)]
        for chosen in product(*(covers[label] for label in labels))
    ]
    compare(scene, rows, fillings, ("a",))
    compare(scene, rows, fillings, ("a", "b"))
