"""What a published text stands for, against a plain look at the values, the hierarchy, ranges and sets."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.reading.cover import cover_of_lists
from manyveils.reading.domains import Domain, listed_cover
from manyveils.reading.labels import canonical_texts, labels_of
from manyveils.reading.meanings import Listing, Meanings, false_lines
from manyveils.table import encode

TREE = {"A": {"low": ["a", "b"], "mid": ["c"]}, "x, y": {"high": ["d", "e, f"]}}
VALUES = ["a", "b", "c", "d", "e, f", "", "A"]


def words(values):
    """An attribute of words with a tree, in which one value reads like a label."""
    tree = {**TREE, "rest": {"others": ["A"]}}
    policy = mv.Policy(attributes={"x": {"role": "quasi", "hierarchy": {"tree": tree}}})
    return encode(pl.DataFrame({"x": [value or None for value in values]}), policy)["x"]


def numbers(values):
    """A numeric attribute with intervals."""
    policy = mv.Policy(attributes={"x": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [10]}}})
    return encode(pl.DataFrame({"x": values}), policy)["x"]


def listing(lines):
    """A recoding file."""
    pairs = sorted((label, original) for label, originals in lines.items() for original in originals)
    return Listing(pl.DataFrame(pairs, schema=["published", "original"], orient="row"))


def covered(attribute, text, listed=None):
    """The originals under one text, as texts."""
    cover = Meanings(attribute).cover([text], listing({text: listed}) if listed is not None else None)
    return {attribute.texts[code] for code in cover.pairs()[1].tolist()}


lists = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=6)


@given(
    lists,
    st.lists(st.booleans(), min_size=10, max_size=10),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
)
def test_runs_answer_as_lists_do(codes, mask, classes):
    """Every question that is answered from runs of codes is answered as from lists of codes."""
    cover, sets = cover_of_lists(codes, 10), [sorted(set(each)) for each in codes]
    assert cover.sizes.tolist() == [len(each) for each in sets]
    assert cover.firsts.tolist() == [min(each, default=-1) for each in sets]
    assert cover.lasts.tolist() == [max(each, default=-1) for each in sets]
    assert cover.sums(np.array(mask)).tolist() == [sum(mask[code] for code in each) for each in sets]
    depth = [sum(code in each for each in sets) for code in range(10)]
    assert cover.depth.tolist() == depth
    assert cover.overlaps == (max(depth) > 1)
    pairs = [(label, code) for label in range(len(sets)) for code in range(10)]
    asked = cover.covers(np.array([label for label, _ in pairs]), np.array([code for _, code in pairs]))
    assert asked.tolist() == [code in sets[label] for label, code in pairs]
    inside = cover.among(np.arange(10), np.arange(len(sets)))
    assert inside.T.tolist() == [[code in each for code in range(10)] for each in sets]
    kinds = [{classes[code] for code in each} for each in sets]
    assert cover.constant(np.array(classes)).tolist() == [
        kind.pop() if len(kind) == 1 else -1 for kind in kinds
    ]
    labels, held = cover.pairs()
    assert list(zip(labels.tolist(), held.tolist(), strict=True)) == [
        (label, code) for label, each in enumerate(sets) for code in each
    ]
    turned = cover.taking(np.arange(len(sets))[::-1])
    assert turned.sizes.tolist() == [len(each) for each in sets[::-1]]
    of_code, of_class, label = cover.classes
    told = {code: set(label[of_class == of_code[code]].tolist()) for code in range(10)}
    assert told == {code: {number for number, each in enumerate(sets) if code in each} for code in range(10)}


@given(lists, st.lists(st.tuples(st.integers(0, 5), st.floats(0, 0.999)), max_size=10))
def test_picked_originals_are_spread_evenly(codes, asked):
    """The original at a share of the way is the one at that place of the list."""
    cover, sets = cover_of_lists(codes, 10), [sorted(set(each)) for each in codes]
    asked = [(label, share) for label, share in asked if label < len(sets) and sets[label]]
    labels = np.array([label for label, _ in asked], dtype=np.int64)
    shares = np.array([share for _, share in asked])
    expected = [sets[label][int(share * len(sets[label]))] for label, share in asked]
    assert cover.picked(labels, shares).tolist() == expected


def test_a_text_means_what_the_policy_has_under_it():
    """Values, labels of every level, sets whose members hold commas, and `*`."""
    attribute = words(VALUES)
    assert covered(attribute, "a") == {"a"}
    assert covered(attribute, "low") == {"a", "b"}
    assert covered(attribute, "x, y") == {"d", "e, f"}
    assert covered(attribute, "{a, e, f}") == {"a", "e, f"}
    assert covered(attribute, "{d, }") == {"d", ""}
    assert covered(attribute, "*") == set(VALUES)
    assert covered(attribute, "") == {""}
    assert covered(attribute, "plague") == set()
    assert covered(attribute, "{plague, pest}") == set()


def test_what_is_listed_chooses_between_meanings_and_adds_none():
    """A text that is a value and a label means what the list fits; a list that fits nothing changes nothing."""
    attribute = words(VALUES)
    assert covered(attribute, "A") == {"A"}
    assert covered(attribute, "A", ["a", "b", "c"]) == {"a", "b", "c"}
    assert covered(attribute, "A", ["a", "b"]) == {"a", "b", "c"}
    assert covered(attribute, "A", VALUES) == {"A"}
    assert covered(attribute, "a", VALUES) == {"a"}


@given(
    st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1), st.integers(-60, 60), st.integers(0, 60)
)
def test_a_range_means_the_numbers_in_it(values, low, width):
    """A range covers all numbers from one end to the other, both included, and no missing cell."""
    attribute = numbers(values)
    expected = {str(value) for value in values if value is not None and low <= value <= low + width}
    assert covered(attribute, f"[{low}, {low + width}]") == expected


@pytest.mark.parametrize(
    ("lines", "n_suppressed", "n_false"),
    [
        ({"low": {"a", "b"}, "c": {"c"}}, 0, 0),
        ({"low": {"a", "b", "c"}, "c": {"c"}}, 0, 1),
        ({"low": {"a"}, "c": {"c"}}, 0, 1),
        ({"low": {"a"}, "c": {"c"}}, 1, 0),
        ({"low": {"a", "b"}}, 0, 1),
        ({"low": {"a", "b"}}, 5, 1),
        ({"low": {"a", "b", "nobody"}, "c": {"c"}}, 0, 1),
        ({"low": {"a", "b"}, "c": {"c"}, "mid": {"c"}}, 0, 1),
        ({"low": {"a", "b"}, "c": {"c"}, "a": {"a"}}, 0, 0),
        ({"low": {"a", "b"}, "c": {"c"}, "d": {"d"}}, 0, 1),
    ],
)
def test_lines_of_a_recoding_are_compared(lines, n_suppressed, n_false):
    """A line too many counts, and one too few unless suppressed rows explain it; a value may be listed by itself."""
    assert false_lines(listing(lines), ["low", "c"], Meanings(words(VALUES)), n_suppressed) == n_false


def test_lines_stand_once_and_in_order():
    """A line that stands twice counts, and so does an order that is not that of the texts."""
    lines = pl.DataFrame({"published": ["c", "low", "low"], "original": ["c", "a", "b"]})
    meanings, texts = Meanings(words(VALUES)), ["low", "c"]
    assert false_lines(Listing(lines), texts, meanings, 0) == 0
    assert false_lines(Listing(lines.reverse()), texts, meanings, 0) == 1
    assert false_lines(Listing(pl.concat([lines, lines[:1]])), texts, meanings, 0) == 1


def test_what_is_meant_differently_is_named_differently():
    """A label that reads like a value is not taken for it, nor for the label that stands for that value alone."""
    tree = {"first": {"b": ["a", "c"]}, "second": {"A": ["b"]}}
    policy = mv.Policy(attributes={"x": {"role": "quasi", "hierarchy": {"tree": tree}}})
    attribute = encode(pl.DataFrame({"x": ["a", "b"]}), policy)["x"]
    meanings, lines = Meanings(attribute, policy.lines("x")), listing({"A": ["b"], "b": ["a"]})
    cover = meanings.cover(["A", "b"], lines)
    one, other = canonical_texts(meanings, ["A", "b"], cover)
    assert one == "b"
    assert other != one
    assert len(labels_of(meanings, ["A", "b"], cover).texts) == 2


def test_a_label_that_nothing_explains_hides_everything():
    """Who has only the release, and no list of what a label stands for, takes it for any original, the first included."""
    cover = listed_cover(pl.Series(["?", "a"]), None, Domain("x", ("a", "b", "c")))
    assert [codes.tolist() for codes in cover.pairs()] == [[0, 0, 0, 1], [0, 1, 2, 0]]
