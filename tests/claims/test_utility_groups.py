"""Discernibility and class sizes count the groups an adversary sees."""

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.datasets import slicing_patients, versatile_patients, versatile_rules
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promises import promises_of
from manyveils.release import Draft, Release, seal
from manyveils.table import Table, hold
from manyveils.utility import Utility, measure

Rows = list[tuple[str | None, str | None, str]]


def _patients(*, k: int | None = 2) -> tuple[Table, Policy]:
    roles = {"age": "quasi", "sex": "quasi", "zipcode": "quasi", "disease": "sensitive"}
    guarantee = {} if k is None else {"k": k}
    policy = Policy(attributes={name: {"role": role} for name, role in roles.items()}, guarantee=guarantee)
    return hold(slicing_patients(), policy)[0], policy


def _sealed(drafts: list[Draft], table: Table, policy: Policy) -> Release:
    return seal(drafts, table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(1))


def _measured(table: Table, policy: Policy, *drafts: Draft) -> Utility:
    return measure(_sealed(list(drafts), table, policy), table, policy)


HALVES = np.array([0, 0, 0, 0, 1, 1, 1, 1])
ALL = np.arange(8)


def test_rows_with_equal_quasi_identifiers_are_a_group() -> None:
    """Publishing sex and disease alone gives two groups of four: 16 + 16."""
    table, policy = _patients()
    utility = _measured(table, policy, Draft("main", (("sex", "disease"),), ALL))
    assert utility["discernibility"] == 32
    assert utility["average_class_size"] == 4
    assert utility["c_avg"] == 8 / (2 * 2)


def test_rows_left_out_cost_the_whole_table() -> None:
    """Without the first row, sex gives groups of 3 and 4, and the row left out costs 8."""
    table, policy = _patients()
    utility = _measured(table, policy, Draft("main", (("sex", "disease"),), ALL[1:]))
    assert utility["discernibility"] == 9 + 16 + 8
    assert utility["average_class_size"] == 7 / 2
    assert utility["c_avg"] == 8 / (2 * 2)


def test_a_bucket_is_a_group_when_quasi_identifiers_stand_elsewhere() -> None:
    """Anatomy in two buckets of four: 16 + 16."""
    table, policy = _patients()
    draft = Draft("main", (("age", "sex", "zipcode"), ("disease",)), ALL, HALVES)
    assert _measured(table, policy, draft)["discernibility"] == 32


def test_quasi_identifiers_beside_the_sensitive_attribute_divide_a_bucket() -> None:
    """Slicing's Table 1(f) shows zip codes beside diseases: four groups of two."""
    table, policy = _patients()
    utility = _measured(table, policy, Draft("main", (("age", "sex"), ("zipcode", "disease")), ALL, HALVES))
    assert utility["discernibility"] == 4 * 4
    assert utility["average_class_size"] == 2


def test_several_sensitive_columns_count_their_mean() -> None:
    """With one sensitive attribute alone and one beside sex, the two readings are averaged."""
    roles = {"age": "neutral", "sex": "quasi", "zipcode": "sensitive", "disease": "sensitive"}
    policy = Policy(attributes={name: {"role": role} for name, role in roles.items()}, guarantee={"k": 2})
    table = hold(slicing_patients(), policy)[0]
    draft = Draft("main", (("sex", "zipcode"), ("disease",)), ALL, HALVES)
    beside_sex, alone = 1 + 9 + 9 + 1, 16 + 16
    assert _measured(table, policy, draft)["discernibility"] == (beside_sex + alone) / 2


def test_views_without_a_sensitive_attribute_do_not_count() -> None:
    """The mean is over views that tell something sensitive."""
    table, policy = _patients()
    telling, other = Draft("one", (("sex", "disease"),), ALL), Draft("two", (("age", "zipcode"),), ALL)
    assert _measured(table, policy, telling, other)["discernibility"] == 32


def test_a_view_of_nothing_known_is_one_group() -> None:
    """The disease alone, without buckets, makes one group of eight."""
    table, policy = _patients()
    utility = _measured(table, policy, Draft("main", (("disease",),), ALL))
    assert utility["discernibility"] == 64
    assert utility["average_class_size"] == 8


def test_views_that_enforce_a_rule_are_read_by_that_rule() -> None:
    """In (hospital, race | zipcode) with three buckets of two, the buckets are the groups."""
    columns = {name: {"role": "neutral"} for name in versatile_patients().columns}
    policy = Policy(attributes=columns, rules=versatile_rules())
    table = hold(versatile_patients(), policy)[0]
    rule = {"given": ["hospital", "race"], "protect": "zipcode", "l": 2}
    buckets = np.array([0, 1, 0, 1, 2, 2])
    draft = Draft("three", (("hospital", "race"), ("zipcode",)), np.arange(6), buckets, enforces=rule)
    utility = _measured(table, policy, draft)
    assert utility["discernibility"] == 3 * 4
    assert set(utility["loss_by_attribute"]) == {"age", "icd", "gender", "hospital", "race"}


def test_what_is_protected_does_not_divide_groups() -> None:
    """Race is known in one rule and protected in another: where it is told, it makes no groups."""
    columns = {name: {"role": "neutral"} for name in versatile_patients().columns}
    policy = Policy(attributes=columns, rules=versatile_rules())
    table = hold(versatile_patients(), policy)[0]
    utility = _measured(table, policy, Draft("main", (("hospital", "race"),), np.arange(6)))
    assert utility["discernibility"] == 3 * 4


def test_without_k_there_is_no_c_avg() -> None:
    """A measure that does not apply is left out, not made up."""
    table, policy = _patients(k=None)
    utility = _measured(table, policy, Draft("main", (("sex", "disease"),), ALL))
    assert "c_avg" not in utility
    assert "average_class_size" in utility


def test_the_largest_k_that_is_promised_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A k promised by another key than that of the whole table counts too, and the larger one decides."""
    table, policy = _patients(k=2)
    promised = promises_of(policy)
    for k, expected in ((1, 8 / (2 * 2)), (4, 8 / (4 * 2))):
        more = (*promised, Promise(KAnonymity(k), given=policy.quasi))
        monkeypatch.setattr("manyveils.utility.promises_of", lambda _, more=more: more)
        draft = Draft("main", (("sex", "disease"),), ALL)
        assert _measured(table, policy, draft)["c_avg"] == expected


def test_utility_is_a_mapping_fit_for_json() -> None:
    """Keys, iteration and a document agree, and the repr shows numbers only."""
    table, policy = _patients()
    utility = _measured(table, policy, Draft("main", (("age", "sex", "zipcode", "disease"),), ALL))
    assert json.loads(json.dumps(utility.describe())) == dict(utility)
    assert list(utility.keys()) == list(utility)
    assert repr(utility).startswith("<Utility: loss 0, ")
    with pytest.raises(KeyError):
        utility["nothing of the kind"]


VALUES = st.sampled_from(["a", "b", None])
TABLES = st.lists(st.tuples(VALUES, VALUES, st.sampled_from("xyz")), min_size=2, max_size=20)


@given(rows=TABLES, data=st.data())
def test_groups_agree_with_counting_rows_one_by_one(rows: Rows, data: st.DataObject) -> None:
    """With or without buckets, and with missing values, groups are rows that look alike."""
    policy = Policy(attributes={"p": {"role": "quasi"}, "q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    schema = {"p": pl.String, "q": pl.String, "s": pl.String}
    table = hold(pl.DataFrame(rows, schema=schema, orient="row"), policy)[0]
    kept = data.draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True))
    buckets = data.draw(st.lists(st.integers(0, 3), min_size=len(kept), max_size=len(kept)))
    taken = np.array(kept, dtype=np.intp)
    whole = _measured(table, policy, Draft("main", (("p", "q", "s"),), taken))
    sliced = _measured(table, policy, Draft("main", (("p",), ("q", "s")), taken, np.array(buckets)))
    left_out = (len(rows) - len(kept)) * len(rows)
    for utility, groups in (
        (whole, Counter(rows[row][:2] for row in kept)),
        (sliced, Counter((bucket, rows[row][1]) for bucket, row in zip(buckets, kept, strict=True))),
    ):
        assert utility["discernibility"] == sum(size**2 for size in groups.values()) + left_out
        assert utility["average_class_size"] == pytest.approx(len(kept) / len(groups))
