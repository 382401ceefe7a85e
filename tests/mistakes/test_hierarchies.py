"""Hierarchies that are not trees, and what one is told."""

import pytest

SOUND = "Zq7city0;A;*\nZq7city1;A;*\nZq7city2;B;*\n"


def refusal(desk, lines):
    """Refuse the desk's policy with a hierarchy file for the cities."""
    desk.data(lines, "cities.csv")
    desk.policy(attributes={"city": {"hierarchy": {"file": "cities.csv"}}})
    return desk.refused()


def test_sound(desk):
    """The hierarchy that the mistakes are made in is fine, and so are labels repeated to fill a level."""
    desk.data(SOUND + "Zq7nobody;Zq7nobody;*\n", "cities.csv")
    desk.policy(attributes={"city": {"hierarchy": {"file": "cities.csv"}}})
    desk.published()


def test_value_missing(desk):
    """Values without a line are counted, with their rows."""
    message = refusal(desk, SOUND.split("\n", 1)[1])
    assert "policy.toml: attributes.city.hierarchy: misses 1 of 3 values (4 rows)." in message


def test_tree_misses_value(desk):
    """A tree misses values as a file does."""
    desk.policy(attributes={"city": {"hierarchy": {"tree": {"A": ["Zq7city0"]}}}})
    assert "misses 2 of 3 values (8 rows)" in desk.refused()


def test_multivalued_misses_value(desk):
    """The hierarchy of a multi-valued attribute covers every single value."""
    desk.policy(attributes={"illness": {"multivalued": "|", "hierarchy": {"tree": {"A": ["Zq7ill0"]}}}})
    assert "attributes.illness.hierarchy: misses 3 of 4 values" in desk.refused()


def test_file_missing(desk):
    """A hierarchy file that is not there is named."""
    desk.policy(attributes={"city": {"hierarchy": {"file": "nowhere.csv"}}})
    message = desk.refused()
    assert "attributes.city.hierarchy:" in message
    assert "nowhere.csv: there is no such hierarchy file." in message


@pytest.mark.parametrize("name", [".", "a\\u0000b", "x" * 300])
def test_file_unreadable(desk, name):
    """A path that cannot be opened is refused."""
    text = desk.policy(attributes={"city": {"hierarchy": {"file": "NAME"}}}).read_text()
    (desk.folder / "policy.toml").write_text(text.replace("NAME", name))
    assert "cannot be read" in desk.refused()


@pytest.mark.parametrize("content", [b"\xff;A;*\n", b"x" * 200_000 + b";*\n"])
def test_file_is_something_else(desk, content):
    """A file that holds no lines of text is refused."""
    assert "attributes.city.hierarchy:" in refusal(desk, content)


def test_empty(desk):
    """An empty hierarchy is refused."""
    assert "the hierarchy is empty" in refusal(desk, "")


def test_cycle(desk):
    """A label above itself is a cycle, within one line or through another."""
    assert "a cycle" in refusal(desk, "Zq7city0;A;Zq7city0;*\nZq7city1;B;C;*\nZq7city2;B;C;*\n")
    assert "a cycle" in refusal(desk, "Zq7city0;Zq7city1;*\nZq7city1;Zq7city0;*\nZq7city2;B;*\n")


def test_two_parents(desk):
    """A value with two parents, or a label with two further up, is refused with the level."""
    assert "1 labels of level 0 have two parents at level 1" in refusal(desk, SOUND + "Zq7city0;B;*\n")
    above = "Zq7city0;A;X;*\nZq7city1;A;Y;*\nZq7city2;B;Y;*\n"
    assert "1 labels of level 1 have two parents at level 2" in refusal(desk, above)


def test_two_parents_in_a_tree(desk):
    """A value in two groups of a tree has two parents."""
    tree = {"A": ["Zq7city0", "Zq7city1"], "B": ["Zq7city2", "Zq7city0"]}
    desk.policy(attributes={"city": {"hierarchy": {"tree": tree}}})
    assert "two parents" in desk.refused()


def test_listed_twice(desk):
    """A line of a file that stands there twice is fine; a leaf that stands twice in a group of a tree is counted."""
    desk.data(SOUND + "Zq7city0;A;*\n", "cities.csv")
    desk.policy(attributes={"city": {"hierarchy": {"file": "cities.csv"}}})
    desk.published()
    tree = {"A": ["Zq7city0", "Zq7city1", "Zq7city0"], "B": ["Zq7city2"]}
    desk.policy(attributes={"city": {"hierarchy": {"tree": tree}}})
    assert "1 values are listed more than once" in desk.refused("plan", desk.folder / "policy.toml")


def test_depths(desk):
    """Lines of different lengths are refused with the shortest and the longest."""
    assert "2 to 3 levels" in refusal(desk, SOUND.replace("Zq7city1;A", "Zq7city1"))
    assert "1 level" in refusal(desk, "Zq7city0\nZq7city1\nZq7city2\n")


def test_uneven_tree(desk):
    """Branches of different depths are refused in a tree too."""
    desk.policy(attributes={"city": {"hierarchy": {"tree": {"A": ["Zq7city0"], "B": {"C": ["Zq7city1"]}}}}})
    assert "3 to 4 levels" in desk.refused()


def test_tree_of_something_else(desk):
    """A tree is made of tables and lists."""
    desk.policy(attributes={"city": {"hierarchy": {"tree": {"A": "Zq7city0"}}}})
    assert "must be made of tables and lists of values" in desk.refused()


def test_several_tops(desk):
    """A hierarchy ends in one label."""
    assert "the last level has 2 labels" in refusal(desk, SOUND.replace(";*", ""))


@pytest.mark.parametrize("widths", [[5, 12], [10, 5], [5, 5], [0], [-5], [5.0, float("inf")], [float("nan")]])
def test_widths(desk, widths):
    """Widths grow by whole factors; anything else cannot be nested."""
    desk.policy(attributes={"age": {"hierarchy": {"widths": widths}}})
    assert "attributes.age.hierarchy.widths: each width must be a larger multiple" in desk.refused()


@pytest.mark.parametrize("widths", [[True], ["5"], 5, [[5]], []])
def test_widths_of_something_else(desk, widths):
    """Widths are a list of numbers."""
    desk.policy(attributes={"age": {"hierarchy": {"widths": widths}}})
    assert "attributes.age.hierarchy.widths" in desk.refused()


def test_two_at_once(desk):
    """A hierarchy is given in one way."""
    desk.policy(attributes={"age": {"hierarchy": {"widths": [5], "mask": "right"}}})
    assert "attributes.age.hierarchy: needs exactly one of file, widths, mask, tree" in desk.refused()
