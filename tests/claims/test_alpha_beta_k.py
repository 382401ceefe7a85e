"""(α,β,k): after publishing nothing leaks, labels are ancestors, and the rule loses no more than merging alone."""

from collections import defaultdict
from itertools import permutations
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_sections
from manyveils.kernels.eliminations import mend
from manyveils.methods.alpha_beta_k.boxes import axis_of
from manyveils.methods.alpha_beta_k.rule import Ladder, ladder_of
from manyveils.release import Draft, Recoding, seal
from manyveils.table import hold
from tests.kit.oracles import leaks

ILLS = {"lungs": ["flu", "asthma", "cough"], "gut": ["ulcer", "colic"], "mind": ["fear", "gloom"]}
ILL = [leaf for leaves in ILLS.values() for leaf in leaves]
ATTRIBUTES = {
    "age": {"role": "quasi", "kind": "numeric"},
    "job": {"role": "quasi", "kind": "categorical"},
    "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": ILLS}},
    "pay": {"role": "sensitive", "kind": "numeric", "hierarchy": {"widths": [10, 20]}},
    "home": {"role": "sensitive", "kind": "categorical"},
}


def table(n, seed, n_values=3):
    """Rows with sensitive values that go together often, so that groups leak."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, n_values, n)
    other = np.where(rng.random(n) < 0.7, kind, rng.integers(0, n_values, n))
    third = np.where(rng.random(n) < 0.5, other, rng.integers(0, n_values, n))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "job": pl.Series(["clerk", "miner", "cook", "nurse"]).gather(rng.integers(0, 4, n)),
            "ill": pl.Series(ILL).gather(kind),
            "pay": pl.Series([10, 15, 20, 25, 30, 35, 40]).gather(other),
            "home": pl.Series(["north", "south", "east", "west", "isle", "hill", "bay"]).gather(third),
        }
    )


def policy(**publish):
    """A policy for the table."""
    return mv.Policy(attributes=ATTRIBUTES, publish={"method": "alpha-beta-k", **publish})


def groups_of(release, names=("ill", "pay", "home")):
    """The sensitive cells of each group as texts."""
    groups = defaultdict(list)
    for row in release.tables["main"].cast(pl.String).iter_rows(named=True):
        groups[row["age"], row["job"]].append(tuple(row[name] for name in names))
    return groups.values()


@pytest.mark.parametrize("eliminations", [1, 2])
@pytest.mark.parametrize("repair", ["rule", "merge", "best"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6), n=st.integers(60, 200))
def test_no_pair_and_value_leaves_one(eliminations, repair, seed, k, n):
    """In plain Python: k rows, β values, and no ordered pair and value (or two values) that leaves exactly one."""
    beta = 2
    try:
        release = mv.publish(
            table(n, seed, 4), policy(k=k, beta=beta, repair=repair, eliminations=eliminations), seed=1
        )
    except mv.InfeasibleError:
        # Two values of the others may leave one in the whole table.
        assert eliminations == 2
        return
    for group in groups_of(release):
        assert len(group) >= k
        assert all(len(set(values)) >= beta for values in zip(*group, strict=True))
        for one, two, three in permutations(range(3)):
            assert not leaks([(row[one], row[two], row[three]) for row in group], eliminations)
        if eliminations == 1:
            for subject, other in permutations(range(3), 2):
                for value in {row[other] for row in group}:
                    assert len({row[subject] for row in group if row[other] != value}) != 1


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_consecutive_pairs(seed):
    """With consecutive pairs each attribute is guarded against the one before it, in the order that is given."""
    asked = policy(k=3, beta=2, pairs="consecutive", sensitive_order=["home", "ill", "pay"])
    release = mv.publish(table(120, seed), asked, seed=1)
    for group in groups_of(release, ("home", "ill", "pay")):
        for other, subject in ((0, 1), (1, 2)):
            assert not leaks([(row[subject], row[other]) for row in group], 1)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_every_label_is_the_value_or_its_ancestor(seed, k):
    """Values are exchanged for labels that cover them: a matching of cells with originals exists, group by group."""
    frame = table(150, seed)
    release = mv.publish(frame, policy(k=k, beta=2, repair="rule"), seed=1)
    above = {leaf: {leaf, parent, "*"} for parent, leaves in ILLS.items() for leaf in leaves}
    published = release.tables["main"]["ill"].value_counts()
    counts = dict(published.iter_rows())
    originals = dict(frame["ill"].value_counts().iter_rows())
    assert set(counts) <= {label for labels in above.values() for label in labels}
    # From the leaves up: a label stands for what is left of the values under it.
    for leaf, n in originals.items():
        assert counts.get(leaf, 0) <= n
    for parent, leaves in ILLS.items():
        left = sum(originals.get(leaf, 0) - counts.get(leaf, 0) for leaf in leaves)
        assert counts.get(parent, 0) <= left
    replaced = release.notes["sensitive_values_replaced"]["ill"]
    assert replaced == sum(n for label, n in counts.items() if label not in ILL)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("labels", ["auto", "sets"])
def test_never_worse_than_merging_alone(seed, labels):
    """The total distortion that is measured is at most that of merging alone, for the same division."""
    frame = table(400, seed)
    ours = policy(k=3, beta=2, labels=labels)
    alone = policy(k=3, beta=2, labels=labels, repair="merge")
    release = mv.publish(frame, ours, seed=3)
    merged = mv.publish(frame, alone, seed=3)
    assert release.notes["leaking_before"] > 0
    measured = mv.measure(release, frame, ours)
    assert measured["t_disr"] <= mv.measure(merged, frame, alone)["t_disr"] + 1e-12
    assert measured["qi_disr"] == pytest.approx(release.notes["lost_quasi"], abs=1e-12)
    assert measured["sa_disr"] == pytest.approx(release.notes["lost_sensitive"], abs=1e-12)


def mended(codes, parents, most=1, *, covering=False, by_difference=False):
    """Apply the rule to one group with two attributes, each guarded against the other."""
    labels = np.array(codes, dtype=np.int32)
    width = len(parents)
    fine = mend(
        labels,
        labels.copy(),
        np.arange(labels.shape[1]),
        np.array([0, labels.shape[1]]),
        np.array([0, 1]),
        np.array([[1], [0]]),
        np.array([1, 1]),
        np.array([-1, -1]),
        np.array([most, most]),
        np.zeros((2, width), dtype=bool),
        np.array([parents, parents]),
        covering,
        np.array([by_difference, by_difference]),
    )
    return labels, bool(fine[0])


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_the_rule_ends_without_leaks(rows):
    """Whatever the group, the rule ends; mended means no leak, and labels only climb."""
    parents = [4, 4, 5, 5, 6, 6, -1]
    labels, fine = mended(list(zip(*rows, strict=True)), parents)
    ancestors = {code: {code, parents[code], 6} for code in range(4)}
    for place in range(2):
        assert all(
            label in ancestors[row[place]] for label, row in zip(labels[place].tolist(), rows, strict=True)
        )
    if fine:
        cells = [tuple(map(str, row)) for row in labels.T.tolist()]
        assert not leaks(cells, 1)
        assert not leaks([row[::-1] for row in cells], 1)


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_the_rule_ends_with_covering_labels(rows):
    """Climbing on to labels over two values of the group ends too, leaves nothing certain, and every value stays."""
    parents = [4, 4, 5, 5, 6, 6, -1]
    labels, fine = mended(list(zip(*rows, strict=True)), parents, covering=True)
    under = {4: {0, 1}, 5: {2, 3}, 6: {0, 1, 2, 3}}
    for place, shown in enumerate(labels.tolist()):
        values = {row[place] for row in rows}
        raised = [(label, row[place]) for label, row in zip(shown, rows, strict=True) if label > 3]
        assert values <= set(shown)
        assert all(value in under[label] for label, value in raised)
        assert len(values) == 1 or all(len(values & under[label]) > 1 for label, _ in raised)
    if fine:
        cells = [tuple(map(str, row)) for row in labels.T.tolist()]
        assert not leaks(cells, 1)
        assert not leaks([row[::-1] for row in cells], 1)


def test_without_a_covering_label_the_parent_serves():
    """Where no label has two values of the group under it, values climb to their parent as ever."""
    codes = [[3, 3, 0, 1, 2], [1, 2, 0, 0, 0]]
    for parents in ([4, 4, 4, 5, -1, -1], [4, 4, 4, 5, -1, 6, -1]):
        labels, fine = mended(codes, parents, covering=True)
        assert fine
        assert labels[0].tolist() == [5, 3, 0, 1, 2]


@pytest.mark.parametrize("repair", ["rule", "best"])
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5))
def test_certain_labels_are_counted(repair, seed, k):
    """The notes count raised cells over one value of their group, in plain Python, and `cover` leaves none."""
    frame = table(120, seed, 4)
    above = {leaf: {parent, "*"} for parent, leaves in ILLS.items() for leaf in leaves}
    asked = policy(k=k, repair=repair)
    release = mv.publish(frame, asked, seed=1)
    certain = 0
    for group in groups_of(release):
        shown = [row[0] for row in group]
        values = {value for value in shown if value in above}
        certain += sum(sum(cell in above[v] for v in values) == 1 for cell in shown if cell not in above)
    # Groups that read alike are one here, so that fewer labels are certain.
    assert certain <= release.notes["certain_labels"]["ill"]
    covered = mv.publish(frame, policy(k=k, repair=repair, climb="cover"), seed=1)
    assert set(covered.notes["certain_labels"].values()) == {0}
    assert mv.audit(covered, frame, asked).kept


@pytest.mark.parametrize("n_left", range(2, 9))
def test_at_least_half_and_not_all(n_left):
    """Of a remainder of equal values at least half climb, and not all."""
    others = [0, 1] * 2
    subject = [0, 1, 2, 0][: len(others)]
    codes = [[*([3] * n_left), *subject], [*(1 + i % 2 for i in range(n_left)), *([0] * len(others))]]
    labels, fine = mended(codes, [4, 4, 4, 4, -1])
    climbed = int((labels[0, :n_left] == 4).sum())
    assert fine
    assert n_left / 2 <= climbed < n_left
    assert climbed == -(-n_left // 2)


def test_one_row_cannot_be_parted():
    """Where one row is left, the rule gives up and the groups are merged."""
    _, fine = mended([[0, 1, 2], [0, 0, 1]], [3, 3, 3, -1])
    assert not fine
    frame = pl.DataFrame(
        {
            "age": [20, 20, 20, 50, 50, 50],
            "job": ["cook"] * 6,
            "ill": ["flu", "ulcer", "fear", "flu", "ulcer", "gloom"],
            "pay": [10, 10, 15, 20, 25, 30],
        }
    )
    two = {name: body for name, body in ATTRIBUTES.items() if name != "home"}
    asked = mv.Policy(attributes=two, publish={"method": "alpha-beta-k", "k": 3})
    release = mv.publish(frame, asked, seed=1)
    assert release.notes["groups_before"] == 2
    assert release.notes["mergers"] == 1
    assert release.tables["main"]["age"].unique().to_list() == ["[20, 50]"]


def test_what_is_hidden_is_counted():
    """A value without a parent but `*` is published as `*`, and the notes say how often."""
    frame = pl.DataFrame(
        {
            "age": [20] * 4,
            "job": ["cook"] * 4,
            "ill": ["flu", "ulcer", "fear", "gloom"],
            "pay": [10, 10, 15, 20],
            "home": ["north", "north", "isle", "isle"],
        }
    )
    order = {"pairs": "consecutive", "sensitive_order": ["ill", "pay", "home"]}
    release = mv.publish(frame, policy(k=4, beta=2, **order), seed=1)
    assert release.notes["of_these_hidden"]["home"] == 1
    assert release.tables["main"]["home"].to_list().count("*") == 1


def test_other_promises_keep_their_values():
    """Labels of an attribute with a promise about shares do not climb; its groups are merged instead."""
    frame = table(300, 5)
    asked = mv.Policy(
        attributes=ATTRIBUTES,
        guarantee={"l": 2, "l_kind": "frequency"},
        publish={"method": "alpha-beta-k", "k": 3, "repair": "rule"},
    )
    release = mv.publish(frame, asked, seed=1)
    assert set(release.notes["sensitive_values_replaced"].values()) == {0}
    assert mv.audit(release, frame, asked).kept


def test_several_values_in_a_cell():
    """The hospital's multi-valued diagnosis is guarded bit by bit, and its bits never climb."""
    sections = hospital_sections() | {"guarantee": {}, "publish": {"method": "alpha-beta-k", "k": 4}}
    frame = hospital(400)
    release = mv.publish(frame, sections, seed=1)
    assert mv.audit(release, frame, sections).kept
    bits = [
        n for name, n in release.notes["sensitive_values_replaced"].items() if name.startswith("diagnosis=")
    ]
    assert set(bits) == {0}


def test_other_methods_keep_the_promise_too():
    """`eliminations` in [guarantee] is kept by generalization, which has to make larger groups for it."""
    frame = table(300, 7)
    plain = {"k": 3, "l": 2}
    publish = {"method": "generalize", "recoding": "mondrian"}
    without = mv.Policy(attributes=ATTRIBUTES, guarantee=plain, publish=publish)
    asked = mv.Policy(attributes=ATTRIBUTES, guarantee=plain | {"eliminations": 1}, publish=publish)
    sizes = {}
    for name, each in (("without", without), ("asked", asked)):
        release = mv.publish(frame, each, seed=1)
        verdict = mv.audit(release, frame, asked)
        assert verdict.kept == (name == "asked")
        sizes[name] = mv.measure(release, frame, each)["average_class_size"]
    assert sizes["asked"] > sizes["without"]


def test_ladder_climbs_to_what_reads_differently(tmp_path):
    """A name that stands on several levels is one step, and the labels list all that the hierarchy has under them."""
    lines = "flu;flu;lungs;*\nasthma;asthma;lungs;*\nulcer;gut;gut;*\ncolic;gut;gut;*\n"
    column, written = column_of(["flu", "ulcer"], lines, tmp_path)
    ladder = ladder_of(column, written)
    chain = {ladder.texts[code]: ladder.texts[ladder.parents[code]] for code in range(len(ladder.texts))}
    assert chain["flu"] == "lungs"
    assert chain["ulcer"] == "gut"
    assert chain["lungs"] == "*"
    assert chain["gut"] == "*"
    covers = {
        ladder.texts[label]: under for label, under in ladder.covers(range(2, len(ladder.texts))).items()
    }
    assert set(covers["lungs"]) == {"flu", "asthma"}
    assert set(covers["*"]) == {"flu", "asthma", "ulcer", "colic"}


def test_a_group_of_one_is_no_step(tmp_path):
    """A label over a single value of the hierarchy would hide nothing, so values climb past it."""
    column, written = column_of(
        ["flu", "ulcer", "colic"], "flu;lungs;*\nulcer;gut;*\ncolic;gut;*\n", tmp_path
    )
    ladder = ladder_of(column, written)
    assert "lungs" not in ladder.texts
    assert ladder.texts[ladder.parents[column.texts.index("flu")]] == "*"


def test_one_name_at_two_levels_is_two_labels(tmp_path):
    """A name that stands over other values on a lower level is no step there, so labels cover what they say."""
    column, written = column_of(list("acdb"), "a;x;z;*\nb;x;z;*\nc;w;x;*\nd;w;x;*\n", tmp_path)
    ladder = ladder_of(column, written)
    climbed = {text: ladder.texts[ladder.parents[code]] for code, text in enumerate(column.texts)}
    assert climbed == {"a": "z", "b": "z", "c": "w", "d": "w"}
    covers = {ladder.texts[label]: set(under) for label, under in ladder.covers(range(4, 8)).items()}
    assert covers == {"*": set("abcd"), "z": set("ab"), "x": set("cd"), "w": set("cd")}
    above = {code: set() for code in range(4)}
    for code in above:
        label = ladder.parents[code]
        while label >= 0:
            above[code].add(ladder.texts[label])
            label = ladder.parents[label]
    assert all(column.texts[code] in covers[text] for code, texts in above.items() for text in texts)


def test_labels_that_read_like_values_are_no_step(tmp_path):
    """Nor are those that read like a value which the hierarchy lists and the data lack, or like a missing cell."""
    lines = "p;G;*\nq;G;*\nH;G;*\nr;H;*\nt;H;*\nu;;*\nv;;*\n"
    column, written = column_of(["p", "r", "u"], lines, tmp_path)
    ladder = ladder_of(column, written)
    climbed = {text: ladder.texts[ladder.parents[code]] for code, text in enumerate(column.texts)}
    assert climbed == {"p": "G", "r": "*", "u": "*"}


def test_numbers_are_spelled_as_in_the_data():
    """A hierarchy may write 17 or 17.0: it is one value under a label, and a group of one value is no step."""
    frame = pl.DataFrame(
        {"age": [20] * 4, "ill": list("abcd"), "pay": ["x", "x", "y", "z"], "dose": [17.0, 18.0, 19.0, 19.0]}
    )
    roles = {name: {"role": "sensitive"} for name in ("ill", "pay")} | {"age": {"role": "quasi"}}
    order = {"pairs": "consecutive", "sensitive_order": ["ill", "pay", "dose"]}
    for high, label, originals in (
        (["19", "20"], "high", {"19.0", "20"}),
        (["19", "19.00"], "*", {"17.0", "18.0", "19.0"}),
    ):
        tree = {"low": ["17", "18"], "high": high}
        dose = {"role": "sensitive", "kind": "numeric", "hierarchy": {"tree": tree}}
        asked = mv.Policy(
            attributes={**roles, "dose": dose}, publish={"method": "alpha-beta-k", "k": 4, **order}
        )
        release = mv.publish(frame, asked, seed=1)
        assert release.tables["main"]["dose"].to_list().count(label) == 1
        listed = release.recodings["main", "dose"].filter(pl.col("published") == label)["original"]
        assert set(listed) == originals


def test_many_labels_cost_one_pass():
    """Covers are listed for labels in use, in one pass per level, however many labels there are."""
    n = 20_000
    values = pl.Series("ill", [f"v{i}" for i in range(n)])
    tree = {f"G{i}": [f"v{j}" for j in range(i, n, n // 4)] for i in range(n // 4)}
    asked = mv.Policy(attributes={"ill": {"role": "sensitive", "hierarchy": {"tree": tree}}})
    held, _ = hold(values.to_frame(), asked)
    ladder = ladder_of(held["ill"], asked.lines("ill"))
    reads, real = [], Ladder._under
    with patch.object(Ladder, "_under", lambda self, level: reads.append(level) or real(self, level)):
        assert ladder.recoding(held["ill"].codes) is None
        assert not reads
        labels = np.where(np.arange(n) % 2 == 0, ladder.parents[:n], held["ill"].codes).astype(np.int32)
        recoding = ladder.recoding(labels)
    assert reads == [1]
    assert recoding.covers[0].size == 2 * n


def test_the_audit_reads_a_label_over_one_value_as_that_value():
    """Publishing half of a value as a label that stands for nothing else is no cure."""
    frame = pl.DataFrame({"age": [1] * 4, "ill": ["a", "b", "c", "c"], "pay": ["x", "x", "y", "z"]})
    roles = {"age": "quasi", "ill": "sensitive", "pay": "sensitive"}
    asked = mv.Policy(attributes={n: {"role": r} for n, r in roles.items()}, guarantee={"eliminations": 1})
    held, restore = hold(frame, asked)
    codes = held["ill"].codes.copy()
    codes[3] = 3
    for extra in ([], [(3, "a")]):
        pairs = [*enumerate(held["ill"].texts), (3, "c"), *extra]
        covers = np.array([pair[0] for pair in pairs]), tuple(pair[1] for pair in pairs)
        recoding = Recoding(codes, (*held["ill"].texts, "other"), covers)
        draft = Draft("main", (("age", "ill", "pay"),), np.arange(4), recodings={"ill": recoding})
        release = seal([draft], held, asked, restore, notes={}, rng=np.random.default_rng(1))
        findings = [f for f in mv.audit(release, frame, asked).findings if f.promise == "elimination"]
        assert {f.attribute: f.kept for f in findings} == {"ill": bool(extra), "pay": bool(extra)}


def column_of(values, lines, folder):
    """A column with a hierarchy from a file, and the hierarchy as written."""
    (folder / "ill.csv").write_text(lines)
    asked = mv.Policy(
        attributes={"ill": {"role": "sensitive", "hierarchy": {"file": str(folder / "ill.csv")}}}
    )
    held, _ = hold(pl.DataFrame({"ill": values}), asked)
    return held["ill"], asked.lines("ill")


def test_labels_are_runs_on_their_axis(tmp_path):
    """On an axis every label is a run of positions, and losing is measured by the lowest common label."""
    hierarchy = "flu;lungs;*\nulcer;gut;*\nasthma;lungs;*\ncolic;gut;*\n"
    column, lines = column_of(["flu", "ulcer", "asthma", "colic"], hierarchy, tmp_path)
    axis = axis_of(column, lines, "hierarchy")
    place = {text: int(axis.position[code]) for code, text in enumerate(column.texts)}
    assert abs(place["flu"] - place["asthma"]) == 1
    low, high = sorted((place["flu"], place["asthma"]))
    assert axis.lost(np.array([low]), np.array([high])).tolist() == [1 / 4]
    assert axis.lost(np.array([0]), np.array([3])).tolist() == [3 / 4]
    assert axis.lost(np.array([2]), np.array([2])).tolist() == [0]
