"""What the judge says of a bare table is what the definitions say of its groups, whoever made it."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Likeness,
    Linkability,
    RecursiveDiversity,
    exact,
)
from tests.kit.oracles import verdict

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["[20, 30[", "[30, 40[", "*", None]),
        st.sampled_from(["47*", "*"]),
        st.sampled_from(["flu", "cold", "gout", None]),
        st.sampled_from(["low", "high"]),
    ),
    min_size=2,
    max_size=14,
).filter(lambda rows: len({row[2] for row in rows}) > 1)
NAMES = ("age", "zip", "illness", "income")
ASKED = {
    "distinct-l-diversity": ({"l": 2}, DistinctDiversity(2)),
    "frequency-l-diversity": ({"l": 2, "l_kind": "frequency"}, FrequencyDiversity(2)),
    "entropy-l-diversity": ({"l": 2, "l_kind": "entropy"}, EntropyDiversity(2)),
    "recursive-c-l-diversity": (
        {"l": 2, "l_kind": "recursive", "c": 2.0},
        RecursiveDiversity(c=exact(2.0), l=2),
    ),
    "t-closeness": ({"t": 0.4}, Closeness(exact(0.4), "equal")),
    "alpha-k-anonymity": ({"alpha": 0.6}, CappedShare(exact(0.6))),
    "beta-likeness": ({"beta": 0.5}, Likeness(exact(0.5))),
    "linkability": ({"epsilon_link": 0.6}, Linkability(exact(0.6))),
}


def judged(rows, **guarantee):
    """The findings about a table."""
    roles = dict(zip(NAMES, ("quasi", "quasi", "sensitive", "sensitive"), strict=True))
    policy = {
        "data": {"person": "row"},
        "attributes": {name: {"role": role, "kind": "categorical"} for name, role in roles.items()},
        "guarantee": guarantee,
    }
    return mv.check(pl.DataFrame(rows, schema=NAMES, orient="row"), policy).findings


@given(ROWS)
@settings(deadline=None)
def test_groups_are_rows_alike(rows):
    """K is the size of the smallest group of rows with equal labels, a missing one being a label too."""
    [finding] = judged(rows, k=3)
    sizes = [sum(row[:2] == other[:2] for other in rows) for row in rows]
    assert (finding.measured, finding.kept) == (min(sizes), min(sizes) >= 3)
    assert finding.rows_short == sum(size < 3 for size in sizes)


@pytest.mark.parametrize("kind", ASKED)
@given(rows=ROWS)
@settings(deadline=None, max_examples=25)
def test_promises_are_what_they_are_defined_to_be(kind, rows):
    """Every group is measured by the definition, against who knows the quasi-identifiers and who knows all others."""
    keys, guarantee = ASKED[kind]
    everybody = [row[2] or "" for row in rows]
    for reading, known in (("marginal", (0, 1)), ("conditional", (0, 1, 3))):
        groups = {tuple(row[place] for place in known) for row in rows}
        told = [
            verdict(
                guarantee,
                [row[2] or "" for row in rows if tuple(row[place] for place in known) == group],
                everybody,
            )
            for group in groups
        ]
        [finding] = [
            own
            for own in judged(rows, **keys)
            if (own.promise, own.attribute, own.reading) == (kind, "illness", reading)
        ]
        assert finding.kept == all(own.kept for own in told)
        assert finding.groups_short == sum(not own.kept for own in told)
        assert finding.groups == len(groups)


@pytest.mark.parametrize("ours", ["parquet", "csv", "pandas"])
@pytest.mark.parametrize("theirs", ["parquet", "csv", "pandas"])
def test_moments_however_libraries_write_them(tmp_path, ours, theirs):
    """A table of moments is true to its original whichever of the two was written as text, and by whom."""
    moments = [datetime(2024, 1, 1 + day, 7 * part, 30 * (day % 2)) for day in range(5) for part in range(3)]
    frame = pl.DataFrame({"when": moments * 2, "ill": ["a", "b", "c", "d", "e", "f"] * 5})

    def written(form, name):
        path = tmp_path / f"{name}.{'parquet' if form == 'parquet' else 'csv'}"
        if form == "pandas":
            frame.to_pandas().to_csv(path, index=False)
        else:
            (frame.write_parquet if form == "parquet" else frame.write_csv)(path)
        return path

    policy = mv.Policy(
        data={"person": "row"},
        attributes={"when": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee={"k": 2},
    )
    assert mv.check(written(ours, "published"), policy, data=written(theirs, "original")).kept
    late = frame.with_columns(pl.col("when").dt.offset_by("1s"))
    late.write_csv(tmp_path / "late.csv")
    assert not mv.check(tmp_path / "late.csv", policy, data=written(theirs, "original")).kept
