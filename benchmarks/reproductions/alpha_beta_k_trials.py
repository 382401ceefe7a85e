"""One trial of paper 001: an algorithm as a policy, the release it makes, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from manyveils import InfeasibleError, Policy, Release
from manyveils.arguments import Order
from manyveils.audits import Finding
from manyveils.datasets import tumour_sections
from manyveils.engines import judge
from manyveils.run import make
from manyveils.table import Restore, Table, hold
from manyveils.utility import discernibility
from manyveils.utility.cells import distortion
from manyveils.utility.comparison import Comparison

OURS, KL, EXPONENTIAL = "(α,β,k)", "k-ℓ", "Exponential-ℓ"
BY_SIZE, FULL_DOMAIN, K_ALONE = "Exponential-ℓ, by size", "k-ℓ, full-domain", "k alone"
ROWS, SEED = 30_000, 1
RECORDS = {"person": "record"}
MONDRIAN = {"method": "generalize", "recoding": "mondrian"}

Attributes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """The paper's three parameters: rows in a group, values in a group, number of sensitive attributes."""

    k: int
    l: int
    i: int

    @property
    def smallest(self) -> int:
        """The rows that a group must have at least to be ℓ-diverse for those who know all other attributes."""
        return max(self.k, self.l**self.i)


@dataclass(frozen=True, repr=False)
class Original:
    """A table that is read and coded once, for many policies."""

    attributes: Attributes
    table: Table
    restore: Restore


@dataclass(frozen=True, repr=False)
class Trial:
    """A release and what it costs."""

    original: Original
    release: Release
    sizes: pl.Series
    discernibility: float
    qi_disr: float
    sa_disr: float
    distortion_ratio: float

    @property
    def t_disr(self) -> float:
        """The loss of quasi-identifiers and of sensitive attributes, added up."""
        return self.qi_disr + self.sa_disr

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the method tells about its work."""
        return self.release.notes


def original_of(frame: pl.DataFrame, i: int, attributes: Attributes | None = None) -> Original:
    """Read and code the registry with its first i sensitive attributes."""
    described = tumour_sections(i)["attributes"] if attributes is None else attributes
    return Original(described, *hold(frame, Policy(data=RECORDS, attributes=described)))


def policy_of(original: Original, algorithm: str, asked: Asked, **publish: object) -> Policy:
    """An algorithm as a policy."""
    sections: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        OURS: ({}, {"method": "alpha-beta-k", "k": asked.k, "beta": asked.l}),
        KL: ({"k": asked.k, "l": asked.l}, MONDRIAN),
        EXPONENTIAL: ({"k": asked.k, "l": asked.l, "conditional": True}, MONDRIAN),
        BY_SIZE: ({"k": asked.smallest, "l": asked.l}, MONDRIAN),
        FULL_DOMAIN: ({"k": asked.k, "l": asked.l}, {"method": "generalize"}),
        K_ALONE: ({"k": asked.k}, MONDRIAN),
    }
    guarantee, section = sections[algorithm]
    return Policy(
        data=RECORDS, attributes=original.attributes, guarantee=guarantee, publish={**section, **publish}
    )


def tried(original: Original, algorithm: str, asked: Asked) -> Trial | None:
    """Publish and measure; nothing if the algorithm has no release."""
    if algorithm == BY_SIZE and asked.smallest > original.table.n_rows:
        return None
    try:
        return published(original, algorithm, asked)
    except InfeasibleError:
        return None


def published(original: Original, algorithm: str, asked: Asked, **publish: object) -> Trial:
    """Publish, audit and measure; further keys are for the algorithm's method."""
    policy = policy_of(original, algorithm, asked, **publish)
    release = make(Order(None, policy, seed=SEED), original.table, original.restore)
    judge(release, original.table, policy).refuse_broken()
    comparison = Comparison(release, original.table, policy)
    [[sizes]] = comparison.groups.values()
    costs = discernibility(comparison) | distortion(comparison)
    keys = ("discernibility", "qi_disr", "sa_disr", "distortion_ratio")
    return Trial(original, release, sizes, *(float(costs[key]) for key in keys))


def short_of(trial: Trial, promise: str, **guarantee: int) -> list[Finding]:
    """Judge a release by a promise it may never have made: a finding for each sensitive attribute."""
    policy = Policy(attributes=trial.original.attributes, guarantee=guarantee, publish=MONDRIAN)
    findings = judge(trial.release, trial.original.table, policy).findings
    return [finding for finding in findings if finding.promise == promise and finding.promised]
