"""The embedded tables are what their docstrings say."""

import hashlib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from manyveils.datasets import (
    alpha_beta_k_group,
    clinic,
    codip_patients,
    discharges,
    hospital,
    hospital_policy,
    hospital_sections,
    slicing_patients,
    versatile_patients,
    versatile_rules,
    write_hospital,
)
from manyveils.datasets.inpatients import DOMAINS
from manyveils.policy import Policy
from manyveils.table import hold, resolve


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    """Enough patients that shares are close to what was meant."""
    return hospital(20_000, seed=4)


def _shares(cells: pl.Series) -> list[float]:
    counted = Counter(atom for cell in cells.to_list() for atom in cell.split("|"))
    return [count / len(cells) for count in counted.values()]


def test_the_same_seed_gives_the_same_patients() -> None:
    """The hospital table depends on its seed and on nothing else."""
    assert hospital(200, seed=3).equals(hospital(200, seed=3))
    assert not hospital(200, seed=3).equals(hospital(200, seed=4))


def test_records_are_unique_and_in_no_order(patients: pl.DataFrame) -> None:
    """A record number names one patient and does not follow the rows."""
    assert patients["record"].n_unique() == patients.height
    assert not patients["record"].is_sorted()


def test_no_sensitive_value_is_too_common_for_l_3(patients: pl.DataFrame) -> None:
    """No diagnosis is held by more than 22 % of patients, no insurance by more than 28 %."""
    assert max(_shares(patients["diagnosis"])) <= 0.22
    assert max(_shares(patients["insurance"])) <= 0.28
    assert 40 <= patients["income"].n_unique() <= 80


def test_some_patients_have_several_diagnoses(patients: pl.DataFrame) -> None:
    """Cells hold one to three different diagnoses, and "None" only by itself."""
    cells = [cell.split("|") for cell in patients["diagnosis"].unique().to_list()]
    assert {len(cell) for cell in cells} == {1, 2, 3}
    assert all(len(set(cell)) == len(cell) for cell in cells)
    assert all(cell == ["None"] for cell in cells if "None" in cell)


def test_few_cells_are_missing(patients: pl.DataFrame) -> None:
    """About one job in two hundred is unknown; besides it and the choice, nothing is missing."""
    missing = {name: patients[name].null_count() / patients.height for name in patients.columns}
    assert 0.003 < missing.pop("job") < 0.007
    assert 0.01 < missing.pop("choice") < 0.02
    assert set(missing.values()) == {0.0}


def test_sensitive_values_hang_together_with_what_is_known(patients: pl.DataFrame) -> None:
    """Age, sex and job tell something of diagnosis, income and insurance."""
    ill = patients.with_columns(pl.col("diagnosis").str.contains("Hypertension"))
    old, young = ill.filter(pl.col("age") > 65), ill.filter(pl.col("age") < 30)
    assert old["diagnosis"].sum() / old.height > 3 * young["diagnosis"].sum() / young.height
    incomes = dict(patients.drop_nulls("job").group_by("job").agg(pl.mean("income")).iter_rows())
    assert incomes["Doctor"] > 2 * incomes["Cook"]
    rich, poor = patients.filter(pl.col("income") > 45), patients.filter(pl.col("income") < 20)
    assert (rich["insurance"] == "Private plus").sum() / rich.height > 0.2
    assert (poor["insurance"] == "Private plus").sum() / poor.height < 0.1


@pytest.mark.parametrize("n", [50, 1000])
def test_the_policy_fits_the_table(n: int) -> None:
    """The hospital table is read by its policy without a complaint, however small it is."""
    policy = hospital_policy()
    table, _ = hold(hospital(n), policy)
    assert resolve(policy, table)
    assert policy.guarantee.k == 5
    assert policy.guarantee.l == 3
    assert len(policy.sensitive) == 3


def test_the_trees_list_every_value() -> None:
    """Every job, diagnosis and insurance that can be drawn has its place in the policy's trees."""
    policy = hospital_policy()
    drawn = {"job": clinic.JOBS, "diagnosis": clinic.DIAGNOSES, "insurance": clinic.INSURANCES}
    for name, values in drawn.items():
        assert {line[0] for line in policy.lines(name) or ()} == set(values)


def test_a_given_section_replaces_the_policys_own() -> None:
    """The caller says how to publish; everything else stays."""
    policy = hospital_policy(publish={"method": "slice", "columns": 3})
    assert policy.publish.method == "slice"
    assert policy.publish.options == {"columns": 3}
    assert policy.guarantee == hospital_policy().guarantee


def test_sections_are_free_to_be_changed() -> None:
    """Changing the sections one was given changes nobody else's."""
    hospital_sections()["guarantee"]["k"] = 99
    assert hospital_policy().guarantee.k == 5


def test_what_is_written_can_be_loaded(tmp_path: Path) -> None:
    """The written policy finds the written table and reads it as the generated one."""
    policy = Policy.load(write_hospital(tmp_path / "try", n=300, seed=5))
    from_file, _ = hold(None, policy)
    from_memory, _ = hold(hospital(300, seed=5), policy)
    assert from_file.n_rows == 300
    for name, column in from_memory.columns.items():
        assert from_file[name].texts == column.texts
        assert (from_file[name].codes == column.codes).all()


def test_slicing_patients_give_the_worked_case() -> None:
    """In the first bucket, 47906 goes with dyspepsia and flu, once each (slicing, Table 1(f))."""
    bucket = slicing_patients().head(4)
    assert sorted(bucket.filter(pl.col("zipcode") == "47906")["disease"]) == ["Dyspepsia", "Flu"]
    assert bucket.filter((pl.col("age") == 22) & (pl.col("sex") == "M")).height == 1


def test_the_alpha_beta_k_group_leaks() -> None:
    """Ruling out a salary of 6000 leaves one disease."""
    group = alpha_beta_k_group()
    assert group.filter(pl.col("salary") != 6000)["disease"].unique().to_list() == ["Depression"]


def test_codip_patients_are_four_with_three_sensitive_attributes() -> None:
    """Hypertension is diagnosed twice and runs in the family twice, in different pairs."""
    patients = codip_patients()
    assert patients["diagnosis"].to_list() == ["HT", "HT", "DB", "AS"]
    assert patients["family_history"].to_list() == ["HT", "DB", "HT", "AS"]
    assert patients["job"].to_list() == ["teacher", "lawyer", "farmer", "teacher"]


def test_versatile_rules_speak_of_the_versatile_table() -> None:
    """The running example's rules are valid for a policy over its columns."""
    columns = {name: {"role": "neutral"} for name in versatile_patients().columns}
    policy = Policy(attributes=columns, rules=versatile_rules(), publish={"method": "guardian"})
    assert [rule.protect for rule in policy.rules] == ["race", "zipcode", "zipcode"]
    assert hold(versatile_patients(), policy)[0].n_rows == 6


@pytest.fixture(scope="module")
def discharged() -> pl.DataFrame:
    """The discharges at full size."""
    return discharges()


def _guessed(rows: pl.DataFrame, known: str, asked: str) -> float:
    """The share of rows in which the most common companion of what is known is the one asked for."""
    pairs = rows.group_by(known, asked).len()
    return float(pairs.group_by(known).agg(pl.max("len"))["len"].sum()) / rows.height


def test_discharges_have_the_domains_of_the_paper(discharged: pl.DataFrame) -> None:
    """The 177,148 discharges have 18 attributes with the domain sizes of versatile publishing (paper 002)."""
    sizes = "323 2 1581 241 22 5 3391 3488 3881 4193 4251 1708 24 396 297 6 15000 17432"
    assert discharged.height == 177_148
    assert [discharged[name].n_unique() for name in discharged.columns] == [int(n) for n in sizes.split()]
    assert sum(discharged.null_count().row(0)) == 0


@pytest.mark.parametrize("seed", [2, 3])
def test_every_seed_gives_full_domains(seed: int) -> None:
    """At full size every value occurs, by whatever seed."""
    rows = discharges(seed=seed)
    assert {name: rows[name].n_unique() for name in rows.columns} == {
        name: size for name, (_, size) in DOMAINS.items()
    }


@pytest.mark.parametrize("n", [500, 177_148])
def test_no_discharge_value_is_too_common_for_l_10(n: int) -> None:
    """Where there are more than ten values, none fills more than one row in eleven."""
    rows = discharges(n)
    for name in (name for name, (_, size) in DOMAINS.items() if size > 10):
        assert rows[name].value_counts()["count"].max() * 11 <= n, name


def test_large_discharge_domains_are_skewed(discharged: pl.DataFrame) -> None:
    """Where there are more than a hundred values, the most common is five times as common as the middle one."""
    for name in (name for name, (_, size) in DOMAINS.items() if size > 100):
        counts = discharged[name].value_counts()["count"]
        assert counts.max() > 5 * counts.median(), name


def test_discharges_depend_on_the_seed_alone() -> None:
    """The same seed gives the same discharges on any machine, another gives others."""
    written = discharges(1000, seed=1).write_csv()
    assert hashlib.sha256(written.encode()).hexdigest() == (
        "a80864368980f2ae44a8691335a9a649b0097d5a965f02afcc19c413828e392c"
    )
    assert discharges(1000, seed=2).write_csv() != written


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_few_discharges(n: int) -> None:
    """Small tables have their n rows, even none."""
    assert discharges(n).shape == (n, 18)


@pytest.mark.parametrize(("low", "high"), [("pat_zip", "county"), ("hcfa_drg", "hcfa_mdc")])
def test_discharges_have_two_exact_dependencies(discharged: pl.DataFrame, low: str, high: str) -> None:
    """A zip code lies in one county and a group in one category, and not the other way round."""
    assert _guessed(discharged, low, high) == 1.0
    assert _guessed(discharged, high, low) < 0.9


@pytest.mark.parametrize(
    ("known", "asked", "better"),
    [
        ("county", "thcic", 3.0),
        ("thcic", "and_md", 4.0),
        ("thcic", "surgeon", 4.0),
        ("prn_diag", "ad_diag", 2.0),
        ("prn_diag", "diag1", 2.0),
        ("diag1", "diag2", 1.5),
        ("diag2", "diag3", 1.5),
        ("prn_diag", "hcfa_drg", 3.0),
        ("prn_diag", "apr_drg", 3.0),
        ("hcfa_mdc", "pat_age", 1.5),
        ("hcfa_mdc", "gender", 1.15),
        ("pat_age", "rsk_mor", 1.3),
    ],
)
def test_discharge_attributes_hang_together(
    discharged: pl.DataFrame, known: str, asked: str, better: float
) -> None:
    """One attribute tells more of another than it would if rows were mixed, but not everything."""
    mixed = discharged.with_columns(pl.col(asked).shuffle(seed=1))
    assert _guessed(discharged, known, asked) > better * _guessed(mixed, known, asked)
    assert _guessed(discharged, known, asked) < 0.9


def test_no_discharge_column_looks_like_numbers() -> None:
    """Every attribute of the discharges is read as categories without being told."""
    columns = {name: {"role": "neutral"} for name in DOMAINS}
    table, _ = hold(discharges(500), Policy(attributes=columns))
    assert {column.kind for column in table.columns.values()} == {"categorical"}
