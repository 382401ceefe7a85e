"""Promises that speak of nobody, or of nothing: k without quasi-identifiers, l without sensitive attributes."""

from collections.abc import Iterator

from manyveils.linting.finding import Doubt
from manyveils.policy import Policy

# The keys that promise something of sensitive attributes.
OF_SENSITIVE = ("l", "t", "alpha", "beta", "delta", "e", "m", "epsilon_link", "eliminations")


def idle_promises(policy: Policy) -> Iterator[Doubt]:
    """The keys of [guarantee] that hold for want of anything to protect; rules protect by themselves."""
    if policy.rules:
        return
    asked = policy.guarantee.model_dump(exclude_unset=True)
    if asked.get("k") is not None and not policy.quasi:
        what = "no attribute is quasi, so nobody is hidden among k persons by anything."
        yield Doubt("no-quasi", ("k",), what, 'Set role = "quasi" for what an adversary may know, or drop k')
    idle = tuple(key for key in OF_SENSITIVE if asked.get(key) is not None)
    if idle and not policy.sensitive:
        what = "no attribute is sensitive, so nothing is protected by it."
        remedy = 'Set role = "sensitive" for what nobody may learn, or drop the key'
        yield from (Doubt("no-sensitive", (key,), what, remedy) for key in idle)
