"""Loss, precision and entropy are what one gets by looking at every cell."""

from collections import Counter
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.datasets import hospital, hospital_policy
from manyveils.policy import Policy
from manyveils.release import Draft, Recoding, Release, seal
from manyveils.release.draft import recode_to_level
from manyveils.table import Table, hold
from manyveils.utility import Utility, measure

TREE = {"Warm": {"Reds": ["red", "pink"], "Yellows": ["gold", "sand"]}, "Cold": {"Blues": ["navy", "teal"]}}
UNDER = {
    "Reds": {"red", "pink"},
    "Yellows": {"gold", "sand"},
    "Blues": {"navy", "teal"},
    "Warm": {"red", "pink", "gold", "sand"},
    "Cold": {"navy", "teal"},
}
COLOURS = ["red", "pink", "gold", "sand", "navy", "teal"]


def _policy(**quasi: dict[str, object]) -> Policy:
    attributes = {name: {"role": "quasi", **body} for name, body in quasi.items()}
    return Policy(attributes={**attributes, "illness": {"role": "sensitive"}}, guarantee={"k": 2})


def _table(policy: Policy, **columns: list[object]) -> Table:
    n_rows = len(next(iter(columns.values())))
    return hold(pl.DataFrame({**columns, "illness": [f"i{row % 3}" for row in range(n_rows)]}), policy)[0]


def _recoding(table: Table, attribute: str, labels: list[str | None], rows: list[int]) -> Recoding:
    """Publish a label per row, and list the originals that stand under it in these rows."""
    distinct = list(dict.fromkeys(labels))
    codes = np.array([distinct.index(label) for label in labels], dtype=np.int32)
    originals = [table[attribute].texts[table[attribute].codes[row]] for row in rows]
    return Recoding(codes, tuple(distinct), (codes.astype(np.int64), tuple(originals)))


def _release(
    table: Table, policy: Policy, rows: list[int] | None = None, **labels: list[str | None]
) -> Release:
    kept = list(range(table.n_rows)) if rows is None else rows
    recodings = {name: _recoding(table, name, column, kept) for name, column in labels.items()}
    draft = Draft("main", ((*policy.quasi, "illness"),), np.array(kept, dtype=np.intp), recodings=recodings)
    return seal([draft], table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))


def _one_column(
    values: list[object], labels: list[str | None], body: dict[str, object], rows: list[int] | None = None
) -> Utility:
    policy = _policy(it=body)
    table = _table(policy, it=values)
    return measure(_release(table, policy, rows, it=labels), table, policy)


def test_values_left_as_they_are_lose_nothing() -> None:
    """An unrecoded release has loss 0, precision 1, height 0 and no bits to guess."""
    policy = _policy(colour={"hierarchy": {"tree": TREE}}, age={"kind": "numeric"})
    table = _table(policy, colour=["red", "navy", None], age=[20, 30, 40])
    utility = measure(_release(table, policy), table, policy)
    assert utility["loss_by_attribute"] == {"colour": 0.0, "age": 0.0}
    assert (utility["loss"], utility["granularity"], utility["precision"]) == (0.0, 1.0, 1.0)
    assert (utility["height"], utility["non_uniform_entropy"], utility["suppressed_share"]) == (0.0, 0.0, 0.0)


def test_stars_lose_everything() -> None:
    """A release of stars has loss 1, precision 0, the full height and all bits to guess."""
    policy = _policy(colour={"hierarchy": {"tree": TREE}}, age={"kind": "numeric"})
    table = _table(policy, colour=["red", "navy", "red"], age=[20, 30, 40])
    utility = measure(_release(table, policy, colour=["*"] * 3, age=["*"] * 3), table, policy)
    assert utility["loss_by_attribute"] == {"colour": 1.0, "age": 1.0}
    assert (utility["precision"], utility["height"]) == (0.0, 4.0)
    assert utility["non_uniform_entropy"] == pytest.approx(1.0)


def test_suppressed_rows_lose_everything_in_every_attribute() -> None:
    """With one row of four left out and no recoding, every attribute loses a quarter."""
    policy = _policy(colour={"hierarchy": {"tree": TREE}}, age={"kind": "numeric"})
    table = _table(policy, colour=["red", "navy", "red", "teal"], age=[20, 30, 40, 50])
    utility = measure(_release(table, policy, rows=[0, 1, 3]), table, policy)
    assert utility["loss_by_attribute"] == {"colour": 0.25, "age": 0.25}
    assert utility["precision"] == 0.75
    assert utility["height"] == 0.25 * 3 + 0.25 * 1
    assert utility["non_uniform_entropy"] == pytest.approx(0.25)
    assert utility["suppressed_share"] == 0.25


def test_a_name_of_a_tree_counts_values_that_are_not_in_the_data() -> None:
    """Of six lines, "Warm" covers four and "Yellows" two, whichever of them occur."""
    utility = _one_column(["red", "gold", "navy"], ["Warm", "Yellows", "navy"], {"hierarchy": {"tree": TREE}})
    assert utility["loss"] == pytest.approx((3 / 5 + 1 / 5 + 0) / 3)


def test_a_tree_name_stands_at_its_own_level() -> None:
    """A name of level 2 stands there though level 0 would do for the one value it covers."""
    utility = _one_column(["red", "gold", "navy"], ["Warm", "gold", "Blues"], {"hierarchy": {"tree": TREE}})
    assert utility["height"] == pytest.approx((2 + 0 + 1) / 3)
    assert utility["precision"] == pytest.approx(1 - (2 / 3 + 0 + 1 / 3) / 3)


def test_a_set_counts_its_members_and_stands_where_they_meet() -> None:
    """{red, gold} is two leaves of six and meets at "Warm", level 2 of 3."""
    labels: list[str | None] = ["{red, gold}", "{red, gold}", "navy"]
    utility = _one_column(["red", "gold", "navy"], labels, {"hierarchy": {"tree": TREE}})
    assert utility["loss"] == pytest.approx((1 / 5 + 1 / 5 + 0) / 3)
    assert utility["precision"] == pytest.approx(1 - (2 / 3 + 2 / 3 + 0) / 3)


def test_a_set_without_a_hierarchy_counts_against_the_data() -> None:
    """Two of four values cost a third."""
    utility = _one_column(["a", "b", "c", "d"], ["{a, b}", "{a, b}", "c", "*"], {})
    assert utility["loss"] == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)


def test_a_member_with_a_comma_does_not_count_twice() -> None:
    """Where the text of a set cannot be read, the originals it covers are counted."""
    utility = _one_column(["a, x", "b", "c"], ["{a, x, b}", "{a, x, b}", "c"], {})
    assert utility["loss"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_a_range_costs_its_span_within_the_domain() -> None:
    """Between 20 and 60, [20, 30] costs a quarter, and [50, 99] is cut off at 60."""
    labels: list[str | None] = ["[20, 30]", "[20, 30]", "[50, 99]", "40"]
    utility = _one_column([20, 30, 60, 40], labels, {"kind": "numeric"})
    assert utility["loss"] == pytest.approx((1 / 4 + 1 / 4 + 1 / 4 + 0) / 4)


def test_a_range_is_measured_against_the_lines_of_a_written_hierarchy(tmp_path: Path) -> None:
    """With lines from 0 to 100 a range of ten costs a tenth, though the data span only 20."""
    lines = "".join(f"{number};*\n" for number in (0, 40, 50, 60, 100))
    (tmp_path / "it.csv").write_text(lines, encoding="utf-8")
    body = {"kind": "numeric", "hierarchy": {"file": str(tmp_path / "it.csv")}}
    utility = _one_column([40, 50, 60], ["[40, 50]", "[40, 50]", "60"], body)
    assert utility["loss"] == pytest.approx((1 / 10 + 1 / 10 + 0) / 3)


def test_widths_cost_their_span_and_stand_at_their_level() -> None:
    """An interval of the hierarchy is a range: [20, 29] of 20 to 60 costs 9 of 40."""
    body = {"kind": "numeric", "hierarchy": {"widths": [10, 20]}}
    utility = _one_column([20, 25, 60], ["[20, 29]", "[20, 29]", "[60, 79]"], body)
    assert utility["loss"] == pytest.approx((9 / 40 + 9 / 40 + 0) / 3)
    assert utility["height"] == pytest.approx((1 + 1 + 2) / 3)


def test_a_mask_counts_the_values_of_the_original_under_it() -> None:
    """471* covers three values of the data, one of which only a suppressed row holds."""
    body = {"hierarchy": {"mask": "right"}, "kind": "categorical"}
    utility = _one_column(["4711", "4712", "4713", "4800"], ["471*", "471*", "4800"], body, rows=[0, 1, 3])
    assert utility["loss"] == pytest.approx((2 / 3 + 2 / 3 + 0 + 1) / 4)


def test_a_missing_cell_is_a_value() -> None:
    """A cell that was missing and is published so loses nothing, and counts in the domain."""
    utility = _one_column(["a", "b", None], ["{a, b}", "{a, b}", None], {})
    assert utility["loss"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_a_star_in_the_data_is_a_value_until_it_is_recoded() -> None:
    """An original `*` that was left as it is loses nothing."""
    policy = _policy(it={})
    table = _table(policy, it=["*", "a", "b"])
    assert measure(_release(table, policy), table, policy)["loss"] == 0.0
    assert measure(_release(table, policy, it=["*", "*", "b"]), table, policy)["loss"] == pytest.approx(2 / 3)


def test_an_attribute_in_several_views_counts_their_mean() -> None:
    """Shown as it is in one view and as stars in the other, an attribute loses half."""
    policy = _policy(it={})
    table = _table(policy, it=["a", "b"])
    rows = np.arange(2)
    stars = {"it": _recoding(table, "it", ["*", "*"], [0, 1])}
    drafts = [Draft("one", (("it", "illness"),), rows), Draft("two", (("it",),), rows, recodings=stars)]
    release = seal(drafts, table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))
    utility = measure(release, table, policy)
    assert (utility["loss"], utility["precision"], utility["height"]) == (0.5, 0.5, 0.5)
    assert utility["non_uniform_entropy"] == pytest.approx(0.5)


def test_an_attribute_in_no_view_is_lost() -> None:
    """What is not published at all has loss 1."""
    policy = _policy(it={}, other={})
    table = _table(policy, it=["a", "b"], other=["x", "y"])
    draft = Draft("main", (("it", "illness"),), np.arange(2))
    release = seal([draft], table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))
    assert measure(release, table, policy)["loss_by_attribute"] == {"it": 0.0, "other": 1.0}


def test_entropy_weighs_common_values() -> None:
    """Three reds and a pink under one name: 3 log2(4/3) + log2(4) bits of what hiding all would cost."""
    values: list[object] = ["red", "red", "red", "pink", "navy", "navy"]
    labels: list[str | None] = ["Reds"] * 4 + ["navy"] * 2
    utility = _one_column(values, labels, {"hierarchy": {"tree": TREE}})
    lost = 3 * log2(4 / 3) + log2(4 / 1)
    everything = 3 * log2(6 / 3) + log2(6 / 1) + 2 * log2(6 / 2)
    assert utility["non_uniform_entropy"] == pytest.approx(lost / everything)


def test_a_constant_attribute_has_no_bits_to_lose() -> None:
    """Hiding what everyone knows costs no entropy."""
    assert _one_column(["a", "a"], ["*", "*"], {})["non_uniform_entropy"] == 0.0


def test_a_saved_release_measures_the_same(tmp_path: Path) -> None:
    """Numbers come from the files: reading a release back changes none of them."""
    policy = _policy(it={"kind": "numeric"}, colour={"hierarchy": {"tree": TREE}})
    table = _table(policy, it=[1.5, 2.0, None, 4.0], colour=["red", "pink", "navy", None])
    numbers: list[str | None] = ["[1.5, 2]", "[1.5, 2]", None, "4.0"]
    release = _release(table, policy, it=numbers, colour=["Reds", "Reds", "Cold", None])
    loaded = Release.load(release.save(tmp_path / "out"))
    assert measure(loaded, table, policy).describe() == measure(release, table, policy).describe()
    assert measure(release, table, policy)["loss_by_attribute"]["it"] == pytest.approx(2 * (0.5 / 2.5) / 4)


WHOLE_LEVELS = [("age", 2), ("age", 4), ("zipcode", 1), ("zipcode", 3), ("job", 2)]


@pytest.mark.parametrize(("attribute", "level"), WHOLE_LEVELS)
def test_a_whole_level_loses_what_the_hierarchy_says(attribute: str, level: int) -> None:
    """Full-domain recoding costs the mean of its level's losses, though it is measured from the labels."""
    policy = hospital_policy()
    table = hold(hospital(500), policy)[0]
    column, rows = table[attribute], np.arange(500)
    recoding = recode_to_level(column, level, rows)
    assert recoding is not None
    draft = Draft("main", (policy.quasi,), rows, recodings={attribute: recoding})
    release = seal([draft], table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))
    step = column.levels[level]
    expected = float(step.loss[step.label_of[column.codes]].mean())
    utility = measure(release, table, policy)
    missing = column.counts[-1] / 500 if column.has_missing else 0
    assert utility["loss_by_attribute"][attribute] == pytest.approx(expected)
    assert utility["height"] == pytest.approx(level * (1 - missing))


def _labels(values: list[str]) -> st.SearchStrategy[list[str]]:
    def above(value: str) -> st.SearchStrategy[str]:
        return st.sampled_from([value, *(name for name, below in UNDER.items() if value in below), "*"])

    return st.tuples(*map(above, values)).map(list)


def _leaves(label: str) -> set[str]:
    return set(COLOURS) if label == "*" else UNDER.get(label, {label})


def _level(label: str) -> int:
    return 3 if label == "*" else 2 if label in TREE else 1 if label in UNDER else 0


@given(data=st.data())
def test_measures_agree_with_looking_at_every_cell(data: st.DataObject) -> None:
    """On any table, recoding and suppression, the measures are sums over cells."""
    values = data.draw(st.lists(st.sampled_from(COLOURS), min_size=1, max_size=12))
    rows = data.draw(st.lists(st.sampled_from(range(len(values))), min_size=1, unique=True))
    labels = data.draw(_labels([values[row] for row in rows]))
    utility = _one_column(list(values), list(labels), {"hierarchy": {"tree": TREE}}, rows=rows)
    n, hidden = len(values), len(values) - len(rows)
    shares = sum((len(_leaves(label)) - 1) / 5 for label in labels)
    assert utility["loss"] == pytest.approx((shares + hidden) / n)
    assert utility["height"] == pytest.approx((sum(map(_level, labels)) + 3 * hidden) / n)
    assert utility["precision"] == pytest.approx(1 - utility["height"] / 3)
    assert utility["non_uniform_entropy"] == pytest.approx(_expected_entropy(values, rows, labels))


def _expected_entropy(values: list[str], rows: list[int], labels: list[str]) -> float:
    """Spread the rows of each label over the originals under it, by their counts in the original."""
    counts, n = Counter(values), len(values)
    everything = sum(count * log2(n / count) for count in counts.values())
    lost = (n - len(rows)) * everything / n
    for label in labels:
        covered = _leaves(label) & set(counts)
        size = sum(counts[value] for value in covered)
        lost += sum(counts[value] / size * log2(size / counts[value]) for value in covered)
    return min(lost / everything, 1.0) if everything else 0.0
