"""Promises that no release can keep: which, of what, by how much, and the nearest that can be kept."""

import pytest

METHODS = ["generalize", "anatomize", "separate"]


@pytest.fixture
def skewed(desk):
    """A desk where one illness fills 9 of 12 rows, and pay goes with the illness."""
    rows = [
        f"Zq7name{i},{20 + i},Zq7city{i % 3},Zq7ill{max(i - 8, 0)},{100 + max(i - 8, 0)}" for i in range(12)
    ]
    desk.data("\n".join(["name,age,city,illness,pay", *rows]) + "\n")
    desk.document["attributes"]["pay"] = {"role": "neutral"}
    return desk


def refusal(desk, method, guarantee, **attributes):
    """Refuse a promise with exit status 1; the message names the policy."""
    desk.policy(publish={"method": method}, guarantee={"l": None} | guarantee, attributes=attributes)
    message = desk.refused("publish", desk.folder / "policy.toml", "--out", desk.out, status=1)
    assert "A promise cannot be kept:" in message
    return message


@pytest.mark.parametrize("method", METHODS)
def test_frequency(skewed, method):
    """Frequency diversity says how much the commonest value fills, and how much it may."""
    message = refusal(skewed, method, {"l": 2, "l_kind": "frequency"})
    assert "policy.toml: illness: one value fills 9 of 12 rows; with l = 2 it may fill at most 6." in message
    assert "Mark the value as insensitive" in message


def test_frequency_nearest(desk):
    """The nearest l that can be kept is named, and it can be kept."""
    message = refusal(desk, "generalize", {"k": 12, "l": 5, "l_kind": "frequency"})
    assert "Lower l to 4" in message
    desk.policy(guarantee={"k": 12, "l": 4, "l_kind": "frequency"})
    desk.published()


def test_frequency_by_suppression(skewed):
    """The suppression that the message asks for is enough, and one row less is not."""
    message = refusal(skewed, "anatomize", {"l": 2, "l_kind": "frequency"})
    assert "suppression of 6 rows (suppression = 0.5)" in message
    refusal_at = {"method": "anatomize", "suppression": 0.49}
    skewed.policy(publish=refusal_at, guarantee={"l": 2, "l_kind": "frequency"})
    skewed.refused(status=1)
    skewed.policy(publish=refusal_at | {"suppression": 0.5}, guarantee={"l": 2, "l_kind": "frequency"})
    skewed.published()


@pytest.mark.parametrize("method", METHODS)
def test_entropy(skewed, method):
    """Entropy diversity says how many equal values the table is worth, and the nearest l."""
    message = refusal(skewed, method, {"k": 3, "l": 3, "l_kind": "entropy"})
    assert (
        "illness: entropy-l-diversity cannot be kept: the whole table has the entropy of 2.31 equal values"
        in message
    )
    assert "Lower l to 2." in message


@pytest.mark.parametrize("method", METHODS)
def test_recursive(skewed, method):
    """Recursive diversity says what c would have to be."""
    message = refusal(skewed, method, {"l": 2, "l_kind": "recursive", "c": 3})
    assert "illness: recursive-c-l-diversity cannot be kept: the commonest value has 9 rows" in message
    assert "Raise c above 3.000" in message
    skewed.policy(publish={"method": method}, guarantee={"l": 2, "l_kind": "recursive", "c": 3.001})
    skewed.published()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("key", ["alpha", "epsilon_link"])
def test_shares(skewed, method, key):
    """A bound on shares names the least bound that can be kept, and it can be kept."""
    message = refusal(skewed, method, {key: 0.74})
    assert "one value fills 9 of 12 rows, more than the share 0.74. Raise the bound to 0.75" in message
    skewed.policy(publish={"method": method}, guarantee={"l": None, key: 0.75})
    skewed.published()


@pytest.mark.parametrize("method", METHODS)
def test_spread(skewed, method):
    """A spread of numbers names the widest there is, and it can be kept."""
    message = refusal(skewed, method, {}, pay={"role": "sensitive", "guarantee": {"e": 4}})
    assert "pay: k-e-anonymity cannot be kept: all values lie within 3, and e = 4. Lower e to 3." in message
    skewed.policy(
        publish={"method": method},
        guarantee={"l": None},
        attributes={"pay": {"role": "sensitive", "guarantee": {"e": 3}}},
    )
    skewed.published()


def test_conditional(skewed):
    """Against someone who knows the other attribute, generalization cannot hide what goes with it; anatomy can."""
    both = {"pay": {"role": "sensitive"}}
    message = refusal(skewed, "generalize", {"l": 2, "conditional": True}, **both)
    assert (
        "illness: distinct-l-diversity cannot be kept against someone who knows the other sensitive attributes"
        in message
    )
    assert "goes with 1 values only" in message
    assert "Set conditional = false" in message
    skewed.policy(publish={"method": "generalize"}, guarantee={"l": 2}, attributes=both)
    skewed.published()


@pytest.mark.parametrize("method", METHODS)
def test_by_rows_or_rule(skewed, method):
    """Other promises that fail with all rows in one group are named with their attribute."""
    message = refusal(
        skewed, method, {"epsilon": 100, "m": 2}, pay={"role": "sensitive"}, illness={"role": "neutral"}
    )
    assert "pay: epsilon-m-anonymity cannot be kept" in message


def test_rule(skewed):
    """A rule that cannot be kept names what it gives and protects."""
    skewed.policy(rules=[{"given": ["city"], "protect": "illness", "l": 2}], publish={"method": "separate"})
    assert "illness" in skewed.refused(status=1)


def test_all_at_once(skewed):
    """Every promise that cannot be kept is in one message."""
    message = refusal(skewed, "separate", {"l": 2, "l_kind": "frequency", "alpha": 0.5})
    assert "with l = 2" in message
    assert "alpha-k-anonymity" in message


@pytest.mark.parametrize("method", METHODS)
def test_several_values_in_a_cell(skewed, method):
    """A promise about one value of a multi-valued attribute is told without telling the value."""
    message = refusal(skewed, method, {"l": 2}, illness={"multivalued": "|"})
    assert "policy.toml: illness: one value fills 9 of 12 rows" in message


TREE = {"hierarchy": {"tree": {"lungs": ["Zq7ill0", "Zq7ill1"], "gut": ["Zq7ill2", "Zq7ill3"]}}}


@pytest.mark.parametrize("method", METHODS)
def test_one_value_of_its_own_l(skewed, method):
    """A value that asks for more says how much it fills and may, and names its key; the nearest can be kept."""
    asked = {"k": 4, "l": 1, "l_kind": "frequency", "l_of": {"Zq7ill0": 2, "Zq7ill1": 4}}
    message = refusal(skewed, method, asked)
    assert "illness: one value fills 9 of 12 rows; with l_of = 2 it may fill at most 6." in message
    skewed.policy(publish={"method": method}, guarantee=asked | {"l_of": {"Zq7ill1": 4}})
    skewed.published()


def test_suppression_for_one_value(skewed):
    """The suppression that the message asks for is enough for a value of its own l."""
    asked = {"l": 1, "l_kind": "frequency", "l_of": {"Zq7ill0": 2}}
    assert "suppression of 6 rows (suppression = 0.5)" in refusal(skewed, "anatomize", asked)
    skewed.policy(publish={"method": "anatomize", "suppression": 0.5}, guarantee=asked)
    skewed.published()


@pytest.mark.parametrize("method", METHODS)
def test_labels(skewed, method):
    """Where labels are counted, the message says so, and by how much one is too common."""
    kind = {"k": 3, "l": 2, "l_kind": "frequency", "l_level": 1}
    message = refusal(skewed, method, kind, illness=TREE)
    assert "illness: one level-1 label fills 10 of 12 rows; with l = 2 it may fill at most 6." in message
    message = refusal(skewed, method, {"k": 3, "l": 2, "l_level": 1, "l_kind": "entropy"}, illness=TREE)
    assert "the entropy of 1.57 equal level-1 labels; l = 2 is asked." in message
    skewed.policy(
        publish={"method": method},
        guarantee={"k": 3, "l": 2, "l_level": 1},
        attributes={"illness": TREE},
    )
    skewed.published()


@pytest.mark.parametrize("method", ["guardian", "separate"])
def test_advice_for_a_rule(skewed, method):
    """A value of what a rule protects can be marked as insensitive, as the message advises, and then all is kept."""
    skewed.document["rules"] = [{"given": ["age"], "protect": "illness"}]
    roles = {name: {"role": "neutral"} for name in ("age", "city", "illness", "pay")}
    skewed.document["attributes"] |= roles
    accept = ["neutral-unique: age"]
    asked = {"publish": {"method": method}, "guarantee": {"k": None, "l": 2}, "accept": accept}
    skewed.policy(**asked)
    assert "Mark the value as insensitive." in skewed.refused(status=1)
    skewed.policy(**asked, attributes={"illness": {"role": "neutral", "insensitive": ["Zq7ill0"]}})
    skewed.published()


def test_suppression_that_is_not_used(desk):
    """Where a method leaves nobody out, plan and publish say that the suppression allowed is not used; elsewhere not."""
    desk.policy(publish={"method": "generalize", "recoding": "mondrian", "suppression": 0.25})
    plan, publish = desk.run("plan", desk.folder / "policy.toml"), desk.publish()
    assert "suppression = 0.25 is not used" in " ".join(plan.stdout.split())
    assert "suppression = 0.25 is not used" in publish.stdout
    desk.policy(publish={"method": "generalize", "suppression": 0.25})
    assert "is not used" not in desk.publish("--force").stdout
