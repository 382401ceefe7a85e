"""What somebody may care about most, and the order it puts results in."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from manyveils.comparing.result import Result
from manyveils.errors import InputError, Problem
from manyveils.policy.check import suggest

LEARNING = "learning"
# Shares that differ by less are equal: sums in another order differ in their last digits.
ALMOST = 1e-9


@dataclass(frozen=True)
class Preference:
    """A measure that should be small, or large."""

    name: str
    key: str
    words: str
    larger_is_better: bool = False

    def value(self, result: Result) -> float | None:
        """The measure; nothing where there is none, or where it leaves out what is published in secret."""
        found = result.utility.get(self.key)
        return None if found is None or result.secret else float(found)

    def cost(self, result: Result) -> float | None:
        """The same, so that less is better."""
        value = self.value(result)
        return -value if value is not None and self.larger_is_better else value


PREFERENCES = {
    each.name: each
    for each in (
        Preference("query-error", "query_error", "error of count queries"),
        Preference("kl", "kl", "divergence from the original"),
        Preference("loss", "loss", "loss of detail in quasi-identifiers"),
        Preference("discernibility", "discernibility", "discernibility"),
        Preference("suppressed", "suppressed_share", "share of rows left out"),
        Preference(LEARNING, "learning", "share of learning kept", larger_is_better=True),
    )
}


def read_preference(name: str) -> Preference:
    """The preference of a name; underlines stand for hyphens."""
    plain = name.replace("_", "-")
    if plain not in PREFERENCES:
        raise InputError(
            [Problem("prefer", f"{name!r} is not a measure to prefer.", suggest(plain, tuple(PREFERENCES)))]
        )
    return PREFERENCES[plain]


def ordered(results: Sequence[Result], preference: Preference) -> tuple[Result, ...]:
    """The best first; among equals the less risky; then what has no such measure, then what was refused."""

    def place(result: Result) -> tuple[bool, bool, float, float]:
        cost = preference.cost(result)
        return (
            not result.published,
            cost is None,
            inf if cost is None else rounded(cost),
            inf if result.risk is None else rounded(result.risk),
        )

    return tuple(sorted(results, key=place))


def frontier(results: Sequence[Result], preference: Preference) -> tuple[str, ...]:
    """The names of those to which no other is as good in both risk and what is preferred, and better in one.

    Only releases that keep the policy are on it, and it is empty where no attack was tried.
    """
    points = [
        (each.name, rounded(each.risk), rounded(cost))
        for each in results
        if each.keeps_policy and each.risk is not None and (cost := preference.cost(each)) is not None
    ]
    return tuple(
        name
        for name, risk, cost in points
        if not any(r <= risk and c <= cost and (r < risk or c < cost) for _, r, c in points)
    )


def rounded(number: float) -> float:
    """A number without the digits that chance decides.

    >>> rounded(0.16499999999999995) == rounded(0.165), rounded(123456.78) == 123456.78
    (True, True)
    """
    return round(number / ALMOST) * ALMOST if abs(number) < 1 else float(f"{number:.12g}")
