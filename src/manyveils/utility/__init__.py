"""What a release is still good for, measured against the original: every measure; a new one is a line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from manyveils.plain import as_table
from manyveils.policy import Policy
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promises import promises_of
from manyveils.reading import beside
from manyveils.reading.cover import Ids
from manyveils.reading.secrets import without_secrets
from manyveils.release import Release
from manyveils.table import Table
from manyveils.utility.cells import distortion, loss, non_uniform_entropy, precision, sensitive_replaced
from manyveils.utility.comparison import Comparison, Measures
from manyveils.utility.distribution import association, divergence, query_error
from manyveils.utility.membership import membership
from manyveils.utility.risk import individual_risk, population_risk, population_uniques, sample_risk
from manyveils.utility.special_uniques import special_uniques

__all__ = ["MEASURES", "Utility", "measure"]


def discernibility(comparison: Comparison) -> Measures:
    """Sum the squared sizes of the groups, and the table's for everybody left out (Bayardo and Agrawal)."""

    def penalty(sizes: Ids, left_out: int) -> float:
        return float((sizes * sizes).sum()) + left_out * comparison.n_people

    return {"discernibility": _mean_over_views(comparison, penalty)}


def class_size(comparison: Comparison) -> Measures:
    """Divide the people in groups by the number of groups; with a k, also all people by k times that number.

    A person counts in every group that she has rows in.
    """
    average = _mean_over_views(comparison, lambda sizes, _: float(sizes.sum()) / max(len(sizes), 1))
    measures: Measures = {"average_class_size": average}
    k = promised_k(comparison.policy)
    if k is not None:
        measures["c_avg"] = _mean_over_views(
            comparison, lambda sizes, out: int(sizes.sum() + out) / (k * max(len(sizes), 1))
        )
    return measures


def suppressed_share(comparison: Comparison) -> Measures:
    """Divide the people left out by all people."""
    if comparison.counts_people:
        left_out = min(map(comparison.left_out, comparison.placed), default=0)
        return {"suppressed_share": left_out / max(comparison.n_people, 1)}
    return {"suppressed_share": comparison.release.suppressed / comparison.n_rows}


def promised_k(policy: Policy) -> int | None:
    """The largest k that the policy promises, under whichever key."""
    guarantees = (promise.guarantee for promise in promises_of(policy))
    return max((guarantee.k for guarantee in guarantees if isinstance(guarantee, KAnonymity)), default=None)


def _mean_over_views(comparison: Comparison, measured: Callable[[Ids, int], float]) -> float:
    """Average what is measured of groups and of who is left out: over the columns of a view, then over views."""
    views = [
        fmean(measured(sizes, comparison.left_out(view)) for sizes in columns)
        for view, columns in comparison.groups.items()
    ]
    return fmean(views) if views else 0.0


MEASURES: tuple[Callable[[Comparison], Measures], ...] = (
    loss,
    precision,
    non_uniform_entropy,
    discernibility,
    class_size,
    suppressed_share,
    distortion,
    sensitive_replaced,
    membership,
    sample_risk,
    population_risk,
    population_uniques,
    individual_risk,
    special_uniques,
    association,
    divergence,
    query_error,
)


@dataclass(frozen=True, repr=False)
class Utility(Mapping[str, Any]):
    """What a release is still good for: a number, or a number per attribute, under each measure's key."""

    measured: Measures

    def __getitem__(self, key: str) -> Any:
        return self.measured[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measured)

    def __len__(self) -> int:
        return len(self.measured)

    def describe(self) -> Measures:
        """List all measures as plain numbers, ready for JSON."""
        measured = self.measured.items()
        return {key: dict(value) if isinstance(value, dict) else value for key, value in measured}

    def _repr_html_(self) -> str:
        plain = [[key, value] for key, value in self.measured.items() if not isinstance(value, dict)]
        return as_table("Utility", ["measure", "value"], plain)

    def __repr__(self) -> str:
        numbers = {key: value for key, value in self.measured.items() if isinstance(value, float)}
        return f"<Utility: {', '.join(f'{key} {value:.6g}' for key, value in numbers.items())}>"


def measure(release: Release, table: Table, policy: Policy) -> Utility:
    """Measure a release by its own tables against the original."""
    secret = {table.home(name) for name in release.manifest.secret}
    if secret:
        # What only the key can read cannot be compared with the original.
        release, table = without_secrets(release, table)
        policy = _without(policy, secret)
    comparison = Comparison(beside(release, table), table, policy)
    return Utility({key: value for measured in MEASURES for key, value in measured(comparison).items()})


def _without(policy: Policy, names: set[str]) -> Policy:
    """The policy about the other attributes; of its promises, only the size of groups."""
    bodies = {name: body for name, body in policy.attributes.items() if name not in names}
    attributes = {name: body.model_dump(exclude_unset=True) for name, body in bodies.items()}
    k = promised_k(policy)
    guarantee = {} if k is None else {"k": k}
    none: list[object] = []
    return policy.replaced(
        attributes=attributes, guarantee=guarantee, keys=none, rules=none, dependencies=none, publish={}
    )
