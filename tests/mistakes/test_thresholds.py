"""Thresholds that nothing can meet, and what one is told."""

import pytest


def test_k_above_rows(desk):
    """A k above the number of rows is refused, with both numbers; k at that number is fine."""
    desk.policy(guarantee={"k": 13})
    assert "policy.toml: guarantee.k: k = 13 but there are 12 rows. Lower k." in desk.refused()
    desk.policy(guarantee={"k": 12})
    desk.published()


def test_l_above_k(desk):
    """A group of k rows cannot have more than k values."""
    desk.policy(guarantee={"l": 3})
    assert "guarantee.l: l = 3 is above k = 2." in desk.refused()


def test_l_above_k_for_one_attribute(desk):
    """An attribute's own l is compared with the table's k."""
    desk.policy(attributes={"illness": {"guarantee": {"l": 3}}})
    assert "attributes.illness.guarantee.l: l = 3 is above k = 2." in desk.refused()


@pytest.mark.parametrize("kind", [{}, {"l_kind": "entropy"}, {"l_kind": "recursive", "c": 3}])
def test_l_above_values(desk, kind):
    """An l above the number of different values is refused with the number there are."""
    desk.policy(guarantee={"k": 5, "l": 5} | kind)
    assert (
        "guarantee of illness: l = 5 but the attribute has 4 different values. Lower l to 4."
        in desk.refused()
    )


@pytest.mark.parametrize("t", [1.5, -0.1, float("nan"), float("inf")])
def test_t_outside(desk, t):
    """Closeness t is between 0 and 1."""
    desk.policy(guarantee={"t": t})
    assert "guarantee.t: should be" in desk.refused()


@pytest.mark.parametrize("t", [0, 1, 0.5])
def test_t_inside(desk, t):
    """Both ends of the range are fine."""
    desk.policy(guarantee={"t": t})
    desk.published()


def test_recursive_without_c(desk):
    """Recursive diversity needs its factor, and the factor needs recursive diversity."""
    desk.policy(guarantee={"l_kind": "recursive"})
    assert "guarantee.c: is missing: recursive diversity needs it." in desk.refused()
    desk.policy(guarantee={"c": 3})
    assert 'guarantee.c: goes with l_kind = "recursive".' in desk.refused()


def test_own_kind_of_diversity(desk):
    """An attribute may ask for another kind of diversity than the one that c belongs to."""
    desk.policy(
        guarantee={"l_kind": "recursive", "c": 3},
        attributes={"illness": {"guarantee": {"l_kind": "distinct"}}},
    )
    desk.published()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("k", 0),
        ("k", 2.5),
        ("l", -1),
        ("c", float("inf")),
        ("alpha", 0),
        ("alpha", 1.1),
        ("beta", float("inf")),
        ("delta", 0),
        ("e", float("nan")),
        ("m", 2),
        ("n", 5),
        ("ground", "ordered"),
        ("alpha_values", ["x"]),
    ],
)
def test_out_of_range(desk, key, value):
    """A threshold that means nothing is refused with its key, and so is one without its partner."""
    desk.policy(guarantee={key: value})
    assert "policy.toml: guarantee" in desk.refused()


@pytest.mark.parametrize("suppression", [-0.1, 1.5, "some"])
def test_suppression(desk, suppression):
    """The share of rows that may be left out is a share."""
    desk.policy(publish={"suppression": suppression})
    assert "publish.suppression" in desk.refused()


@pytest.mark.parametrize(
    ("key", "limit", "needed"),
    [
        ("check_limit", 0, "greater than or equal to 1"),
        ("check_limit", -5, "greater than or equal to 1"),
        ("check_limit", 1.5, "a valid integer"),
        ("check_limit", "many", "a valid integer"),
        ("time_limit", 0, "greater than 0"),
        ("time_limit", -1.0, "greater than 0"),
        ("time_limit", "a minute", "a valid number"),
    ],
)
def test_limits_of_a_search(desk, key, limit, needed):
    """A search needs a whole number of checks, one or more, and some time."""
    desk.policy(publish={key: limit})
    assert f"publish.{key}: should be {needed}" in desk.refused()


def test_too_few_checks(desk):
    """Where nothing is found in so few checks, and nothing is proven, the refusal says what to raise."""
    cities, ills = ["Zq7a"] * 2 + ["Zq7b"] * 8, ["Zq7ill"] * 6 + ["Zq7other"] * 4
    rows = [f"Zq7name{i},30,{city},{ill}" for i, (city, ill) in enumerate(zip(cities, ills, strict=True))]
    desk.data("\n".join(["name,age,city,illness", *rows]) + "\n")
    publishing = {"method": "generalize", "suppression": 0.2}
    desk.policy(guarantee={"l": 2, "l_kind": "frequency", "k": None}, publish=publishing | {"check_limit": 1})
    message = desk.refused(status=1)
    assert "none of 1 nodes of the lattice that were checked keeps every promise" in message
    assert "Raise check_limit or time_limit" in message
    desk.policy(publish=publishing | {"check_limit": 100})
    desk.published()


def test_numbers_only(desk):
    """A promise about numbers is refused for an attribute that has none."""
    desk.policy(guarantee={"e": 5})
    assert "k-e-anonymity needs numbers" in desk.refused()


def test_grounds(desk):
    """A ground distance needs what it is measured on."""
    desk.policy(guarantee={"t": 0.5, "ground": "ordered"})
    assert "ground = ordered needs an order" in desk.refused()
    desk.policy(guarantee={"t": 0.5, "ground": "hierarchical"})
    assert "ground = hierarchical needs a hierarchy" in desk.refused()


def test_several_at_once(desk):
    """What only the data can tell is reported together too."""
    desk.policy(guarantee={"k": 13, "l": 5, "t": 0.5, "ground": "ordered"})
    message = desk.refused()
    for part in ("k = 13 but there are 12 rows", "l = 5 but the attribute has 4", "needs an order"):
        assert part in message


def test_several_values_in_a_cell(desk):
    """The 0/1 columns of a multi-valued attribute are named after its values; messages name the attribute."""
    desk.policy(guarantee={"e": 5}, attributes={"illness": {"multivalued": "|"}})
    assert "guarantee of illness: k-e-anonymity needs numbers" in desk.refused()


TREE = {"tree": {"lungs": ["Zq7ill0", "Zq7ill1"], "gut": ["Zq7ill2", "Zq7ill3"]}}


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({"l_level": -1}, "guarantee.l_level: should be greater than or equal to 0."),
        ({"l_level": 1.5}, "guarantee.l_level: should be a valid integer"),
        ({"l": None, "l_level": 1}, "guarantee.l_level: goes with l, which is not set."),
        ({"l": None, "l_of": {"Zq7ill0": 2}}, "guarantee.l_of: goes with l, which is not set."),
        ({"l_of": {"Zq7ill0": 1}}, "guarantee.l_of: should be greater than or equal to 2."),
        ({"l_of": {"Zq7ill0": 2, "Zq7ill1": 3}}, "guarantee.l_of: value 2 asks for l = 3, which is above k = 2."),
        ({"l_of": {"Zq7ill0": 2, "Zq7il1": 2}}, "guarantee.l_of: 1 of 2 values do not occur in the data or the hierarchy"),
        ({"k": 6, "l_of": {"Zq7ill0": 6}}, "guarantee of illness: l_of asks for 6 but the attribute has 4 different"),
    ],
)  # fmt: skip
def test_terms_of_l(desk, keys, complaint):
    """A level or an l of single values that means nothing is refused with its key."""
    desk.policy(guarantee={"k": 2, "l": 2} | keys, attributes={"illness": {"hierarchy": TREE}})
    assert complaint in desk.refused()


def test_levels_that_are_not_there(desk):
    """A level that an attribute itself is asked for must be there; for the whole table it is the highest there is."""
    desk.policy(guarantee={"k": 2, "l": 2}, attributes={"illness": {"guarantee": {"l_level": 1}}})
    message = desk.refused()
    assert "attributes.illness.guarantee.l_level: l_level = 1, but there is no hierarchy" in message
    own = {"hierarchy": TREE, "guarantee": {"l_level": 2}}
    desk.policy(guarantee={"k": 2, "l": 2}, attributes={"illness": own})
    assert "the highest level of the hierarchy below the top is 1. Lower l_level to 1" in desk.refused()
    desk.policy(guarantee={"k": 2, "l": 2, "l_level": 2}, attributes={"illness": {"hierarchy": TREE}})
    desk.published()


def test_labels_above_their_number(desk):
    """An l above the number of labels is refused with the number there are."""
    desk.policy(guarantee={"k": 3, "l": 3, "l_level": 1}, attributes={"illness": {"hierarchy": TREE}})
    assert "l = 3 but the attribute has 2 different labels at level 1. Lower l to 2." in desk.refused()


def test_terms_that_l_cannot_have(desk):
    """No label is counted of a multi-valued attribute, nothing is asked of values that need no protection, nor by rule."""
    desk.policy(attributes={"illness": {"multivalued": "|", "guarantee": {"l_level": 1}}})
    assert "illness.guarantee.l_level: a multi-valued attribute is protected value by value" in desk.refused()
    own = {"insensitive": ["Zq7ill0"], "guarantee": {"l_of": {"Zq7ill0": 2, "Zq7ill1": 2}}}
    desk.policy(attributes={"illness": own})
    assert "attributes.illness.guarantee.l_of: 1 of 2 values need no protection." in desk.refused()
    desk.policy(
        attributes={"illness": {"role": "neutral"}},
        guarantee={"l": 2, "l_level": 1},
    )
    assert "guarantee.l_level: speaks of sensitive attributes, and there are none" in desk.refused()


def test_codes_have_no_terms(desk):
    """Grading hides which label a value is under, so neither labels nor single values can be counted."""
    desk.policy(
        guarantee={"k": 2, "l": 2, "l_of": {"Zq7ill0": 2}},
        publish={"method": "grade", "then": "generalize"},
    )
    assert "guarantee (l_of up to 2): codes hide which label a value is under" in desk.refused()


@pytest.mark.parametrize("guarantee", [{"alpha": 1e-10}, {"l_kind": "recursive", "l": 2, "c": 1e-10}])
def test_threshold_too_fine(desk, guarantee):
    """What is less than the nine decimals that thresholds have would be no threshold."""
    desk.policy(guarantee=guarantee)
    assert "should be greater than or equal to 0.000000001." in desk.refused()
