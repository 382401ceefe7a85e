"""Every utility measure; a new one is a file of its own and a line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manyveils.notebook import as_table
from manyveils.policy import Policy
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promises import promises_of
from manyveils.reading import beside
from manyveils.reading.secrets import without_secrets
from manyveils.release import Release
from manyveils.table import Table
from manyveils.utility.association import association
from manyveils.utility.class_size import class_size
from manyveils.utility.comparison import Comparison, Measures
from manyveils.utility.discernibility import discernibility
from manyveils.utility.distortion import distortion, sensitive_replaced
from manyveils.utility.divergence import divergence
from manyveils.utility.entropy import non_uniform_entropy
from manyveils.utility.loss import loss
from manyveils.utility.membership import membership
from manyveils.utility.precision import precision
from manyveils.utility.queries import query_error
from manyveils.utility.suppression import suppressed_share

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
    return Utility({key: value for one in MEASURES for key, value in one(comparison).items()})


def _without(policy: Policy, names: set[str]) -> Policy:
    """The policy about the attributes that are left; of its promises, the size of groups is."""
    attributes = {
        name: body.model_dump(exclude_unset=True)
        for name, body in policy.attributes.items()
        if name not in names
    }
    ks = [each.guarantee.k for each in promises_of(policy) if isinstance(each.guarantee, KAnonymity)]
    guarantee = {"k": max(ks)} if ks else {}
    plain = {"method": "separate"}
    return policy.replaced(
        attributes=attributes, guarantee=guarantee, rules=[], dependencies=[], publish=plain
    )
