"""In a sliced view the audit judges what an adversary believes who cannot tell her target's bucket."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.audits import audit
from manyveils.audits import beliefs as beliefs_module
from manyveils.audits.judge import judge
from manyveils.datasets import slicing_patients
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.reading import blocks, pairs, slices
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, Recoding
from tests.kit import sealed
from tests.kit.posteriors import Whole, beliefs, judge_belief
from tests.kit.reading import levels_of

KNOWN = ("p", "q", "r")
TREE = {"tree": {"G1": ["a", "b"], "G2": ["c", "d"]}}
POLICY = Policy(
    attributes={
        **{name: {"role": "quasi", "kind": "categorical"} for name in KNOWN},
        "s": {"role": "sensitive", "kind": "ordinal", "hierarchy": TREE},
        "n": {"role": "sensitive", "kind": "numeric"},
    }
)
SCHEMA = {"p": pl.String, "q": pl.String, "r": pl.String, "s": pl.String, "n": pl.Float64}
short_words = st.sampled_from(["x", "y", "z", None])
rows_of_five = st.lists(
    st.tuples(
        short_words,
        short_words,
        short_words,
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from([0.1, 0.2, 0.3, 1.0, 3.0, None]),
    ),
    min_size=1,
    max_size=12,
)
small = st.integers(1, 4)
parts_of_one = st.sampled_from([Fraction(part, 12) for part in range(13)])
factors = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3)])
grounds = st.sampled_from(["equal", "ordered", "hierarchical"])
about_words = st.one_of(
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(EntropyDiversity, small),
    st.builds(RecursiveDiversity, factors, small),
    st.builds(Closeness, parts_of_one, grounds),
    st.builds(SupersetCloseness, st.integers(1, 14), parts_of_one, grounds),
    st.builds(CappedShare, parts_of_one, st.sampled_from([(), ("a",), ("b", "c")])),
    st.builds(Linkability, parts_of_one),
    st.builds(Likeness, factors),
    st.builds(Disclosure, factors),
)
about_numbers = st.one_of(
    st.builds(NumericSpread, factors),
    st.builds(Proximity, st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1)]), small),
    st.builds(Closeness, parts_of_one, st.sampled_from(["equal", "ordered"])),
)
about_pairs = st.one_of(
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(CappedShare, parts_of_one),
    st.builds(Closeness, parts_of_one, st.just("equal")),
)


@st.composite
def layouts(draw):
    """Columns of a view with what is known in two of them or more; an attribute may stand in several."""
    n_columns = draw(st.integers(2, 4))
    homes = {name: draw(st.sets(st.integers(0, n_columns - 1), min_size=1, max_size=2)) for name in KNOWN}
    homes["p"], homes["q"] = homes["p"] | {0}, homes["q"] | {1}
    homes |= {name: {draw(st.integers(0, n_columns - 1))} for name in ("s", "n")}
    columns = [tuple(name for name in SCHEMA if place in homes[name]) for place in range(n_columns)]
    return tuple(column for column in columns if column)


@st.composite
def recodings(draw, rows):
    """No labels, one label for every value of q, or different labels for equal values."""
    kind = draw(st.sampled_from(["none", "global", "local"]))
    if kind == "none":
        return {}
    labels = ("{x, y}", "{z, }", "x", "y", "*")
    covers = {0: ["x", "y"], 1: ["z", ""], 2: ["x"], 3: ["y"], 4: ["x", "y", "z", ""]}
    fitting = {
        text: [label for label, under in covers.items() if text in under] for text in ("x", "y", "z", "")
    }
    chosen = [
        (0 if row[1] in ("x", "y") else 1)
        if kind == "global"
        else draw(st.sampled_from(fitting[row[1] or ""]))
        for row in rows
    ]
    used = [(label, text) for label in sorted(set(chosen)) for text in covers[label]]
    return {
        "q": Recoding(
            np.array(chosen, dtype=np.int32),
            labels,
            (np.array([label for label, _ in used]), tuple(text for _, text in used)),
        )
    }


@st.composite
def slicings(draw):
    """A sliced release and its original."""
    rows = draw(rows_of_five)
    buckets = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    everyone = np.arange(len(rows), dtype=np.intp)
    draft = Draft("main", draw(layouts()), everyone, np.array(buckets), draw(recodings(rows)))
    return sealed(pl.DataFrame(rows, schema=SCHEMA, orient="row"), POLICY, draft)


def shown_in(view, protects):
    """The column of each protected attribute."""
    shown = defaultdict(tuple)
    for name in protects:
        [place] = [place for place, column in enumerate(view.columns) if name in column]
        shown[place] += (name,)
    return dict(shown)


def whole_of(table, protects, insensitive=frozenset()):
    columns = [table[name] for name in protects]
    rows = [
        " ".join(cells)
        for cells in zip(*([one.texts[code] for code in one.codes] for one in columns), strict=True)
    ]
    shares = {value: Fraction(count, len(rows)) for value, count in Counter(rows).items()}
    return Whole(shares, insensitive, columns[0].texts, levels_of(columns[0]), len(rows))


def level_free(guarantee):
    return getattr(guarantee, "ground", "") != "hierarchical"


def assert_as_defined(release, table, promise, finding, known):
    """The finding is what the definition says of every target."""
    view = release.views[0]
    order = shown_in(view, promise.protects)
    names = tuple(name for place in order for name in order[place])
    found = beliefs(release, table, view, known - {*promise.protects}, order)
    whole = whole_of(table, names, promise.insensitive)
    verdicts = [judge_belief(promise.guarantee, belief, whole) for belief in found]
    short = [belief for belief, verdict in zip(found, verdicts, strict=True) if not verdict.kept]
    worst = min if promise.guarantee.worst == "smallest" else max
    measure = worst([one.measure for one in verdicts if one.measure is not None], default=None)
    assert finding.kept == (not short)
    # Values with one and the same labels are told apart where others stand between them, so that groups may be more.
    n_different = len({*zip(*(table[name].codes.tolist() for name in sorted(known)), strict=True)})
    assert len(found) <= finding.groups <= n_different
    assert len(short) <= finding.groups_short <= finding.groups
    assert finding.rows_short == sum(belief.rows for belief in short)
    assert finding.measured == (
        measure if measure is None or math.isinf(measure) else pytest.approx(measure, abs=1e-9)
    )


@pytest.fixture(params=["pairs", "blocks", "small chunks", "searching anew", "long lists"])
def way(request, monkeypatch):
    """Every way to find the buckets that match, and to reckon beliefs."""
    monkeypatch.setattr(blocks, "FEWEST_PAIRS", 0 if request.param == "blocks" else 10**9)
    if request.param == "blocks":
        monkeypatch.setattr(blocks, "_effort", lambda *_: 0)
    if request.param in ("blocks", "small chunks"):
        monkeypatch.setattr(blocks, "LARGEST_BLOCK", 3)
        monkeypatch.setattr(pairs, "MOST_PAIRS", 3)
        monkeypatch.setattr(beliefs_module, "LARGEST_BATCH", 3)
    if request.param == "searching anew":
        monkeypatch.setattr(pairs, "FEW_PAIRS", 0)
    if request.param == "long lists":
        monkeypatch.setattr(slices, "LONGEST_LIST", 0)
    return request.param


def readings(release, table, promise):
    evidence = Evidence(release, table, POLICY)
    return {found.reading: found for found in judge(evidence, promise, promised=True)}


@pytest.mark.usefixtures("way")
@settings(max_examples=15, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(
    slicing=slicings(),
    guarantee=about_words,
    insensitive=st.frozensets(st.sampled_from(["a", "b", ""]), max_size=2),
)
def test_beliefs_about_words_are_measured_as_defined(slicing, guarantee, insensitive):
    """With what is known in several columns, every promise is judged on p(t, s) of every target."""
    promise = Promise(guarantee, KNOWN, ("s",), insensitive)
    found = readings(*slicing, promise)
    assert_as_defined(*slicing, promise, found["marginal"], frozenset(KNOWN))
    assert_as_defined(*slicing, promise, found["conditional"], frozenset({*KNOWN, "n"}))


@pytest.mark.usefixtures("way")
@settings(max_examples=15, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(slicing=slicings(), guarantee=about_numbers)
def test_beliefs_about_numbers_are_measured_as_defined(slicing, guarantee):
    """Spread, proximity and ordered closeness are those of p(t, s)."""
    promise = Promise(guarantee, KNOWN, ("n",))
    found = readings(*slicing, promise)
    assert_as_defined(*slicing, promise, found["marginal"], frozenset(KNOWN))
    assert_as_defined(*slicing, promise, found["conditional"], frozenset({*KNOWN, "s"}))


@pytest.mark.usefixtures("way")
@settings(max_examples=15, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(slicing=slicings(), guarantee=about_pairs)
def test_beliefs_about_pairs_are_measured_as_defined(slicing, guarantee):
    """Two attributes protected as one have, inside a bucket, the product of their columns' distributions."""
    promise = Promise(guarantee, KNOWN, ("s", "n"))
    assert_as_defined(*slicing, promise, readings(*slicing, promise)["joint"], frozenset(KNOWN))


@pytest.mark.usefixtures("way")
@settings(max_examples=15, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(slicing=slicings(), knows_more=st.booleans())
def test_the_buckets_found_are_those_that_match_in_every_column(slicing, knows_more):
    """Targets and buckets are paired exactly where the bucket has what the target seeks in each column."""
    assert_pairs_match(*slicing, frozenset({*KNOWN, "n"} if knows_more else KNOWN))


@pytest.mark.usefixtures("way")
def test_a_short_list_of_one_column_is_compared_with_a_long_one_of_another():
    """Of a target with a common and a rare value, only the buckets that have both are paired with it."""
    rare = [("x", "y"), ("z", "y")]
    common = [("x", value) for value in ("x", "z", None) for _ in range(4)]
    rows = [(p, q, "x", "a", None) for p, q in (*rare, *common)]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    columns = [("p",), ("q", "r"), ("s", "n")]
    release, table = sealed(frame, POLICY, columns=columns, buckets=[0, 5, *([0, 1, 2, 3] * 3)])
    assert_pairs_match(release, table, frozenset(KNOWN))


def assert_pairs_match(release, table, known):
    """The pairs found are those of all targets and buckets that match in every column."""
    search = pairs.search_of(Evidence(release, table, POLICY), release.views[0], known)
    found = [
        pair
        for some in search.pairs()
        for pair in zip(some.target.tolist(), some.bucket.tolist(), strict=True)
    ]
    assert sorted(found) == [
        (target, bucket)
        for target in range(len(search.slices.rows))
        for bucket in range(search.slices.n_buckets)
        if all(_has(column, target, bucket) for column in search.slices.columns)
    ]


def _has(column, target, bucket):
    """Whether a unit of the column is what the target seeks, in that bucket."""
    return int(column.of_target[target]) * column.units.n_buckets + bucket in column.units.keys.tolist()


@pytest.mark.usefixtures("way")
@settings(max_examples=15, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(slicing=slicings(), k=st.integers(1, 6))
def test_sizes_are_the_rows_a_target_may_be(slicing, k):
    """The group of a target has the matching rows of all matching buckets, in the column where they are fewest."""
    release, table = slicing
    view = release.views[0]
    finding = readings(release, table, Promise(KAnonymity(k), KNOWN))["marginal"]
    places = [place for place, column in enumerate(view.columns) if {"s", "n"} & {*column}]
    sizes = [
        belief.size
        for place in places
        for belief in beliefs(release, table, view, frozenset(KNOWN), {place: (view.columns[place][0],)})
    ]
    assert (finding.measured, finding.kept) == (min(sizes), min(sizes) >= k)


PATIENTS = Policy(
    attributes={
        "age": {"role": "quasi", "kind": "numeric"},
        "sex": {"role": "quasi", "kind": "categorical"},
        "zipcode": {"role": "quasi", "kind": "categorical"},
        "disease": {"role": "sensitive", "kind": "categorical"},
    },
    guarantee={"l": 2},
)
HALVES = [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_worked_case_of_the_paper():
    """Table 1(f): of (22, M, 47906) dyspepsia and flu are believed with one half each, and l = 2 holds."""
    columns = [("age", "sex"), ("zipcode", "disease")]
    release, table = sealed(slicing_patients(), PATIENTS, columns=columns, buckets=HALVES)
    known = frozenset({"age", "sex", "zipcode"})
    first, *_ = beliefs(release, table, release.views[0], known, {1: ("disease",)})
    assert first.shares == {"Dyspepsia": Fraction(1, 2), "Flu": Fraction(1, 2)}
    promise = Promise(FrequencyDiversity(2), tuple(known), ("disease",))
    [finding] = judge(Evidence(release, table, PATIENTS), promise, promised=True)
    assert (finding.kept, finding.measured, finding.groups, finding.worst_group_size) == (True, 2, 8, 1)
    [finding] = judge(
        Evidence(release, table, PATIENTS),
        Promise(FrequencyDiversity(3), tuple(known), ("disease",)),
        promised=True,
    )
    assert (finding.kept, finding.groups_short, finding.rows_short) == (False, 8, 8)


def test_what_is_known_in_one_column_finds_the_bucket():
    """With all that is known in one column and the disease in another, the groups are the buckets."""
    columns = [("age", "sex", "zipcode"), ("disease",)]
    release, table = sealed(slicing_patients(), PATIENTS, columns=columns, buckets=HALVES)
    [diversity] = [
        found for found in audit(release, table, PATIENTS).findings if found.attribute == "disease"
    ]
    assert (diversity.groups, diversity.worst_group_size, diversity.measured) == (2, 4, 3)


def halves(n_first, n_second):
    """Two buckets that both match everyone, with values a and b, and c and b."""
    rows = [
        ("x", "x", "x", s, None)
        for s in ["a"] * n_first + ["b"] * n_second + ["a"] * n_second + ["b"] * n_first
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    n = n_first + n_second
    columns = [("p",), ("q", "r"), ("s", "n")]
    return sealed(frame, POLICY, columns=columns, buckets=[0] * n + [1] * n)


@pytest.mark.usefixtures("way")
def test_a_belief_on_the_bound_passes():
    """Shares of 1/3 and 2/3 in one bucket and the reverse in the other make one half, which l = 2 allows."""
    release, table = halves(1, 2)
    promise = Promise(FrequencyDiversity(2), KNOWN, ("s",))
    assert readings(release, table, promise)["marginal"].kept
    assert not readings(release, table, Promise(FrequencyDiversity(3), KNOWN, ("s",)))["marginal"].kept
    assert readings(release, table, Promise(EntropyDiversity(2), KNOWN, ("s",)))["marginal"].kept
    assert not readings(release, table, Promise(RecursiveDiversity(Fraction(1), 2), KNOWN, ("s",)))[
        "marginal"
    ].kept


@pytest.mark.usefixtures("way")
def test_one_row_past_the_bound_breaks():
    """With one a more in a bucket of many, a is believed with a little more than one half."""
    n = 50_000
    rows = [("x", "x", "x", s, None) for s in ["a"] * (n + 1) + ["b"] * (n - 1) + ["a"] * n + ["b"] * n]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    columns = [("p",), ("q", "r"), ("s", "n")]
    release, table = sealed(frame, POLICY, columns=columns, buckets=[0] * 2 * n + [1] * 2 * n)
    finding = readings(release, table, Promise(FrequencyDiversity(2), KNOWN, ("s",)))["marginal"]
    assert (finding.kept, finding.groups_short, finding.rows_short) == (False, 1, 4 * n)


def test_knowing_more_makes_no_bucket_less_certain():
    """What is known of other sensitive attributes is no second column to weigh buckets by."""
    rows = [("x", "x", "x", "a", 1.0), ("y", "y", "y", "b", 1.0)]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    release, table = sealed(frame, POLICY, columns=[KNOWN, ("s",), ("n",)], buckets=[0, 1])
    found = readings(release, table, Promise(DistinctDiversity(2), KNOWN, ("s",)))
    assert found["marginal"].measured == found["conditional"].measured == 1


def test_three_protected_columns_are_not_judged():
    """The combination of attributes in three columns has no measure, and is not said to be kept."""
    policy = Policy(
        attributes={
            **{name: {"role": "quasi", "kind": "categorical"} for name in "pq"},
            **{name: {"role": "sensitive", "kind": "categorical"} for name in "abc"},
        }
    )
    frame = pl.DataFrame({name: ["x", "y"] for name in "pqabc"})
    release, table = sealed(frame, policy, columns=[("p", "a"), ("q", "b"), ("c",)], buckets=[0, 0])
    promise = Promise(DistinctDiversity(1), ("p", "q"), ("a", "b", "c"))
    found = [
        one
        for one in judge(Evidence(release, table, policy), promise, promised=True)
        if one.reading == "joint"
    ]
    assert [(one.kept, one.measured) for one in found] == [(False, None)]


def test_people_whom_nothing_published_can_be_are_not_passed_over():
    """Where labels say nothing of what they cover, no target is found, and the promise is not said to be kept."""
    rows = [("x", "x", "x", "a", 1.0), ("y", "y", "y", "b", 1.0)]
    secret = Recoding(np.array([0, 0], dtype=np.int32), ("?",), None)
    draft = Draft(
        "main", (("p",), ("q", "r"), ("s", "n")), np.arange(2, dtype=np.intp), np.array([0, 0]), {"q": secret}
    )
    release, table = sealed(pl.DataFrame(rows, schema=SCHEMA, orient="row"), POLICY, draft)
    for promise in (Promise(DistinctDiversity(1), KNOWN, ("s",)), Promise(KAnonymity(1), KNOWN)):
        finding = readings(release, table, promise)["marginal"]
        assert (finding.kept, finding.measured) == (False, None)
