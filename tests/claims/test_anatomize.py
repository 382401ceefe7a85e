"""Anatomized buckets depend on sensitive values and on chance, and suggest nothing that is not in the data."""

from collections import Counter
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods.anatomize.kinds import shared_out

ANATOMIES = {
    "anatomize": {"method": "anatomize"},
    "guardian": {"method": "guardian"},
    "guardian, repaired": {"method": "guardian", "decompose": "gd"},
    "multi-sa": {"method": "multi-sa"},
}
every_anatomy = pytest.mark.parametrize("publish", ANATOMIES.values(), ids=ANATOMIES.keys())

# Of two values that share a bucket, the one whose row has the later q, if rows of a value were dealt in the order of q.
LATER = {("a", "b"): "b", ("a", "c"): "a", ("b", "c"): "c"}


def policy_for(frame, publish, **guarantee):
    """The first attribute is known, the others are sensitive."""
    known, *sensitive = frame.columns
    return mv.Policy(
        attributes={
            known: {"role": "quasi", "kind": "categorical"},
            **{name: {"role": "sensitive", "kind": "categorical"} for name in sensitive},
        },
        guarantee=guarantee,
        publish=publish,
    )


def independent(*counts):
    """Every combination as often as independence has it; attributes are given by how often each value occurs."""
    columns = [[f"{place}" for place, n in enumerate(each) for _ in range(n)] for each in counts]
    return pl.DataFrame(list(product(*columns)), schema=list("qst")[: len(counts)], orient="row")


def compositions(release, names):
    """The values of every bucket, attribute by attribute, without saying which bucket it is."""
    [view] = [view for view in release.views if set(names) <= set(view.attributes)]
    files = [file for file in view.files if set(names) & set(file.attributes)]
    held = {}
    for place, file in enumerate(files):
        for bucket, *values in release.frames[file.table].select("bucket", *file.attributes).iter_rows():
            held.setdefault(bucket, []).append((place, values))
    return sorted(sorted(values) for values in held.values())


def bucket_of(release, name):
    """The bucket of each value of an attribute that nobody shares."""
    [frame] = [each for each in release.frames.values() if {"bucket", name} <= set(each.columns)]
    return dict(frame.select(name, "bucket").iter_rows())


@every_anatomy
def test_no_association_is_suggested(publish):
    """Of two independent attributes the release gives an estimate in which they nearly are."""
    frame = independent([20] * 10, [9, 7, 6, 5, 3])
    policy = policy_for(frame, publish, l=2, l_kind="frequency")
    for seed in (1, 2, 3):
        assert mv.measure(mv.publish(frame, policy, seed=seed), frame, policy)["kl"] < 0.002


@pytest.mark.parametrize(
    ("s", "t", "l"), [([6, 5, 4, 3, 2], [4, 3, 2, 1], 2), ([6, 6, *[1] * 8], [6, 6, *[1] * 8], 3)]
)
def test_no_association_between_several(s, t, l):
    """Of three independent attributes, two of them sensitive, the release gives an estimate in which they nearly are."""
    frame = independent([5] * 4, s, t)
    policy = policy_for(frame, {"method": "anatomize"}, l=l, l_kind="frequency")
    for seed in (1, 2, 3):
        release = mv.publish(frame, policy, seed=seed)
        assert release.notes["largest_bucket"] <= l + 1
        assert mv.measure(release, frame, policy)["kl"] < 0.01


@pytest.mark.parametrize("names", ["s", "st"])
@pytest.mark.parametrize("method", ["anatomize", "multi-sa"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_meets_is_decided_by_sensitive_values(names, method, data):
    """Other quasi-identifiers leave it as it is which sensitive values meet in buckets, and which rows are left out."""
    n = data.draw(st.integers(4, 40))
    column = st.lists(st.sampled_from("abcde"), min_size=n, max_size=n)
    sensitive = {name: data.draw(column) for name in names}
    found = []
    for _ in range(2):
        frame = pl.DataFrame({"q": data.draw(column), **sensitive})
        policy = policy_for(frame, {"method": method, "suppression": 0.5}, l=2, l_kind="frequency")
        try:
            found.append(compositions(mv.publish(frame, policy, seed=1), names))
        except mv.InfeasibleError:
            found.append(None)
    assert found[0] == found[1]


@pytest.mark.parametrize("publish", [ANATOMIES[name] for name in ("anatomize", "guardian", "multi-sa")])
def test_the_order_of_rows_tells_nothing(publish):
    """Who supposes that rows were dealt in the order of q guesses half of the pairs, and all of them if they were."""
    rng = np.random.default_rng(1)
    values = np.repeat([*"abc"], 400)
    frame = pl.DataFrame({"q": [f"{q:04d}" for q in rng.permutation(1200)], "s": values})
    in_order = frame.sort("s", "q")["q"]
    assert guessed(frame, dict(zip(in_order, np.arange(1200) % 600, strict=True))) == 1
    for seed in (1, 2, 3):
        release = mv.publish(frame, policy_for(frame, publish, l=2, l_kind="frequency"), seed=seed)
        assert guessed(frame, bucket_of(release, "q")) == pytest.approx(0.5, abs=0.06)


def guessed(frame, buckets):
    """In which share of the buckets the later row has the value that it would have had in the order of q."""
    pairs = frame.sort("q").group_by(pl.col("q").replace_strict(buckets)).agg("s")["s"].to_list()
    return np.mean([LATER[min(pair), max(pair)] == pair[1] for pair in pairs])


def test_what_is_left_out_is_random():
    """Which rows of a value that is too common are left out depends on the seed, and is decided row by row."""
    frame = pl.DataFrame({"q": ["x"] * 30 + ["y"] * 30 + ["z"] * 20, "s": ["a"] * 60 + ["b"] * 20})
    policy = policy_for(frame, {"method": "anatomize", "suppression": 0.5}, l=2, l_kind="frequency")
    left = [
        mv.publish(frame, policy, seed=seed).frames["main.q"]["q"].value_counts().sort("q")
        for seed in range(1, 6)
    ]
    assert all(each["q"].to_list() == ["x", "y", "z"] for each in left)
    assert len({tuple(each["count"]) for each in left}) > 1


def test_guardian_tables_are_made_by_chances_of_their_own():
    """Two tables with the same quasi-identifiers do not pair the same people, even where the sensitive values are equal."""
    frame = pl.DataFrame({"q": [f"{n:02d}" for n in range(60)], "s": [*"abc"] * 20, "t": [*"abc"] * 20})
    policy = mv.Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in frame.columns},
        rules=[{"given": ["q"], "protect": name} for name in "st"],
        publish={"method": "guardian", "decompose": "gd"},
    )
    release = mv.publish(frame, policy, seed=1)
    pairings = []
    for view in release.views:
        rows = release.frames[view.files[0].table]
        assert rows.columns == ["bucket", "q"]
        pairings.append({frozenset(group["q"]) for _, group in rows.group_by("bucket")})
    assert len(pairings) == 2
    assert len(pairings[0] & pairings[1]) < 10


@settings(max_examples=60, deadline=None)
@given(
    ills=st.lists(st.sampled_from(["flu", "cough", "ulcer", "colic", "rash"]), min_size=4, max_size=40),
    pays=st.lists(st.sampled_from("xyz"), min_size=40, max_size=40),
    l=st.integers(2, 3),
    alone=st.booleans(),
)
def test_equal_labels_do_not_meet(ills, pays, l, alone):
    """With l_level, a bucket of so many rows as labels are asked for has no label twice, wherever values stand in order."""
    kind_of = {"flu": "lungs", "ulcer": "gut", "cough": "lungs", "colic": "gut", "rash": "skin"}
    lines = "\n".join(f"{ill};{kind};*" for ill, kind in kind_of.items())
    with TemporaryDirectory() as folder:
        (Path(folder) / "ills.csv").write_text(lines, encoding="utf-8")
        policy = mv.Policy(
            attributes={
                "age": {"role": "quasi", "kind": "numeric"},
                "ill": {"role": "sensitive", "hierarchy": {"file": f"{folder}/ills.csv"}},
                "pay": {"role": "neutral" if alone else "sensitive", **({} if alone else {"guarantee": {"l": 1}})},
            },
            guarantee={"l": l, "l_level": 1},
            publish={"method": "anatomize"},
        )  # fmt: skip
    frame = pl.DataFrame({"age": range(len(ills)), "ill": ills, "pay": pays[: len(ills)]})
    try:
        release = mv.publish(frame, policy, seed=1)
    except (mv.InfeasibleError, mv.PolicyError):
        assert len({kind_of[ill] for ill in ills}) < l
        return
    shown = next(table for table in release.frames.values() if "ill" in table.columns)
    labels = shown.with_columns(pl.col("ill").replace_strict(kind_of)).group_by("bucket").agg("ill")["ill"]
    for own in labels.to_list():
        assert len(set(own)) >= l
    commonest = max(Counter(kind_of[ill] for ill in ills).values())
    if alone and commonest * l <= len(ills):
        # Then dealing needs no larger buckets.
        assert all(len(own) == len(set(own)) for own in labels.to_list() if len(own) <= l)
        assert len(labels) == len(ills) // l


def test_rows_of_a_label_go_in_proportion():
    """What is left out of a label comes from all its values, as far as whole rows allow."""
    gone = shared_out(np.array([3, 4]), np.array([0, 1, 0, 1]), np.array([4, 6, 2, 2]))
    assert gone.tolist() == [2, 3, 1, 1]


def shares(*counts):
    """A table in which values of the sensitive attributes occur so often, independently of each other."""
    rng = np.random.default_rng(5)
    columns = {"q": [str(row % 40) for row in range(sum(counts[0]))]}
    for name, each in zip("st", counts, strict=False):
        columns[name] = rng.permutation(np.repeat(np.arange(len(each)).astype(str), each)).tolist()
    return pl.DataFrame(columns)


@pytest.mark.parametrize(
    "guarantee", [{"l": 2}, {"l": 3}, {"t": 0.3}, {"k": 5, "l": 2}, {"l": 2, "l_kind": "entropy"}]
)
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_allowed_suppression_loses_nobody_without_need(guarantee, share):
    """Where all can be published, nobody is left out because some may be."""
    frame = shares([540, 350, 110], [300, 200, 100, 100, 80, 80, 60, 50, 30])
    policy = policy_for(frame, {"method": "anatomize"}, **guarantee)
    allowed = policy_for(frame, {"method": "anatomize", "suppression": share}, **guarantee)
    assert mv.publish(frame, policy, seed=1).suppressed == 0
    assert mv.publish(frame, allowed, seed=1).suppressed == 0


def test_suppression_is_used_where_it_must_be():
    """Where not all can be published, as few rows are left out as must be."""
    frame = shares([520, 300, 180])
    policy = policy_for(frame, {"method": "anatomize", "suppression": 0.05}, l=2, l_kind="frequency")
    assert mv.publish(frame, policy, seed=1).suppressed == 40


def test_buckets_do_not_grow_for_a_few_rows():
    """Where publishing all takes buckets more than ten times as large, the few rows in the way are left out."""
    frame, guarantee = shares([500, 490, 10]), {"t": 0.02}
    whole = mv.publish(frame, policy_for(frame, {"method": "anatomize"}, **guarantee), seed=1)
    policy = policy_for(frame, {"method": "anatomize", "suppression": 0.05}, **guarantee)
    spared = mv.publish(frame, policy, seed=1)
    assert (whole.suppressed, spared.suppressed) == (0, 20)
    assert spared.notes["buckets"] > 10 * whole.notes["buckets"]
