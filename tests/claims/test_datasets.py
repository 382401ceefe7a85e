"""The embedded tables are what their docstrings say."""

import hashlib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from manyveils.datasets import (
    alpha_beta_k_group,
    codip_patients,
    discharges,
    hospital,
    hospital_policy,
    hospital_sections,
    slicing_patients,
    tumour_policy,
    tumour_sections,
    tumours,
    versatile_patients,
    versatile_rules,
    write_hospital,
)
from manyveils.datasets.inpatients import DOMAINS
from manyveils.datasets.patients import clinic
from manyveils.datasets.registry import CLOSED, COLUMNS, FACTS, LARGEST, SENSITIVE, TREES, Tree
from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.policy.hierarchies import tree_lines
from manyveils.run import publish
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
    drawn = {"job": clinic.jobs, "diagnosis": clinic.diagnoses, "insurance": clinic.insurances}
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
    for name, column in from_memory.attributes.items():
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
    assert {column.kind for column in table.attributes.values()} == {"categorical"}


@pytest.fixture(scope="module")
def registered() -> pl.DataFrame:
    """The tumour registry at full size."""
    return tumours()


def test_tumours_have_the_attributes_of_the_paper(registered: pl.DataFrame) -> None:
    """A record number, six quasi-identifiers, and the six sensitive attributes of paper 001 in its order."""
    assert registered.shape == (30_000, 13)
    assert registered.columns[-6:] == [
        "tumor_topography",
        "histology",
        "survival_years",
        "diagnosis_date",
        "age_at_diagnosis",
        "tumor_size",
    ]
    assert sum(registered.null_count().row(0)) == 0
    assert registered["record"].n_unique() == registered.height
    assert not registered["record"].is_sorted()


def test_tumours_depend_on_the_seed_alone() -> None:
    """The same seed gives the same records on any machine, another gives others."""
    written = tumours(1000, seed=1).write_csv()
    assert hashlib.sha256(written.encode()).hexdigest() == (
        "a6a9f70804b4223c16759535f7e6d94ce36ecf9bbc5c89c52b25a8a717b86839"
    )
    assert tumours(1000, seed=2).write_csv() != written


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_few_tumours(n: int) -> None:
    """Small registries have their n records, even none."""
    assert tumours(n).shape == (n, 13)


def test_age_follows_from_birth_and_diagnosis(registered: pl.DataFrame) -> None:
    """Between the year of birth and that of diagnosis lie as many birthdays as the age says, or one more."""
    year = registered["diagnosis_date"].str.slice(0, 4).cast(pl.Int64)
    not_yet = year - registered["birth_year"] - registered["age_at_diagnosis"]
    assert set(not_yet.unique()) == {0, 1}
    in_december = not_yet.filter(registered["diagnosis_date"].str.ends_with("-12"))
    assert in_december.sum() == 0
    assert registered["age_at_diagnosis"].is_between(0, 99).all()


def test_nobody_is_followed_beyond_the_end_of_the_registry(registered: pl.DataFrame) -> None:
    """Survival is between none and the years from diagnosis to the closing of the registry."""
    year = registered["diagnosis_date"].str.slice(0, 4).cast(pl.Int64)
    assert (registered["survival_years"] + year).max() == CLOSED - 1
    assert registered["survival_years"].min() == 0
    assert registered["survival_years"].max() == 20
    assert registered["tumor_size"].is_between(1, LARGEST).all()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SENSITIVE)
def test_no_tumour_value_is_too_common_for_l_8(name: str, seed: int) -> None:
    """No value of a sensitive attribute fills more than one record in eight."""
    values = tumours(seed=seed)[name]
    assert values.value_counts()["count"].max() * 8 <= len(values)


def leaves(tree: Tree) -> tuple[str, ...]:
    """The values of a tree in the order in which it lists them."""
    return tuple(line[0] for line in tree_lines(tree))


def test_facts_of_tumours_are_told_of_the_same_values() -> None:
    """Sites and histologies stand in the same order in every table of facts."""
    sites, types = leaves(TREES["tumor_topography"]), leaves(TREES["histology"])
    assert sites == tuple(FACTS.sites) == tuple(FACTS.histologies_by_site)
    assert all(set(row) <= set(types) for row in FACTS.histologies_by_site.values())
    lengths = {family: len(years) for family, years in FACTS.years_by_family.items()}
    assert lengths == {family: len(members) for family, members in TREES["histology"].items()}
    assert set(FACTS.exposures) <= set(sites)


def test_every_value_of_the_trees_occurs(registered: pl.DataFrame) -> None:
    """At full size the registry has all values its hierarchies list, and no others."""
    for name, tree in TREES.items():
        assert set(registered[name].unique()) == set(leaves(tree)), name


def test_organs_go_with_sexes(registered: pl.DataFrame) -> None:
    """Women have no prostate and men no ovary; both may have tumours of the breast."""
    held = set(registered.select("sex", "tumor_topography").unique().iter_rows())
    assert not held & {("F", "Prostate"), ("F", "Testis"), ("M", "Ovary"), ("M", "Uterus"), ("M", "Cervix")}
    assert {("F", "Breast"), ("M", "Breast")} <= held


@pytest.mark.parametrize(
    ("known", "asked", "better"),
    [
        ("tumor_topography", "histology", 4.0),
        ("histology", "tumor_topography", 3.0),
        ("age_at_diagnosis", "birth_year", 2.5),
        ("education", "occupation", 1.3),
        ("sex", "occupation", 1.2),
    ],
)
def test_tumour_attributes_hang_together(
    registered: pl.DataFrame, known: str, asked: str, better: float
) -> None:
    """One attribute tells more of another than it would if records were mixed, but not everything."""
    mixed = registered.with_columns(pl.col(asked).shuffle(seed=1))
    assert _guessed(registered, known, asked) > better * _guessed(mixed, known, asked)
    assert _guessed(registered, known, asked) < 0.9


def test_survival_falls_with_age_and_size(registered: pl.DataFrame) -> None:
    """Histologies differ in years, and with the same one, old people and large tumours have fewer."""
    years = dict(registered.group_by("histology").agg(pl.mean("survival_years")).iter_rows())
    assert years["Seminoma"] > 5 * years["Glioblastoma"]
    same = registered.filter(pl.col("histology") == "Tubular adenocarcinoma")
    for name in ("age_at_diagnosis", "tumor_size"):
        low, high = (same[name].quantile(share) for share in (0.25, 0.75))
        few, many = same.filter(pl.col(name) < low), same.filter(pl.col(name) > high)
        assert few["survival_years"].mean() > 1.2 * many["survival_years"].mean(), name


def test_miners_have_more_tumours_of_the_lung(registered: pl.DataFrame) -> None:
    """What people do and where they live tells of their tumours."""
    lung = pl.col("tumor_topography") == "Lung"
    everyone = registered.select(lung.mean()).item()
    for name, value in (("occupation", "Miner"), ("region", "Irondale")):
        assert registered.filter(pl.col(name) == value).select(lung.mean()).item() > 1.5 * everyone


@pytest.mark.parametrize("n_sensitive", [1, 4, 6])
def test_tumours_can_be_published(n_sensitive: int) -> None:
    """The registry's policy publishes 2,000 records with so many of the sensitive attributes, in their order."""
    policy = tumour_policy(n_sensitive)
    release = publish(tumours(2000), policy, seed=1)
    assert policy.sensitive == SENSITIVE[:n_sensitive]
    assert release.tables["main"].columns == [*policy.quasi, *policy.sensitive]
    assert release.rows == 2000


def test_every_tumour_attribute_has_a_hierarchy(registered: pl.DataFrame) -> None:
    """All attributes but sex become coarser in two steps or more; sensitive ones too, also if they are left out."""
    table, _ = hold(registered, tumour_policy())
    assert {name for name, column in table.attributes.items() if len(column.levels) < 3} == {"sex"}
    attributes = tumour_sections(n_sensitive=1)["attributes"]
    assert tuple(attributes) == COLUMNS
    assert all("hierarchy" in attributes[name] for name in SENSITIVE)


def test_months_stand_in_quarters_years_and_decades() -> None:
    """A month is in its quarter, its year and its decade."""
    lines = tumour_policy().lines("diagnosis_date") or ()
    assert len(lines) == 120
    assert ("2009-12", "2009-Q4", "2009", "2000s", "*") in lines
    assert ("2010-01", "2010-Q1", "2010", "2010s", "*") in lines


def test_tumour_sections_are_free_to_be_changed() -> None:
    """Changing the sections one was given changes nobody else's, and a given section replaces the policy's own."""
    sections = tumour_sections()
    sections["attributes"]["region"]["hierarchy"]["tree"]["Inland"].clear()
    sections["attributes"]["tumor_size"]["hierarchy"]["widths"].append(0)
    assert tumour_policy() == tumour_policy(**tumour_sections())
    assert len(tumour_policy().lines("region") or ()) == 16
    assert tumour_policy(guarantee={"k": 7}).guarantee.k == 7


@pytest.mark.parametrize("n", [-1, 1.5, "many"])
def test_tumours_are_counted_in_whole_numbers(n: int) -> None:
    """A number of records below none, or no whole one, is refused; none gives an empty table."""
    with pytest.raises(InputError, match=r"tumours: n is .* and must be 0 or more"):
        tumours(n)
    assert tumours(0).height == 0


@pytest.mark.parametrize("n_sensitive", [0, 7, 1.5, "two"])
def test_there_are_six_sensitive_tumour_attributes(n_sensitive: int) -> None:
    """Asking for none or for more than six sensitive attributes is refused."""
    with pytest.raises(InputError, match="must be from 1 to 6"):
        tumour_sections(n_sensitive)
