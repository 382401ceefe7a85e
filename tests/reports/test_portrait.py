"""What charts draw is what is there: sizes, shares and associations against the plainest counting."""

from collections import Counter
from math import isclose

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.table import hold
from manyveils.utility.portrait import portrait, public_portrait, sized
from manyveils.utility.portrait.values import by_name, by_rank, by_width, cramers_v, has_ranges

# Each example is a whole publication.
few = settings(max_examples=30)
ROWS = st.lists(
    st.tuples(st.integers(20, 29), st.sampled_from("xyz"), st.sampled_from("abcd"), st.integers(0, 90)),
    min_size=8,
    max_size=60,
)


def frame(rows):
    """Hold rows as a table of an age, a town, an illness and an income."""
    return pl.DataFrame(rows, schema=["age", "town", "illness", "income"], orient="row")


def policy(method, **publish):
    """Promise two rows to a group."""
    return mv.Policy(
        attributes={
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [2, 4]}},
            "town": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "income": {"role": "sensitive", "kind": "numeric"},
        },
        guarantee={"k": 2},
        publish={"method": method, **publish},
    )


@few
@given(ROWS)
def test_sizes_and_shares(rows):
    """Groups are counted as a plain count does, and shares before are those of the original."""
    data, rules = frame(rows), policy("generalize")
    release = mv.publish(data, rules, seed=1)
    drawn = portrait(release, hold(data, rules)[0], rules)
    shown = release.frames["main"]
    groups = Counter(zip(shown["age"], shown["town"], strict=True))
    (view,) = drawn.group_sizes
    assert (view["groups"], view["smallest"], view["largest"]) == (
        len(groups),
        min(groups.values()),
        max(groups.values()),
    )
    assert sum(band["rows"] for band in view["bands"]) == len(rows)
    assert sum(band["groups"] for band in view["bands"]) == len(groups)
    counts = Counter(row[2] for row in rows)
    found = dict(zip(drawn.shares["illness"]["bins"], drawn.shares["illness"]["before"], strict=True))
    assert all(isclose(found[value], count / len(rows)) for value, count in counts.items())
    for shares in drawn.shares.values():
        assert isclose(sum(shares["before"]), 1)
        assert isclose(sum(shares["after"]), 1)


@few
@given(ROWS, st.sampled_from([{}, {"recoding": "mondrian"}]))
def test_shares_after_are_those_of_the_release(rows, publish):
    """Shares after are those of the published rows, those that were left out not among them."""
    data, rules = frame(rows), policy("generalize", suppression=0.5, **publish)
    release = mv.publish(data, rules, seed=1)
    drawn = portrait(release, hold(data, rules)[0], rules)
    shown = Counter(release.frames["main"]["illness"])
    found = dict(zip(drawn.shares["illness"]["bins"], drawn.shares["illness"]["after"], strict=True))
    assert all(isclose(share, shown[value] / release.rows, abs_tol=1e-9) for value, share in found.items())
    (view,) = drawn.group_sizes
    assert view["rows"] == release.rows


def test_recoded_values_are_spread():
    """A sensitive value that is published as a label counts for every value under the label alike."""
    rng = np.random.default_rng(2)
    values = ["flu", "cold", "gout", "sprain"]
    rows = {name: rng.choice(values, 60) for name in ("illness", "other")}
    data = pl.DataFrame({"age": rng.integers(20, 60, 60), **rows})
    tree = {"lungs": ["flu", "cold"], "joints": ["gout", "sprain"]}
    sensitive = {"role": "sensitive", "hierarchy": {"tree": tree}}
    rules = mv.Policy(
        attributes={"age": {"role": "quasi"}, "illness": sensitive, "other": sensitive},
        publish={"method": "alpha-beta-k", "k": 3, "beta": 2, "repair": "rule"},
    )
    release = mv.publish(data, rules, seed=1)
    under = {**{value: [value] for value in values}, **tree, "*": values}
    drawn = portrait(release, hold(data, rules)[0], rules)
    assert {*release.frames["main"]["illness"], *release.frames["main"]["other"]} - {*values}
    for name in ("illness", "other"):
        plain = Counter()
        for label in release.frames["main"][name]:
            plain.update({value: 1 / len(under[label]) / 60 for value in under[label]})
        found = dict(zip(drawn.shares[name]["bins"], drawn.shares[name]["after"], strict=True))
        assert found == pytest.approx(dict(plain))


@few
@given(ROWS, st.sampled_from(["generalize", "anatomize", "separate"]))
def test_sensitive_values_are_kept(rows, method):
    """Methods that leave sensitive values alone show no bar that moves."""
    data, rules = frame(rows), policy(method)
    rules = rules.replaced(guarantee={})
    drawn = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules)
    for shares in drawn.shares.values():
        assert np.allclose(shares["before"], shares["after"])


@few
@given(ROWS)
def test_public_portrait_needs_the_release_alone(rows):
    """The public portrait has nothing to compare with, and draws the same release in the same way."""
    data, rules = frame(rows), policy("generalize")
    release = mv.publish(data, rules, seed=1)
    shown = public_portrait(release)
    assert all("before" not in shares for shares in shown.shares.values())
    assert "before" not in shown.associations


def test_associations_of_one_table_are_kept():
    """In a table published as it is, associations in the release are those of the original."""
    rng = np.random.default_rng(5)
    ills = rng.integers(0, 4, 4000)
    rows = [(20 + i % 3, "xyz"[i % 3], "abcd"[i], 10 * i + j % 10) for j, i in enumerate(ills)]
    data, rules = frame(rows), policy("generalize")
    found = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules).associations
    assert np.allclose(found["before"], found["after"], atol=0.02)
    apart = policy("separate")
    found = portrait(mv.publish(data, apart, seed=1), hold(data, apart)[0], apart).associations
    assert np.max(np.array(found["after"]) - np.eye(4)) < 0.02


def plain_v(left, right):
    """Work out Bergsma's V with loops."""
    n, rows, columns = len(left), sorted(set(left)), sorted(set(right))
    pairs, lefts, rights = Counter(zip(left, right, strict=True)), Counter(left), Counter(right)
    phi = sum(
        (pairs[a, b] - lefts[a] * rights[b] / n) ** 2 / (lefts[a] * rights[b] / n)
        for a in rows
        for b in columns
    )
    r, c = len(rows), len(columns)
    phi = max(phi / n - (r - 1) * (c - 1) / (n - 1), 0)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min((phi / least) ** 0.5, 1) if min(r, c) > 1 and least > 1e-12 else 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=50))
@example([(0, 0), (0, 1), (0, 1), (0, 2), (1, 1), (2, 0), (2, 0)])
def test_cramers_v(pairs):
    """Cramér's V is what its definition says."""
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    found = cramers_v((left, 4), (right, 3), n_people=len(pairs))
    # Squared, because near nothing a root makes a large difference of a last digit.
    assert isclose(found**2, plain_v(left.tolist(), right.tolist()) ** 2, abs_tol=1e-12)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_bands_hold_every_group(sizes):
    """Every group stands in exactly one band."""
    bands = sized("v", np.array(sizes))["bands"]
    for band in bands:
        inside = [size for size in sizes if band["low"] <= size <= band["high"]]
        assert (len(inside), sum(inside)) == (band["groups"], band["rows"])
    assert sum(band["groups"] for band in bands) == len(sizes)


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=80, unique=True), st.integers(2, 12))
def test_scales_place_every_value_once(numbers, most):
    """A scale has no more bins than asked for, up to one that is begun, and each value is in one of them."""
    numbers = sorted(numbers)
    texts = [str(number) for number in numbers]
    weights = np.ones(len(texts))
    values = np.array(numbers, dtype=np.float64)
    for scale in (
        by_name(texts, weights, most=most),
        by_width(texts, values, most=most),
        by_rank(texts, values, weights, most=most),
    ):
        places = scale.of(texts)
        assert places.min() >= 0
        assert places.max() < len(scale.bins) <= most + 1
        assert isclose(sum(scale.summed(texts, weights)), len(texts))
    assert (np.diff(by_width(texts, values, most=most).of(texts)) >= 0).all()


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-400, 400).map(lambda n: n / 10),
        min_size=2,
        max_size=40,
        unique=True,
    )
)
def test_ranges_tell_numbers_apart(numbers):
    """Ranges of any numbers have names of their own that have room in a chart, and hold larger numbers further on."""
    values = np.array(sorted(numbers))
    assume(has_ranges(values))
    texts = [str(number) for number in values]
    scale = by_width(texts, values, most=16)
    assert len(set(scale.bins)) == len(scale.bins) <= 17
    assert all(len(name) <= 60 for name in scale.bins)
    assert (np.diff(scale.of(texts)) >= 0).all()
    assert scale.of(texts)[0] == 0
    assert scale.of(texts)[-1] == len(scale.bins) - 1


@pytest.mark.parametrize(
    "values", [[10**17 + 64 * n for n in range(40)], [1.7e308 * (-1) ** n / (n + 1) for n in range(40)]]
)
def test_numbers_without_ranges_have_names(values):
    """Numbers that no range of one width tells apart are shown by name, the commonest first."""
    data = pl.DataFrame({"age": [20] * 40, "income": values})
    rules = policy("generalize").replaced(
        attributes={"age": {"role": "quasi"}, "income": {"role": "sensitive", "kind": "numeric"}}
    )
    drawn = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules)
    assert drawn.shares["income"]["bins"][-1] == "25 others"
    assert isclose(sum(drawn.shares["income"]["before"]), 1)


def test_a_bound_begins_its_range():
    """0.3 is in the range that begins with 0.3, although floating point divides it to less than three tenths."""
    texts = [f"{n / 10}" for n in range(15)]
    scale = by_width(texts, np.arange(15) / 10, most=16)
    assert [scale.bins[place].split(" to ")[0] for place in scale.of(texts)] == [
        f"{n / 10:g}" for n in range(15)
    ]


def test_negative_ranges_can_be_read():
    """Between two negative numbers stands a word and no third dash."""
    values = np.arange(-40.0, 40.0)
    bins = by_width([str(value) for value in values], values, most=16).bins
    assert (bins[0], bins[-1]) == ("-40 to -31", "30–39")


def test_what_has_no_room_is_counted():
    """Of many attributes those that promises protect are shown first, and the others are counted."""
    n_sensitive, n_neutral = 30, 10
    names = [f"n{i}" for i in range(n_neutral)] + [f"s{i}" for i in range(n_sensitive)]
    data = pl.DataFrame({name: [(i + place) % 3 for i in range(30)] for place, name in enumerate(names)})
    roles = {name: {"role": "sensitive" if name[0] == "s" else "neutral"} for name in names}
    accepted = [f"near-copy: {one} + {other}" for one in names[:n_neutral] for other in names[n_neutral:]]
    rules = mv.Policy(accept=accepted, attributes=roles, guarantee={"l": 2}, publish={"method": "separate"})
    release = mv.publish(data, rules, seed=1)
    for drawn in (portrait(release, hold(data, rules)[0], rules), public_portrait(release)):
        assert len(drawn.shares) + drawn.left_out["shares"] == n_sensitive
        attributes = drawn.associations["attributes"]
        assert len(attributes) + drawn.left_out["associations"] == len(names)
        assert all(name[0] == "s" for name in attributes)


def test_many_values_in_a_cell_cost_no_more_than_a_few():
    """Of an attribute with very many values to a cell, the commonest are held against other attributes."""
    rng = np.random.default_rng(1)
    cells = ["|".join({f"v{value}" for value in rng.geometric(0.05, 4)} | {"v0"}) for _ in range(200)]
    data = pl.DataFrame(
        {"age": ["old" if "v1" in cell.split("|") else "young" for cell in cells], "ill": cells}
    )
    rules = mv.Policy(
        attributes={"age": {"role": "quasi"}, "ill": {"role": "sensitive", "multivalued": "|"}},
        guarantee={},
        publish={"method": "generalize"},
    )
    found = portrait(mv.publish(data, rules, seed=1), hold(data, rules)[0], rules).associations
    assert found["attributes"] == ["age", "ill"]
    assert found["before"][0][1] > 0.95


def test_ranges_have_no_exponents():
    """Ranges of amounts are written as people write them."""
    frame = pl.DataFrame({"age": [30, 40] * 60, "pay": [f"{150.5 + 230 * n:.2f}" for n in range(120)]})
    policy = mv.Policy(
        attributes={"age": {"role": "quasi"}, "pay": {"role": "sensitive"}}, guarantee={"k": 2}
    )
    portrait = mv.report(mv.publish(frame, policy, seed=1), frame, policy, only=["linkage"]).document[
        "portrait"
    ]
    bins = portrait["shares"]["pay"]["bins"]
    assert "10,000 to 12,000" in bins
    assert not [name for name in bins if "e+" in name]


def test_rows_are_called_rows():
    """Reports count rows as rows, and people as people only where these were counted."""
    frame, policy = mv.datasets.visits(300), mv.datasets.visit_policy(publish={"method": "anatomize"})
    release = mv.publish(frame, policy, seed=1)
    for report in (mv.report(release, frame, policy, only=["linkage"]), mv.public_report(release)):
        assert "Rows published" in report.html
        assert "People published" not in report.html
    assert "people in the group" in mv.report(release, frame, policy, only=["linkage"]).html
    assert "rows in the group" in mv.public_report(release).html


@few
@given(ROWS)
def test_groups_that_tell_most(rows):
    """Groups are listed by the share of their most common value, with as many values as they have."""
    data, rules = frame(rows), policy("generalize")
    release = mv.publish(data, rules, seed=1)
    [told] = portrait(release, hold(data, rules)[0], rules).telling
    assert told["known"] == ["age", "town"]
    groups = {}
    for age, town, illness, income in release.frames["main"].iter_rows():
        groups.setdefault((age, town), []).append((illness, str(income)))
    wanted = sorted(
        -max(Counter(column).most_common(1)[0][1] for column in zip(*own, strict=True)) / len(own)
        for own in groups.values()
    )
    listed = [-max(value["share"] for value in group["values"]) for group in told["groups"]]
    assert listed == wanted[:8]
    for group in told["groups"]:
        own = groups[
            (
                int(group["labels"][0]) if group["labels"][0].isdigit() else group["labels"][0],
                group["labels"][1],
            )
        ]
        assert group["rows"] == len(own)
        for value, column in zip(group["values"], zip(*own, strict=True), strict=True):
            counts = Counter(column)
            assert value["different"] == len(counts)
            assert counts[value["value"]] == max(counts.values()) == round(value["share"] * len(own))


@pytest.mark.parametrize("name", ["value", "n", "rows", "key_0", "share_0", "protected_0"])
def test_attributes_may_be_called_anything(name):
    """Groups are listed whatever their attributes are called."""
    data = frame([(20, "x", "abcd"[place % 4], place) for place in range(12)]).rename({"town": name})
    sections = policy("generalize").model_dump(exclude_unset=True)
    sections["attributes"][name] = sections["attributes"].pop("town")
    rules = mv.Policy(**sections)
    release = mv.publish(data, rules, seed=1)
    [told] = portrait(release, hold(data, rules)[0], rules).telling
    assert {*told["known"]} == {"age", name}


def test_rows_before_are_the_owners_alone():
    """The public portrait has rows of the release and no group with its values; the owner's begins with the original."""
    data = frame([(20 + place % 10, "xyz"[place % 3], "abcd"[place % 4], place) for place in range(60)])
    release = mv.publish(data, policy("generalize"), seed=1)
    owned, public = (
        portrait(release, hold(data, policy("generalize"))[0], policy("generalize")),
        public_portrait(release),
    )
    assert [shown["table"] for shown in owned.rows] == ["", "main"]
    assert owned.rows[0]["rows"][0] == ["20", "x", "a", "0"]
    assert [shown["table"] for shown in public.rows] == ["main"]
    assert public.telling == ()
    assert "most common" not in mv.public_report(release).html
