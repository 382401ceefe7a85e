"""Who stands where in a view is checked against its files, or worked out from them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.persons import standing_in
from manyveils.reading.secrets import without_secrets
from manyveils.release import Draft, Recoding, Release, seal
from manyveils.table import hold
from tests.kit.people import held_by

POLICY = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": "right"}},
        "s": {"role": "sensitive", "kind": "categorical"},
    }
)
rows_of_persons = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["x1", "x2", "y1"]), st.sampled_from("abc"), st.integers(0, 3)
    ),
    min_size=2,
    max_size=16,
)


def released(rows, columns, *, is_bucketed, out=(), labels=None):
    """A release of hand-made rows (person, q, s, bucket) without those persons who are out."""
    frame = pl.DataFrame({"q": [row[1] for row in rows], "s": [row[2] for row in rows]})
    table = held_by(frame, POLICY, [row[0] for row in rows])
    kept = np.array([index for index, row in enumerate(rows) if row[0] not in out], dtype=np.intp)
    buckets = np.array([rows[index][3] for index in kept], dtype=np.int64) if is_bucketed else None
    recodings = {} if labels is None else {"q": labels(table, kept)}
    draft = Draft("main", columns, kept, buckets, recodings)
    release = seal([draft], table, POLICY, lambda frame: frame, notes={}, rng=np.random.default_rng(3))
    return release, table


def first_letters(table, kept):
    """The first letter of q, for every other row; the others keep their own."""
    texts = table["q"].texts
    names = sorted({*texts, *(text[0] + "*" for text in texts)})
    own = [texts[code] for code in table["q"].codes[kept]]
    shown = [text[0] + "*" if index % 2 else text for index, text in enumerate(own)]
    pairs = sorted({(names.index(label), text) for label, text in zip(shown, own, strict=True)})
    covers = np.array([pair[0] for pair in pairs]), tuple(pair[1] for pair in pairs)
    return Recoding(np.array([names.index(label) for label in shown], dtype=np.int32), tuple(names), covers)


def standing(release, table):
    evidence = Evidence(release, table, POLICY)
    return evidence, standing_in(evidence, release.views[0])


def agrees(evidence, release, rows, told):
    """Whether every line shows what its row has, and the rows of a bucket are the same in all columns."""
    in_bucket = []
    for file in release.views[0].files:
        frame, lines = release.frames[file.table], told.rows[file.table]
        assert len(set(lines.tolist())) == len(lines) == frame.height
        for name, place in (("q", 1), ("s", 2)):
            if name in file.attributes:
                for label, row in zip(frame[name].to_list(), lines.tolist(), strict=True):
                    own = rows[row][place]
                    assert label == own or (label.endswith("*") and own.startswith(label[:-1]))
        if "bucket" in frame.columns:
            in_bucket.append(set(zip(frame["bucket"].to_list(), lines.tolist(), strict=True)))
    assert all(one == in_bucket[0] for one in in_bucket)


def groups_of(told, release, rows):
    """The persons and values of the lines that read alike but for the value, column by column."""
    groups = {}
    for file in release.views[0].files:
        frame = release.frames[file.table]
        for line, row in enumerate(told.rows[file.table].tolist()):
            names = [name for name in ("bucket", "q") if name in frame.columns]
            key = (file.table, *(frame[name][line] for name in names))
            groups.setdefault(key, []).append((rows[row][0], rows[row][2]))
    return {key: sorted(members) for key, members in groups.items()}


shapes = st.sampled_from([((("q", "s"),), False), ((("q",), ("s",)), True), ((("q", "s"),), True)])


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_persons, shape=shapes, recoded=st.booleans(), out=st.sets(st.integers(0, 5), max_size=2))
def test_a_sealed_release_tells_who_stands_where(rows, shape, recoded, out):
    """Placements that sealing wrote are found right, whether labels overlap or not, and say which rows are out."""
    columns, is_bucketed = shape
    labels = first_letters if recoded else None
    release, table = released(rows, columns, is_bucketed=is_bucketed, out=out, labels=labels)
    if not release.rows:
        return
    evidence, told = standing(release, table)
    assert told is not None
    agrees(evidence, release, rows, told)
    is_in = np.array([row[0] not in out for row in rows])
    assert (told.stands == is_in).all()
    if not is_bucketed:
        [lines] = told.rows.values()
        assert (release.placements["main"][lines] == np.arange(lines.size)).all()


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_persons, shape=shapes, recoded=st.booleans())
def test_without_placements_rows_are_put_where_the_files_allow_it(rows, shape, recoded):
    """What is worked out is where rows stand, as groups see it; a plain table without overlaps is always worked out."""
    columns, is_bucketed = shape
    labels = first_letters if recoded else None
    release, table = released(rows, columns, is_bucketed=is_bucketed, labels=labels)
    true = groups_of(standing(release, table)[1], release, rows)
    release.placements = {}
    evidence, told = standing(release, table)
    if told is None:
        assert is_bucketed or recoded
        return
    agrees(evidence, release, rows, told)
    assert groups_of(told, release, rows) == true


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_persons, out=st.sets(st.integers(0, 5), max_size=3))
def test_persons_who_are_alone_in_what_is_not_published_are_out(rows, out):
    """Where whole groups are left out with all rows of their persons, who is in is worked out exactly."""
    groups_out = {row[1] for row in rows if row[0] in out}
    gone = {row[0] for row in rows if row[1] in groups_out}
    kept_groups = {row[1] for row in rows if row[0] not in gone}
    release, table = released(rows, (("q", "s"),), is_bucketed=False, out=gone)
    if not release.rows or kept_groups & groups_out:
        return
    release.placements = {}
    _, told = standing(release, table)
    assert told is not None
    assert (told.stands == [row[0] not in gone for row in rows]).all()


def test_rows_may_be_out_without_their_persons():
    """Where the rows that can be published are as many as the lines, they are the published ones, whosever they are."""
    rows = [(0, "x1", "a", 0), (0, "y1", "b", 0), (1, "x1", "a", 0), (1, "x2", "c", 0)]
    release, table = released([rows[0], *rows[2:]], (("q", "s"),), is_bucketed=False)
    release.placements = {}
    _, table = released(rows, (("q", "s"),), is_bucketed=False)
    _, told = standing(release, table)
    assert told.stands.tolist() == [True, False, True, True]
    assert told.how == "follows"


def test_it_is_said_or_follows_or_is_not_told():
    """Placements that fit say who stands where; without them it follows from labels, or could be several ways."""
    release, table = released(ROWS, (("q",), ("s",)), is_bucketed=True)
    assert standing(release, table)[1].how == "said"
    release.placements = {}
    assert standing(release, table)[1] is None
    release, table = released(ROWS, (("q", "s"),), is_bucketed=False)
    release.placements = {}
    assert standing(release, table)[1].how == "follows"


def test_placements_move_with_lines_whose_secrets_are_left_out():
    """Without a secret attribute lines stand in another order, and placements still say whose they are."""
    rows = [(0, "y1", "a", 0), (0, "x1", "c", 0), (1, "x2", "b", 0), (2, "x1", "a", 0)]
    release, table = released(rows, (("s", "q"),), is_bucketed=False)
    secret = Release(
        replace(release.manifest, secret=("s",)), release.frames, {}, placements=release.placements
    )
    opened, left = without_secrets(secret, table)
    evidence = Evidence(opened, left, POLICY)
    told = standing_in(evidence, opened.views[0])
    assert told.how == "said"
    shown = [rows[row][1] for row in told.rows["main"].tolist()]
    assert opened.frames["main"]["q"].to_list() == shown == sorted(shown)


ROWS = [
    (0, "x1", "a", 0),
    (0, "x1", "b", 0),
    (1, "x1", "a", 1),
    (2, "y1", "c", 1),
    (3, "y1", "b", 2),
    (1, "x2", "c", 2),
]


@pytest.mark.parametrize(("columns", "is_bucketed"), [((("q", "s"),), False), ((("q",), ("s",)), True)])
def test_a_tampered_witness_is_noticed(columns, is_bucketed):
    """Placements that put a row where the files have something else, or two rows into one line, are not believed."""
    release, table = released(ROWS, columns, is_bucketed=is_bucketed)
    sound = release.placements["main"]
    swapped = sound.copy()
    swapped[[0, 3]] = swapped[[3, 0]]
    for witness in (swapped, np.zeros_like(sound), sound + 1, np.full_like(sound, -1), sound[:-1]):
        release.placements = {"main": witness}
        evidence, told = standing(release, table)
        # In buckets, rows of different persons could stand in each other's place, so that nothing is told.
        assert (told is None) == is_bucketed
        if told is not None:
            agrees(evidence, release, ROWS, told)


def test_a_way_that_agrees_with_the_files_is_not_taken_for_the_true_one():
    """Where the files would also agree with a sound release, one that shows a person alone is not said to be sound."""
    frame = pl.DataFrame(
        {
            "who": ["b", "c", "a", "b", "c", "c", "a", "a"],
            "age": [30, 20, 30, 20, 20, 30, 20, 20],
            "ill": ["y", "x", "x", "z", "x", "z", "y", "z"],
        }
    )
    policy = Policy(
        data={"person": "who"},
        attributes={
            "who": {"role": "identifier"},
            "age": {"role": "quasi", "kind": "numeric"},
            "ill": {"role": "sensitive"},
        },
        guarantee={"k": 2},
        publish={"method": "anatomize"},
    )
    table, restore = hold(frame, policy)
    alone = (frame["who"] != "a").to_numpy().astype(np.int64)
    draft = Draft("main", (("age",), ("ill",)), np.arange(8), alone)
    release = seal((draft,), table, policy, restore, notes={}, rng=np.random.default_rng(1))
    assert mv.audit(release, frame, policy).broken[0].measured == 1
    release.placements = {}
    verdict = mv.audit(release, frame, policy)
    assert not verdict.kept
    assert verdict.untold == ("main",)
