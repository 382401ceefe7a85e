"""Slicing: columns by correlation, buckets by strict cuts, and what a target's values tell."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods import Work, read_options
from manyveils.methods.generalize import mondrian
from manyveils.methods.slice import buckets as bucketing
from manyveils.methods.slice import plan
from manyveils.methods.slice.buckets import Region, beliefs
from manyveils.methods.slice.layout import (
    SliceOptions,
    contingency,
    lay_out,
    medoid_clusters,
    silhouette,
)
from manyveils.table import Streams, hold, resolve
from tests.kit.counting import counted_once
from tests.kit.strategies import cases

quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def belief_by_definition(parts, last, protected, buckets):
    """p(t,s) for every row's tuple, from the definition of l-diverse slicing, in fractions."""
    rows = range(len(buckets))
    members = {bucket: [row for row in rows if buckets[row] == bucket] for bucket in set(buckets)}
    found = {}
    for t in {tuple(part[row] for part in parts) for row in rows}:
        shares = {}
        for bucket, inside in members.items():
            f = [
                Fraction(sum(part[row] == value for row in inside), len(inside))
                for part, value in zip(parts, t, strict=True)
            ]
            shares[bucket] = np.prod(f) if all(f) else Fraction(0)
        total = sum(shares.values())
        p = Counter()
        for bucket, share in shares.items():
            if share:
                fits = [protected[row] for row in members[bucket] if parts[last][row] == t[last]]
                for value, count in Counter(fits).items():
                    p[value] += share / total * Fraction(count, len(fits))
        found[t] = p
    return found


@quick
@given(st.data())
def test_beliefs_follow_the_definition(data):
    """The beliefs computed bucket by bucket are those of the definition, for any columns and buckets."""
    n = data.draw(st.integers(1, 12))
    n_columns = data.draw(st.integers(2, 4))

    def column(top):
        return data.draw(st.lists(st.integers(0, top), min_size=n, max_size=n))

    parts = [np.unique(column(2), return_inverse=True)[1] for _ in range(n_columns)]
    buckets = np.unique(column(3), return_inverse=True)[1]
    protected = np.array(column(2))
    last = data.draw(st.integers(0, n_columns - 1))
    regions = tuple(Region((f"c{i}",), part, int(part.max()) + 1, {}) for i, part in enumerate(parts))
    belief = beliefs(regions, last, protected, buckets)
    expected = belief_by_definition(
        [part.tolist() for part in parts], last, protected.tolist(), buckets.tolist()
    )
    # Targets are numbered in the order of their values.
    for number, t in enumerate(sorted(expected)):
        here = belief.targets == number
        got = dict(zip(belief.values[here].tolist(), belief.shares[here].tolist(), strict=True))
        for value in set(got) | set(expected[t]):
            assert got.get(value, 0.0) == pytest.approx(float(expected[t][value]), abs=1e-12)


def sliced(case, **more):
    """The work of slicing a case, with its columns."""
    policy = case.policy.replaced(publish={"method": "slice", **more})
    table, _ = hold(case.frame, policy)
    return Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))


@quick
@given(data=st.data())
def test_l_diversity_holds(data):
    """p(t,s) of the whole sliced table is at most 1/l for every tuple and value, by the definition."""
    case = data.draw(cases({"method": "slice"}, smallest=4))
    l = data.draw(st.integers(1, 3))
    sections = {**case.sections, "guarantee": {"l": l, "l_kind": "frequency"}}
    sections["attributes"] = {**sections["attributes"], "ill": {"role": "sensitive", "kind": "categorical"}}
    columns = data.draw(st.sampled_from([2, 3, "auto"]))
    work = sliced(type(case)(case.frame, sections), columns=columns)
    try:
        draft = plan(work).make(work).views[0]
    except (mv.InfeasibleError, mv.PolicyError):
        return
    buckets = (
        draft.buckets if draft.buckets is not None else np.zeros(work.table.n_rows, dtype=int)
    ).tolist()
    parts = []
    for column in draft.columns:
        known = [name for name in column if name in work.quasi]
        codes = [
            draft.recodings[name].codes if name in draft.recodings else work.table[name].codes
            for name in known
        ]
        parts.append([tuple(int(code[row]) for code in codes) for row in range(work.table.n_rows)])
    for name in work.sensitive:
        last = next(i for i, column in enumerate(draft.columns) if name in column)
        insensitive = case.sections["attributes"][name].get("insensitive", []) if name != "ill" else []
        protected = [work.table[name].texts[code] for code in work.table[name].codes]
        for p in belief_by_definition(parts, last, protected, buckets).values():
            assert all(share * l <= 1 for value, share in p.items() if value not in insensitive)


@quick
@given(data=st.data())
def test_l_diversity_holds_after_every_kept_split(data):
    """Every bucket there ever is on the way keeps p(t,s) at most 1/l for the tuples it holds."""
    case = data.draw(cases({"method": "slice"}, smallest=6))
    sections = {**case.sections, "guarantee": {"l": 2, "l_kind": "frequency"}}
    sections["attributes"] = {**sections["attributes"], "ill": {"role": "sensitive", "kind": "categorical"}}
    names = [name for name in sections["attributes"] if name not in ("name", "ill")]
    work = sliced(type(case)(case.frame, sections), columns=[names, ["ill"]])
    rounds, orders = [], []

    def watching(evidence, active, n_rows):
        rounds.append([active.rows[a:b].copy() for a, b in zip(active.starts, active.stops, strict=True)])
        return of_active(evidence, active, n_rows)

    def cutting(cut, order, *rest, **more):
        orders.append(order)
        rounds.clear()
        return partition(cut, order, *rest, **more)

    of_active, partition = mondrian.Tallied.of_active, bucketing.partition
    with patch.object(mondrian.Tallied, "of_active", watching), patch.object(bucketing, "partition", cutting):
        try:
            plan(work).make(work)
        except (mv.InfeasibleError, mv.PolicyError):
            return
    ills = [work.table["ill"].texts[code] for code in work.table["ill"].codes]
    for bucket in (places for active in rounds for places in active):
        held = Counter(ills[orders[-1][place]] for place in bucket)
        assert max(held.values()) * 2 <= len(bucket)


def test_a_split_that_breaks_l_by_one_row_is_refused():
    """Four rows with two values each side are cut; with one value twice on a side they are not."""

    def buckets(ills):
        frame = pl.DataFrame({"age": [1, 1, 9, 9], "sex": ["m"] * 4, "ill": ills})
        policy = {
            "attributes": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "guarantee": {"l": 2, "l_kind": "frequency"},
            "publish": {"method": "slice", "columns": [["age"], ["sex"], ["ill"]]},
        }
        return mv.publish(frame, policy, seed=1).notes["buckets"]

    assert buckets(["a", "b", "a", "b"]) == 2
    assert buckets(["a", "a", "b", "b"]) == 1


@quick
@given(st.data())
def test_strict_cuts_leave_one_matching_bucket(data):
    """A tuple whose published values all occur in a bucket lies in that bucket."""
    case = data.draw(cases({"method": "slice"}, smallest=2))
    work = sliced(type(case)(case.frame, {**case.sections, "guarantee": {"k": 1}}), columns=3)
    of_quasi = tuple(
        Region(
            (name,),
            np.unique(work.table[name].codes, return_inverse=True)[1],
            int(np.unique(work.table[name].codes).size),
            {},
        )
        for name in work.quasi
    )
    buckets = bucketing.cut_buckets(work, of_quasi, np.arange(work.table.n_rows))
    for row in range(work.table.n_rows):
        for bucket in set(buckets.tolist()):
            inside = buckets == bucket
            fits = all((region.of_row[inside] == region.of_row[row]).any() for region in of_quasi)
            assert fits == (bucket == buckets[row])


@quick
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_contingency_follows_the_definition(pairs):
    """The mean-square contingency is the sum of squared deviations from independence over the smaller domain less one."""
    one, other = (np.array(column) for column in zip(*pairs, strict=True))
    n, a, b = len(pairs), Counter(one.tolist()), Counter(other.tolist())
    cells = Counter(pairs)
    smaller = min(len(a), len(b))
    total = sum((cells[i, j] / n - a[i] * b[j] / n**2) ** 2 / (a[i] * b[j] / n**2) for i, j in product(a, b))
    assert contingency(one, other) == pytest.approx(total / (smaller - 1) if smaller > 1 else 0.0, abs=1e-9)


@quick
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.one_of(st.none(), st.integers(0, 30)),
            st.sampled_from(["x", "x;y", "y;z", "z"]),
            st.integers(0, 15),
        ),
        min_size=2,
        max_size=40,
    ),
    discretize=st.sampled_from(["equal-width", "cluster"]),
    columns=st.sampled_from(["auto", 2, 3]),
)
def test_columns_follow_from_counts_of_pairs(rows, discretize, columns):
    """Distinct pairs of values with how often they occur give the same correlations and columns as all rows."""
    policy = mv.Policy(
        attributes={
            "a": {"role": "quasi", "kind": "categorical"},
            "b": {"role": "quasi", "kind": "numeric"},
            "c": {"role": "sensitive", "multivalued": ";"},
            "d": {"role": "sensitive", "kind": "numeric"},
        },
        publish={"method": "slice"},
    )
    frame = pl.DataFrame(
        rows, schema={"a": pl.Int64, "b": pl.Int64, "c": pl.String, "d": pl.Int64}, orient="row"
    )
    table, _ = hold(frame, policy)
    work = Work(policy, table, (), read_options(policy), Streams(1))
    options = SliceOptions(columns=columns, discretize=discretize, bins=4)
    by_rows = lay_out(work, options)
    by_counts = lay_out(replace(work, counted=lambda names: counted_once(table, names)), options)
    assert by_rows.columns == by_counts.columns
    assert (by_rows.correlation == by_counts.correlation).all()


@quick
@given(st.data())
def test_medoids_cannot_be_improved_by_one_exchange(data):
    """The clusters partition the points, and no exchange of a medoid for another point lowers the cost."""
    n = data.draw(st.integers(2, 6))
    n_clusters = data.draw(st.integers(1, n))
    entries = data.draw(st.lists(st.integers(1, 20), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    distance = np.zeros((n, n))
    for (i, j), value in zip(combinations(range(n), 2), entries, strict=True):
        distance[i, j] = distance[j, i] = value / 20
    clusters = medoid_clusters(distance, n_clusters)
    assert sorted(point for cluster in clusters for point in cluster) == list(range(n))
    assert len(clusters) == n_clusters
    assert -1 <= silhouette(distance, clusters) <= 1


def publish_slice(**publish):
    """Publish the hospital table sliced as told."""
    from manyveils.datasets import hospital, hospital_policy

    return mv.publish(hospital(400), hospital_policy(publish={"method": "slice", **publish}), seed=1)


def test_all_quasi_against_sensitive_is_bucketization():
    """With all quasi-identifiers in one column and each sensitive attribute in another, the view is an anatomy."""
    release = publish_slice(
        columns=[["age", "sex", "zipcode", "job", "stay"], ["diagnosis"], ["income"], ["insurance"]]
    )
    assert release.views[0].columns[0] == ("age", "sex", "zipcode", "job", "stay")
    assert not release.recodings
    assert release.notes["buckets"] > 10


def test_one_attribute_per_column_is_multiset_generalization():
    """With one attribute per column every bucket is a multiset of each attribute."""
    names = ["age", "sex", "zipcode", "job", "stay", "diagnosis", "income", "insurance"]
    release = publish_slice(columns=[[name] for name in names])
    assert len(release.views[0].columns) == len(names)
    assert not release.recodings


def test_overlapping_columns_are_audited():
    """An attribute may stand in two columns if the policy says so, and not otherwise."""
    columns = [["age", "sex", "zipcode"], ["job", "sex", "stay"], ["diagnosis"], ["income"], ["insurance"]]
    with pytest.raises(mv.PolicyError, match="in several columns"):
        publish_slice(columns=columns)
    release = publish_slice(columns=columns, overlap=["sex"])
    assert [("sex" in column) for column in release.views[0].columns[:2]] == [True, True]


@pytest.mark.parametrize("overlap", ["stay", "income", "name"])
@pytest.mark.parametrize("given", [True, False])
def test_only_quasi_identifiers_stand_twice(overlap, given):
    """A neutral attribute in two columns would link their rows, and a sensitive one too; both are refused."""
    columns = [["age", "sex", "zipcode", "stay"], ["job", "stay", "diagnosis"], ["income"], ["insurance"]]
    with pytest.raises(
        mv.PolicyError, match=f"'{overlap}' is not a quasi-identifier, so it may stand in one column"
    ):
        publish_slice(columns=columns if given else 3, overlap=[overlap])


@pytest.mark.parametrize("partition", ["random", "membership"])
def test_other_partitions_are_audited(partition):
    """Random and membership buckets keep l, larger ones where it must be."""
    from manyveils.datasets import hospital, hospital_policy

    policy = hospital_policy(
        guarantee={"l": 2, "l_kind": "frequency"},
        publish={"method": "slice", "columns": 3, "partition": partition, "bucket": 20},
    )
    release = mv.publish(hospital(600), policy, seed=1)
    assert release.notes["smallest_bucket"] >= 20
    assert mv.audit(release, hospital(600), policy).kept
