"""A watch that speaks for all values of a multi-valued attribute decides as one for each value would."""

from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch, watch_each
from manyveils.table import hold, resolve

GUARANTEES = (
    {"l": 2},
    {"l": 3, "l_kind": "frequency"},
    {"l": 2, "l_kind": "recursive", "c": 3},
    {"alpha": 0.4},
    {"t": 0.2},
    {"t": 0.15, "n": 6},
    {"beta": 1.0},
    {"delta": 1.2},
    {"epsilon_link": 0.35},
    {"l": 2, "conditional": True},
    {"t": 0.3, "conditional": True},
)
CELLS = st.sampled_from(["a", "b", "a|b", "a|c", "b|c|d", "d", "", "e"])


def table_and_promises(cells, others, weights, keys):
    """A table with a multi-valued attribute beside another, and what is promised of it."""
    frame = pl.DataFrame({"q": ["x"] * len(cells), "codes": cells, "other": others})
    attributes = {
        "q": {"role": "quasi"},
        "codes": {"role": "sensitive", "multivalued": "|", "insensitive": ["e"], "guarantee": keys},
        "other": {"role": "sensitive"},
    }
    policy = mv.Policy(attributes=attributes)
    table, _ = hold(frame, policy)
    promises = tuple(promise for promise in resolve(policy, table) if promise.protects)
    counted = {name: replace(column, weights=weights) for name, column in table.attributes.items()}
    return replace(table, attributes=counted, weights=weights), promises


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_one_watch_decides_as_many_do(data):
    """Groups keep the promises about all values exactly if they keep each of them, whatever is known besides."""
    n = data.draw(st.integers(4, 20))
    cells = data.draw(st.lists(CELLS, min_size=n, max_size=n).filter(lambda cells: "".join(cells).strip("|")))
    others = data.draw(st.lists(st.sampled_from("uv"), min_size=n, max_size=n))
    many = st.lists(st.integers(1, 3), min_size=n, max_size=n).map(np.array)
    weights = data.draw(st.one_of(st.none(), many))
    table, promises = table_and_promises(cells, others, weights, data.draw(st.sampled_from(GUARANTEES)))
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    beside = data.draw(st.sampled_from([None, (np.arange(n) % 2, 2)]))
    known = ("other",)
    kept = [
        kept_by_groups(prepare(promises, table, known, beside=beside), groups, 4, weights)[np.unique(groups)]
        for prepare in (watch, watch_each)
    ]
    assert kept[0].tolist() == kept[1].tolist()


def test_one_watch_is_enough():
    """Promises about three values are decided by one watch, and so are those of rows that are listed anew."""
    table, promises = table_and_promises(["a|b", "b", "c", "a"], list("uvuv"), None, {"l": 2})
    (watched,) = watch(promises, table, ())
    assert len(promises) == 3
    rows = np.array([0, 0, 3])
    listed = watched.subject.of_rows(rows, np.array([1, 2, 5]))
    held = {(int(row), int(code)) for row, code in zip(listed.rows, listed.codes, strict=True)}
    assert len(held) == 2 * 3 + 2
    assert listed.weights[listed.rows == 2].tolist() == [5, 5]
