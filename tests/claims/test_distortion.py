"""Distortion counts the values that published cells add to their own, sensitive cells included (paper 001)."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.datasets import alpha_beta_k_group, hospital, hospital_policy
from manyveils.policy import Policy
from manyveils.release import Draft, Recoding, Release, seal
from manyveils.run import publish
from manyveils.table import Table, hold
from manyveils.utility import Utility, measure

Labels = dict[str, list[str | None]]

TREE = {"Affective": ["Depression", "Mania"], "Psychotic": ["Paranoia", "Catatonia"], "Bodily": ["Headache"]}
UNDER = {name: set(values) for name, values in TREE.items()}
ILLS = [ill for values in TREE.values() for ill in values]
TOWNS = ["a", "b", "c"]
ILL = {"role": "sensitive", "hierarchy": {"tree": TREE}}


def _table(policy: Policy, columns: dict[str, list[object]]) -> Table:
    return hold(pl.DataFrame(columns), policy)[0]


def _recoding(column: pl.Series, labels: list[str | None], *, lists_values: bool) -> Recoding:
    """Publish a label per row; of the labels that are values, `lists_values` says whether they are listed."""
    distinct = list(dict.fromkeys(labels))
    codes = np.array([distinct.index(label) for label in labels], dtype=np.int32)
    cells = ["" if cell is None else str(cell) for cell in column.to_list()]
    listed = [
        (code, cell)
        for code, cell, label in zip(codes.tolist(), cells, labels, strict=True)
        if lists_values or (label or "") != cell
    ]
    numbers = np.array([code for code, _ in listed], dtype=np.int64)
    return Recoding(codes, tuple(distinct), (numbers, tuple(cell for _, cell in listed)))


def _release(
    table: Table,
    policy: Policy,
    labels: Labels,
    rows: list[int] | None = None,
    *,
    lists_values: bool = True,
) -> Release:
    kept = np.arange(table.n_rows) if rows is None else np.array(rows, dtype=np.intp)
    recodings = {
        name: _recoding(table[name].domain.gather(table[name].codes[kept]), column, lists_values=lists_values)
        for name, column in labels.items()
    }
    draft = Draft("main", (table.expand(policy.published),), kept, recodings=recodings)
    return _sealed([draft], table, policy)


def _sealed(drafts: list[Draft], table: Table, policy: Policy) -> Release:
    return seal(drafts, table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))


def _measured(
    attributes: dict[str, dict[str, object]],
    columns: dict[str, list[object]],
    labels: Labels,
    rows: list[int] | None = None,
    *,
    lists_values: bool = True,
) -> Utility:
    policy = Policy(attributes=attributes)
    table = _table(policy, columns)
    return measure(_release(table, policy, labels, rows, lists_values=lists_values), table, policy)


def _one_column(values: list[object], labels: list[str | None], **body: object) -> float:
    found: float = _measured({"it": {"role": "quasi", **body}}, {"it": values}, {"it": labels})["qi_disr"]
    return found


def test_values_left_as_they_are_are_not_distorted() -> None:
    """An unrecoded release has no distortion and no replaced cell."""
    utility = _measured(
        {"town": {"role": "quasi"}, "ill": ILL}, {"town": ["a", "b", None], "ill": ILLS[:3]}, {}
    )
    assert [utility[key] for key in ("qi_disr", "sa_disr", "t_disr", "distortion_ratio")] == [0.0] * 4
    assert utility["sensitive_replaced"] == 0
    assert utility["sensitive_replaced_by_attribute"] == {"ill": 0}


def test_stars_are_distorted_as_far_as_can_be() -> None:
    """A release of stars costs 2 of 3 values and 4 of 5 lines per cell, and has the ratio 1."""
    columns: dict[str, list[object]] = {"town": [*TOWNS], "ill": [*ILLS[:3]]}
    stars: list[str | None] = ["*"] * 3
    utility = _measured({"town": {"role": "quasi"}, "ill": ILL}, columns, {"town": stars, "ill": stars})
    assert utility["qi_disr"] == pytest.approx(2 / 3)
    assert utility["sa_disr"] == pytest.approx(4 / 5)
    assert utility["t_disr"] == pytest.approx(2 / 3 + 4 / 5)
    assert utility["distortion_ratio"] == pytest.approx(1.0)
    assert utility["sensitive_replaced"] == 3


def test_rows_left_out_cost_as_much_as_stars() -> None:
    """One row of three costs a third of everything, and is not counted as replaced."""
    columns: dict[str, list[object]] = {"town": [*TOWNS], "ill": [*ILLS[:3]]}
    utility = _measured({"town": {"role": "quasi"}, "ill": ILL}, columns, {}, rows=[0, 2])
    assert utility["qi_disr"] == pytest.approx(2 / 3 / 3)
    assert utility["sa_disr"] == pytest.approx(4 / 5 / 3)
    assert utility["distortion_ratio"] == pytest.approx(1 / 3)
    assert utility["sensitive_replaced"] == 0


def test_the_papers_group_is_mended_by_one_cell() -> None:
    """In paper 001's group, Affective in place of one Depression costs 1 of 5 lines in 1 of 8 sensitive cells."""
    group = alpha_beta_k_group()
    policy = Policy(attributes={"disease": ILL, "salary": {"role": "sensitive", "kind": "numeric"}})
    table = _table(policy, group.to_dict(as_series=False))
    mended = ["Headache", "Paranoia", "Depression", "Affective"]
    utility = measure(_release(table, policy, {"disease": [*mended]}), table, policy)
    assert utility["sa_disr"] == utility["t_disr"] == pytest.approx((2 - 1) / 5 / 8)
    assert utility["distortion_ratio"] == pytest.approx(1 / 5 / (4 * 4 / 5 + 4 * 2 / 3))
    assert utility["sensitive_replaced_by_attribute"] == {"disease": 1, "salary": 0}
    assert "qi_disr" not in utility


@pytest.mark.parametrize("lists_values", [True, False])
def test_values_beside_their_parent_stand_for_themselves(lists_values: bool, tmp_path: Path) -> None:
    """Where a parent replaces some cells, the others are values, whether the recoding lists them or not."""
    values: list[object] = ["Depression", "Depression", "Mania", "Headache", None]
    labels: list[str | None] = ["Depression", "Affective", "Affective", "Headache", None]
    policy = Policy(attributes={"town": {"role": "quasi"}, "ill": ILL})
    table = _table(policy, {"town": [*"aabbc"], "ill": values})
    release = _release(table, policy, {"ill": labels}, lists_values=lists_values)
    loaded = Release.load(release.save(tmp_path / "out"))
    for found in (measure(release, table, policy), measure(loaded, table, policy)):
        assert found["sensitive_replaced"] == 2
        assert found["sa_disr"] == pytest.approx(2 * (1 / 5) / 5)


def test_a_value_with_the_name_of_its_group_is_taken_for_the_group() -> None:
    """Once Glioma stands for an astrocytoma too, no cell that says Glioma is a value any more."""
    tree = {"Glioma": ["Glioma", "Astrocytoma"], "Other": ["Seminoma"]}
    body: dict[str, object] = {"role": "sensitive", "hierarchy": {"tree": tree}}
    columns: dict[str, list[object]] = {"ill": ["Glioma", "Astrocytoma", "Seminoma"]}
    utility = _measured({"ill": body}, columns, {"ill": ["Glioma", "Glioma", "Seminoma"]})
    assert utility["sensitive_replaced"] == 2
    assert utility["sa_disr"] == pytest.approx(2 * (1 / 3) / 3)


def test_a_name_of_a_tree_counts_values_that_are_not_in_the_data() -> None:
    """Of five lines, Affective has two, though one of them occurs."""
    cost = _one_column(["Depression", "Headache"], ["Affective", "Headache"], hierarchy={"tree": TREE})
    assert cost == pytest.approx((1 / 5 + 0) / 2)


def test_a_group_of_one_value_adds_nothing_but_is_no_value() -> None:
    """Bodily stands for Headache alone: no distortion, and still not what the original said."""
    utility = _measured({"ill": ILL}, {"ill": ["Headache", "Mania"]}, {"ill": ["Bodily", "Mania"]})
    assert utility["sa_disr"] == 0.0
    assert utility["sensitive_replaced"] == 1


def test_a_range_counts_the_different_numbers_in_it() -> None:
    """Of the numbers 20, 25, 30 and 60, [20, 30] has three and [30, 99] two, however far they are apart."""
    labels: list[str | None] = ["[20, 30]", "25", "[20, 30]", "[30, 99]", "[30, 99]"]
    assert _one_column([20, 25, 30, 30, 60], labels, kind="numeric") == pytest.approx(
        (2 + 0 + 2 + 1 + 1) / 4 / 5
    )


def test_a_missing_number_is_in_no_range() -> None:
    """A missing cell is one of three values, and a range of both numbers counts two."""
    assert _one_column([1, 2, None], ["[1, 2]", "[1, 2]", None], kind="numeric") == pytest.approx(2 / 3 / 3)


def test_widths_count_the_different_numbers_under_them() -> None:
    """[20, 29] has two of three numbers."""
    labels: list[str | None] = ["[20, 29]", "[20, 29]", "60"]
    hierarchy = {"widths": [10, 20]}
    assert _one_column([20, 25, 60], labels, kind="numeric", hierarchy=hierarchy) == pytest.approx(
        2 * (1 / 3) / 3
    )


def test_a_range_counts_the_lines_of_a_written_hierarchy(tmp_path: Path) -> None:
    """Of five lines, [40, 60] has three, though two of them occur."""
    lines = "".join(f"{number};*\n" for number in (0, 40, 50, 60, 100))
    (tmp_path / "it.csv").write_text(lines, encoding="utf-8")
    hierarchy = {"file": str(tmp_path / "it.csv")}
    cost = _one_column([40, 60], ["[40, 60]", "[40, 60]"], kind="numeric", hierarchy=hierarchy)
    assert cost == pytest.approx(2 / 5)


def test_a_set_counts_its_members() -> None:
    """{a, b} is two of three values, and so is a set whose text cannot be read."""
    assert _one_column(["a", "b", "c"], ["{a, b}", "{a, b}", "c"]) == pytest.approx(2 * (1 / 3) / 3)
    assert _one_column(["a, x", "b", "c"], ["{a, x, b}", "{a, x, b}", "c"]) == pytest.approx(2 * (1 / 3) / 3)


def test_a_label_that_says_nothing_known_costs_as_much_as_a_star() -> None:
    """Where a recoding is secret, its labels tell nothing and are no values."""
    policy = Policy(attributes={"ill": {"role": "sensitive"}})
    table = _table(policy, {"ill": ["Mania", "Headache"]})
    secret = Recoding(np.array([0, 1], dtype=np.int32), ("x7", "Headache"), None)
    draft = Draft("main", (("ill",),), np.arange(2), recodings={"ill": secret})
    utility = measure(_sealed([draft], table, policy), table, policy)
    assert utility["sa_disr"] == pytest.approx((1 / 2 + 0) / 2)
    assert utility["sensitive_replaced"] == 1


def test_an_attribute_in_several_views_counts_their_mean_and_in_no_view_is_lost() -> None:
    """Stars in one of two views cost half of stars; what is not shown costs as much as stars."""
    policy = Policy(attributes={"town": {"role": "quasi"}, "ill": ILL, "pay": {"role": "sensitive"}})
    table = _table(policy, {"town": ["a", "b"], "ill": ["Mania", "Headache"], "pay": ["low", "high"]})
    rows = np.arange(2)
    stars = {"ill": _recoding(table["ill"].domain.gather(table["ill"].codes), ["*", "*"], lists_values=True)}
    drafts = [Draft("one", (("town", "ill"),), rows), Draft("two", (("town", "ill"),), rows, recodings=stars)]
    utility = measure(_sealed(drafts, table, policy), table, policy)
    assert utility["sa_disr"] == pytest.approx((4 / 5 / 2 + 1 / 2) / 2)
    assert utility["distortion_ratio"] == pytest.approx((4 / 5 / 2 + 1 / 2) / (1 / 2 + 4 / 5 + 1 / 2))
    assert utility["sensitive_replaced_by_attribute"] == {"ill": 1, "pay": 0}


def test_several_values_in_a_cell_count_as_columns_of_zeros_and_ones() -> None:
    """A starred 0/1 column costs half a cell, and is counted for the attribute it stands for."""
    policy = Policy(attributes={"ill": {"role": "sensitive", "multivalued": "|"}})
    table = _table(policy, {"ill": ["Mania", "Headache|Mania"]})
    labels: Labels = {"ill=Headache": ["*", "*"]}
    utility = measure(_release(table, policy, labels), table, policy)
    assert utility["sa_disr"] == pytest.approx((1 / 2 + 0) / 2)
    assert utility["sensitive_replaced_by_attribute"] == {"ill": 2}


def test_rules_say_what_is_known_and_what_is_protected() -> None:
    """Without roles, what rules give counts as known, and what they protect and none gives as sensitive."""
    rules = [{"given": ["town"], "protect": "ill"}, {"given": ["ill"], "protect": "pay"}]
    policy = Policy(attributes={name: {"role": "neutral"} for name in ("town", "ill", "pay")}, rules=rules)
    table = _table(policy, {"town": ["a", "b"], "ill": ["x", "y"], "pay": ["low", "high"]})
    utility = measure(_release(table, policy, {"pay": ["*", "high"]}), table, policy)
    assert (utility["qi_disr"], utility["sa_disr"]) == (0.0, 1 / 2 / 2)
    assert utility["sensitive_replaced_by_attribute"] == {"pay": 1}


def test_what_there_is_none_of_is_not_measured() -> None:
    """Without sensitive attributes nothing is told of them, and without any attribute nothing at all."""
    known = _measured({"town": {"role": "quasi"}}, {"town": ["a", "b"]}, {"town": ["*", "*"]})
    assert known["t_disr"] == known["qi_disr"] == 1 / 2
    assert not {"sa_disr", "sensitive_replaced"} & set(known)
    neither = _measured({"town": {"role": "neutral"}}, {"town": ["a", "b"]}, {})
    assert not {"qi_disr", "sa_disr", "t_disr", "distortion_ratio", "sensitive_replaced"} & set(neither)


def test_what_everybody_shares_cannot_be_distorted() -> None:
    """A star in place of the only value there is costs nothing."""
    utility = _measured({"town": {"role": "quasi"}}, {"town": ["a", "a"]}, {"town": ["*", "*"]})
    assert (utility["qi_disr"], utility["distortion_ratio"]) == (0.0, 0.0)


@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate"])
def test_methods_that_keep_sensitive_values_distort_none(method: str) -> None:
    """Published by methods that leave sensitive values as they are, none is replaced."""
    policy, frame = hospital_policy(publish={"method": method, "suppression": 0.02}), hospital(300)
    release = publish(frame, policy, seed=1)
    utility = measure(release, hold(frame, policy)[0], policy)
    assert utility["sensitive_replaced_by_attribute"] == {"diagnosis": 0, "income": 0, "insurance": 0}
    assert 0 <= utility["distortion_ratio"] <= 1
    assert (utility["sa_disr"] > 0) == (release.suppressed > 0)
    assert (utility["qi_disr"] > utility["sa_disr"]) == (method == "generalize")


def _above(value: str, names: dict[str, set[str]]) -> st.SearchStrategy[str]:
    return st.sampled_from([value, *(name for name, below in names.items() if value in below), "*"])


def _leaves(label: str, domain: set[str]) -> int:
    return len(domain if label == "*" else UNDER.get(label, {label}))


@given(data=st.data())
def test_distortion_agrees_with_looking_at_every_cell(data: st.DataObject) -> None:
    """On any table, recoding and suppression, distortion is a sum over cells."""
    drawn = st.tuples(st.sampled_from(TOWNS), st.sampled_from(ILLS))
    table = data.draw(st.lists(drawn, min_size=1, max_size=10))
    rows = data.draw(st.lists(st.sampled_from(range(len(table))), min_size=1, unique=True))
    towns = [data.draw(_above(table[row][0], {})) for row in rows]
    ills = [data.draw(_above(table[row][1], UNDER)) for row in rows]
    columns: dict[str, list[object]] = {"town": [row[0] for row in table], "ill": [row[1] for row in table]}
    labels: Labels = {"town": [*towns], "ill": [*ills]}
    utility = _measured(
        {"town": {"role": "quasi"}, "ill": ILL}, columns, labels, rows, lists_values=data.draw(st.booleans())
    )
    present, n, hidden = {town for town, _ in table}, len(table), len(table) - len(rows)
    most_town, most_ill = 1 - 1 / len(present), 1 - 1 / len(ILLS)
    of_towns = sum((_leaves(label, present) - 1) / len(present) for label in towns) + hidden * most_town
    of_ills = sum((_leaves(label, set(ILLS)) - 1) / len(ILLS) for label in ills) + hidden * most_ill
    assert utility["qi_disr"] == pytest.approx(of_towns / n)
    assert utility["sa_disr"] == pytest.approx(of_ills / n)
    assert utility["t_disr"] == pytest.approx((of_towns + of_ills) / n)
    assert utility["distortion_ratio"] == pytest.approx((of_towns + of_ills) / (n * (most_town + most_ill)))
    assert utility["sensitive_replaced"] == sum(label not in ILLS for label in ills)


NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=12)


@given(numbers=NUMBERS, data=st.data())
def test_ranges_agree_with_counting_numbers(numbers: list[int], data: st.DataObject) -> None:
    """Whatever the ranges, a cell costs the different numbers of the data between its ends."""
    spread = st.tuples(st.integers(0, 9), st.integers(0, 9))
    ends = [(number - below, number + above) for number in numbers for below, above in [data.draw(spread)]]
    labels: list[str | None] = [f"[{low}, {high}]" for low, high in ends]
    inside = [len({other for other in numbers if low <= other <= high}) for low, high in ends]
    expected = sum(n - 1 for n in inside) / len(set(numbers)) / len(numbers)
    assert _one_column([*numbers], labels, kind="numeric") == pytest.approx(expected)
