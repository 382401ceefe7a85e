"""Slicing: the paper's worked case, and small versions of what docs/reproductions/slicing.md does."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from benchmarks.reproductions import occ
from benchmarks.reproductions.occ import OCC7, OCC15
from manyveils.methods.slice.buckets import Region, beliefs
from manyveils.methods.slice.layout import class_of_values, correlations, medoid_clusters
from manyveils.release.draft import Draft
from manyveils.release.seal import seal
from manyveils.table import hold
from manyveils.utility.comparison import Comparison
from manyveils.utility.membership import tuples_of

TWO = [["age", "marital-status", "sex"], ["workclass", "education", "race", "occupation"]]

needs_adult = pytest.mark.skipif(not occ.is_here(), reason=occ.MISSING)


@pytest.fixture(scope="module")
def adult():
    """OCC-7: seven attributes of the 45,222 complete rows."""
    return occ.read(OCC7)


def occ7(guarantee, **publish):
    """A policy for OCC-7: occupation is sensitive, the rest are quasi-identifiers."""
    attributes = {name: {"role": "quasi"} for name in OCC7}
    attributes |= {"age": {"role": "quasi", "kind": "numeric"}, "occupation": {"role": "sensitive"}}
    return mv.Policy(attributes=attributes, guarantee=guarantee, publish={"method": "slice", **publish})


def numbered(*cells):
    """One number per row for its cells, without gaps."""
    return np.array([sorted(set(zip(*cells, strict=True))).index(row) for row in zip(*cells, strict=True)])


def test_table_1f():
    """For t1 = (22, M, 47906) of Table 1(f), dyspepsia and flu are believed with 0.5 each, and nothing else."""
    age, sex = [22, 22, 33, 52, 54, 60, 60, 64], "MFFFMMMF"
    zipcode = [47906, 47906, 47905, 47905, 47302, 47302, 47304, 47304]
    diseases = ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"]
    names = sorted(set(diseases))
    first, second = numbered(age, sex), numbered(zipcode)
    regions = tuple(
        Region(column, of_row, int(of_row.max()) + 1, {})
        for column, of_row in ((("age", "sex"), first), (("zipcode", "disease"), second))
    )
    protected = np.array([names.index(disease) for disease in diseases])
    belief = beliefs(regions, 1, protected, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    # Targets are numbered in the order of their values.
    t1 = sorted(set(zip(first.tolist(), second.tolist(), strict=True))).index((int(first[0]), int(second[0])))
    told = {
        names[value]: float(share)
        for target, value, share in zip(belief.targets, belief.values, belief.shares, strict=True)
        if target == t1 and share > 0
    }
    assert told == pytest.approx({"dyspepsia": 0.5, "flu": 0.5})
    assert belief.candidates[t1] == 2


TREES = (
    {"[20-52]": ["22", "33", "52"], "[54-64]": ["54", "60", "64"]},
    {"4790*": ["47905", "47906"], "4730*": ["47302", "47304"]},
)
BUCKETS = np.array([0, 0, 0, 0, 1, 1, 1, 1])
SLICED = {
    "c": (("age", "sex", "zipcode"), ("disease",)),
    "e": (("age",), ("sex",), ("zipcode",), ("disease",)),
    "f": (("age", "sex"), ("zipcode", "disease")),
}


def table_1(letter):
    """One of the tables 1(b) to 1(f), made of 1(a), and what it is compared with."""
    frame = mv.datasets.slicing_patients().with_columns(pl.col("age").cast(pl.String))
    age, zipcode = ({"role": "quasi", "kind": "categorical", "hierarchy": {"tree": tree}} for tree in TREES)
    attributes = {"age": age, "sex": {"role": "quasi"}, "zipcode": zipcode, "disease": {"role": "sensitive"}}
    policy = mv.Policy(attributes=attributes, guarantee={"k": 4}, publish={"method": "generalize"})
    table, restore = hold(frame, policy)
    if letter == "b":
        return mv.publish(frame, policy, seed=1), frame, policy
    draft = Draft("main", SLICED[letter], np.arange(8), BUCKETS)
    return seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(1)), frame, policy


def test_table_1b():
    """The generalized table is the one with four alike that loses least: ages and zip codes by half, and no sex."""
    release, frame, policy = table_1("b")
    main = release.tables["main"]
    assert {*main.select("age", "sex", "zipcode").rows()} == {
        ("[20-52]", "*", "4790*"),
        ("[54-64]", "*", "4730*"),
    }
    halves = {label: sorted(rows["disease"]) for (label,), rows in main.group_by("age")}
    assert halves["[54-64]"] == ["Dyspepsia", "Dyspepsia", "Flu", "Gastritis"]
    assert mv.audit(release, frame, policy).kept


@pytest.mark.parametrize("letter", SLICED)
def test_tables_1c_to_1f(letter):
    """Bucketization, one attribute per column and the sliced table have the paper's cells in each bucket."""
    release, frame, policy = table_1(letter)
    for file in release.views[0].files:
        shown = release.tables[file.table]
        for number, half in shown.group_by("bucket"):
            own = [frame[4 * side : 4 * side + 4].select(file.attributes).rows() for side in (0, 1)]
            assert sorted(half.select(file.attributes).rows()) in map(sorted, own), number
    assert mv.audit(release, frame, policy.replaced(guarantee={"l": 2})).kept


def test_slicing_tells_more_than_recoding_of_the_same_partition():
    """§3.2: what 1(f) implies is nearest to 1(a), then one attribute per column, then labels (paper: the same order)."""
    kl = {letter: mv.measure(*table_1(letter))["kl"] for letter in "bef"}
    assert kl["f"] < kl["e"] < kl["b"]


@needs_adult
def test_adult_has_its_rows(adult):
    """Without unknown cells there are 45,222 rows, as in the paper."""
    assert adult.height == 45_222


@needs_adult
def test_originals_with_many_matching_buckets(adult):
    """In random buckets of 100 and two columns, about 31,656 originals match more than 20 buckets (paper: 31,452)."""
    policy = occ7({"k": 1}, columns=TWO, partition="random", bucket=100)
    release = mv.publish(adult, policy, seed=1)
    assert release.notes["buckets"] == 452
    comparison = Comparison(release, hold(adult, policy)[0], policy)
    tuples = tuples_of(comparison, release.views[0])
    assert tuples.weight[tuples.is_original].sum() == adult.height
    many = tuples.matches > 20
    assert tuples.weight[tuples.is_original & many].sum() == pytest.approx(31_656, rel=0.02)
    assert tuples.fakes > adult.height


@needs_adult
def test_l_above_the_most_common_value_is_refused(adult):
    """The most common occupation has 6,020 of 45,222 rows: frequency l = 7 is published, 8 is refused with 7 named."""
    frequency = {"l_kind": "frequency"}
    assert mv.publish(adult, occ7({"l": 7, **frequency}, columns=2), seed=1).rows == adult.height
    with pytest.raises(mv.InfeasibleError, match=r"6020 of 45222 rows.*Lower l to 7"):
        mv.publish(adult, occ7({"l": 8, **frequency}, columns=2), seed=1)


def clusters(frame, n_columns, discretize="equal-width", names=OCC7):
    """Columns of attributes found by correlation, as sets."""
    table, _ = hold(frame, occ7({"k": 1}))
    distance = 1 - correlations(table, names, discretize=discretize, bins=10)
    return {frozenset(names[place] for place in cluster) for cluster in medoid_clusters(distance, n_columns)}


@needs_adult
def test_two_columns_are_stable(adult):
    """Two columns of OCC-7 are the same whatever the order of rows, and the same for most halves of the table."""
    whole = clusters(adult, 2)
    assert whole == {frozenset({"education"}), frozenset(OCC7) - {"education"}}
    assert clusters(adult.sample(fraction=1, shuffle=True, seed=1), 2) == whole
    halves = [clusters(adult.sample(fraction=0.5, seed=seed), 2) for seed in range(5)]
    assert halves.count(whole) >= 4


@needs_adult
@pytest.mark.parametrize("discretize", ["equal-width", "cluster"])
def test_five_columns_keep_sex_with_marital_status_and_occupation(adult, discretize):
    """Five columns of OCC-7 keep marital status, sex and occupation together and part everything else."""
    together = frozenset({"marital-status", "sex", "occupation"})
    alone = {frozenset({name}) for name in OCC7 if name not in together}
    assert clusters(adult, 5, discretize) == {together, *alone}


@needs_adult
def test_clusters_of_numbers_give_the_papers_columns_but_education():
    """With numbers in clusters, five columns of OCC-15 agree with the paper's in 86 % of pairs; hours are not one class."""
    frame = occ.read(OCC15)
    policy = occ.policy(OCC15, {"k": 1}, {"method": "slice"})
    table, _ = hold(frame, policy)
    hours = class_of_values(table["hours"], discretize="cluster", bins=10)[table["hours"].codes]
    assert np.bincount(hours).max() == 22_483
    distance = 1 - correlations(table, OCC15, discretize="cluster", bins=10)
    found = {frozenset(OCC15[place] for place in cluster) for cluster in medoid_clusters(distance, 5)}
    assert found == {
        frozenset({"education", "education-num"}),
        frozenset({"marital-status", "occupation", "relationship", "sex"}),
        frozenset({"race", "native-country"}),
        frozenset({"final-weight"}),
        frozenset({"age", "workclass", "capital-gain", "capital-loss", "hours", "salary"}),
    }


@needs_adult
def test_occupation_apart_gives_the_papers_columns(adult):
    """Four columns of the six quasi-identifiers, with occupation apart, are the paper's five columns of OCC-7."""
    paper = {
        frozenset({"age", "marital-status", "sex"}),
        *(frozenset({name}) for name in ("workclass", "education", "race")),
    }
    assert clusters(adult, 4, names=OCC7[:-1]) == paper
