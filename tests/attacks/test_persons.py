"""Attacks on people with several rows: someone who knows one row of a target, and someone who knows all of them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks import ATTACKS, attack
from manyveils.attacks.beliefs import Seen
from manyveils.attacks.chance import of_hits, wilson
from manyveils.attacks.people import People, members
from manyveils.attacks.scene import even_bound
from manyveils.attacks.score import counted
from manyveils.reading import beside
from manyveils.reading.weighing import n_placed, placings, weighed
from manyveils.release import Draft, seal
from manyveils.release.folder import PLACEMENTS
from manyveils.release.placements import private_folder
from manyveils.table import Streams, hold
from tests.attacks.conftest import labelled
from tests.kit import persons as kit

MARGIN = 1e-9
WHO = {"who": {"role": "identifier"}}


def policy_of(*, constant=True, guarantee=None, **more):
    """One quasi-identifier and one sensitive attribute, which may be constant."""
    attributes = {
        "q": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "categorical", "constant": constant},
    }
    return mv.Policy(attributes=attributes | WHO | more, guarantee=guarantee or {}, data={"person": "who"})


def held(frame, policy, persons):
    """A table of which it is said whom every row is about."""
    table, restore = hold(with_numbers(frame), policy)
    return replace(table, persons=np.array(persons, dtype=np.int64)), restore


def with_numbers(frame):
    """A frame with an identifier, which is then of no matter."""
    return frame.with_columns(who=pl.int_range(frame.height, eager=True).cast(pl.String))


def published(table, restore, policy, columns, *, buckets=None, recodings=None, rows=None, placements=None):
    """One view by hand."""
    rows = np.arange(table.n_rows) if rows is None else np.array(rows)
    made = {name: labelled(table[name], *recoding) for name, recoding in (recodings or {}).items()}
    buckets = None if buckets is None else np.array(buckets, dtype=np.int64)
    draft = Draft("main", tuple(columns), rows, buckets, made)
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
    if placements is not None:
        release.placements = placements and {"main": np.array(placements, dtype=np.int64)}
    return release


def tried(release, table, policy, *names, **more):
    """The outcomes of some attacks."""
    return attack(release, table, policy, only=names, streams=Streams(1), **more)


@st.composite
def visits(draw):
    """Rows of people: a group, whose value does not change, as lists of persons, groups and values."""
    n_persons = draw(st.integers(2, 6))
    rows = [(person, draw(st.sampled_from("abc"))) for person in range(n_persons)]
    rows += draw(
        st.lists(st.tuples(st.integers(0, n_persons - 1), st.sampled_from("abc")), min_size=1, max_size=8)
    )
    value_of = [draw(st.sampled_from("uvw")) for _ in range(n_persons)]
    persons = [person for person, _ in rows]
    return persons, [group for _, group in rows], [value_of[person] for person in persons]


def right_of(belief, truth):
    """How often the likeliest value is the right one; chance decides between equals."""
    best = max(belief.values())
    likeliest = [value for value, share in belief.items() if share >= best - MARGIN]
    return Fraction(truth in likeliest, len(likeliest))


def by_rows(group):
    """The shares of values among rows."""
    values = [value for _, value in group]
    return {value: Fraction(values.count(value), len(values)) for value in set(values)}


def mean_by_person(persons, numbers):
    """Everybody weighs 1, spread evenly over her rows."""
    everybody = sorted(set(persons))
    own = [[x for p, x in zip(persons, numbers, strict=True) if p == person] for person in everybody]
    return sum(Fraction(sum(xs)) / len(xs) for xs in own) / len(everybody)


@given(visits())
@settings(max_examples=60, deadline=None)
def test_scores_are_of_persons(people):
    """With one row known, a person counts with the share of her rows that give her away, in groups in which all weigh 1."""
    persons, groups, values = people
    policy = policy_of(constant=False)
    table, restore = held(pl.DataFrame({"q": groups, "s": values}), policy, persons)
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "homogeneity", "skewness")
    group_of = {
        g: [(p, v) for p, h, v in zip(persons, groups, values, strict=True) if h == g] for g in groups
    }
    belief = {g: kit.distribution(group) for g, group in group_of.items()}
    everybody = kit.distribution(list(zip(persons, values, strict=True)))
    told = list(zip(groups, values, strict=True))
    people_counted = mean_by_person(persons, [right_of(belief[g], v) for g, v in told])
    rows_counted = mean_by_person(persons, [right_of(by_rows(group_of[g]), v) for g, v in told])
    homogeneity = found["homogeneity"]
    assert homogeneity.success == pytest.approx(float(max(people_counted, rows_counted)))
    assert homogeneity.baseline == pytest.approx(
        float(mean_by_person(persons, [right_of(everybody, v) for v in values]))
    )
    assert homogeneity.targets == len(set(persons))
    certain = {p for p, (g, v) in zip(persons, told, strict=True) if belief[g][v] == 1 > everybody[v]}
    assert homogeneity.certain == len(certain)
    # Someone who knows all rows of what may change knows no more of each.
    assert homogeneity.all_rows["success"] == homogeneity.success
    mean = mean_by_person(persons, [belief[g][v] for g, v in told])
    assert found["skewness"].success >= float(mean) - MARGIN


@given(visits())
@settings(max_examples=60, deadline=None)
def test_all_rows_are_combined(people):
    """Of what does not change, all rows together are believed as the groups multiplied say, and counted by person."""
    persons, groups, values = people
    policy = policy_of()
    table, restore = held(pl.DataFrame({"q": groups, "s": values}), policy, persons)
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "homogeneity")[
        "homogeneity"
    ]
    rows = list(zip(persons, values, strict=True))
    group_of = {g: [row for row, h in zip(rows, groups, strict=True) if h == g] for g in groups}
    right, believed, certain = [], [], 0
    for person in sorted(set(persons)):
        own = sorted({g for p, g in zip(persons, groups, strict=True) if p == person})
        belief = kit.seen([group_of[g] for g in own], rows)
        truth = values[persons.index(person)]
        right.append(right_of(belief, truth))
        believed.append(float(belief[truth]))
        certain += belief[truth] == 1 > kit.distribution(rows)[truth]
    assert found.all_rows["success"] == pytest.approx(max(float(np.mean(right)), found.success))
    assert found.all_rows["worst"] == pytest.approx(max([*believed, found.worst]))
    assert found.all_rows["certain"] >= max(certain, found.certain)


@given(visits())
@settings(max_examples=60, deadline=None)
def test_persons_who_fit(people):
    """Linkage picks one of the people in the group of one row, and with all rows known of those who are in all her groups."""
    persons, groups, values = people
    policy = policy_of()
    table, restore = held(pl.DataFrame({"q": groups, "s": values}), policy, persons)
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "linkage")["linkage"]
    in_group = {g: {p for p, h in zip(persons, groups, strict=True) if h == g} for g in groups}
    one = mean_by_person(persons, [Fraction(1, len(in_group[g])) for g in groups])
    every = []
    for person in sorted(set(persons)):
        own = [g for p, g in zip(persons, groups, strict=True) if p == person]
        every.append(Fraction(1, len(set.intersection(*(in_group[g] for g in own)))))
    assert found.success == pytest.approx(float(one))
    assert found.all_rows["success"] == pytest.approx(float(sum(every) / len(every)))
    assert found.baseline == pytest.approx(1 / len(set(persons)))


def test_all_rows_known_break_what_shares_one_value():
    """Two groups of two values each that share one give it away to someone who knows both rows; one row does not."""
    frame = pl.DataFrame({"q": list("aaabbb"), "s": list("uvvuww")})
    persons = [0, 1, 2, 0, 3, 4]
    policy = policy_of(guarantee={"l": 3, "l_kind": "frequency"} | {"l": 2})
    table, restore = held(frame, policy, persons)
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "homogeneity")[
        "homogeneity"
    ]
    assert found.all_rows["certain"] == 1
    assert found.all_rows["promised"] >= 1
    assert found.certain == 0
    assert found.standing == "broken"
    assert "With all rows of a target known" in found.verdict


def test_no_person_is_above_a_bound_in_one_bucket():
    """Where all rows of everybody are in one group that keeps its promise, all rows known break nothing."""
    rng = np.random.default_rng(1)
    persons = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    groups, values = persons // 3, np.array(list("uvw"))[persons % 3]
    frame = pl.DataFrame({"q": [str(g) for g in groups], "s": values})
    policy = policy_of(guarantee={"k": 3, "l": 3, "l_kind": "frequency"})
    table, restore = held(frame, policy, persons)
    release = published(table, restore, policy, [("q", "s")])
    for name, outcome in attack(release, table, policy, streams=Streams(1)).items():
        if outcome.applies and outcome.is_foreseen:
            assert outcome.promised == outcome.all_rows["promised"] == 0, name
            assert outcome.worst <= 1 / 3 + MARGIN or name == "linkage"
            assert outcome.all_rows["worst"] <= 1 / 3 + MARGIN
    # The same rows taken for people say that those with many rows are beyond the bound.
    rows = tried(release, replace(table, persons=None), policy, "homogeneity")["homogeneity"]
    assert rows.promised > 0


def test_many_rows_of_one_person_hide_nobody():
    """Ten rows of three people are a group of three, of whom each is picked once in three."""
    frame = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 4, "s": list("uuuuuuuuvwuvwu")})
    policy = policy_of(guarantee={"k": 4})
    table, restore = held(frame, policy, [0] * 8 + [1, 2, 3, 4, 5, 6])
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "linkage")["linkage"]
    assert found.success == pytest.approx((3 / 3 + 4 / 4) / 7)
    assert (found.targets, found.promised) == (7, 3)
    rows = tried(
        published(table, restore, policy, [("q", "s")]), replace(table, persons=None), policy, "linkage"
    )
    assert rows["linkage"].promised == 0


def test_whoever_ignores_persons_is_shown_where_she_is_stronger():
    """Of someone who counts people and someone who counts rows, the one who is right more often is shown."""
    # In group a the person with two rows outweighs the others by rows; each of hers counts for half.
    frame = pl.DataFrame({"q": list("aaaab"), "s": list("uuvwu")})
    policy = policy_of(constant=False)
    table, restore = held(frame, policy, [0, 0, 1, 2, 0])
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "homogeneity")[
        "homogeneity"
    ]
    # By people u, v and w are as likely in a; by rows u is likeliest there: 2/3 of one of three people, and b.
    assert found.success == pytest.approx((2 / 3 * 1 / 3 + 1 / 3 + 1 / 3 + 1 / 3) / 3)


def test_placements_tell_where_rows_stand():
    """Where labels overlap or rows of a bucket look alike, placements say who is where; without them rows are counted."""
    frame = pl.DataFrame({"q": list("aabbaabb"), "s": list("uvuvuwuw")})
    policy = policy_of()
    persons, buckets = [0, 1, 0, 1, 2, 3, 2, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    table, restore = held(frame, policy, persons)
    columns = [("q",), ("s",)]
    without = beside(published(table, restore, policy, columns, buckets=buckets, placements={}), table)
    placed = beside(published(table, restore, policy, columns, buckets=buckets), table)
    (view,) = placed.reading.estimate.views
    assert not placings(without, table, policy)
    found = placings(placed, table, policy)["main"]
    assert n_placed(found) == 4
    assert weighed(view, found, ("q",)).sizes.tolist() == [2, 2]
    outcome = tried(placed, table, policy, "linkage")["linkage"]
    assert (outcome.how, tried(without, table, policy, "linkage")["linkage"].how) == ("exact", "estimate")
    # Both buckets fit one row, and all rows known only her own: the worst case.
    assert outcome.success == pytest.approx(1 / 4)
    assert outcome.all_rows["success"] == pytest.approx(1 / 2)


def test_releases_in_folders_have_their_placements_beside_them(tmp_path):
    """Attacks on a folder, and measures of it, read the private folder beside it; without that attacks are estimates."""
    frame = pl.DataFrame({"q": list("aabbaabb"), "s": list("uvuvuwuw")})
    frame = frame.with_columns(who=pl.Series(list("01012323")))
    policy = policy_of()
    table, restore = hold(frame, policy)
    release = published(table, restore, policy, [("q",), ("s",)], buckets=[0, 0, 0, 0, 1, 1, 1, 1])
    folder = release.save(tmp_path / "release")
    for how, size in (("exact", 2), ("estimate", 4)):
        asked = {"only": ["linkage", "sequential"], "others": [folder], "seed": 1}
        outcomes = mv.attack(folder, frame, policy, **asked)
        assert outcomes["linkage"].how == how
        assert outcomes["sequential"].applies
        assert mv.measure(folder, frame, policy)["average_class_size"] == size
        (private_folder(folder) / PLACEMENTS).unlink(missing_ok=True)


def test_lines_tell_where_rows_stand():
    """In a table without buckets a placement is the line, in the order in which rows are published."""
    frame = pl.DataFrame({"q": list("abbc"), "s": list("uvvw")})
    policy = policy_of()
    table, restore = held(frame, policy, [0, 0, 1, 1])
    labels = {"q": (["{a, b}"] * 2 + ["{b, c}"] * 2, {"{a, b}": ["a", "b"], "{b, c}": ["b", "c"]})}
    release = published(table, restore, policy, [("q", "s")], recodings=labels)
    lines = release.frames[release.views[0].files[0].table].rows()
    placements = [
        lines.index(row) for row in [("{a, b}", "u"), ("{a, b}", "v"), ("{b, c}", "v"), ("{b, c}", "w")]
    ]
    assert release.placements["main"].tolist() == placements
    own = beside(release, table)
    (view,) = own.reading.estimate.views
    placed = placings(own, table, policy)["main"]
    assert weighed(view, placed, ("q",)).columns[0].counts.tolist() == [0.5] * 4
    release.placements = {}
    assert not placings(beside(release, table), table, policy)


def test_whole_persons_left_out_are_told():
    """Whoever has a row that is not published is taken to be out with all rows, if the counts agree."""
    frame = pl.DataFrame({"q": list("aabb"), "s": list("uvuv")})
    policy = policy_of()
    table, restore = held(frame, policy, [0, 1, 0, 2])
    # Person 1 is the only one out with v in a; person 0 and her row in b are in.
    release = published(table, restore, policy, [("q", "s")], rows=[0, 2, 3], placements={})
    (placing,) = placings(release, table, policy)["main"]
    assert (placing.kinds >= 0).tolist() == [True, False, True, True]
    # Person 0 is out with both rows.
    release = published(table, restore, policy, [("q", "s")], rows=[1, 3], placements={})
    (placing,) = placings(release, table, policy)["main"]
    assert (placing.kinds >= 0).tolist() == [False, True, False, True]


def test_samples_draw_persons():
    """Whoever is drawn is drawn with all of her rows."""
    persons = np.repeat(np.arange(200), 5)
    frame = pl.DataFrame({"q": ["a"] * 1000, "s": ["u", "v"] * 500})
    table, _ = held(frame, policy_of(constant=False), persons)
    drawn = members(table, 300, np.random.default_rng(1))
    assert drawn.n_persons == 60
    assert np.bincount(drawn.persons).tolist() == [5] * 60
    assert np.array_equal(table.persons[drawn.rows][::5], np.unique(table.persons[drawn.rows]))


def test_control_tables_have_persons_of_their_own():
    """A person outside the data with many rows is one person of the control."""
    frame = pl.DataFrame({"q": list("aabb"), "s": list("uuvv")})
    policy = policy_of(constant=False)
    table, restore = held(frame, policy, [0, 0, 1, 2])
    outside = pl.DataFrame({"q": ["a"] * 9 + ["b"], "s": ["u"] * 9 + ["u"]})
    control, _ = held(outside, policy, [0] * 9 + [1])
    release = published(table, restore, policy, [("q", "s")])
    found = tried(release, table, policy, "homogeneity", control=control)["homogeneity"]
    assert found.control == pytest.approx(1 / 2)


def test_intervals_of_persons_cover():
    """Where the rows of a person stand or fall together, intervals by person cover at their rate and by row they do not."""
    rng = np.random.default_rng(1)
    n, rate, covered, rowwise = 120, 0.3, 0, 0
    for _ in range(1000):
        lengths = rng.integers(1, 9, n)
        hits = (rng.random(n) < rate).astype(float)
        low, high = of_hits(hits, np.ones(n), 0.0)
        covered += low <= rate <= high
        low, high = wilson(float((hits * lengths).sum()), float(lengths.sum()))
        rowwise += low <= rate <= high
    assert 0.93 <= covered / 1000 <= 0.97
    assert rowwise / 1000 < 0.8


def test_intervals_of_attacks_cluster_by_person():
    """Ten rows alike of everybody give the interval of the people, and not a narrower one."""
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 40, 200)
    frame = pl.DataFrame({"q": [str(g) for g in groups], "s": rng.choice(list("uvw"), 200)})
    policy = policy_of()
    alone, _ = hold(with_numbers(frame), policy)
    table, restore = held(pl.concat([frame] * 10), policy, np.tile(np.arange(200), 10))
    one, ten, rows = (
        tried(published(own, restore, policy, [("q", "s")]), own, policy, "homogeneity", "linkage")
        for own in (alone, table, replace(table, persons=None))
    )
    for name in ("homogeneity", "linkage"):
        assert ten[name].success == pytest.approx(one[name].success)
        assert (ten[name].low, ten[name].high) == pytest.approx((one[name].low, one[name].high), abs=0.01)
        assert ten[name].all_rows["interval"] == pytest.approx([ten[name].low, ten[name].high])
    assert rows["homogeneity"].high - rows["homogeneity"].low < 0.5 * (
        ten["homogeneity"].high - ten["homogeneity"].low
    )


def test_one_row_each_changes_nothing():
    """Numbered persons of one row each get the numbers that rows get."""
    frame = mv.datasets.hospital(200)
    sections = mv.datasets.hospital_sections(whole_cells=True)
    policy = mv.Policy(
        **sections
        | {"guarantee": {"k": 3, "l": 2, "l_kind": "frequency"}, "publish": {"method": "generalize"}}
    )
    table, _ = hold(frame, policy)
    release = mv.publish(frame, policy, seed=1)
    numbered = replace(table, persons=np.arange(table.n_rows))
    plain = attack(release, table, policy, streams=Streams(1))
    counted = attack(release, numbered, policy, streams=Streams(1))
    for name in ATTACKS:
        one, other = plain[name], counted[name]
        assert one.applies == other.applies
        if one.applies:
            assert other.success == pytest.approx(one.success), name
            assert (other.broken, other.certain, other.promised) == (one.broken, one.certain, one.promised), (
                name
            )
            assert other.all_rows["success"] == pytest.approx(one.success), name


def test_every_attack_tells_of_both():
    """Every attack that applies says what someone achieves who knows all rows; without persons none does."""
    persons = [place // 2 for place in range(60)]
    frame = pl.DataFrame(
        {
            "q": [str(place // 6) for place in range(60)],
            "s": [str(p % 4) for p in persons],
            "t": list("xyz") * 20,
        }
    )
    policy = policy_of(t={"role": "sensitive", "kind": "categorical"})
    table, restore = held(frame, policy, persons)
    release = published(table, restore, policy, [("q", "s", "t")])
    for name, outcome in attack(release, table, policy, streams=Streams(1), others=[release]).items():
        if outcome.applies:
            assert outcome.all_rows["success"] >= outcome.success - MARGIN, name
            assert outcome.all_rows["targets"] == outcome.targets, name
            assert outcome.describe()["all_rows"]["interval"], name
    plain = attack(release, replace(table, persons=None), policy, streams=Streams(1))
    assert all("all_rows" not in outcome.describe() for outcome in plain.values())


@given(visits(), st.integers(2, 3))
@settings(max_examples=80, deadline=None)
def test_exactly_those_beyond_a_bound_are_broken(people, least):
    """With all rows known a person is beyond a promised bound if, and only if, her groups together or one of them say so."""
    persons, groups, values = people
    policy = policy_of(guarantee={"l": least, "l_kind": "frequency"})
    table, restore = held(pl.DataFrame({"q": groups, "s": values}), policy, persons)
    found = tried(published(table, restore, policy, [("q", "s")]), table, policy, "homogeneity")[
        "homogeneity"
    ]
    rows = list(zip(persons, values, strict=True))
    group_of = {g: [row for row, h in zip(rows, groups, strict=True) if h == g] for g in groups}
    common, right, one, every = kit.distribution(rows), [], 0, 0
    for person in sorted(set(persons)):
        own = sorted({g for p, g in zip(persons, groups, strict=True) if p == person})
        truth = values[persons.index(person)]
        cap = max(1 / least, float(common[truth]))
        alone = max(float(kit.distribution(group_of[g])[truth]) for g in own)
        both = float(kit.seen([group_of[g] for g in own], rows)[truth])
        one += alone > cap + MARGIN
        every += max(alone, both) > cap + MARGIN
    right = [right_of(kit.distribution(group_of[g]), v) for g, v in zip(groups, values, strict=True)]
    # Unless someone who takes rows for people is right more often, and then what she believes counts too.
    if found.success == pytest.approx(float(mean_by_person(persons, right))):
        assert (found.promised, found.all_rows["promised"]) == (one, every)
    else:
        assert found.promised >= one
        assert found.all_rows["promised"] >= every


WEAK = {
    "linkage": "certain",
    "homogeneity": "certain",
    "skewness": "certain",
    "similarity": "certain",
    "proximity": "certain",
    "elimination": "certain",
    "background-join": "certain",
    "dependency": "certain",
}


@pytest.mark.parametrize("name", WEAK)
def test_all_rows_known_tell_more_where_a_release_is_weak(name):
    """Someone who knows all rows is certain of people of whom each row leaves a doubt, and is not where all are in one group."""
    rng = np.random.default_rng(3)
    n = 120
    value_of = rng.integers(0, 12, n)
    persons = np.repeat(np.arange(n), 2)
    first = {"weak": rng.integers(0, 30, 2 * n), "sound": persons // 30}
    certain = {}
    for kind, groups in first.items():
        values = value_of[persons]
        frame = pl.DataFrame(
            {
                "q": [f"g{g:02}" for g in groups],
                "s": values,
                "t": rng.integers(0, 3, 2 * n).astype(str),
                "u": [f"w{v}" for v in values],
            }
        )
        attributes = {
            "q": {"role": "quasi", "kind": "categorical"},
            "s": {"role": "sensitive", "kind": "numeric", "constant": True},
            "t": {"role": "sensitive", "kind": "categorical"},
            "u": {"role": "neutral", "kind": "categorical"},
        }
        dependencies = [{"from": ["s"], "to": "u"}] if name == "dependency" else []
        if name == "dependency":
            attributes["u"] = {"role": "sensitive", "kind": "categorical", "constant": True}
        policy = mv.Policy(attributes=attributes | WHO, dependencies=dependencies, data={"person": "who"})
        table, restore = held(frame, policy, persons)
        columns = [("q", "s", "t")]
        found = tried(published(table, restore, policy, columns), table, policy, name)[name]
        assert found.applies
        certain[kind] = found.all_rows["certain"] - found.certain, found.all_rows["certain"]
    assert certain["weak"][0] > 0
    assert certain["sound"][0] == 0


def test_several_releases_of_visits():
    """Releases in which every group is fine rule values out together, for someone who knows one row and for one who knows all."""
    frame = pl.DataFrame({"q": list("aabbccdd"), "s": list("uuvwxyvw")})
    persons = [0, 1, 2, 3, 4, 5, 2, 3]
    policy = policy_of()
    table, restore = held(frame, policy, persons)
    coarse = {"q": (["{a, b}"] * 4 + ["{c, d}"] * 4, {"{a, b}": ["a", "b"], "{c, d}": ["c", "d"]})}
    other = {
        "q": (
            ["{a, c}"] * 2 + ["{b, d}"] * 2 + ["{a, c}"] * 2 + ["{b, d}"] * 2,
            {"{a, c}": ["a", "c"], "{b, d}": ["b", "d"]},
        )
    }
    one = published(table, restore, policy, [("q", "s")], recodings=coarse)
    two = published(table, restore, policy, [("q", "s")], recodings=other)
    found = tried(one, table, policy, "sequential", others=[two])["sequential"]
    alone = tried(one, table, policy, "homogeneity")["homogeneity"]
    assert alone.certain == 0
    # In a and c only u and u are left; b and d leave v and w, and x and y stay beside each other.
    assert (found.targets, found.certain, found.all_rows["certain"]) == (6, 2, 2)


def test_tables_show_both_adversaries(capsys):
    """The command's table has a column for someone who knows all rows, where people have several, and none where not."""
    from manyveils.cli.attack import _show, show_matrix

    frame = pl.DataFrame({"q": list("aaabbb"), "s": list("uvvuww")})
    policy = policy_of()
    table, restore = held(frame, policy, [0, 1, 2, 0, 3, 4])
    release = published(table, restore, policy, [("q", "s")])
    both = tried(release, table, policy, "homogeneity")
    rows = tried(release, replace(table, persons=None), policy, "homogeneity")
    assert "all rows" in both._repr_html_()
    assert "all rows" not in rows._repr_html_()
    assert (
        both["homogeneity"].by_attribute["s"]["all_rows"]["success"]
        == both["homogeneity"].all_rows["success"]
    )
    for show in (_show, lambda attacks: show_matrix({"generalize": attacks})):
        show(both)
        assert "knows all" in capsys.readouterr().out
        show(rows)
        assert "knows all" not in capsys.readouterr().out


def test_whoever_gains_more_is_compared():
    """The risk of a configuration is of whoever gains more, of someone who knows one row and someone who knows all."""
    from manyveils.comparing.trial import _gain

    outcome = {
        "success": 0.5,
        "baseline": 0.4,
        "control": None,
        "all_rows": {"success": 0.9, "baseline": 0.4, "control": 0.45},
    }
    assert _gain(outcome["all_rows"]) == pytest.approx(0.45)
    assert _gain(outcome) == pytest.approx(0.1)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("uv")),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_weighed_views_count_persons(rows):
    """In a weighed view every group counts its people, each spread evenly over her rows in it."""
    names = sorted({person for person, *_ in rows})
    persons = [names.index(person) for person, *_ in rows]
    frame = pl.DataFrame([row[1:] for row in rows], schema=["b", "q", "s"], orient="row")
    policy = policy_of(b={"role": "neutral", "kind": "categorical"})
    table, restore = held(frame, policy, persons)
    # The attribute b tells the buckets apart, so nothing need say who is where.
    buckets = [sorted(set(frame["b"])).index(value) for value in frame["b"]]
    columns = [("b", "q"), ("s",)]
    release = beside(published(table, restore, policy, columns, buckets=buckets, placements={}), table)
    (view,) = release.reading.estimate.views
    placed = placings(release, table, policy)["main"]
    known, hidden = weighed(view, placed, ("q",)).columns
    told = {}
    for column, name in ((known, "q"), (hidden, "s")):
        texts = [column.texts[name][label] for label in column.labels[name].tolist()]
        told[name] = list(zip(column.buckets.tolist(), texts, column.counts.tolist(), strict=True))
    label_of_b = known.texts["b"].to_list()
    bucket_of = {
        label_of_b[label]: bucket
        for bucket, label in zip(known.buckets.tolist(), known.labels["b"].tolist(), strict=True)
    }
    for value, bucket in bucket_of.items():
        own = [(p, q, s) for p, (_, b, q, s) in zip(persons, rows, strict=True) if b == value]
        people = len({p for p, *_ in own})
        for q in {q for _, q, _ in own}:
            counted = sum(count for other, text, count in told["q"] if (other, text) == (bucket, q))
            assert counted == pytest.approx(len({p for p, other, _ in own if other == q}))
        shares = kit.distribution([(p, s) for p, _, s in own])
        for s, share in shares.items():
            counted = sum(count for other, text, count in told["s"] if (other, text) == (bucket, s))
            assert counted == pytest.approx(float(share * people))


HOSPITAL = {
    "generalize": {"method": "generalize", "suppression": 0.05},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.05},
    "slice": {"method": "slice"},
    "codip": {"method": "codip", "beta": 0.5},
    "grade": {"method": "grade", "then": "generalize"},
}


@pytest.mark.parametrize("name", HOSPITAL)
def test_every_method_is_attacked_by_both(name):
    """On every kind of release someone who knows all rows achieves what someone does who knows one, and shares are shares."""
    frame = mv.datasets.hospital(150)
    sections = mv.datasets.hospital_sections(whole_cells=True)
    policy = mv.Policy(**sections | {"guarantee": {"k": 2}, "publish": HOSPITAL[name]})
    attributes = {
        name: body.model_dump(exclude_unset=True, by_alias=True) | {"constant": body.role == "sensitive"}
        for name, body in policy.attributes.items()
    }
    policy, release = policy.replaced(attributes=attributes), mv.publish(frame, policy, seed=1)
    drawn = np.random.default_rng(0).integers(0, 75, 150)
    table = replace(hold(frame, policy)[0], persons=np.unique(drawn, return_inverse=True)[1])
    for attacked, outcome in attack(release, table, policy, streams=Streams(1), others=[release]).items():
        if outcome.applies:
            every = outcome.all_rows
            assert 0 <= outcome.low <= outcome.success + MARGIN, attacked
            assert outcome.success <= outcome.high + MARGIN <= 1 + 2 * MARGIN, attacked
            assert every["success"] >= outcome.success - MARGIN, attacked
            assert all(
                every[key] >= getattr(outcome, key) for key in ("broken", "promised", "certain", "worst")
            ), attacked
            assert max(outcome.broken, every["broken"]) <= 10 * table.n_persons, attacked


def test_luck_shrinks_with_rows():
    """Guesses that chance decides vary less of a person who is guessed at by each of four rows than by one."""
    people = {n: People("p", {}, 4, np.repeat(np.arange(4 // n), n), np.arange(4)) for n in (1, 4)}
    half, everybody = Seen(np.full(4, 0.5), np.full(4, 0.5)), np.ones(4, dtype=bool)
    bound = even_bound(4, 1.0, "", is_promised=False)
    luck = {n: counted("s", own, everybody, half, half, bound).luck for n, own in people.items()}
    assert luck == {1: 4 * 0.25, 4: 4 * 0.25 / 16}


def test_placements_that_do_not_fit_are_not_believed():
    """Placements of other rows, beyond the table or in buckets that show other values are as good as none."""
    frame = pl.DataFrame({"q": list("aabbaabb"), "s": list("uvuvuwuw")})
    policy = policy_of()
    table, restore = held(frame, policy, [0, 1, 0, 1, 2, 3, 2, 3])
    buckets = [0, 0, 0, 0, 1, 1, 1, 1]
    for wrong in ([0, 1], [9] * 8, [0, 1] * 4):
        release = published(table, restore, policy, [("q",), ("s",)], buckets=buckets, placements=wrong)
        assert not placings(release, table, policy)
    release = published(table, restore, policy, [("q", "s")], placements=[8] * 8)
    assert placings(release, table, policy)


def test_the_policy_says_who_is_who():
    """Who is who in the data and in a control table is read off the policy's `person`."""
    frame = pl.DataFrame({"patient": [1, 1, 2, 3, 4, 4, 5], "q": list("aabbcca"), "s": list("uuvwxxu")})
    sensitive = {"q": {"role": "quasi"}, "s": {"role": "sensitive", "constant": True}}
    policy = mv.Policy(
        data={"person": "patient"},
        attributes=sensitive | {"patient": {"role": "identifier"}},
        publish={"method": "separate"},
    )
    outside = pl.DataFrame({"patient": [7, 7, 7, 8], "q": list("aaab"), "s": list("uuuv")})
    release = mv.publish(frame, policy, seed=1)
    found = mv.attack(release, frame, policy, control=outside, seed=1)["homogeneity"]
    assert found.targets == found.all_rows["targets"] == 5
    # Everybody is taken to have u, and one of two people outside has it.
    assert found.control == pytest.approx(1 / 2)
    assert mv.measure(release, frame, policy)["discernibility"] == 5**2
