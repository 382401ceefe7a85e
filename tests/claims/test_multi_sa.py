"""Multi-SA publishing: buckets in which each sensitive attribute is diverse whatever is known of the others."""

from collections import Counter, defaultdict
from itertools import product
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import versatile_patients, versatile_rules
from manyveils.methods.multi_sa.blocks import divide, trimmed
from manyveils.methods.multi_sa.caps import Cap, Solved, keeps, largest, smallest
from tests.kit.reading import broken_promises

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def diverse(rows, ls):
    """Whether every attribute is l-diverse among the rows that agree in all the others, by the definition."""
    for place, l in enumerate(ls):
        lines = defaultdict(list)
        for row in rows:
            lines[row[:place] + row[place + 1 :]].append(row[place])
        if any(l * max(Counter(line).values()) > len(line) for line in lines.values()):
            return False
    return True


def most_rows(rows, is_fine):
    """The largest number of rows that are fine as one bucket, by trying every number of every combination."""
    counts = Counter(rows)
    best = 0
    for amounts in product(*(range(count + 1) for count in counts.values())):
        if sum(amounts) > best:
            chosen = [row for row, amount in zip(counts, amounts, strict=True) for _ in range(amount)]
            best = sum(amounts) if is_fine(chosen) else best
    return best


def buckets_of(release, names):
    """The sensitive rows of each bucket."""
    [view] = release.views
    [file] = [file for file in view.files if names[0] in file.attributes]
    found = defaultdict(list)
    for bucket, *row in release.frames[file.table].select("bucket", *names).iter_rows():
        found[bucket].append(tuple(row))
    return list(found.values())


def ruled(frame, ls, **publish):
    """A policy that protects some attributes from those who know `q`, each with its l."""
    return mv.Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in frame.columns},
        rules=[{"given": ["q"], "protect": name, "l": l} for name, l in ls.items()],
        publish={"method": "multi-sa", **publish},
    )


@st.composite
def tables(draw, largest=12, values="pqr"):
    """A table of one known attribute and up to three protected ones, with an l for each of those."""
    names = "stu"[: draw(st.integers(1, 3))]
    n = draw(st.integers(1, largest))
    columns = {
        name: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)) for name in ("q", *names)
    }
    return pl.DataFrame(columns), {name: draw(st.sampled_from([2, 2, 3])) for name in names}


@some
@given(tables())
def test_largest_part(drawn):
    """As many rows are published as any choice could have, and every bucket is diverse, by the definition."""
    frame, ls = drawn
    rows = list(frame.select(*ls).iter_rows())
    best = most_rows(rows, lambda chosen: diverse(chosen, ls.values()))
    if best == 0:
        with pytest.raises(mv.InfeasibleError, match="no part of"):
            mv.publish(frame, ruled(frame, ls, suppression=1), seed=1)
        return
    release = mv.publish(frame, ruled(frame, ls, suppression=1), seed=1)
    assert release.rows == best
    assert all(diverse(bucket, ls.values()) for bucket in buckets_of(release, list(ls)))


@few
@given(tables(largest=80, values="pq"), st.integers(1, 3))
def test_every_bucket(drawn, seed):
    """Larger tables: every bucket is diverse, and of what is left out no bucket could be made."""
    frame, ls = drawn
    try:
        release = mv.publish(frame, ruled(frame, ls, suppression=1), seed=seed)
    except mv.InfeasibleError:
        return
    found = buckets_of(release, list(ls))
    assert all(diverse(bucket, ls.values()) for bucket in found)
    assert all(len(bucket) >= prod(ls.values()) for bucket in found)
    left = Counter(frame.select(*ls).iter_rows())
    left.subtract(row for bucket in found for row in bucket)
    assert min(left.values()) >= 0
    if prod(count + 1 for count in left.values()) < 5000:
        assert most_rows(list(left.elements()), lambda chosen: diverse(chosen, ls.values())) == 0


def cap(known, l):
    """No combination fills more than one l-th of those with the same known value."""
    _, line_of = np.unique(known, return_inverse=True)
    ones = np.ones(known.size, dtype=np.int64)
    return Cap(line_of, np.arange(known.size), line_of, ones, l * ones)


@st.composite
def grids(draw, most=9):
    """Counts of some combinations of two values, and the caps of both attributes."""
    pairs = draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=8))
    codes = tuple(np.array(column, dtype=np.int64) for column in zip(*sorted(pairs), strict=True))
    counts = np.array([draw(st.integers(1, most)) for _ in pairs], dtype=np.int64)
    ls = draw(st.tuples(st.sampled_from([2, 3]), st.sampled_from([2, 3])))
    return codes, counts, (cap(codes[1], ls[0]), cap(codes[0], ls[1]))


@some
@given(grids())
def test_trimming_is_the_program(drawn):
    """Cutting down what exceeds its share gives as much as the integer program does."""
    _, counts, caps = drawn
    amounts, found = trimmed(counts, caps), largest(counts, caps, 10)
    assert keeps(amounts, caps)
    assert amounts.sum() == found.amounts.sum() == round(found.bound)
    assert (found.amounts <= amounts).all()


@some
@given(grids(most=3), st.data())
def test_smallest_block(drawn, data):
    """The block taken off is the smallest of those that hold the seed and leave a rest within the caps."""
    _, counts, caps = drawn
    amounts = trimmed(counts, caps)
    assume(amounts.any())
    live = np.flatnonzero(amounts)
    seed = int(live[0])
    others = data.draw(st.sets(st.sampled_from(live.tolist())))
    for among in (live, np.array(sorted({seed, *others}))):
        choices = product(*(range(amounts[c] + 1 if c in among else 1) for c in range(amounts.size)))
        sizes = [
            each.sum()
            for each in map(np.array, choices)
            if each[seed] and keeps(each, caps) and keeps(amounts - each, caps)
        ]
        found = smallest(amounts, caps, among, seed, 10).amounts
        assert (found is None) == (not sizes)
        if sizes:
            assert keeps(found, caps)
            assert keeps(amounts - found, caps)
            assert found.sum() == min(sizes)


def test_what_stays_counts():
    """Rows may not leave a line if a combination that stays would then fill too much of it."""
    line, amounts = np.zeros(3, dtype=np.int64), np.array([6, 3, 3])
    assert smallest(amounts, (cap(line, 2),), np.array([1, 2]), 1, 10).amounts is None
    assert smallest(amounts, (cap(line, 2),), np.array([0, 1, 2]), 1, 10).amounts.tolist() == [1, 1, 0]


TWO_BY_THREE = (np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2]))


@some
@given(grids(most=40), st.sampled_from([-1.0, 60.0]))
@example(
    (
        TWO_BY_THREE,
        np.array([12, 12, 4, 12, 12, 4]),
        (cap(TWO_BY_THREE[1], 2), cap(TWO_BY_THREE[0], 2)),
    ),
    -1.0,
)
def test_division(drawn, seconds):
    """Blocks add up to the rows and are within the caps, also when time has run out."""
    from time import perf_counter

    codes, counts, caps = drawn
    amounts = trimmed(counts, caps)
    division = divide(amounts, caps, codes, perf_counter() + seconds, lambda _: None)
    added = np.zeros_like(amounts)
    for block in division.blocks:
        whole = np.zeros_like(amounts)
        whole[block.combinations] = block.amounts
        assert keeps(whole, caps)
        added += block.times * whole
    assert (added == amounts).all()
    assert division.coarse == (amounts.sum() if seconds < 0 else 0)


def roled(**sections):
    """A policy with a quasi-identifier and two sensitive attributes."""
    roles = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "t": {"role": "sensitive"}}
    publish = {"method": "multi-sa", **sections.pop("publish", {})}
    return mv.Policy(attributes=roles | sections.pop("attributes", {}), publish=publish, **sections)


def square(n=240):
    """A table in which every combination of four and three values is equally frequent."""
    rows = range(n)
    return pl.DataFrame(
        {
            "q": [str(n % 7) for n in rows],
            "s": [str(n % 4) for n in rows],
            "t": [str(n // 4 % 3) for n in rows],
        }
    )


@pytest.mark.parametrize(
    "guarantee",
    [
        {"k": 11, "l": 2},
        {"l": 2, "t": 0.1},
        {"l": 2, "l_kind": "entropy", "conditional": True},
        {"l": 2, "l_kind": "recursive", "c": 0.6},
        {"alpha": 0.4},
        {"t": 0.2, "conditional": True},
        {"l": 3, "l_kind": "frequency", "joint": [["s", "t"]]},
        {"k": 6},
    ],
    ids=str,
)
def test_other_guarantees(guarantee):
    """Guarantees that are no share are kept by merging buckets; the oracle finds none broken."""
    from manyveils.table import hold, resolve

    policy = roled(guarantee=guarantee)
    release = mv.publish(square(), policy, seed=1)
    table, _ = hold(square(), policy)
    assert not list(broken_promises(release, table, policy, resolve(policy, table)))
    assert release.rows == 240
    if "k" in guarantee:
        assert min(len(bucket) for bucket in buckets_of(release, ["s", "t"])) >= guarantee["k"]


def test_a_promise_that_no_bucket_keeps_is_refused():
    """A part of the table that breaks a promise even as one bucket is refused, by the promise's name."""
    frame = pl.DataFrame({"q": ["1"] * 8, "s": ["a"] * 6 + ["b"] * 2})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"l": 2, "delta": 0.1},
        publish={"method": "multi-sa", "suppression": 0.5},
    )
    with pytest.raises(mv.InfeasibleError, match="keeps delta-disclosure together"):
        mv.publish(frame, policy)


@few
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "x", "y", "x|y"]), st.sampled_from("pq")), min_size=2, max_size=11
    )
)
@example([("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")])
def test_multivalued(rows):
    """Each value of a multi-valued attribute is hidden from those who know the other attribute, at the least loss."""
    frame = pl.DataFrame({"q": ["1"] * len(rows), "s": [s for s, _ in rows], "t": [t for _, t in rows]})
    policy = roled(
        attributes={"s": {"role": "sensitive", "multivalued": "|"}},
        guarantee={"l": 2, "l_kind": "frequency"},
        data={"missing": "category"},
        publish={"suppression": 1},
    )

    def fine(chosen):
        by_t, by_s = defaultdict(list), defaultdict(list)
        for s, t in chosen:
            by_t[t].append(set(s.split("|")))
            by_s[s].append(t)
        return all(
            2 * sum(value in held for held in line) <= len(line) for line in by_t.values() for value in "xy"
        ) and all(2 * max(Counter(line).values()) <= len(line) for line in by_s.values())

    assume(len({value for s, _ in rows for value in s.split("|")} - {""}) == 2)
    best = most_rows(rows, fine)
    if best == 0:
        with pytest.raises(mv.InfeasibleError):
            mv.publish(frame, policy, seed=1)
    else:
        assert mv.publish(frame, policy, seed=1).rows == best


def test_insensitive_values():
    """A value that needs no protection may fill a bucket."""
    frame = pl.DataFrame({"q": ["1"] * 8, "s": ["none"] * 6 + ["a", "b"], "t": ["x", "y"] * 4})
    exempt = {"s": {"role": "sensitive", "insensitive": ["none"]}}
    guarantee = {"l": 2, "l_kind": "frequency"}
    release = mv.publish(
        frame, roled(attributes=exempt, guarantee=guarantee, publish={"suppression": 1}), seed=1
    )
    assert release.rows == 6
    with pytest.raises(mv.InfeasibleError):
        mv.publish(frame, roled(guarantee=guarantee, publish={"suppression": 1}))


def test_what_is_known_may_be_protected():
    """A quasi-identifier on a rule's right side stands with the sensitive attributes, and all promises are kept."""
    policy = roled(
        attributes={"q": {"role": "quasi"}, "r": {"role": "quasi"}},
        guarantee={"k": 2, "l": 2, "l_kind": "entropy"},
        rules=[{"given": ["r", "s"], "protect": "q"}],
        publish={"suppression": 0.9},
    )
    frame = square(800).with_columns(
        q=pl.Series([str(n // 12 % 2) for n in range(800)]), r=pl.Series([str(n % 5) for n in range(800)])
    )
    release = mv.publish(frame, policy, seed=1)
    assert [file.attributes for file in release.views[0].files] == [("r",), ("q", "s", "t")]
    assert all(diverse(bucket, (2, 2, 2)) for bucket in buckets_of(release, ["q", "s", "t"]))


def test_unsure_of_the_bucket():
    """Who knows something of both columns weighs several buckets, and their mixture keeps the promise too."""
    frame = pl.DataFrame({"q": [*"yxyxyxyxxyxyyy"], "r": [*"11221122211111"], "s": [*"rpprqpppqpppqp"]})
    policy = mv.Policy(
        attributes={
            "q": {"role": "quasi"},
            "r": {"role": "quasi"},
            "s": {"role": "sensitive", "insensitive": ["p"]},
        },
        guarantee={"l": 2, "l_kind": "entropy"},
        rules=[{"given": ["r"], "protect": "q"}],
        publish={"method": "multi-sa", "suppression": 0.5},
    )
    assert mv.publish(frame, policy, seed=1).rows == 12


def test_who_knows_nothing_sees_all_buckets_as_one():
    """Without anything known, no bucket can be found, and what all of them show together must keep the promise."""
    frame = pl.DataFrame({"q": [*"11212212221"], "s": [*"qpprpppqprp"], "t": [*"yyxyyxyxxyy"]})
    policy = mv.Policy(
        attributes={
            "q": {"role": "neutral"},
            "s": {"role": "sensitive", "insensitive": ["p"]},
            "t": {"role": "neutral"},
        },
        guarantee={"l": 2, "l_kind": "entropy"},
        rules=[{"given": ["q"], "protect": "t"}],
        publish={"method": "multi-sa", "suppression": 0.5},
    )
    with pytest.raises(mv.InfeasibleError, match="entropy-l-diversity"):
        mv.publish(frame, policy, seed=1)


def test_dependencies():
    """A dependency that ties a published attribute to a protected one is refused; one between known ones is not."""
    frame = square().with_columns(r=pl.col("q").str.replace_all("[0-3]", "low"), u="s")
    sections = ruled(frame, {"s": 2}).model_dump(by_alias=True, exclude_unset=True)
    tied = sections | {"dependencies": [{"from": ["s"], "to": "u"}]}
    with pytest.raises(mv.InfeasibleError, match=r"policy: s: known dependencies tie it to u, .*guardian"):
        mv.publish(frame, tied)
    assert mv.publish(frame, sections | {"dependencies": [{"from": ["q"], "to": "r"}]}, seed=1).rows == 240


def test_k_without_sensitive_attributes():
    """Without a sensitive attribute, k asks for rows alike in what is known, in every bucket."""
    frame = square()
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "neutral"}, "t": {"role": "neutral"}},
        guarantee={"k": 3},
        rules=[{"given": ["q"], "protect": "s"}],
        publish={"method": "multi-sa"},
    )
    release = mv.publish(frame, policy, seed=1)
    known = release.frames[release.views[0].files[0].table]
    assert known.group_by("bucket", "q").len()["len"].min() >= 3


def test_one_attribute_is_anatomy():
    """With one sensitive attribute there are as many buckets as anatomy makes, without a value twice."""
    frame = square().select("q", "s").with_row_index().with_columns(s=(pl.col("index") % 5).cast(pl.String))
    release = mv.publish(frame.drop("index"), ruled(frame.drop("index"), {"s": 3}), seed=1)
    found = buckets_of(release, ["s"])
    assert len(found) == 240 // 3
    assert all(len(set(bucket)) == len(bucket) for bucket in found)


def test_like_rows_meet_by_chance():
    """Rows with like quasi-identifiers fall into one bucket no more often than others."""
    rows = range(1500)
    frame = pl.DataFrame(
        {
            "q": [str(n % 11) for n in rows],
            "s": [str(n**2 % 13 % 4) for n in rows],
            "t": [str(n**3 % 17 % 5) for n in rows],
        }
    )
    release = mv.publish(frame, ruled(frame, {"s": 2, "t": 2}), seed=1)
    known = release.frames[release.views[0].files[0].table]
    # Buckets of four: at random they have three and a half different values, in the order of q fewer than two.
    assert known.group_by("bucket").agg(pl.col("q").n_unique())["q"].mean() > 3.3


def test_running_example():
    """Of the paper's six patients none can be published by its three rules, and all by the two about zip codes."""
    frame = versatile_patients()
    sections = {
        "attributes": {name: {"role": "neutral"} for name in frame.columns},
        "publish": {"method": "multi-sa", "suppression": 1},
    }
    with pytest.raises(mv.InfeasibleError, match="zipcode, race: there is no part of the 6 rows"):
        mv.publish(frame, sections | {"rules": versatile_rules()})
    release = mv.publish(frame, sections | {"rules": versatile_rules()[1:]}, seed=1)
    assert [file.attributes for file in release.views[0].files] == [
        ("hospital", "age", "gender", "race", "icd"),
        ("zipcode",),
    ]
    assert (release.rows, len(buckets_of(release, ["zipcode"]))) == (6, 3)


def test_the_share_that_would_do():
    """The refusal says how many rows must go, and the suppression it names is enough, and no less is."""
    frame = pl.DataFrame(
        {"q": ["1"] * 11, "s": [*"ab" * 4, "a", "a", "c"], "t": [*"xxyy" * 2, "x", "y", "y"]}
    )
    ls = {"s": 2, "t": 2}
    said = r"policy: s, t: 3 of 11 rows must be left out before each of them .* 2 may be\. Allow suppression = 0\.2728,"
    with pytest.raises(mv.InfeasibleError, match=said):
        mv.publish(frame, ruled(frame, ls, suppression=0.2727))
    release = mv.publish(frame, ruled(frame, ls, suppression=0.2728))
    assert release.suppressed == release.notes["rows_left_out"] == 3


def test_what_is_left_out_is_random():
    """Which rows of a combination are left out depends on the seed, never on the order of the source."""
    frame = pl.DataFrame({"q": [str(n) for n in range(40)], "s": ["a"] * 30 + ["b"] * 10})
    policy = ruled(frame, {"s": 2}, suppression=0.5)
    one, same, other = (
        mv.publish(each, policy, seed=s) for each, s in ((frame, 1), (frame[::-1], 1), (frame, 2))
    )
    assert all(one.frames[name].equals(same.frames[name]) for name in one.frames)
    left_out = [set(frame["q"]) - set(release.frames["main.q"]["q"]) for release in (one, other)]
    assert left_out[0] != left_out[1]


def test_time_limit():
    """When time runs out the buckets are larger, and every promise is kept; the notes say so."""
    frame = square(2400)
    quick = mv.publish(frame, ruled(frame, {"s": 2, "t": 2}, time_limit=1e-6), seed=1)
    patient = mv.publish(frame, ruled(frame, {"s": 2, "t": 2}), seed=1)
    assert quick.notes["time_limit_hit"]
    assert quick.notes["rows_divided_coarsely"] == 2400
    assert not patient.notes["time_limit_hit"]
    assert patient.notes["largest_bucket"] < quick.notes["largest_bucket"]
    assert all(diverse(bucket, (2, 2)) for bucket in buckets_of(quick, ["s", "t"]))
    with pytest.raises(mv.PolicyError, match="time_limit"):
        mv.publish(frame, ruled(frame, {"s": 2}, time_limit=0))


def test_no_time_to_choose(monkeypatch):
    """Multi-valued attributes need a program; without time for it the refusal says what a longer search could do."""
    frame = pl.DataFrame({"q": ["1"] * 40, "s": ["x|y", "x", "y", "z"] * 10, "t": [*"pppq"] * 10})
    many = {"s": {"role": "sensitive", "multivalued": "|"}}
    policy = roled(attributes=many, guarantee={"l": 2}, publish={"suppression": 0.1})
    nothing = Solved(None, float("inf"), timed_out=True)
    monkeypatch.setattr("manyveils.methods.multi_sa.blocks.largest", lambda *_: nothing)
    said = r"40 of 40 rows must be left out .* \(0 by a longer search at best\); 4 may be"
    with pytest.raises(mv.InfeasibleError, match=said):
        mv.publish(frame, policy, seed=1)


def test_too_many_combinations_are_refused():
    """More combinations than a program can handle are refused before any work, with what to do."""
    frame = pl.DataFrame({"q": ["1"] * 20_001, "s": [str(n) for n in range(20_001)]})
    with pytest.raises(mv.PolicyError, match=r"20001 different combinations; .* \"guardian\""):
        mv.publish(frame, ruled(frame, {"s": 2}))


def test_something_must_be_sensitive():
    """Without a rule and without a sensitive attribute there is nothing to do."""
    frame = pl.DataFrame({"q": ["1", "2"]})
    with pytest.raises(mv.PolicyError, match="needs a sensitive attribute or a rule"):
        mv.publish(frame, {"attributes": {"q": {"role": "quasi"}}, "publish": {"method": "multi-sa"}})
