"""Lines of a release that are made of the original's values, and are nobody's rows, are found and counted."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits import audit, truth
from manyveils.policy import Policy
from manyveils.release import Draft, Recoding, Release
from manyveils.table import hold
from tests.kit import sealed

AGES, ILLS, JOBS = [20, 21, 30, 31], ["flu", "cold", "gout"], ["x", "y", None]
SECTIONS = {
    "attributes": {
        "age": {"role": "quasi", "kind": "numeric"},
        "ill": {"role": "sensitive"},
        "job": {"role": "neutral"},
    },
}
# Each covers several ages, and some of them the same ones.
LABELS = ["[20, 21]", "[21, 30]", "[30, 31]", "*"]
COVERS = [{20, 21}, {21, 30}, {30, 31}, {20, 21, 30, 31}]


def untrue(release, table, policy):
    """How many lines the audit finds to be nobody's."""
    [finding] = [own for own in audit(release, table, policy).findings if own.promise == "rows-true"]
    return finding.measured


def most_matched(lines, rows, fits):
    """How many lines can have a row of their own, by one augmenting path after the other."""
    line_of = {}

    def find(line, seen):
        for row in range(len(rows)):
            if row not in seen and fits(lines[line], rows[row]):
                seen.add(row)
                if row not in line_of or find(line_of[row], seen):
                    line_of[row] = line
                    return True
        return False

    return sum(find(line, set()) for line in range(len(lines)))


def labelled(codes, ages):
    """A recoding of ages to labels, and what these cover of the ages that occur."""
    used = sorted({*codes})
    pairs = [(place, str(age)) for place, code in enumerate(used) for age in sorted({*ages} & COVERS[code])]
    numbers, texts = zip(*pairs, strict=True)
    own = np.array([used.index(code) for code in codes], dtype=np.int32)
    return Recoding(own, tuple(LABELS[code] for code in used), (np.array(numbers), texts))


def rewritten(release, lines):
    """The release with other lines in its one table."""
    frame = release.frames["main"]
    rows = pl.DataFrame(lines, schema=frame.schema, orient="row").sort(frame.columns)
    return Release(release.manifest, {"main": rows}, release.recodings)


rows = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(ILLS), st.sampled_from(JOBS)), min_size=1, max_size=7
)


@settings(max_examples=150, deadline=None)
@given(rows=rows, data=st.data())
def test_lines_as_they_are(rows, data):
    """Where values stand as they are, a line is true if a row that no other line has is equal to it."""
    frame, policy = (
        pl.DataFrame(rows, schema={"age": pl.Int64, "ill": str, "job": str}, orient="row"),
        Policy(**SECTIONS),
    )
    release, table = sealed(frame, policy, columns=[("age", "ill", "job")])
    lines = [tuple(data.draw(st.sampled_from(rows))[place] for place in range(3)) for _ in rows]
    expected = len(rows) - most_matched(lines, rows, lambda line, row: line == row)
    assert untrue(rewritten(release, lines), table, policy) == expected


@settings(max_examples=150, deadline=None)
@given(rows=rows, data=st.data())
def test_lines_with_labels_that_overlap(rows, data):
    """Where labels overlap, as many lines are true as can have rows that fit them, each its own."""
    frame, policy = (
        pl.DataFrame(rows, schema={"age": pl.Int64, "ill": str, "job": str}, orient="row"),
        Policy(**SECTIONS),
    )
    fitting = [[place for place, cover in enumerate(COVERS) if age in cover] for age, _, _ in rows]
    codes = [data.draw(st.sampled_from(places)) for places in fitting]
    recoding = labelled(codes, [age for age, _, _ in rows])
    draft = Draft("main", (("age", "ill", "job"),), np.arange(len(rows)), recodings={"age": recoding})
    release, table = sealed(frame, policy, draft)
    assert untrue(release, table, policy) == 0
    shown = [(LABELS[code], *row[1:]) for code, row in zip(codes, rows, strict=True)]
    lines = [tuple(data.draw(st.sampled_from(shown))[place] for place in range(3)) for _ in rows]

    def fits(line, row):
        return row[0] in COVERS[LABELS.index(line[0])] and line[1:] == row[1:]

    expected = len(rows) - most_matched(lines, rows, fits)
    assert untrue(rewritten(release, lines), table, policy) == expected


def test_of_very_many_what_does_not_overlap_is_compared(monkeypatch):
    """Where labels overlap and too many lines would have to be matched, the other attributes are compared together."""
    monkeypatch.setattr(truth, "MOST_MATCHED", 1)
    frame = pl.DataFrame(
        {"age": [20, 21, 30, 31], "ill": ["flu", "flu", "cold", "cold"], "job": ["x", "x", "y", "y"]}
    )
    policy = Policy(**SECTIONS)
    recoding = labelled([0, 1, 1, 2], frame["age"])
    draft = Draft("main", (("age", "ill", "job"),), np.arange(4), recodings={"age": recoding})
    release, table = sealed(frame, policy, draft)
    assert untrue(release, table, policy) == 0
    crossed = [
        (LABELS[0], "flu", "y"),
        (LABELS[1], "flu", "x"),
        (LABELS[1], "cold", "x"),
        (LABELS[2], "cold", "y"),
    ]
    assert untrue(rewritten(release, crossed), table, policy) == 2


@pytest.mark.parametrize("recoding", ["full-domain", "mondrian"])
@pytest.mark.parametrize("attribute", ["diagnosis", "job"])
def test_values_that_changed_places(recoding, attribute):
    """Sensitive values of two groups that changed places, or a neutral attribute shuffled over all rows, are found."""
    frame = mv.datasets.hospital(300)
    policy = Policy(
        attributes={
            "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
            "sex": {"role": "quasi"},
            "diagnosis": {"role": "sensitive"},
            "job": {"role": "neutral"},
        },
        data={"person": "row"},
        guarantee={"k": 5},
        publish={"method": "generalize", "recoding": recoding, "suppression": 0.02},
    )
    frame = frame.select("age", "sex", "diagnosis", "job")
    release = mv.publish(frame, policy, 1)
    assert audit(release, hold(frame, policy)[0], policy).kept
    table = release.frames["main"]
    shuffled = table.with_columns(pl.col(attribute).shuffle(seed=1)).sort(table.columns)
    moved = Release(release.manifest, {"main": shuffled}, release.recodings)
    found = audit(moved, hold(frame, policy)[0], policy)
    assert {finding.promise for finding in found.broken} == {"rows-true"}
