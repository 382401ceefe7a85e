"""Measuring all values of a multi-valued attribute at once finds what measuring each by itself does."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits import judge
from manyveils.release.views import ColumnFile, Manifest, View

CELLS = st.sampled_from(["a", "b", "a|b", "a|c", "b|c|d", "d", ""])
HARD = {
    "l": 2,
    "l_kind": "frequency",
    "alpha": 0.4,
    "t": 0.2,
    "beta": 1.0,
    "delta": 0.9,
    "epsilon_link": 0.35,
}


def release_of(frame, derived, layout):
    """A release of rows as they are, in one table, in buckets that are found, or in buckets that several columns tell."""
    bucketed = layout != "table"
    columns = {
        "table": (("q", "r", *derived, "beside"),),
        "buckets": (("q", "r"), (*derived, "beside")),
        "spread": (("q",), ("r", *derived, "beside")),
    }[layout]
    tables = [f"main.{number}" for number in range(len(columns))]
    files = tuple(ColumnFile(column, table, {}) for column, table in zip(columns, tables, strict=True))
    view = View("main", files, bucketed, frame.height)
    manifest = Manifest("anatomize", frame.height, 0, (), (view,), {"codes": derived}, {})
    fields = [(["bucket"] if bucketed else []) + list(column) for column in columns]
    return mv.Release(
        manifest, {table: frame.select(own) for table, own in zip(tables, fields, strict=True)}, {}
    )


def rounded(finding):
    """A finding whose measure is the same up to the rounding of sums; of targets alike but for it, any may be the worst."""
    measured = None if finding.measured is None else round(finding.measured, 9)
    return replace(finding, measured=measured, worst_group_size=None)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_all_at_once_is_each_by_itself(data):
    """Every finding about a value is the same, whether it is measured with the others or alone."""
    n = data.draw(st.integers(3, 14))
    cells = data.draw(st.lists(CELLS, min_size=n, max_size=n).filter(lambda cells: len(set(cells)) > 2))
    known = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    beside = data.draw(st.lists(st.sampled_from("uvw"), min_size=n, max_size=n))
    more = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    original = pl.DataFrame({"q": known, "r": more, "codes": cells, "beside": beside})
    attributes = {
        "q": {"role": "quasi"},
        "r": {"role": "quasi"},
        "codes": {"role": "sensitive", "multivalued": "|", "guarantee": HARD | {"eliminations": 2}},
        "beside": {"role": "sensitive"},
    }
    policy = mv.Policy(attributes=attributes)
    atoms = sorted({atom for cell in cells for atom in cell.split("|") if atom})
    derived = tuple(f"codes={atom}" for atom in atoms)
    bits = {
        f"codes={atom}": pl.Series([int(atom in cell.split("|")) for cell in cells], dtype=pl.Int64)
        for atom in atoms
    }
    buckets = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    frame = pl.DataFrame({"bucket": buckets, "q": known, "r": more, **bits, "beside": beside})
    layout = data.draw(st.sampled_from(["table", "buckets", "spread"]))
    release = release_of(frame, derived, layout)
    together = mv.audit(release, original, policy).findings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "is_one_of_many", lambda *_: False)
        alone = mv.audit(release, original, policy).findings
    if layout == "spread":
        together, alone = map(rounded, together), map(rounded, alone)
    together = list(together)
    assert together == list(alone)
    assert len(together) > 7 * len(atoms)
