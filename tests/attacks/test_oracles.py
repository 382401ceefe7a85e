"""Every number of an attack against a count over all possible tables, in plain Python with fractions."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks import attack
from manyveils.release import Draft, seal
from manyveils.table import Streams, hold

NAMES = ("a", "b", "s", "t")
SHAPES = (
    (("a", "b"), ("s", "t")),
    (("a", "b"), ("s",), ("t",)),
    (("a",), ("b", "s"), ("t",)),
    (("a", "b", "s", "t"),),
)
TREE = {"tree": {"left": ["u", "v"], "right": ["w", "x"]}}
few = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
rows_of_people = st.lists(
    st.tuples(st.sampled_from("12"), st.sampled_from("34"), st.sampled_from("uvwx"), st.sampled_from("kl")),
    min_size=4,
    max_size=4,
)


def case(cells, columns, **more):
    """People, their policy, and a view of theirs in two buckets."""
    rows = [dict(zip(NAMES, cell, strict=True)) for cell in cells]
    attributes = {name: {"role": "quasi", "kind": "categorical"} for name in "ab"}
    attributes |= {
        "s": {"role": "sensitive", "hierarchy": TREE},
        "t": {"role": "sensitive", "kind": "categorical"},
    }
    policy = mv.Policy(attributes=attributes, **more)
    table, restore = hold(pl.DataFrame(rows), policy)
    buckets = np.array([0, 0, 1, 1][: len(rows)])
    draft = Draft("main", columns, np.arange(len(rows)), buckets if len(columns) > 1 else None)
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
    worlds = all_worlds(rows, buckets.tolist() if len(columns) > 1 else [0] * len(rows), columns)
    return rows, policy, table, release, worlds


def all_worlds(rows, buckets, columns):
    """Every table that the view may come from: inside a bucket its columns go together in any order."""
    parts = []
    for bucket in sorted(set(buckets)):
        inside = [row for row, own in zip(rows, buckets, strict=True) if own == bucket]
        orders = [[*permutations(inside)] if len(columns) > 1 else [inside] for _ in columns]
        parts.append(
            [
                [
                    {
                        name: order[place][name]
                        for order, column in zip(chosen, columns, strict=True)
                        for name in column
                    }
                    for place in range(len(inside))
                ]
                for chosen in product(*orders)
            ]
        )
    return [[row for part in chosen for row in part] for chosen in product(*parts)]


def belief(worlds, person, known, about, out=()):
    """How common each value is among all rows of all worlds like a person, without rows that are ruled out."""
    found = Counter(
        row[about]
        for world in worlds
        for row in world
        if all(row[name] == person[name] for name in known) and not any(row[n] == v for n, v in out)
    )
    return {value: Fraction(count, found.total()) for value, count in found.items()}


def chance(shares, value):
    """How often a guess at the likeliest is right, if ties are broken by chance."""
    best = [each for each, share in shares.items() if share == max(shares.values())]
    return Fraction(value in best, len(best))


def attacked(name, release, table, policy):
    return attack(release, table, policy, only=[name], streams=Streams(1))[name]


def compare(found, rights, truths, guesses, caps):
    """Success, worst, certain and broken of an outcome against what each target is known with."""
    assert found.targets == len(rights)
    assert found.success == pytest.approx(float(sum(rights) / len(rights)))
    assert found.worst == pytest.approx(float(max(truths)))
    gained = [(t, c) for t, g, c in zip(truths, guesses, caps, strict=True) if t > g]
    assert found.certain == sum(t == 1 for t, _ in gained)
    assert found.broken == sum(t > c for t, c in gained)
    assert found.low - 1e-9 <= found.success <= found.high + 1e-9


def share(rows, name, value):
    return Fraction(sum(row[name] == value for row in rows), len(rows))


def half(p):
    return (1 + p) / 2


@few
@given(cells=rows_of_people, columns=st.sampled_from(SHAPES), l=st.sampled_from([None, 2, 3]))
def test_homogeneity_and_skewness(cells, columns, l):
    """Beliefs are shares over all worlds; the bound is 1/l where frequency l is promised, else half of the doubt."""
    guarantee = {} if l is None else {"l": l, "l_kind": "frequency"}
    rows, policy, table, release, worlds = case(cells, columns, guarantee=guarantee)
    targets = [(row, name) for name in "st" for row in rows]
    shares = [belief(worlds, row, "ab", name) for row, name in targets]
    truths = [each[row[name]] for each, (row, name) in zip(shares, targets, strict=True)]
    rights = [chance(each, row[name]) for each, (row, name) in zip(shares, targets, strict=True)]
    guesses = [share(rows, name, row[name]) for row, name in targets]
    caps = [half(p) if l is None else Fraction(1, l) for p in guesses]
    found = attacked("homogeneity", release, table, policy)
    compare(found, rights, truths, guesses, caps)
    assert found.promised == (found.broken if l else 0)
    everybody = [chance(belief([rows], row, (), name), row[name]) for row, name in targets]
    assert found.baseline == pytest.approx(float(sum(everybody) / len(everybody)))
    found = attacked("skewness", release, table, policy)
    compare(found, truths, truths, guesses, caps)
    gains = [float(truth / guess) for truth, guess in zip(truths, guesses, strict=True)]
    assert found.details["worst_gain"] == pytest.approx(max([1.0, *gains]))


@few
@given(cells=rows_of_people, columns=st.sampled_from(SHAPES))
def test_background_join(cells, columns):
    """Who knows all other sensitive values believes what is true of the rows that have them."""
    rows, policy, table, release, worlds = case(cells, columns)
    targets = [(row, name, other) for name, other in ("st", "ts") for row in rows]
    shares = [belief(worlds, row, ("a", "b", other), name) for row, name, other in targets]
    truths = [each[row[name]] for each, (row, name, _) in zip(shares, targets, strict=True)]
    rights = [chance(each, row[name]) for each, (row, name, _) in zip(shares, targets, strict=True)]
    guesses = [share(rows, name, row[name]) for row, name, _ in targets]
    compare(attacked("background-join", release, table, policy), rights, truths, guesses, map(half, guesses))


@few
@given(cells=rows_of_people, columns=st.sampled_from(SHAPES), m=st.sampled_from([1, 2]))
def test_elimination(cells, columns, m):
    """The belief in the truth is the greatest that ruling out values of one attribute gives, of all ways to do so."""
    guarantee = {} if m == 1 else {"eliminations": m}
    rows, policy, table, release, worlds = case(cells, columns, guarantee=guarantee)
    truths, rights = [], []
    for name, other in ("st", "ts"):
        for row in rows:
            plain = belief(worlds, row, "ab", name)
            beside = any({name, other} <= {*column} for column in columns)
            best = max(
                (
                    belief(worlds, row, "ab", name, [(where, value) for value in out])
                    for where in (name, *([other] if beside else []))
                    for size in range(1, m + 1)
                    for out in combinations(sorted({each[where] for each in rows} - {row[where]}), size)
                ),
                key=lambda each: each[row[name]],
                default=plain,
            )
            truths.append(max(plain[row[name]], best[row[name]]))
            # What is ruled out of the attribute itself are the likeliest of the other values.
            likeliest = sorted((s for v, s in plain.items() if v != row[name]), reverse=True)[m:]
            own = plain[row[name]]
            as_likely = 1 + sum(s == own for s in likeliest)
            hit = Fraction(all(s <= own for s in likeliest), as_likely)
            rights.append(max(hit, chance(plain, row[name]), Fraction(truths[-1] > Fraction(1, 2))))
    found = attacked("elimination", release, table, policy)
    assert found.worst == pytest.approx(float(max(truths)))
    assert found.success == pytest.approx(float(sum(rights) / len(rights)))


@few
@given(cells=rows_of_people, columns=st.sampled_from(SHAPES))
def test_similarity_and_divergence(cells, columns):
    """Kin are believed as much as all of them together, and the strongest wrong branch misleads."""
    rows, policy, table, release, worlds = case(cells, columns)
    side = {"u": "left", "v": "left", "w": "right", "x": "right"}

    def branches(shares):
        found = Counter()
        for value, each in shares.items():
            found[side[value]] += each
        return found

    shares = [branches(belief(worlds, row, "ab", "s")) for row in rows]
    before = branches(belief([rows], {}, (), "s"))
    own = [side[row["s"]] for row in rows]
    assume(len({row["s"] for row in rows}) > len(set(own)) > 1)
    truths = [each[side] for each, side in zip(shares, own, strict=True)]
    rights = [chance(each, side) for each, side in zip(shares, own, strict=True)]
    guesses = [before[side] for side in own]
    found = attacked("similarity", release, table, policy)
    compare(
        mv.Outcome(**{**vars(found), **only(found, "s")}), rights, truths, guesses, [half(p) for p in guesses]
    )
    wrong = [
        max(each["left" if side == "right" else "right"], 0) for each, side in zip(shares, own, strict=True)
    ]
    guesses = [1 - p for p in guesses]
    found = attacked("divergence", release, table, policy)
    compare(found, [1 - right for right in rights], wrong, guesses, [half(p) for p in guesses])


def only(found, name):
    """The numbers of one attribute."""
    one = found.by_attribute[name]
    keys = ("targets", "success", "worst", "certain", "broken")
    return {key: one[key] for key in keys} | {"low": one["interval"][0], "high": one["interval"][1]}


@few
@given(cells=rows_of_people, columns=st.sampled_from(SHAPES))
def test_membership(cells, columns):
    """Somebody is shown for sure exactly if every world has a row with her quasi-identifiers."""
    rows, policy, table, release, worlds = case(cells, columns)
    shown = [
        all(any(row["a"] == me["a"] and row["b"] == me["b"] for row in world) for world in worlds)
        for me in rows
    ]
    found = attacked("membership", release, table, policy)
    assert found.details["shown_for_sure"] == pytest.approx(sum(shown) / len(shown))


@few
@given(cells=rows_of_people)
def test_linkage(cells):
    """In one table the risk is one over the rows that look alike, and in buckets one over the rows of the bucket."""
    rows, policy, table, release, _ = case(cells, SHAPES[3], guarantee={"k": 2})
    alike = [sum((each["a"], each["b"]) == (row["a"], row["b"]) for each in rows) for row in rows]
    found = attacked("linkage", release, table, policy)
    risks, guess = [Fraction(1, each) for each in alike], Fraction(1, len(rows))
    compare(found, risks, risks, [guess] * len(rows), [Fraction(1, 2)] * len(rows))
    assert found.details["unique_matches"] == pytest.approx(sum(each == 1 for each in alike) / len(rows))
    assert found.promised == found.broken


numbers = st.lists(st.tuples(st.sampled_from("12"), st.sampled_from([0, 1, 2, 5, 9])), min_size=5, max_size=5)


@few
@given(cells=numbers)
def test_proximity(cells):
    """A number is believed with all numbers within a twentieth of the range, or within epsilon, of it."""
    values = [number for _, number in cells]
    assume(len(set(values)) > 1)
    for guarantee, within in (({}, (max(values) - min(values)) / 20), ({"epsilon": 1, "m": 2}, 1)):
        attributes = {
            "a": {"role": "quasi", "kind": "categorical"},
            "x": {"role": "sensitive", "kind": "numeric"},
        }
        policy = mv.Policy(attributes=attributes, guarantee=guarantee)
        frame = pl.DataFrame({"a": [key for key, _ in cells], "x": values})
        table, restore = hold(frame, policy)
        draft = Draft("main", (("a", "x"),), np.arange(len(cells)), None)
        release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
        truths, rights, guesses = [], [], []
        for key, value in cells:
            group = [number for other, number in cells if other == key]
            truths.append(Fraction(sum(abs(each - value) <= within for each in group), len(group)))
            guesses.append(Fraction(sum(abs(each - value) <= within for each in values), len(values)))
            around = {g: sum(abs(each - g) <= within for each in group) for g in set(values)}
            best = [g for g, count in around.items() if count == max(around.values())]
            rights.append(Fraction(sum(abs(value - g) <= within for g in best), len(best)))
        caps = [Fraction(1, 2) if guarantee else half(p) for p in guesses]
        found = attacked("proximity", release, table, policy)
        compare(found, rights, truths, guesses, caps)
        assert found.promised == (found.broken if guarantee else 0)


@few
@given(
    cells=st.lists(st.tuples(*[st.sampled_from("12")] * 3), min_size=5, max_size=5),
    views=st.sampled_from(
        [
            (("k", "x", "y"),),
            (("k", "x"), ("k", "y")),
            (("k", "x"), ("y",)),
            (("x", "y"), ("k",)),
            (("k", "z"), ("k", "x"), ("y",)),
        ]
    ),
    follows=st.tuples(*[st.sampled_from("pqr")] * 4),
    last=st.sampled_from("pqr"),
)
def test_dependency(cells, views, follows, last):
    """What follows, mostly, from two unknown attributes is believed as much as all their values that lead to it.

    What the release does not show beside what is known is out.
    """
    rule = dict(zip(product("12", "12"), follows, strict=True))
    rows = [dict(zip("kxy", cell, strict=True)) | {"z": rule[cell[1:]]} for cell in cells]
    rows[-1]["z"] = last
    policy = mv.Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in "kxyz"},
        rules=[{"given": ["k"], "protect": "z", "l": 2}],
        dependencies=[{"from": ["x", "y"], "to": "z"}],
    )
    table, restore = hold(pl.DataFrame(rows), policy)
    drafts = [Draft(f"v{i}", (names,), np.arange(5), None) for i, names in enumerate(views)]
    release = seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(0))
    truths, rights = [], []
    for row in rows:
        found = Counter()
        for x, y in {(each["x"], each["y"]) for each in rows}:
            weight = seen(views, rows, row, {}, "x")[x] * seen(views, rows, row, {"x": x}, "y")[y]
            for value, part in belief([rows], {"x": x, "y": y}, "xy", "z").items():
                found[value] += weight * part
        direct = seen((*views, ("z",)), rows, row, {}, "z")
        found = {value: each for value, each in found.items() if direct[value]}
        total = sum(found.values())
        shares = Counter({value: each / total for value, each in found.items()}) if total else direct
        truths.append(shares[row["z"]])
        rights.append(chance(shares, row["z"]))
    guesses = [share(rows, "z", row["z"]) for row in rows]
    found = attacked("dependency", release, table, policy)
    compare(found, rights, truths, guesses, [Fraction(1, 2)] * 5)


def seen(views, rows, me, supposed, about):
    """How common each value is beside what is known and supposed of somebody, in the one view that shows it."""
    view = next(names for names in views if about in names)
    known = {name: value for name, value in {"k": me["k"], **supposed}.items() if name in view}
    found = Counter(row[about] for row in rows if all(row[name] == value for name, value in known.items()))
    found = found or Counter(row[about] for row in rows)
    return Counter({value: Fraction(count, found.total()) for value, count in found.items()})


@few
@given(
    values=st.lists(st.sampled_from(["HIV", "flu", "none"]), min_size=6, max_size=6),
    first=st.integers(2, 4),
    l=st.sampled_from([2, 3]),
)
def test_minimality(values, first, l):
    """Beliefs are shares over all deals of the values in which publishing the quasi-identifier would have broken l."""
    frame = pl.DataFrame({"q": ["a"] * first + ["b"] * (6 - first), "s": values})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"l": l, "l_kind": "frequency"},
    )
    assume(max(Counter(values).values()) * l <= 6)
    release = mv.publish(frame, policy, seed=1)
    assume(release.frames["main"]["q"].unique().to_list() == ["*"])

    def breaks(group):
        return max(Counter(group).values()) * l > len(group)

    deals = [deal for deal in set(permutations(values)) if breaks(deal[:first]) or breaks(deal[first:])]
    truths = [Fraction(sum(deal[i] == values[i] for deal in deals), len(deals)) for i in range(6)]
    found = attacked("minimality", release, hold(frame, policy)[0], policy)
    assert found.worst == pytest.approx(float(max(truths)), abs=0.08)
    if max(truths) == 1:
        assert found.certain == sum(truth == 1 for truth in truths)
