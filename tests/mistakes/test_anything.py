"""Anything at all in a policy or in a cell: there is a release or a message, never a traceback."""

import copy

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv

SOUND = {
    "data": {"missing": "category", "missing_markers": ["?"], "delimiter": ","},
    "attributes": {
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10]}},
        "city": {"role": "quasi", "hierarchy": {"tree": {"A": ["a", "b"], "C": ["c"]}}},
        "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "illness": {"role": "sensitive", "insensitive": ["x"], "guarantee": {"l": 2}},
        "pay": {"role": "sensitive", "kind": "ordinal", "order": ["low", "high"]},
        "note": {"role": "neutral"},
    },
    "guarantee": {
        "k": 2,
        "l": 2,
        "l_kind": "distinct",
        "t": 0.9,
        "joint": [["illness", "pay"]],
        "conditional": False,
    },
    "rules": [],
    "dependencies": [{"from": ["code"], "to": "city"}],
    "publish": {"method": "generalize", "suppression": 0.1, "objective": "loss"},
}
FRAME = pl.DataFrame(
    {
        "age": [20 + i % 8 for i in range(24)],
        "city": [["a", "b", "c"][i % 3] for i in range(24)],
        "code": [f"{i % 4:03}" for i in range(24)],
        "illness": [["x", "y", "z"][i % 3] for i in range(24)],
        "pay": [["low", "high"][i % 2] for i in range(24)],
        "note": [None if i % 5 else "n" for i in range(24)],
    }
)
WORDS = [
    *("quasi", "sensitive", "neutral", "identifier", "choice", "numeric", "ordinal", "categorical"),
    *("frequency", "entropy", "recursive", "anatomize", "separate", "mondrian", "hierarchical", "ordered"),
    *("age", "city", "illness", "a", "", "|", "*", "=", "é"),
]
NUMBERS = [0, 1, 2, 3, 7, -1, 0.5, 1e300, float("nan"), float("inf"), 10**30]
KEYS = [
    *("k", "l", "t", "c", "n", "m", "e", "alpha", "alpha_values", "beta", "delta", "epsilon", "epsilon_link"),
    *("ground", "joint", "conditional", "role", "kind", "order", "hierarchy", "multivalued", "insensitive"),
    *("guarantee", "file", "widths", "mask", "tree", "method", "recoding", "link", "source", "zzz", "bucket"),
]
LEAVES = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(WORDS))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def mutated(draw):
    """Draw the sound policy with one to three places replaced, taken away or added."""
    document = copy.deepcopy(SOUND)
    for _ in range(draw(st.integers(1, 3))):
        node = document
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(node[key], dict | list) and node[key] and draw(st.integers(0, 3)):
                node = node[key]
                continue
            match draw(st.integers(0, 3)):
                case 0 if isinstance(node, dict):
                    del node[key]
                case 1 if isinstance(node, dict):
                    node[draw(st.sampled_from(KEYS))] = draw(VALUES)
                case _:
                    node[key] = draw(VALUES)
            break
    return document


def release_or_error(frame, policy):
    """Publish; only errors of our own may come up."""
    try:
        return mv.publish(frame, policy(), seed=1)
    except mv.ManyveilsError as error:
        return error


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(document=mutated())
def test_any_policy(document):
    """Whatever a policy says, there is a release that passes its audit, or an error with problems in it."""
    made = release_or_error(FRAME, lambda: mv.Policy(**document))
    assert isinstance(made, mv.Release) or made.problems
    if isinstance(made, mv.Release):
        assert mv.audit(made, FRAME, mv.Policy(**document)).kept
    assert not isinstance(made, mv.BrokenPromise)


CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["0", "00", "1", "-1", "1.0", "1e5", "nan", "inf", "", " ", "a|b", "[1, 2]", "{a}", "٣", "\x00"]
    ),
    st.text(max_size=3),
    # The audit takes a label * for an original cell * where the data hold one, and refuses the release.
).filter(lambda cell: cell != "*")
HIERARCHIES = [None, {"mask": "right"}, {"mask": "left"}, {"widths": [5, 10]}]


@pytest.mark.parametrize("method", ["generalize", "mondrian", "anatomize", "separate"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    hierarchy=st.sampled_from(HIERARCHIES),
    kind=st.sampled_from([None, "numeric", "ordinal", "categorical"]),
    multivalued=st.sampled_from([None, "|"]),
)
def test_any_cells(tmp_path_factory, method, rows, hierarchy, kind, multivalued):
    """Whatever stands in the cells, there is a release that passes its audit from its files, or a message without cells."""
    frame = pl.DataFrame(rows, schema={"quasi": pl.String, "sensitive": pl.String}, orient="row")
    publish = {"method": "generalize", "recoding": "mondrian"} if method == "mondrian" else {"method": method}
    policy = mv.Policy(
        attributes={
            "quasi": {"role": "quasi", "kind": kind} | ({"hierarchy": hierarchy} if hierarchy else {}),
            "sensitive": {"role": "sensitive"} | ({"multivalued": multivalued} if multivalued else {}),
        },
        guarantee={"k": 2, "l": 1},
        publish=publish,
    )
    made = release_or_error(frame, lambda: policy)
    assert isinstance(made, mv.Release) or made.problems
    assert not isinstance(made, mv.BrokenPromise)
    if isinstance(made, mv.Release):
        out = tmp_path_factory.getbasetemp() / f"any-{method}"
        for form in ("csv", "parquet"):
            assert mv.audit(made.save(out, format=form, force=True), frame, policy).kept
