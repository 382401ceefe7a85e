"""Mistakes with (α,β,k): what is wrong, where, and what would be right, all at once and without a cell."""

import pytest

import manyveils as mv

ROWS = [f"Zq7name{i},{20 + i % 6},Zq7job{i % 5},Zq7ill{i % 4},Zq7pay{i % 3}" for i in range(48)]


@pytest.fixture
def two(desk):
    """A desk with two sensitive attributes."""
    desk.data("\n".join(["name,age,job,illness,pay", *ROWS]) + "\n")
    attributes = desk.document["attributes"]
    del attributes["city"]
    attributes |= {"job": {"role": "quasi"}, "illness": {"role": "sensitive"}, "pay": {"role": "sensitive"}}
    desk.document |= {"guarantee": {}, "publish": {"method": "alpha-beta-k", "k": 3}}
    return desk


def refusal(desk, status, **sections):
    """Refuse to publish with these sections."""
    desk.document |= sections
    desk.policy()
    return desk.refused("publish", desk.folder / "policy.toml", "--out", desk.out, status=status)


def test_it_publishes(two):
    """Without a mistake there is a release."""
    two.policy()
    two.published()


def test_beta_above_k(two):
    """A group of k rows cannot have more than k values, wherever k is said."""
    message = refusal(two, 2, publish={"method": "alpha-beta-k", "k": 3, "beta": 5})
    assert "publish.beta: beta = 5 is above k = 3." in message
    assert "raise k to 5 or lower beta" in message
    message = refusal(two, 2, guarantee={"k": 2}, publish={"method": "alpha-beta-k", "beta": 3})
    assert "publish.beta: beta = 3 is above k = 2." in message


def test_many_mistakes_at_once_and_each_once(two):
    """Every wrong key is named, and none twice."""
    publish = {"method": "alpha-beta-k", "beta": 1, "pairs": "some", "eliminations": 0, "betta": 3}
    message = refusal(two, 2, publish=publish)
    for key in ("publish.beta", "publish.pairs", "publish.eliminations", "publish.betta"):
        assert message.count(f"{key}:") == 1
    assert "Did you mean 'beta'?" in message


def test_an_order_that_is_none(two):
    """The order must list every sensitive attribute once, and goes with consecutive pairs."""
    order = {"sensitive_order": ["illness", "age"]}
    message = refusal(two, 2, publish={"method": "alpha-beta-k", **order})
    assert 'publish.sensitive_order: goes with pairs = "consecutive".' in message
    assert "must list each of the 2 sensitive attributes once. They are illness, pay." in message
    message = refusal(two, 2, guarantee={"eliminations": 1, "pairs": "consecutive", **order}, publish={})
    assert "guarantee.sensitive_order: must list each of the 2" in message


def test_nothing_to_rule_out(two):
    """Eliminations need a second sensitive attribute, and pairs need eliminations."""
    two.document["attributes"]["pay"]["role"] = "neutral"
    message = refusal(two, 2, guarantee={"eliminations": 1}, publish={"method": "generalize"})
    assert (
        "guarantee.eliminations: rules out values of other sensitive attributes, and there are 1" in message
    )
    message = refusal(two, 2, guarantee={"pairs": "all"}, publish={"method": "generalize"})
    assert "guarantee.pairs: goes with eliminations, which is not set." in message


def test_whole_table_keys_of_one_attribute(two):
    """Pairs and their order are the whole table's."""
    two.document["attributes"]["pay"]["guarantee"] = {"eliminations": 1, "pairs": "all"}
    message = refusal(two, 2, publish={"method": "generalize"})
    assert "attributes.pay.guarantee.pairs: holds for the whole table." in message


def test_no_sensitive_attribute(two):
    """Without a sensitive attribute there is nothing to be anonymous about."""
    for name in ("illness", "pay"):
        two.document["attributes"][name]["role"] = "neutral"
    message = refusal(two, 2)
    assert "alpha-beta-k needs a sensitive attribute" in message


@pytest.mark.parametrize("method", ["alpha-beta-k", "generalize"])
def test_a_table_that_leaks_as_a_whole(two, method):
    """If one row is left in the whole table, no release exists, and the refusal names attributes only."""
    rows = [f"Zq7name{i},{20 + i % 6},Zq7job,Zq7ill{i % 4},Zq7pay0" for i in range(20)]
    two.data("\n".join(["name,age,job,illness,pay", *rows, "Zq7name,30,Zq7job,Zq7ill0,Zq7pay1"]) + "\n")
    message = refusal(two, 1, guarantee={"eliminations": 1}, publish={"method": method})
    assert "illness: ruling out 1 value of pay leaves one value only, in the whole table." in message
    assert "Publish finer values of the others, mark values as insensitive" in message
    assert "coarser" not in message


def test_too_few_values(two):
    """A β that the data cannot reach says what they can."""
    message = refusal(two, 2, publish={"method": "alpha-beta-k", "beta": 4})
    assert "guarantee of pay: beta = 4 but the attribute has 3 different values. Lower beta to 3." in message


@pytest.mark.parametrize(("key", "ours"), [("beta", "beta"), ("alpha", "eliminations")])
def test_letters_that_mean_something_else(two, key, ours):
    """β and α of [guarantee] are other guarantees: beside this method they are asked about, unless its own stand there."""
    message = refusal(two, 2, guarantee={key: 0.9})
    assert f"guarantee.{key}: means" in message
    assert f"Set {ours} in [publish] instead" in message
    two.document |= {"guarantee": {key: 0.9}, "publish": {"method": "alpha-beta-k", "k": 3, ours: 2}}
    two.policy()
    assert mv.Policy.load(two.folder / "policy.toml").publish.method == "alpha-beta-k"
    two.document["publish"] = {"method": "generalize"}
    two.policy()
    assert mv.Policy.load(two.folder / "policy.toml").publish.method == "generalize"


@pytest.mark.parametrize("place", ["guarantee", "publish"])
def test_too_many_eliminations(two, place):
    """Five eliminations are asked for at most, in either section."""
    sections = {"guarantee": {}, "publish": {"method": "alpha-beta-k", "k": 3}}
    sections[place] = sections[place] | {"eliminations": 6}
    message = refusal(two, 2, **sections)
    assert f"{place}.eliminations: should be less than or equal to 5." in message


def test_pairs_beside_an_attributes_own_eliminations(two):
    """Pairs stand in [guarantee], also where a single attribute asks for eliminations."""
    two.document["attributes"]["pay"]["guarantee"] = {"eliminations": 1}
    two.document |= {"guarantee": {"pairs": "consecutive"}, "publish": {"method": "generalize"}}
    two.policy()
    two.published()


def test_k_is_named_where_it_stands(two):
    """A k above the number of rows is reported in the section that has it, and what is no number only once."""
    message = refusal(two, 2, publish={"method": "alpha-beta-k", "k": 300})
    assert "publish.k: k = 300 but there are 48 rows." in message
    message = refusal(two, 2, guarantee={"k": 300}, publish={"method": "alpha-beta-k", "k": 3})
    assert "guarantee.k: k = 300 but there are 48 rows." in message
    message = refusal(two, 2, guarantee={}, publish={"method": "alpha-beta-k", "k": True})
    assert "publish.k: should be a valid integer." in message
    assert "above k" not in message


def test_a_climb_that_is_none(two):
    """Where labels climb to is one of two words."""
    message = refusal(two, 2, publish={"method": "alpha-beta-k", "k": 3, "climb": "covers"})
    assert "publish.climb: must be one of 'parent' or 'cover'. Did you mean 'cover'?" in message
