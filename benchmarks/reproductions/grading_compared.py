"""The tables and figures of the grading paper beside what came out here."""

import polars as pl

import manyveils as mv
from benchmarks.reproductions.figures import Figure, near
from benchmarks.reproductions.grading_accuracy import PAPER_GRADED, PAPER_T, Comparison
from benchmarks.reproductions.grading_adult import Graded
from benchmarks.reproductions.grading_distributions import counts
from manyveils.datasets import grading_patients, grading_three_anonymous, grading_two_diverse

TREE = {"respiratory": ["Flu", "Bronchitis"], "digestive": ["Stomach Cancer", "Gastritis"]}


def tables_1_to_4() -> list[Figure]:
    """The small tables, attacked as they stand."""
    linked = _attacked(grading_patients(), "linkage")
    alike = _attacked(grading_three_anonymous(), "homogeneity").by_attribute["disease"]
    diverse = grading_two_diverse()
    near_incomes = _attacked(diverse, "proximity").by_attribute["income"]["worst"]
    group = diverse.filter(age="21-29")["disease"]
    one_of = 1 / group.n_unique()
    by_rows = float((group == "Stomach Cancer").mean() or 0.0)
    return [
        Figure("table I", "patients", [("everybody is alone with age, sex and zip code", linked.certain == 7)], f"{linked.certain} of 7 linked"),
        Figure("table II", "voters", [("has what links them", linked.success == 1.0)], f"linking succeeds with {linked.success:.0%}"),
        Figure("table III", "3-anonymous", [("Bronchitis is certain in a group of three", alike["certain"] == 3)], f"{alike['certain']} certain"),
        Figure(
            "table IV",
            "3-anonymous and 2-diverse",
            [("an income is within 30 with 75 %", near_incomes == 0.75), ("another branch with 50 %", by_rows == 0.5)],
            f"incomes {near_incomes:.0%}, another branch {by_rows:.0%} by rows and {one_of:.0%} by values",
            "the paper counts the values of the group, we count its rows",
        ),
    ]  # fmt: skip


def _attacked(table: pl.DataFrame, name: str) -> mv.Outcome:
    roles = {known: {"role": "quasi", "kind": "categorical"} for known in ("age", "sex", "zipcode")}
    disease = {"role": "sensitive", "hierarchy": {"tree": TREE}}
    policy = mv.Policy(
        attributes=roles | {"income": {"role": "sensitive", "kind": "numeric"}, "disease": disease}
    )
    return mv.attack(mv.publish(table, policy, seed=1), table, policy, only=[name], seed=1)[name]


def figure_2() -> Figure:
    """Grades of one category from 10 to 40."""
    policy = mv.Policy(
        attributes={"sex": {"role": "quasi"}, "age": {"role": "sensitive", "kind": "numeric"}},
        publish={"method": "grade", "categories": [[10, 40]]},
    )
    frame = pl.DataFrame({"sex": ["F", "F"], "age": [21, 22]})
    first, second = sorted(mv.publish(frame, policy, seed=1).tables["main"]["age"].to_list())
    return Figure("figure 2", "graded grouping", [("21 becomes 1.366 and 22 becomes 1.4 between 10 and 40", near(first, 1.366, 0.001) and second == 1.4)], f"{first} and {second}")  # fmt: skip


def table_5(found: Comparison) -> list[Figure]:
    """Table V and figure 4: what a tree learns."""
    ours = {one.target: one.accuracy for one in found.original}
    hidden = {one.target: one.accuracy for one in found.graded}
    others = [target for target in ours if target != "education"]
    told = "; ".join(f"{target}: T {ours[target]:.2f}, T' {hidden[target]:.2f}" for target in ours)
    claims = [
        (f"T {', '.join(f'{value:.2f}' for value in PAPER_T.values())}", all(abs(ours[t] - PAPER_T[t]) <= 1 for t in ours)),
        ("T' equal to T but for education", all(round(ours[t], 2) == round(hidden[t], 2) for t in others)),
        (f"education falls to {PAPER_GRADED['education']:.2f}", abs(hidden["education"] - PAPER_GRADED["education"]) <= 1),
    ]  # fmt: skip
    why = "another tree than Weka's; the income class may have been in the paper's table, and its choices are not known"
    return [Figure("table V", "accuracy on T and T'", claims, told, why), Figure("figure 4", "the same as a picture", claims, told, why)]  # fmt: skip


def distributions(frame: pl.DataFrame, hidden: Graded) -> list[Figure]:
    """Figures 3, 5 and 6."""
    same = counts(frame["workclass"]) == counts(hidden.table["workclass"])
    before, after = frame["education"].n_unique(), hidden.table["education"].n_unique()
    return [
        Figure("figure 3", "workclass in T and T'", [("the same", same)], "the same to the row" if same else "another"),
        Figure("figure 5", "education in T", [], f"{before} values"),
        Figure("figure 6", "education in T'", [("no information is lost", after == before)], f"{after} labels", "codes of groups cannot be told apart, with or without the key"),
    ]  # fmt: skip
