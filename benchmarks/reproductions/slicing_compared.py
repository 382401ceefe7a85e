"""What the slicing paper tells beside what came out here: its small tables, its columns and its numbers."""

import numpy as np
import polars as pl

import manyveils as mv
from benchmarks.reproductions.bipartitions import PAPER as NUMBERS
from benchmarks.reproductions.clusters import PAPER as COLUMNS
from benchmarks.reproductions.clusters import Clusters, agreement
from benchmarks.reproductions.figures import Figure, near
from benchmarks.reproductions.learning import METHODS, Accuracy
from benchmarks.reproductions.membership import Matches
from manyveils.datasets import slicing_patients

TREES = (
    {"[20-52]": ["22", "33", "52"], "[54-64]": ["54", "60", "64"]},
    {"4790*": ["47905", "47906"], "4730*": ["47302", "47304"]},
)
HALVES = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def tables_1() -> list[Figure]:
    """Table 1(b), generalized, and what tables 1(c) to 1(f) tell of the first patient."""
    frame = slicing_patients().with_columns(pl.col("age").cast(pl.String))
    age, zipcode = ({"role": "quasi", "kind": "categorical", "hierarchy": {"tree": tree}} for tree in TREES)
    roles = {"age": age, "sex": {"role": "quasi"}, "zipcode": zipcode, "disease": {"role": "sensitive"}}
    policy = mv.Policy(attributes=roles, guarantee={"k": 4}, publish={"method": "generalize"})
    shown = {*mv.publish(frame, policy, seed=1).tables["main"].select("age", "sex", "zipcode").rows()}
    wanted = {("[20-52]", "*", "4790*"), ("[54-64]", "*", "4730*")}
    told = {
        "1(c)": believed(frame, (("age", "sex", "zipcode"), ("disease",))),
        "1(e)": believed(frame, (("age",), ("sex",), ("zipcode",), ("disease",))),
        "1(f)": believed(frame, (("age", "sex"), ("zipcode", "disease"))),
    }
    half = {"Dyspepsia": 0.5, "Flu": 0.5}
    return [
        Figure("table 1(b)", "generalized", (("two groups of four, without sex", shown == wanted),), " and ".join(map(", ".join, sorted(shown)))),
        Figure("table 1(c)", "bucketized", (("the first bucket has three diseases", len(told["1(c)"]) == 3),), _told(told["1(c)"])),
        Figure("table 1(e)", "one attribute per column", (("no more is told than of the bucket", told["1(e)"] == told["1(c)"]),), _told(told["1(e)"])),
        Figure("table 1(f)", "sliced", (("(22, M, 47906) has dyspepsia or flu with 0.5 each", told["1(f)"] == half),), _told(told["1(f)"])),
    ]  # fmt: skip


def believed(frame: pl.DataFrame, columns: tuple[tuple[str, ...], ...]) -> dict[str, float]:
    """What a slice tells of the first patient's disease, by the paper's formula."""
    target, weights = frame.row(0, named=True), dict[str, float]()
    for bucket in (frame.filter(half == HALVES) for half in (0, 1)):
        known = [[name for name in column if name != "disease"] for column in columns]
        alike = [bucket.filter(*(pl.col(name) == target[name] for name in names)) for names in known]
        weight = float(np.prod([rows.height / bucket.height for rows in alike]))
        for disease in alike[-1]["disease"]:
            weights[disease] = weights.get(disease, 0.0) + weight / max(alike[-1].height, 1)
    total = sum(weights.values())
    return {disease: round(weight / total, 6) for disease, weight in sorted(weights.items()) if weight > 0}


def _told(beliefs: dict[str, float]) -> str:
    return ", ".join(f"{disease} {share:.2f}" for disease, share in beliefs.items())


def columns(found: list[Clusters]) -> list[Figure]:
    """The five columns of both tables."""
    figures = []
    for table in ("OCC-7", "OCC-15"):
        paper = COLUMNS[table, 5]
        ways = {
            one.discretize: agreement(one.columns, paper)
            for one in found
            if (one.table, len(one.columns)) == (table, 5)
        }
        figures.append(
            Figure(
                f"columns of {table}",
                "attributes clustered into five columns",
                (("its columns", any(share == 1 for way, share in ways.items() if "apart" not in way)),),
                "pairs as in the paper: " + ", ".join(f"{way} {share:.0%}" for way, share in ways.items()),
                "our medoids start at the best points and its own at random; with occupation apart OCC-7 is the paper's",
            )
        )
    return figures


def matching(found: list[Matches]) -> Figure:
    """Fake tuples and matching buckets for two columns of OCC-7 in random buckets of 100."""
    one = next(
        each
        for each in found
        if (each.setting.table, len(each.setting.columns), each.setting.bucket, each.setting.partition)
        == ("OCC-7", 2, 100, "random")
    )
    fakes, many_fakes, many = one.fakes, one.fakes_by[2], one.originals_by[2]
    return Figure(
        "numbers of section 6.2",
        "random buckets of 100, two columns of OCC-7",
        (
            (
                f"{NUMBERS['originals > 20']:,} originals match more than 20 buckets",
                near(many, NUMBERS["originals > 20"]),
            ),
            (f"{NUMBERS['fake tuples']:,} fake tuples", near(fakes, NUMBERS["fake tuples"])),
            (
                f"{NUMBERS['fake tuples > 20']:,} of them match more than 20",
                near(many_fakes, NUMBERS["fake tuples > 20"]),
            ),
            ("fake tuples outnumber originals", fakes > sum(one.originals_by)),
        ),
        f"{many:,.0f}; {fakes:,.0f}; {many_fakes:,.0f}",
        "which columns it took is not told; counted over quasi-identifiers alone fake tuples come near",
    )


def learning(found: list[Accuracy]) -> Figure:
    """What classifiers learn with distinct l, mean over l and classifiers."""
    means = {
        (method, target): float(
            np.mean([share for one in found if (one.method, one.target) == (method, target) and one.l_kind in ("", "distinct") for share in one.shares.values()])
        )
        for method in ("original", *METHODS)
        for target in ("occupation", "education")
    }  # fmt: skip
    sliced = {
        target: max(means[m, target] for m in METHODS if m.startswith("slicing"))
        for target in ("occupation", "education")
    }
    return Figure(
        "sentences on classification",
        "accuracy, mean over distinct l of 5 to 10 and both classifiers, better slice",
        (
            (
                "slicing is better than generalization",
                all(sliced[t] > means["generalization", t] for t in sliced),
            ),
            (
                "and than bucketization where the sensitive attribute matters",
                sliced["occupation"] > means["bucketization", "occupation"],
            ),
            ("sometimes better than the original", any(sliced[t] > means["original", t] for t in sliced)),
        ),
        "; ".join(
            f"{target}: slicing {sliced[target]:.1%}, generalization {means['generalization', target]:.1%}, "
            f"bucketization {means['bucketization', target]:.1%}, original {means['original', target]:.1%}"
            for target in sliced
        ),
        "one split, and rows rebuilt by chance; the paper's l and split are not told",
    )
