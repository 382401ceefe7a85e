"""One trial of versatile publishing: rules drawn, a release made, its divergence and its query errors measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.clock import worked
from benchmarks.random_rules import protectable, random_rules
from manyveils import Policy, Release
from manyveils.arguments import Order
from manyveils.engines import judge
from manyveils.errors import BrokenPromise, Problem
from manyveils.run import make
from manyveils.table import Restore, Table, hold
from manyveils.utility.comparison import Comparison
from manyveils.utility.distribution import divergence, workload

UAD, GD, SINGLE = "UAD", "GD", "single-attribute"
# One group needs no time for dividing.
MULTI, MULTI_SMALL = "multi-SA, one group", "multi-SA, small groups"
PUBLISH: Mapping[str, Mapping[str, Any]] = {
    UAD: {"method": "guardian", "decompose": "uad"},
    GD: {"method": "guardian", "decompose": "gd"},
    SINGLE: {"method": "separate"},
    MULTI: {"method": "multi-sa", "suppression": 1, "time_limit": 1e-9},
    MULTI_SMALL: {"method": "multi-sa", "suppression": 1},
}
SEED = 1

Rules = list[dict[str, Any]]
Errors = NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """How rules are drawn: how many, how many attributes on the left, and how diverse the right must stay.

    Rights are the attributes that all of `pool_l` could protect; l itself if it is not given.
    """

    c: int
    lhs: int
    l: int
    pool_l: int | None = None


@dataclass(frozen=True)
class Asked:
    """Queries about qd attributes, each asking for a share p of its values."""

    qd: int
    p: float
    n_queries: int


@dataclass(frozen=True, repr=False)
class Original:
    """A table that is read and coded once, for many policies."""

    frame: pl.DataFrame
    table: Table
    restore: Restore

    @property
    def names(self) -> list[str]:
        """All attributes."""
        return self.frame.columns


@dataclass(frozen=True, repr=False)
class Trial:
    """A release, the policy it was made by, the seconds that took, and how many rows have something hidden."""

    original: Original
    policy: Policy
    release: Release
    seconds: float
    n_hidden: int = 0

    @property
    def comparison(self) -> Comparison:
        """The release beside its original."""
        return Comparison(self.release, self.original.table, self.policy)

    @property
    def kl(self) -> float:
        """The divergence in nats; nothing may be impossible."""
        found = divergence(self.comparison)
        assert "kl_unseen" not in found, "the release takes rows of the original for impossible"
        return float(found["kl"])

    def errors(self, asked: Asked, seed: int) -> Errors:
        """The relative error of every query that holds for somebody."""
        actual, estimated = workload(
            self.comparison, n_queries=asked.n_queries, n_attributes=asked.qd, share=asked.p, seed=seed
        )
        return np.abs(actual - estimated) / actual


def original_of(frame: pl.DataFrame) -> Original:
    """Read and code a table."""
    table, restore = hold(frame, policy_of(frame.columns, [], 2, UAD))
    return Original(frame, table, restore)


def policy_of(names: Sequence[str], rules: Rules, l: int, method: str) -> Policy:
    """Rules between attributes without roles."""
    return Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in names},
        guarantee={"l": l},
        rules=rules,
        publish=dict(PUBLISH[method]),
    )


def rules_of(original: Original, drawn: Drawn, seed: int) -> Rules:
    """Draw rules; the same seed gives rule sets that mostly contain each other when c grows."""
    allowed = protectable(original.frame, drawn.pool_l or drawn.l)
    return random_rules(original.names, drawn.c, drawn.lhs, seed, allowed)


def tried(original: Original, method: str, rules: Rules, l: int, *, audited: bool = True) -> Trial:
    """Publish by rules; an audited release that breaks one is an error."""
    policy = policy_of(original.names, rules, l, method)
    seconds, release = worked(partial(make, Order(None, policy, seed=SEED), original.table, original.restore))
    trial = Trial(original, policy, release, seconds)
    return checked(trial) if audited else trial


def checked(trial: Trial) -> Trial:
    """Audit a release; one that breaks a rule is an error."""
    policy = trial.policy
    if not judge(trial.release, trial.original.table, policy).kept:
        raise BrokenPromise([Problem(policy.publish.method, f"breaks one of {len(policy.rules)} rules.")])
    return trial


def told(errors: Errors) -> str:
    """The mean, and the median in brackets.

    >>> told(np.array([0.0, 0.1, 0.5]))
    '0.200 (0.100)'
    """
    return f"{errors.mean():.3f} ({np.median(errors):.3f})"
