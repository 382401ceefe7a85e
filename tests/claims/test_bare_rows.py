"""Which rows of a bare table fall short is what a look at each group says."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv

CELLS = st.tuples(
    st.sampled_from(["1", "2", "*", None]), st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", "z"])
)
TABLES = st.lists(CELLS, min_size=3, max_size=15).filter(lambda rows: len({row[2] for row in rows}) > 1)


def agree(first, second, *, is_any):
    """Whether two rows are in one group, or may be where a missing cell may be any value."""
    return all(
        one == other or (is_any and None in (one, other))
        for one, other in zip(first[:2], second[:2], strict=True)
    )


@given(TABLES, st.booleans())
@settings(deadline=None, max_examples=60)
def test_rows_fall_short_with_their_group(rows, is_any):
    """A row falls short of k or l when the rows that may be its own do."""
    frame = pl.DataFrame(rows, schema=["age", "zip", "illness"], orient="row")
    policy = {
        "data": {"missing": "any" if is_any else "category"},
        "attributes": {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "guarantee": {"k": 3, "l": 2},
    }
    audit = mv.check(frame, policy, rows=True)
    alike = [[other for other in rows if agree(row, other, is_any=is_any)] for row in rows]
    assert audit.rows["row"].to_list() == list(range(1, len(rows) + 1))
    assert audit.rows["k-anonymity"].to_list() == [len(group) < 3 for group in alike]
    few = [len({other[2] for other in group}) < 2 for group in alike]
    assert audit.rows["distinct-l-diversity of illness"].to_list() == few
    assert audit.rows["rows_in_group"].to_list() == [len(group) for group in alike]
    for finding in audit.broken:
        assert (
            finding.rows_short
            == audit.rows[
                f"{finding.promise} of {finding.attribute}" if finding.attribute else finding.promise
            ].sum()
        )
