"""Paper 001's own group, and its figures on a small registry."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import alpha_beta_k_group, tumour_sections, tumours

DISEASES = {
    "Pain": ["Headache", "Migraine"],
    "Schizotypal disorder": ["Paranoia", "Catatonia"],
    "Affective disorder": ["Depression", "Mania"],
}
SALARIES = {"low": ["5000", "6000"], "high": ["7000", "8000"]}


def sections(**publish):
    """The group as one table: everybody is of the same age."""
    return {
        "attributes": {
            "age": {"role": "quasi"},
            "disease": {"role": "sensitive", "hierarchy": {"tree": DISEASES}},
            "salary": {"role": "sensitive", "kind": "ordinal", "hierarchy": {"tree": SALARIES}},
        },
        "publish": {"method": "alpha-beta-k", "k": 4, "beta": 3, **publish},
    }


@pytest.fixture
def group():
    """The paper's first group."""
    return alpha_beta_k_group().with_columns(age=pl.lit(30))


def finding(release, group, policy):
    """The audit's finding about the disease."""
    found = mv.audit(release, group, policy).findings
    return next(f for f in found if (f.promise, f.attribute) == ("elimination", "disease"))


def test_the_group_leaks(group):
    """Ruling out 6000 leaves Depression twice: α = 1, and the audit says so of the table as it is."""
    policy = sections() | {"guarantee": {"k": 4, "l": 3}, "publish": {"method": "generalize"}}
    release = mv.publish(group, policy, seed=1)
    left = release.tables["main"].filter(pl.col("salary") != 6000)["disease"]
    assert left.to_list() == ["Depression", "Depression"]
    leak = finding(release, group, sections())
    assert (leak.kept, leak.measured, leak.groups_short, leak.rows_short) == (False, 0, 1, 4)


def test_the_rule_mends_it(group):
    """One Depression becomes Affective disorder: ruling out 6000 leaves two values, α = 2."""
    release = mv.publish(group, sections(), seed=1)
    left = release.tables["main"].filter(pl.col("salary") != 6000)["disease"]
    assert sorted(left.to_list()) == ["Affective disorder", "Depression"]
    assert release.notes["sensitive_values_replaced"] == {"disease": 1, "salary": 0}
    mended = finding(release, group, sections())
    assert (mended.kept, mended.measured) == (True, 1)


def test_the_papers_reading(group):
    """The paper looks from salary to disease only; in that order the same value is replaced."""
    order = {"pairs": "consecutive", "sensitive_order": ["salary", "disease"]}
    release = mv.publish(group, sections(**order), seed=1)
    assert release.notes["sensitive_values_replaced"] == {"disease": 1, "salary": 0}


@pytest.mark.parametrize("alpha_reading", ["left", "paper"])
def test_the_second_group(alpha_reading):
    """Ruling out a salary leaves Catatonia twice; one of them becomes Schizotypal disorder, by both readings.

    The copy of the paper tells of this group only that it has four rows, three diseases and three salaries, and what
    is left; which values fill the rest is made up.
    """
    diseases, salaries = ["Migraine", "Mania", "Catatonia", "Catatonia"], [5000, 5000, 7000, 8000]
    second = pl.DataFrame({"age": [60] * 4, "disease": diseases, "salary": salaries})
    order = {"pairs": "consecutive", "sensitive_order": ["salary", "disease"], "alpha_reading": alpha_reading}
    release = mv.publish(second, sections(**order), seed=1)
    left = release.tables["main"].filter(pl.col("salary") != 5000)["disease"]
    assert sorted(left.to_list()) == ["Catatonia", "Schizotypal disorder"]
    assert mv.audit(release, second, sections(**order)).kept


def test_the_papers_label_is_certain(group):
    """Depression is the only affective disorder of the group, so the label is undone; `cover` hides the cell."""
    release = mv.publish(group, sections(), seed=1)
    assert release.notes["certain_labels"] == {"disease": 1, "salary": 0}
    covered = mv.publish(group, sections(climb="cover"), seed=1)
    assert covered.tables["main"]["disease"].to_list().count("*") == 1
    assert covered.notes["certain_labels"] == {"disease": 0, "salary": 0}


def settled(release, quasi, sensitive):
    """How many raised cells have one value that would have leaked in their place, with one elimination."""
    under = {}
    for name in sensitive:
        listed = release.recodings.get(("main", name), pl.DataFrame({"published": [], "original": []}))
        for label, original in listed.cast(pl.String).iter_rows():
            under.setdefault((name, label), set()).add(original)
    found = []
    for _, group in release.tables["main"].cast(pl.String).group_by(quasi):
        rows = group.select(sensitive).rows(named=True)
        for row in rows:
            for name in sensitive:
                values = under.get((name, row[name]), set()) - {row[name]}
                if values:
                    found.append(values & leaking_beside(rows, row, name))
    return sum(len(values) == 1 for values in found), len(found)


def leaking_beside(rows, row, name):
    """The values that ruling out some value of another attribute leaves alone beside a row."""
    alone = set()
    for other in row:
        for out in {each[other] for each in rows} - {row[other]} if other != name else ():
            left = {each[name] for each in rows if each[other] != out and each is not row}
            alone |= left - {row[name]} if len(left - {row[name]}) == 1 else set()
    return alone


def test_raised_labels_can_be_undone():
    """In the registry two thirds are the one value of their group under them; nearly all follow from what leaked."""
    frame = tumours(30_000, seed=1)
    counted = {}
    for climb in ("parent", "cover"):
        publish = {"method": "alpha-beta-k", "k": 5, "beta": 3, "repair": "rule", "climb": climb}
        policy = mv.Policy(**tumour_sections(3) | {"guarantee": {}, "publish": publish})
        release = mv.publish(frame, policy, seed=1)
        n_certain = sum(release.notes["certain_labels"].values())
        assert n_certain == {"parent": 63, "cover": 0}[climb]
        counted[climb] = settled(release, list(policy.quasi), list(policy.sensitive))
    assert counted == {"parent": (90, 93), "cover": (85, 93)}


def test_two_eliminations_need_more_rows(group):
    """Four rows are too few against two eliminations, and the refusal says what leaks."""
    with pytest.raises(mv.InfeasibleError, match="disease: ruling out 2 values of salary leaves one value"):
        mv.publish(group, sections(eliminations=2), seed=1)


def published(frame, n_sensitive, guarantee, publish):
    """Publish the registry's first attributes and measure."""
    policy = tumour_sections(n_sensitive) | {"guarantee": guarantee, "publish": publish}
    return mv.measure(mv.publish(frame, policy, seed=1), frame, policy)


def test_figures_in_small():
    """Discernibility and distortion grow with k; k-l pays as much for the same groups and leaks, ours little more."""
    frame = tumours(3_000, seed=1)
    mondrian = {"method": "generalize", "recoding": "mondrian"}
    measured = {}
    for k in (5, 20, 40):
        ours = published(frame, 3, {}, {"method": "alpha-beta-k", "k": k, "beta": 3})
        plain = published(frame, 3, {"k": k, "l": 3}, mondrian)
        assert ours["discernibility"] <= 1.05 * plain["discernibility"]
        measured[k] = ours
    costs = [(each["discernibility"], each["distortion_ratio"]) for each in measured.values()]
    assert costs == sorted(costs)
    assert all(0 < ratio < 1 for _, ratio in costs)


def test_exponential_diversity_is_coarser():
    """Diversity for those who know the other attributes (Definition 1) needs far larger groups, or has no release."""
    frame = tumours(3_000, seed=1)
    conditional = {"k": 5, "l": 2, "conditional": True}
    with pytest.raises(mv.InfeasibleError):
        published(frame, 3, conditional, {"method": "generalize", "recoding": "mondrian"})
