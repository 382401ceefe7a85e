"""k and risk against a list of the population, which only the owner has."""

import re

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import DataError, InfeasibleError, PolicyError
from tests.claims.test_optimal_node import classes_at, cost_of
from tests.kit.reading import texts_of

TREE = {"office": ["clerk", "lawyer"], "field": ["farmer", "miner"]}
WIDTHS = [5, 20]


def described():
    """Quasi-identifiers with intervals, a tree, a mask and no hierarchy, and a sensitive attribute."""
    return {
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": WIDTHS}},
        "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi", "kind": "categorical"},
        "ill": {"role": "sensitive"},
    }


def stands_for(label, value, name):
    """Whether a label may stand for a value, read off the texts and the policy."""
    if label in ("*", value):
        return True
    if name == "job":
        return value in TREE.get(label, ()) or (label[:1] == "{" and value in label[1:-1].split(", "))
    if name == "zip" and "*" in label:
        return len(label) == len(value) and all(a in ("*", b) for a, b in zip(label, value, strict=True))
    ends = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", label)
    if ends and value:
        return int(ends[1]) <= int(value) <= int(ends[2])
    return label[:1] == "{" and value in label[1:-1].split(", ")


def alike(release, people, quasi):
    """By group of the only view, how many people look like it."""
    groups = set(zip(*(texts_of(release, "main", name) for name in quasi), strict=True))
    rows = [
        tuple("" if cell is None else str(cell) for cell in row) for row in people.select(quasi).iter_rows()
    ]
    return {group: sum(all(map(stands_for, group, row, quasi)) for row in rows) for group in groups}


@st.composite
def tables(draw):
    """A table and a list of people that has at least all of them."""
    jobs = [job for listed in TREE.values() for job in listed]

    def rows(n, ages):
        column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
        return {
            "age": pl.Series(column(ages), dtype=pl.Int64),
            "job": column(jobs),
            "zip": column(["100", "101", "110", "211"]),
            "sex": column(["f", "m"]),
        }

    n, n_more = draw(st.integers(1, 8)), draw(st.integers(0, 30))
    data = pl.DataFrame(rows(n, [20, 21, 26, None]))
    more = pl.DataFrame(rows(n_more, [19, 20, 23, 26, 44, None]), schema=data.schema)
    ill = pl.Series(
        "ill", draw(st.lists(st.sampled_from(["flu", "cold"]), min_size=n, max_size=n)), dtype=pl.String
    )
    return data.with_columns(ill), pl.concat([data, more])


def policy_of(people, folder, **sections):
    """A policy that names a list of people."""
    people.write_csv(folder / "people.csv")
    return mv.Policy(attributes=described(), population={"source": str(folder / "people.csv")}, **sections)


QUASI = ("age", "job", "zip", "sex")
RECODINGS = [{}, {"suppression": 0.3}, {"recoding": "mondrian"}, {"recoding": "mondrian", "labels": "sets"}]


@pytest.mark.parametrize("publish", RECODINGS, ids=str)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(both=tables(), k=st.integers(1, 4), k_map=st.integers(1, 6))
def test_people_who_look_like_a_group_are_counted(publish, tmp_path_factory, both, k, k_map):
    """The audit finds the smallest number of people who look like a group, as reading every text says."""
    data, people = both
    try:
        release = mv.publish(
            data, mv.Policy(attributes=described(), guarantee={"k": k}, publish=publish), seed=1
        )
    except (PolicyError, InfeasibleError):
        return
    asked = policy_of(
        people, tmp_path_factory.mktemp("people"), guarantee={"k_map": k_map, "journalist_risk": 0.3}
    )
    try:
        verdict = mv.audit(release, data, asked)
    except PolicyError:
        assert people.height < max(k_map, 4)
        return
    least = min(alike(release, people, QUASI).values())
    [by_k] = [one for one in verdict.findings if one.promise == "k-map"]
    assert (by_k.measured, by_k.kept) == (least, least >= k_map)
    [by_risk] = [one for one in verdict.findings if one.promise == "journalist-risk"]
    assert (by_risk.measured, by_risk.kept) == (pytest.approx(1 / least), least >= 4)


@pytest.mark.parametrize("suppression", [0.0, 0.4])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(both=tables(), k_map=st.integers(1, 8))
def test_the_optimum_is_exact_against_a_population(suppression, tmp_path_factory, both, k_map):
    """Full-domain recoding finds the cheapest node whose groups look like so many people, and refuses if there is none."""
    from itertools import product

    from manyveils.table import hold

    data, people = both
    sections = {"guarantee": {"k_map": k_map}, "publish": {"suppression": suppression}}
    policy = policy_of(people, tmp_path_factory.mktemp("people"), **sections)
    table, _ = hold(data, mv.Policy(attributes=described()))
    limit, costs = int(suppression * data.height + 1e-9), []
    for node in product(*(range(len(table[name].levels)) for name in QUASI)):
        groups = classes_at(node, table, QUASI)
        labels = {
            key: [
                table[name].levels[level].labels[label]
                for name, level, label in zip(QUASI, node, key, strict=True)
            ]
            for key in groups
        }
        rows = [tuple("" if cell is None else str(cell) for cell in row) for row in people.iter_rows()]
        fine = {
            key: own
            for key, own in groups.items()
            if sum(all(map(stands_for, labels[key], row, QUASI)) for row in rows) >= k_map
        }
        lost = {key: own for key, own in groups.items() if key not in fine}
        if fine and sum(map(len, lost.values())) <= limit:
            costs.append(cost_of("loss", node, fine, lost, table, QUASI))
    try:
        release = mv.publish(data, policy, seed=1)
    except (PolicyError, InfeasibleError):
        assert not costs
        return
    assert release.notes["cost"] == pytest.approx(min(costs), rel=1e-12)


PEOPLE = pl.DataFrame({"age": [20, 21, 21, 26], "job": ["clerk"] * 4, "zip": ["100"] * 4, "sex": ["f"] * 4})
DATA = PEOPLE.head(2).with_columns(ill=pl.Series(["flu", "cold"]))


def test_nothing_of_the_population_is_published(tmp_path):
    """The manifest says that k-map is promised, and neither who the population is nor how many; files list data's values only."""
    policy = policy_of(PEOPLE, tmp_path, guarantee={"k_map": 3})
    release = mv.publish(DATA, policy, seed=1)
    release.save(tmp_path / "out")
    written = "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert '"k-map"' in written
    assert "people.csv" not in written
    assert "26" not in written.replace("[25, 29]", "")


def test_persons_with_several_rows_look_like_people_of_the_list_in_each(tmp_path):
    """Two rows of a person are two groups that must look like enough people; who goes, goes with both."""
    data = pl.DataFrame(
        {
            "who": ["a", "a", "b", "c"],
            "age": [20, 26, 20, 26],
            "job": ["clerk"] * 4,
            "zip": ["100"] * 4,
            "sex": ["f"] * 4,
            "ill": ["flu", "cold", "flu", "cold"],
        }
    )
    sections = {
        "data": {"person": "who"},
        "attributes": {"who": {"role": "identifier"}} | described(),
        "guarantee": {"k_map": 2},
    }
    few = data.drop("who", "ill").filter(pl.col("age") == 20)
    few.vstack(data.drop("who", "ill").head(2).tail(1)).write_csv(tmp_path / "people.csv")
    source = {"source": str(tmp_path / "people.csv")}
    whole = mv.Policy(**sections, population=source, publish={"suppression": 0.0})
    release = mv.publish(data, whole, seed=1)
    assert alike(release, pl.read_csv(tmp_path / "people.csv", infer_schema=False), QUASI) == {
        ("[20, 39]", "clerk", "100", "f"): 3
    }
    # Of the three, those two go who look like nobody but one person where the level stays low.
    lax = mv.Policy(**sections, population=source, publish={"suppression": 0.7, "objective": "height"})
    assert mv.audit(mv.publish(data, lax, seed=1), data, lax).kept


def test_strangers_look_like_nobody(tmp_path):
    """People whose values a hierarchy does not list count for no group, not even under *."""
    more = pl.concat([PEOPLE, PEOPLE.with_columns(job=pl.lit("astronaut"))])
    verdict = mv.audit(
        mv.publish(DATA, mv.Policy(attributes=described(), guarantee={"k": 2}), seed=1),
        DATA,
        policy_of(more, tmp_path, guarantee={"k_map": 3}),
    )
    [finding] = [one for one in verdict.findings if one.promise == "k-map"]
    assert finding.measured == 3


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (PEOPLE.drop("sex"), "population: has no column 'sex'."),
        (
            PEOPLE.with_columns(zip=pl.lit("10000")),
            "population: zip: is not written as in the data: its values are longer",
        ),
        (PEOPLE.with_columns(age=pl.lit(20.25)), "its numbers have more decimals"),
        (PEOPLE.with_columns(age=pl.lit("young")), "population: age: 4 of"),
    ],
)
def test_lists_that_do_not_fit_are_refused(tmp_path, people, words):
    """A list without a column, or written otherwise than the data, is bad input and says what is wrong."""
    policy = policy_of(people, tmp_path, guarantee={"k_map": 2})
    with pytest.raises(DataError, match=re.escape(words)):
        mv.publish(DATA, policy)


def test_a_population_that_is_missing_or_too_small_is_refused(tmp_path):
    """A missing file is bad input, and so is a k-map that the whole list is too small for; a promise needs a list."""
    with pytest.raises(DataError, match="population"):
        mv.publish(DATA, mv.Policy(attributes=described(), population={"source": str(tmp_path / "none.csv")}))
    with pytest.raises(PolicyError, match="k-map needs 5 people who look alike, and the population has 4"):
        mv.publish(DATA, policy_of(PEOPLE, tmp_path, guarantee={"k_map": 5}))
    with pytest.raises(PolicyError, match="no list of them is given"):
        mv.Policy(attributes=described(), guarantee={"k_map": 5})


@pytest.mark.parametrize(
    "method", ["anatomize", "slice", "codip", "guardian", "multi-sa", "separate", "alpha-beta-k"]
)
def test_methods_that_do_not_look_at_the_population_refuse(tmp_path, method):
    """What makes groups without a look at the population refuses to count it, with the way out."""
    policy = policy_of(PEOPLE, tmp_path, guarantee={"k_map": 2}, publish={"method": method})
    with pytest.raises(InfeasibleError, match="full-domain"):
        mv.publish(DATA, policy)


def test_values_that_read_like_labels_are_told_apart(tmp_path):
    """Where a value of the data reads like the label of all, what the release lists says which is meant."""
    data = pl.DataFrame(
        {"age": [1, 2, 3, 4] * 3, "job": ["[1, 2]", "{a, b}", "*", "x"] * 3, "ill": ["flu", "cold"] * 6}
    )
    data.drop("ill").write_csv(tmp_path / "people.csv")
    roles = {"age": {"role": "quasi"}, "job": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    for k_map, alike_ in ((3, 3), (4, 12)):
        policy = mv.Policy(
            attributes=roles,
            population={"source": str(tmp_path / "people.csv")},
            guarantee={"k_map": k_map},
        )
        verdict = mv.audit(mv.publish(data, policy, seed=1), data, policy)
        assert [one.measured for one in verdict.findings if one.promise == "k-map"] == [alike_]
