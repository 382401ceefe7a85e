"""Random rules between the attributes of a table, for experiments (paper 002)."""

from collections.abc import Sequence
from math import comb

import numpy as np
import polars as pl

from manyveils.datasets.papers import Rule
from manyveils.errors import InputError
from manyveils.policy.rules import PrivacyRule, irreducible


def protectable(frame: pl.DataFrame, l: int) -> list[str]:
    """List the attributes with no value in more than one row in l; a missing value is a value.

    No release with all attributes apart protects the others.

    >>> protectable(pl.DataFrame({"sex": ["f", "f", "f", "m"], "job": ["clerk", "clerk", "cook", None]}), l=2)
    ['job']
    """
    if l < 1:
        raise InputError.at("protectable", f"l is {l} and must be at least 1.")
    return [name for name in frame.columns if _most(frame[name]) * l <= frame.height]


def _most(values: pl.Series) -> int:
    """How many rows the most common value has."""
    return values.to_frame("value").group_by("value").len().get_column("len").to_numpy().max(initial=0)


def random_rules(
    names: Sequence[str], c: int, lhs: int, seed: int, allowed: Sequence[str] | None = None
) -> list[Rule]:
    """Draw c rules as a policy lists them: lhs attributes given, one of those allowed protected.

    No rule follows from another; every such set of rules is as likely as any other.

    >>> random_rules(["sex", "job", "town"], c=1, lhs=2, seed=1, allowed=["town"])
    [{'given': ['sex', 'job'], 'protect': 'town'}]
    """
    names = list(dict.fromkeys(names))
    rights = [name for name in names if allowed is None or name in allowed]
    _refuse_too_many(c, lhs, len(names), len(rights))
    rng = np.random.Generator(np.random.PCG64(seed))
    rules: tuple[PrivacyRule, ...] = ()
    while len(rules) < c:
        more = [_draw(names, rights, lhs, rng) for _ in range(c - len(rules))]
        rules, _ = irreducible([*rules, *more])
    return [
        {"given": [name for name in names if name in rule.given], "protect": rule.protect} for rule in rules
    ]


def _draw(names: list[str], rights: list[str], lhs: int, rng: np.random.Generator) -> PrivacyRule:
    protect = rights[rng.integers(len(rights))]
    others = [name for name in names if name != protect]
    places = rng.choice(len(others), lhs, replace=False).tolist()
    return PrivacyRule(frozenset(others[place] for place in places), protect)


def _refuse_too_many(c: int, lhs: int, n_names: int, n_rights: int) -> None:
    """Rules with left sides of one size follow from each other only if they are the same, so they can be counted."""
    if c < 0 or lhs < 1:
        what = f"{c} rules with {lhs} attributes on the left cannot be drawn."
        raise InputError.at("random_rules", what, "Let c be at least 0 and lhs at least 1.")
    n_rules = n_rights * comb(max(n_names - 1, 0), lhs)
    if c > n_rules:
        what = (
            f"c is {c}, but with {lhs} of {n_names} attributes on the left and one of {n_rights} on the right "
            f"there are only {n_rules} rules."
        )
        raise InputError.at("random_rules", what, "Lower c, change lhs or allow more attributes.")
