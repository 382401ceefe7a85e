"""Attacks on groups: each succeeds on a release built to be weak and stays at guessing on one built to be sound."""

import polars as pl
import pytest

import manyveils as mv

TREE = {
    "tree": {"Lung": ["flu", "asthma"], "Gut": ["ulcer", "colic"], "Skin": ["rash", "acne"], "Eye": ["stye"]}
}
ALL = {"q": (["*"] * 40, {"*": [str(value) for value in range(40)]})}


def people(values, **attribute):
    """Forty people in ten groups of four that look alike; values in the order of people."""
    frame = pl.DataFrame({"q": [str(place // 4) for place in range(40)], "s": values})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive", **attribute}}, guarantee={"k": 2}
    )
    return frame, policy


def attacked(name, release, frame, policy):
    return mv.attack(release, frame, policy, only=[name], seed=1)[name]


@pytest.fixture
def weak(released):
    """A release that shows who is in which group of four."""
    return lambda frame, policy: released(frame, policy, [("q", "s")])


@pytest.fixture
def sound(released):
    """A release in which everybody looks alike."""
    every = {"q": (["*"] * 40, {"*": [str(value) for value in range(10)]})}
    return lambda frame, policy: released(frame, policy, [("q", "s")], recodings=every)


def test_homogeneity(weak, sound):
    """Groups of one value give it away; one group of all gives what guessing gets."""
    frame, policy = people(
        [("flu", "asthma", "ulcer", "colic", "flu")[place // 4 % 5] for place in range(40)]
    )
    found = attacked("homogeneity", weak(frame, policy), frame, policy)
    assert (found.success, found.certain, found.broken, found.worst) == (1.0, 40, 40, 1.0)
    found = attacked("homogeneity", sound(frame, policy), frame, policy)
    assert found.success == found.baseline == 0.4
    assert (found.certain, found.broken, found.standing) == (0, 0, "nothing learnt")


def test_skewness(weak, sound):
    """A rare value that fills half a group is ten times likelier there; in one group of all nothing changes."""
    frame, policy = people(["rare", "rare", "usual", "usual"] + ["usual"] * 36)
    found = attacked("skewness", weak(frame, policy), frame, policy)
    assert found.details["worst_gain"] == pytest.approx(10)
    assert found.success > found.baseline
    found = attacked("skewness", sound(frame, policy), frame, policy)
    assert found.details["worst_gain"] == pytest.approx(1)
    assert found.success == pytest.approx(found.baseline)
    assert found.broken == 0


def test_similarity(weak, sound):
    """Two lung diseases in a group are a lung disease; the whole table says no more than its shares."""
    frame, policy = people((["flu", "asthma"] * 2 + ["ulcer", "colic"] * 2) * 5, hierarchy=TREE)
    found = attacked("similarity", weak(frame, policy), frame, policy)
    assert (found.success, found.certain) == (1.0, 40)
    assert attacked("homogeneity", weak(frame, policy), frame, policy).certain == 0
    found = attacked("similarity", sound(frame, policy), frame, policy)
    assert found.success == found.baseline == 0.5
    assert found.broken == 0


def test_similarity_of_numbers(weak, sound):
    """Numbers that lie together are as good as one number; without a hierarchy distance decides."""
    values = [1000 * (place // 4) + place % 4 for place in range(40)]
    frame, policy = people(values)
    assert attacked("similarity", weak(frame, policy), frame, policy).certain == 40
    assert attacked("similarity", sound(frame, policy), frame, policy).broken == 0


def test_proximity(weak, sound):
    """Four numbers within three of each other pin everybody to a short interval; the whole table does not."""
    values = [1000 * (place // 4) + place % 4 for place in range(40)]
    frame, policy = people(values)
    found = attacked("proximity", weak(frame, policy), frame, policy)
    assert (found.success, found.certain, found.worst) == (1.0, 40, pytest.approx(1.0))
    found = attacked("proximity", sound(frame, policy), frame, policy)
    assert found.success == found.baseline == pytest.approx(0.1)
    assert found.broken == 0


def test_proximity_by_the_policy(weak):
    """With epsilon and m, intervals are as wide as the policy says and beliefs as strong as it allows."""
    frame, policy = people([place // 4 * 1000 + place % 4 * 100 for place in range(40)])
    tight = policy.replaced(guarantee={"epsilon": 50, "m": 4})
    assert attacked("proximity", weak(frame, tight), frame, tight).broken == 0
    wide = policy.replaced(guarantee={"epsilon": 100, "m": 4})
    assert attacked("proximity", weak(frame, wide), frame, wide).broken == 40


def test_divergence(weak, sound):
    """Where three of four have a lung disease, the fourth is taken for one; the whole table misleads as guessing does."""
    groups = ["flu flu asthma ulcer", "ulcer colic colic flu", "rash acne rash ulcer", "stye stye stye acne"]
    frame, policy = people([*" ".join(groups).split() * 2, *" ".join(groups[:2]).split()], hierarchy=TREE)
    found = attacked("divergence", weak(frame, policy), frame, policy)
    assert (found.broken, found.worst) == (10, 0.75)
    found = attacked("divergence", sound(frame, policy), frame, policy)
    assert found.broken == 0
    assert found.success == found.baseline


def test_linkage(released):
    """Everybody who is alone with her values is found; where all look alike one row is as good as another."""
    frame = pl.DataFrame({"q": [str(place) for place in range(40)], "s": ["flu", "ulcer"] * 20})
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}}, guarantee={"k": 2})
    found = attacked("linkage", released(frame, policy, [("q", "s")]), frame, policy)
    assert (found.success, found.certain, found.broken) == (1.0, 40, 40)
    assert found.details == {"prosecutor": 1, "journalist": 1, "marketer": 1, "unique_matches": 1}
    found = attacked("linkage", released(frame, policy, [("q", "s")], recodings=ALL), frame, policy)
    assert found.success == pytest.approx(found.baseline) == pytest.approx(1 / 40)
    assert (found.broken, found.certain) == (0, 0)


def test_linkage_counts_rows(weak):
    """Of four rows that look alike one is hers: the marketer finds a quarter, and k = 4 is kept while k = 5 is not."""
    frame, policy = people(["flu", "asthma", "ulcer", "colic"] * 10)
    for k, broken in ((4, 0), (5, 40)):
        asked = policy.replaced(guarantee={"k": k})
        found = attacked("linkage", weak(frame, asked), frame, asked)
        assert (found.success, found.broken) == (0.25, broken)


def test_linkage_takes_the_column_that_shows_most(released):
    """Of two sensitive columns the one that stands beside something known has the fewest rows that may be hers."""
    frame = pl.DataFrame({"q": list("aabb"), "r": list("xyxy"), "s": list("1234"), "t": list("5678")})
    attributes = {name: {"role": "quasi"} for name in "qr"} | {name: {"role": "sensitive"} for name in "st"}
    policy = mv.Policy(attributes=attributes, guarantee={"k": 2})
    release = released(frame, policy, [("q",), ("r", "s"), ("t",)], buckets=[0] * 4)
    found = attacked("linkage", release, frame, policy)
    assert (found.success, found.worst, found.broken) == (0.5, 0.5, 0)


def test_journalist(weak):
    """People outside the data who look alike lower the journalist's risk and not the prosecutor's."""
    frame, policy = people(["flu", "asthma", "ulcer", "colic"] * 10)
    outside = pl.concat([frame] * 3)
    found = mv.attack(weak(frame, policy), frame, policy, only=["linkage"], control=outside)["linkage"]
    assert found.details["prosecutor"] == 0.25
    assert found.details["journalist"] == pytest.approx(1 / 16)


def test_promised_diversity_is_within_bounds():
    """A release that keeps frequency l = 3 lets nobody be known better than one third."""
    frame = mv.datasets.hospital(400)
    sections = mv.datasets.hospital_sections(whole_cells=True)
    policy = mv.Policy(
        **sections | {"guarantee": {"l": 3, "l_kind": "frequency"}, "publish": {"method": "anatomize"}}
    )
    for name in ("homogeneity", "skewness"):
        found = attacked(name, mv.publish(frame, policy, seed=1), frame, policy)
        assert found.broken == 0
        assert found.worst <= 1 / 3 + 1e-9
