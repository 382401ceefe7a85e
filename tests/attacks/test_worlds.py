"""Possible worlds of a release: against every world written out in plain Python, and the papers' running example."""

import signal
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks.worlds import Limits, combined
from manyveils.attacks.worlds.views import telling, whole_views
from manyveils.datasets import versatile_patients, versatile_rules
from manyveils.release import Draft, Recoding, seal
from manyveils.table import hold
from tests.kit.drafts import printed_drafts

VALUES = {"a": ["1", "2", "3"], "b": ["x", "y"], "s": ["flu", "hiv", "ulcer"]}
LABELS = {
    "a": [("1-2", ("1", "2")), ("2-3", ("2", "3")), ("any", ("1", "2", "3"))],
    "b": [("xy", ("x", "y"))],
    "s": [("virus", ("flu", "hiv"))],
}
STATUS = Path("/proc/self/status")
COUNTED = Limits()
SOLVED = Limits(counted=0)
BOUNDED = Limits(counted=0, exact=0)
GUESSED = Limits(counted=0, exact=0, linear=0)
many = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def sealed(frame, drafts, rules=()):
    """A release of given views."""
    policy = mv.Policy(attributes={name: {"role": "neutral"} for name in frame.columns}, rules=list(rules))
    table, restore = hold(frame, policy)
    drafts = [each(table) if callable(each) else each for each in drafts]
    return seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(1))


def example(tables):
    """A release of the running example of paper 002, with rows as the paper numbers them."""
    drafts = printed_drafts(tables, 6)
    return sealed(versatile_patients(), drafts, versatile_rules())


def certain(found, question):
    """The tuples that somebody may have, and whose last value everybody with the others has for certain."""
    *known, about = question
    if not any(about in kinds.sets for kinds, _ in found.links):
        return []
    texts = [found.domains[name].texts for name in question]
    profiles = list(product(*(range(len(own)) for own in texts[:-1])))
    codes = {name: np.array([profile[i] for profile in profiles]) for i, name in enumerate(known)}
    beliefs = found.beliefs(codes, len(profiles), about).filter(pl.col("belief") > 1 - 1e-9)
    cells = [(*profiles[profile], value) for profile, value, _ in beliefs.iter_rows()]
    return sorted(tuple(own[code] for own, code in zip(texts, cell, strict=True)) for cell in cells)


TABLE_2 = {
    ("age", "icd", "race"): [(1, 6), (5, 4), (3, 2)],
    ("gender", "icd", "zipcode"): [(1, 6), (5, 4), (3, 2)],
    ("hospital", "race", "zipcode"): [(1, 3), (4, 2), (6, 5)],
}
TABLE_3 = {("gender", "icd", "hospital", "age"): [], ("race", "zipcode"): [(1, 3), (4, 2), (6, 5)]}
ASKED = ("hospital", "race", "zipcode")


@pytest.mark.parametrize("limits", [COUNTED, SOLVED, BOUNDED], ids=["counted", "solved", "bounded"])
def test_table_2(limits):
    """Three tables, each fine alone, give exactly four tuples away together."""
    found = combined(example(TABLE_2), ASKED, limits)
    assert certain(found, ASKED) == [
        ("111111", "asian", "71000"),
        ("222222", "black", "73000"),
        ("333333", "black", "71000"),
        ("333333", "white", "72000"),
    ]


@pytest.mark.skipif(not STATUS.exists(), reason="there is no /proc to see signals in")
def test_interrupts_are_left_alone():
    """After a question to the solver Ctrl-C is still an exception, and does not end the process on the spot."""
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    combined(example(TABLE_2), ASKED, SOLVED)
    [caught] = [line.split()[1] for line in STATUS.read_text().splitlines() if line.startswith("SigCgt:")]
    assert int(caught, 16) >> signal.SIGINT - 1 & 1


def test_table_2_one_by_one():
    """None of the three tables gives such a tuple away alone, nor do any two of them."""
    release = example(TABLE_2)
    for left_out in range(3):
        views = [view for number, view in enumerate(whole_views(release)) if number != left_out]
        assert certain(combined(release, ASKED, views=views), ASKED) == []
    for view in whole_views(release):
        assert certain(combined(release, ASKED, views=[view]), ASKED) == []


@pytest.mark.parametrize("rule", versatile_rules(), ids=str)
def test_table_3(rule):
    """Two tables in Guardian Normal Form give no tuple of any rule away."""
    question = (*rule["given"], rule["protect"])
    found = combined(example(TABLE_3), question)
    assert found.how == "exact"
    assert certain(found, question) == []


def test_a_chain():
    """What two views share joins what only one of them has, though it was not asked about."""
    frame = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"], "s": ["flu", "hiv"]})
    release = sealed(frame, [Draft(name, (tuple(name),), np.arange(2)) for name in ("ab", "bs")])
    assert certain(combined(release, "as"), "as") == [("1", "flu"), ("2", "hiv")]
    assert certain(combined(release, "as", views=whole_views(release)[:1]), "as") == []


def test_people_left_out_of_a_view():
    """Whom a view leaves out may have any value in it, so nothing is certain of somebody who may be left out."""
    frame = pl.DataFrame({"a": ["1", "1", "2"], "b": ["x", "x", "y"], "s": ["flu", "flu", "hiv"]})
    whole, part = Draft("ab", (("a", "b"),), np.arange(3)), Draft("as", (("a", "s"),), np.array([0, 2]))
    release = sealed(frame, [whole, part])
    assert certain(combined(release, "bs"), "bs") == [("y", "hiv")]


def test_wider_labels_weigh_more():
    """A world in which labels leave more open stands for more tables: two against three, worked out by hand."""
    frame = pl.DataFrame({"a": ["1", "1"], "b": ["x", "y"], "s": ["flu", "hiv"]})
    first = Recoding(
        np.array([0, 1], dtype=np.int32), ("1-2", "any"), (np.array([0, 0, 1, 1, 1]), tuple("12123"))
    )
    second = Recoding(
        np.array([0, 1], dtype=np.int32), ("any", "one"), (np.array([0, 0, 0, 1]), tuple("1231"))
    )
    drafts = [
        Draft("ab", (("a", "b"),), np.arange(2), None, {"a": first}),
        Draft("as", (("a", "s"),), np.arange(2), None, {"a": second}),
    ]
    found = combined(sealed(frame, drafts), "bs")
    beliefs = found.beliefs({"b": np.arange(2)}, 2, "s")
    assert beliefs["belief"].to_list() == pytest.approx([2 / 5, 3 / 5, 3 / 5, 2 / 5])


def text(value):
    """A cell as a text."""
    return "" if value is None else str(value)


def rows_of(release, view):
    """What a person can stand in: for every way to deal out the view's rows, a bucket and labels per person."""
    files = [release.frames[file.table] for file in view.files]
    if not view.bucketed:
        whole = [tuple(map(text, row)) for row in files[0].select(view.files[0].attributes).iter_rows()]
        return set(permutations([(0, row) for row in whole]))
    buckets = files[0]["bucket"].to_list()
    dealt = []
    for file, frame in zip(view.files, files, strict=True):
        held = defaultdict(list)
        for row in frame.iter_rows(named=True):
            held[row["bucket"]].append(tuple(text(row[name]) for name in file.attributes))
        dealt.append(held)
    ways = set()
    for places in set(permutations(buckets)):
        orders = [{bucket: set(permutations(rows)) for bucket, rows in held.items()} for held in dealt]
        per_bucket = sorted(set(buckets))
        for chosen in product(*(product(*(order[b] for b in per_bucket)) for order in orders)):
            lanes = [{b: iter(rows) for b, rows in zip(per_bucket, column, strict=True)} for column in chosen]
            ways.add(
                tuple(
                    (place, tuple(label for lane in lanes for label in next(lane[place]))) for place in places
                )
            )
    return ways


def originals(release, view, name, label, domain):
    """What a label may stand for."""
    pairs = release.recodings.get((view.name, name))
    covered = [] if pairs is None else [text(o) for p, o in pairs.iter_rows() if text(p) == label]
    return set(covered or ([label] if label in domain else domain))


def all_worlds(release, domains, limit=60_000):
    """Every world: who stands where and has which originals; only the tuples of its people are given."""
    names = list(domains)
    ways = [rows_of(release, view) for view in release.views]
    # People are alike, so the first view may stand in one order.
    first = sorted({tuple(sorted(way)) for way in ways[0]})
    n_ways = len(first) * np.prod([len(each) for each in ways[1:]])
    assume(n_ways <= limit)
    total = 0
    for standing in product(first, *ways[1:]):
        people = []
        for person in zip(*standing, strict=True):
            left = {name: set(domain) for name, domain in domains.items()}
            for view, (_, labels) in zip(release.views, person, strict=True):
                for name, label in zip(view.attributes, labels, strict=True):
                    left[name] &= originals(release, view, name, label, domains[name])
            people.append(list(product(*(sorted(left[name]) for name in names))))
        total += np.prod([len(each) for each in people])
        assume(total <= limit)
        # The same people in another order are as many worlds again.
        weight = len(set(permutations(standing[0])))
        for world in product(*people):
            yield weight, world


@st.composite
def labelled(draw, column):
    """Some cells of a column under labels that cover them."""
    texts, offers = column.texts, LABELS[column.name]
    labels = (*texts, *(label for label, _ in offers))
    codes = []
    for code in column.codes:
        fits = [len(texts) + place for place, (_, covered) in enumerate(offers) if texts[code] in covered]
        codes.append(draw(st.sampled_from([code, *fits])))
    pairs = [(code, text) for code, text in enumerate(texts)]
    pairs += [
        (len(texts) + place, text)
        for place, (_, covered) in enumerate(offers)
        if len(texts) + place in codes
        for text in covered
    ]
    covers = (np.array([number for number, _ in pairs]), tuple(text for _, text in pairs))
    return Recoding(np.array(codes, dtype=np.int32), labels, covers)


@st.composite
def views(draw, names, table, number):
    """A view of some attributes: whole, in two columns with buckets, or with labels."""
    n = table.n_rows
    names = tuple(draw(st.permutations(names)))
    recodings = {name: draw(labelled(table[name])) for name in names if draw(st.integers(0, 2)) == 0}
    if len(names) == 1 or draw(st.integers(0, 2)):
        return Draft(f"v{number}", (names,), np.arange(n), None, recodings)
    cut = draw(st.integers(1, len(names) - 1))
    buckets = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    return Draft(f"v{number}", (names[:cut], names[cut:]), np.arange(n), buckets, recodings)


@st.composite
def releases(draw):
    """A release of two or three people in one to three views, most of which overlap."""
    n = draw(st.sampled_from([2, 3, 3, 3]))
    frame = pl.DataFrame(
        {name: [draw(st.sampled_from(values)) for _ in range(n)] for name, values in VALUES.items()}
    )
    several = st.lists(st.sampled_from(["ab", "as", "bs", "abs", "s"]), min_size=1, max_size=3)
    shown = draw(st.sampled_from([["ab", "bs"], ["ab", "bs"], ["ab", "bs", "as"]]) | several)
    drafts = [lambda table, names=names, i=i: draw(views(names, table, i)) for i, names in enumerate(shown)]
    return sealed(frame, drafts), frame


def judged(release):
    """All worlds of a release, over its attributes."""
    domains = {name: each.texts for name, each in release.reading.estimate.domains.items()}
    return list(domains), list(all_worlds(release, domains)), domains


def questions(names):
    """Some attributes to ask about; often the ends of a chain of views."""
    ends = [name for name in names if name != "b"]
    return st.just(ends or names) | st.lists(st.sampled_from(names), min_size=1, unique=True)


@many
@given(case=releases(), data=st.data())
def test_certain_tuples(case, data):
    """A value is certain exactly if all with the profile have it in every world that can be written out."""
    release, _ = case
    names, worlds, _ = judged(release)
    question = data.draw(questions(names))
    values = defaultdict(set)
    for _, world in worlds:
        for row in world:
            *profile, value = (row[names.index(name)] for name in question)
            values[tuple(profile)].add(value)
    truth = sorted((*profile, *own) for profile, own in values.items() if len(own) == 1)
    for limits in (COUNTED, SOLVED):
        found = combined(release, question, limits)
        assert found.certainty_by == "exact"
        assert certain(found, question) == truth
    for limits in (BOUNDED, GUESSED):
        assert set(certain(combined(release, question, limits), question)) <= set(truth)


@many
@given(case=releases(), data=st.data())
def test_beliefs(case, data):
    """A belief is the share of a value among all people with a profile, over all worlds."""
    release, _ = case
    names, worlds, domains = judged(release)
    assume(len(names) > 1)
    protect, *known = data.draw(st.permutations(names))
    known = known[: data.draw(st.integers(0, len(known)))]
    counted = Counter()
    for weight, world in worlds:
        for row in world:
            profile = tuple(row[names.index(name)] for name in known)
            counted[profile, row[names.index(protect)]] += weight
    totals = Counter()
    for (profile, _), weight in counted.items():
        totals[profile] += weight
    profiles = sorted(totals)
    codes = {
        name: np.array([domains[name].index(profile[place]) for profile in profiles])
        for place, name in enumerate(known)
    }
    truth = {
        (profiles.index(profile), domains[protect].index(value)): float(Fraction(weight, totals[profile]))
        for (profile, value), weight in counted.items()
    }
    for limits in (COUNTED, SOLVED, BOUNDED, GUESSED):
        one = combined(release, [*known, protect], limits)
        found = one.beliefs(codes, len(profiles), protect)
        believed = dict(zip(zip(found["profile"], found["value"], strict=True), found["belief"], strict=True))
        if one.certainty_by == "exact":
            assert set(believed) == set(truth)
        assert set(believed) >= set(truth)
        if one.beliefs_by == "exact":
            assert believed == pytest.approx(truth)


def test_estimates_come_close():
    """Over a few people fits differ from exact beliefs by a few hundredths on average, and over one view not at all."""
    differences = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 8
        frame = pl.DataFrame({name: rng.choice(values, n) for name, values in VALUES.items()})
        drafts = [
            Draft("ab", (("a",), ("b",)), np.arange(n), rng.permutation(n) // 4),
            Draft("bs", (("b",), ("s",)), np.arange(n), rng.permutation(n) // 4),
        ]
        release = sealed(frame, drafts)
        both = [combined(release, "as", limits) for limits in (COUNTED, GUESSED)]
        assert [each.beliefs_by for each in both] == ["exact", "estimate"]
        exact, fitted = (each.beliefs({"a": np.arange(3)}, 3, "s") for each in both)
        joined = exact.join(fitted, on=["profile", "value"], suffix=" fitted")
        differences += (joined["belief"] - joined["belief fitted"]).abs().to_list()
    assert np.mean(differences) < 0.03, np.mean(differences)


def crossed(n, seed=1):
    """People in three views that overlap, with buckets that cross, so that blocks are large."""
    rng = np.random.default_rng(seed)
    values = {"a": 4, "b": 3, "c": 3, "s": 4}
    frame = pl.DataFrame({name: rng.integers(0, size, n).astype(str) for name, size in values.items()})
    drafts = [
        Draft(f"v{i}", ((one, two), (last,)), np.arange(n), rng.permutation(n) // 4)
        for i, (one, two, last) in enumerate(("abs", "bcs", "acb"))
    ]
    return sealed(frame, drafts)


@pytest.mark.parametrize("effort", [0.02, 0.5, 3.0])
def test_work_is_counted_and_not_timed(monkeypatch, effort):
    """The same question gets the same answer to the last digit, however slow the machine is."""
    release, limits = crossed(40), Limits(effort=effort)

    def answer():
        one = combined(release, "as", limits)
        return one.how, one.beliefs_by, one.beliefs({"a": np.arange(4)}, 4, "s").to_dict(as_series=False)

    first = answer()
    waits = iter(range(0, 10**9, 1000))
    for clock in ("monotonic", "perf_counter", "time"):
        monkeypatch.setattr(f"time.{clock}", lambda: float(next(waits)))
    assert answer() == first


def test_little_effort_says_less():
    """With little effort beliefs are estimates and say so, and they rule nothing out that is possible."""
    release = crossed(12)
    much, little = (combined(release, "as", Limits(effort=effort)) for effort in (60.0, 1e-6))
    assert little.beliefs_by == "estimate"
    pairs = [
        {
            (profile, value)
            for profile, value in each.beliefs({"a": np.arange(4)}, 4, "s")
            .select("profile", "value")
            .iter_rows()
        }
        for each in (much, little)
    ]
    assert pairs[0] <= pairs[1]


def test_views_that_tell_nothing_are_left_aside():
    """A view that shares only plain columns with the others and shows nothing else that is asked changes nothing."""
    frame = pl.DataFrame(
        {"a": list("1122"), "b": list("xyxy"), "c": list("mnnm"), "s": ["flu", "hiv", "flu", "ulcer"]}
    )
    one, two = (
        Draft("abs", (tuple("ab"), ("s",)), np.arange(4), np.array([0, 0, 1, 1])),
        Draft("bc", (tuple("bc"),), np.arange(4)),
    )
    release = sealed(frame, [one, two])
    views = whole_views(release)
    assert [view.name for view in telling(views, "as", 4)] == ["abs"]
    assert len(telling(views, "acs", 4)) == 2
    few = sealed(frame, [one, Draft("bc", (tuple("bc"),), np.arange(3))])
    assert len(telling(whole_views(few), "as", 4)) == 2
