"""What a guardian table is expected to tell, from counts alone, against all ways in which rows may be dealt."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods import Work, read_options
from manyveils.methods.dealing import Deal
from manyveils.methods.dealt import Dealt
from manyveils.methods.guardian import METHOD
from manyveils.methods.guardian.hiding import by_counts, expected_people
from manyveils.methods.guardian.pieces import Piece
from manyveils.methods.work import drafted
from manyveils.promises.work import shuffled_rows
from manyveils.table import Streams, hold, resolve
from tests.kit.counting import counted_once

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
PLAIN = mv.Policy(attributes={x: {"role": "neutral", "kind": "categorical"} for x in "xs"})


def dealt(table, n_dealt, times):
    """A view that deals the rows of a table by s into some buckets."""
    counts = table["s"].counts
    stops = np.cumsum(counts)
    values, none = np.arange(counts.size)[:, np.newaxis], np.zeros(0, dtype=np.int64)
    deal = Deal(stops - counts, stops, n_dealt, times)
    return Dealt("main", (("x",), ("s",)), ("s",), values, deal, np.zeros_like(counts), none)


def mean_over_all_dealings(x, s, deal):
    """How many people of each group stand beside each value, on average over all orders of equal values."""
    places = [[row for row in range(len(s)) if s[row] == value] for value in sorted(set(s))]
    orders = [sum(order, ()) for order in product(*(permutations(rows) for rows in places))]
    total = defaultdict(Fraction)
    for order in orders:
        buckets = defaultdict(list)
        for row, bucket in zip(order, deal.bucket_of(np.arange(len(s))).tolist(), strict=True):
            buckets[bucket].append(row)
        for rows in buckets.values():
            for row, other in product(rows, rows):
                total[x[row], s[other]] += Fraction(1, len(rows) * len(orders))
    return total


@few
@given(
    rows=st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("uvw")), min_size=1, max_size=6),
    n_dealt=st.integers(1, 4),
    times=st.integers(1, 2),
)
def test_expectation_is_the_mean_over_all_dealings(rows, n_dealt, times):
    """The expected number of people is exactly the mean over all orders in which equal rows may be dealt."""
    frame = pl.DataFrame(rows, schema=["x", "s"], orient="row")
    table, _ = hold(frame, PLAIN)
    view = dealt(table, min(n_dealt, frame.height), times)
    counts, expected = expected_people(counted_once(table, ("x", "s")), frozenset("xs"), view)
    x, s = zip(*rows, strict=True)
    mean, cells = mean_over_all_dealings(x, s, view.deal), sorted(Counter(rows).items())
    assert counts.tolist() == [count for _, count in cells]
    assert expected.tolist() == pytest.approx([float(mean[cell]) for cell, _ in cells])


def told_by(x, s, buckets):
    """Minus the mean log share of every row's pair of values, if those of s are shuffled inside buckets."""
    rows, pairs = defaultdict(list), defaultdict(float)
    for row, bucket in enumerate(buckets.tolist()):
        rows[bucket].append(row)
    for held in rows.values():
        for (a, n), (b, m) in product(Counter(x[held]).items(), Counter(s[held]).items()):
            pairs[a, b] += n * m / len(held)
    return -np.mean([np.log(pairs[pair] / len(x)) for pair in zip(x, s, strict=True)])


def test_one_dealing_comes_close():
    """With many rows, what one dealing tells is what is expected of it; with other buckets it is not."""
    rng = np.random.default_rng(7)
    x = rng.integers(0, 5, 20_000)
    s = np.where(rng.random(x.size) < 0.5, x, rng.integers(0, 8, x.size))
    table, _ = hold(pl.DataFrame({"x": x, "s": s}).cast(pl.String), PLAIN)
    view = dealt(table, 5_000, 1)
    work = Work(PLAIN, table, (), read_options(PLAIN), Streams(3))
    buckets = view.drafted(table, shuffled_rows(work, "order")).buckets
    piece, names = Piece(frozenset("xs"), "s"), frozenset("xs")
    found = told_by(x, s, buckets)
    assert by_counts(lambda names: table, lambda piece: view)(piece, names) == pytest.approx(found, abs=2e-3)
    wider = dealt(table, 1_000, 1)
    assert by_counts(lambda names: table, lambda piece: wider)(piece, names) > found + 0.02


@st.composite
def cases(draw):
    """A table of five attributes, some of which go together, and rules between them."""
    n, rng = draw(st.integers(20, 120)), np.random.default_rng(draw(st.integers(0, 999)))
    base = rng.integers(0, 7, n)
    columns = {
        x: np.where(rng.random(n) < rng.random(), base % k, rng.integers(0, k, n))
        for x, k in zip("abcde", rng.integers(3, 8, 5).tolist(), strict=True)
    }
    rules = [
        {"given": order[1 : draw(st.integers(2, 3))], "protect": order[0]}
        for order in draw(st.lists(st.permutations("abcde"), min_size=1, max_size=4))
    ]
    return pl.DataFrame(columns).cast(pl.String), rules


@few
@given(
    case=cases(),
    decompose=st.sampled_from(["uad", "gd"]),
    anonymizer=st.sampled_from(["anatomize", "generalize"]),
)
def test_counts_decide_as_rows_do(case, decompose, anonymizer):
    """Distinct rows with how often they occur lead to the tables that all rows lead to, and to the same drafts."""
    frame, rules = case
    policy = mv.Policy(
        attributes={x: {"role": "neutral", "kind": "categorical"} for x in "abcde"},
        rules=rules,
        publish={"method": "guardian", "decompose": decompose, "anonymizer": anonymizer},
    )
    table, _ = hold(frame, policy)
    work = Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))
    try:
        here = METHOD.decide(work)
    except mv.InfeasibleError:
        return
    there = METHOD.decide(replace(work, counted=lambda names: counted_once(table, names)))
    assert here.notes == there.notes
    shuffled = np.arange(table.n_rows)
    for one, other in zip(*(drafted(work, each, shuffled).drafts for each in (here, there)), strict=True):
        assert (one.name, one.columns, one.enforces) == (other.name, other.columns, other.enforces)
        assert (one.rows == other.rows).all()
        assert one.buckets is None or (one.buckets == other.buckets).all()


def test_slices_are_not_decided_from_counts():
    """Slices are cut by looking at rows, so nothing is decided for them."""
    policy = mv.Policy(
        attributes={x: {"role": "neutral"} for x in "ab"},
        rules=[{"given": ["a"], "protect": "b"}],
        publish={"method": "guardian", "anonymizer": "slice"},
    )
    table, _ = hold(pl.DataFrame({"a": ["p", "q"], "b": ["u", "v"]}), policy)
    work = Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))
    assert METHOD.decide(work) is None
