"""Adult as the grading paper uses it: age and education are sensitive, and everybody makes a choice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import manyveils as mv
from benchmarks.reproductions import occ
from manyveils.keys import Key

SEED = 1
NAMES = ("age", "sex", "race", "workclass", "education", "marital-status", "occupation")
QUASI = ("sex", "race", "workclass", "marital-status", "occupation")
ROW, CHOICE = "row", "choice"
Tree = Mapping[str, Mapping[str, list[str]]]

TAXONOMY: Tree = {
    "no diploma": {
        "elementary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "high school, left": ["9th", "10th", "11th", "12th"],
    },
    "diploma": {
        "high school or some college": ["HS-grad", "Some-college"],
        "associate degree": ["Assoc-voc", "Assoc-acdm"],
    },
    "degree": {
        "first degree": ["Bachelors"],
        "higher degree": ["Masters", "Doctorate", "Prof-school"],
    },
}
GROUP_OF = {
    leaf: group for groups in TAXONOMY.values() for group, leaves in groups.items() for leaf in leaves
}
BRANCH_OF = {
    leaf: branch for branch, groups in TAXONOMY.items() for leaves in groups.values() for leaf in leaves
}
LEAVES = tuple(GROUP_OF)
# Groups of one: then the code of choice 2 stands for a single value too.
APART: Tree = {branch: {leaf: [leaf] for leaf in LEAVES if BRANCH_OF[leaf] == branch} for branch in TAXONOMY}

# The common values are in the open and those without a diploma are hidden, as flu and cancer in the paper.
COMMON = {
    "elementary school": 3,
    "high school, left": 3,
    "high school or some college": 1,
    "associate degree": 2,
    "first degree": 1,
    "higher degree": 2,
}
BRANCHES = {"no diploma": 3, "diploma": 2, "degree": 1}
RULES: dict[str, dict[str, int]] = {
    "by how common": {leaf: COMMON[GROUP_OF[leaf]] for leaf in LEAVES},
    "by branch": {leaf: BRANCHES[BRANCH_OF[leaf]] for leaf in LEAVES},
    "all 1": dict.fromkeys(LEAVES, 1),
    "all 2": dict.fromkeys(LEAVES, 2),
    "all 3": dict.fromkeys(LEAVES, 3),
}


@dataclass(frozen=True)
class Choosing:
    """Who chooses what: a choice for every value, and the share of people who choose otherwise."""

    rule: str = "by how common"
    exceptions: float = 0.05
    tree_name: str = "groups"

    @property
    def tree(self) -> Tree:
        """What choice 2 is generalized by."""
        return TAXONOMY if self.tree_name == "groups" else APART


@dataclass(frozen=True)
class Grading:
    """How ages are graded; by default as the package does it."""

    categories: int = 5
    spacing: str = "equal-width"


MAIN = Choosing()
DEFAULT = Grading()


@dataclass(frozen=True)
class Graded:
    """The graded table in the order of the original's rows, and what it means."""

    table: pl.DataFrame
    key: Key


def read() -> pl.DataFrame:
    """The table T of the paper: 45,222 rows with seven attributes, ages as numbers."""
    return occ.read(NAMES).with_columns(pl.col("age").cast(pl.Int64))


def chosen(frame: pl.DataFrame, choosing: Choosing) -> pl.Series:
    """Everybody's choice; exceptions are drawn row by row and take one of the two other choices."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    usual = frame["education"].replace_strict(RULES[choosing.rule], return_dtype=pl.Int64).to_numpy()
    is_exception = rng.random(frame.height) < choosing.exceptions
    other = (usual - 1 + rng.integers(1, 3, frame.height)) % 3 + 1
    return pl.Series(CHOICE, np.where(is_exception, other, usual))


def attributes(tree: Tree = TAXONOMY) -> dict[str, dict[str, Any]]:
    """Roles as in the paper; everything but age and education is a quasi-identifier."""
    return {
        **{name: {"role": "quasi"} for name in QUASI},
        "age": {"role": "sensitive", "kind": "numeric"},
        "education": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": tree}},
    }


def policy(choosing: Choosing, grading: Grading) -> mv.Policy:
    """A policy that grades; the row's number is published so that rows can be compared, and never learned from."""
    return mv.Policy(
        accept=[f"neutral-unique: {ROW}"],
        attributes={**attributes(choosing.tree), CHOICE: {"role": "choice"}, ROW: {"role": "neutral"}},
        publish={"method": "grade", "categories": grading.categories, "spacing": grading.spacing},
    )


def graded(frame: pl.DataFrame, choosing: Choosing = MAIN, grading: Grading = DEFAULT) -> Graded:
    """The table T' of the paper."""
    numbered = frame.with_columns(chosen(frame, choosing)).with_row_index(ROW)
    release = mv.publish(numbered, policy(choosing, grading), seed=SEED)
    assert release.key is not None
    return Graded(release.frames["main"].sort(ROW).select(frame.columns), release.key)
