"""Which configuration to take, why, and what this advice does not look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from manyveils.comparing.preferences import ALMOST, LEARNING, PREFERENCES, Preference, rounded
from manyveils.comparing.result import Result

BEYOND = "beyond guessing and beyond people outside the data"


@dataclass(frozen=True)
class Recommendation:
    """A configuration's name, the reason in words, and what was ignored; no name if none can be recommended."""

    name: str | None
    reason: str
    ignores: tuple[str, ...] = ()

    def describe(self) -> dict[str, object]:
        """The recommendation as plain values for JSON."""
        return {"name": self.name, "reason": self.reason, "ignores": list(self.ignores)}


def recommend(
    results: Sequence[Result],
    preference: Preference,
    *,
    limit: float,
    policy_name: str,
    untried: Sequence[str],
) -> Recommendation:
    """The best by the preference among those that keep the policy and let no attack gain more than the limit.

    If every one lets an attack gain more, the one that gives away least. `results` are in the order of the preference.
    """
    kept = [each for each in results if each.keeps_policy]
    ranked = [each for each in kept if preference.value(each) is not None]
    if not ranked:
        return Recommendation(None, _nothing(results, kept, preference, policy_name))
    tried = ranked[0].risk is not None
    within = [each for each in ranked if each.risk is None or each.risk <= limit + ALMOST]
    chosen = within[0] if within else min(ranked, key=lambda each: rounded(each.risk or 0.0))
    said = [_first(chosen, within, ranked, preference, limit, policy_name)]
    said += _ties(chosen, within, preference)
    said += _better(chosen, results, preference, limit, policy_name)
    return Recommendation(chosen.name, " ".join(said), tuple(_ignored(preference, untried, tried=tried)))


def _first(
    chosen: Result,
    within: list[Result],
    ranked: list[Result],
    preference: Preference,
    limit: float,
    policy_name: str,
) -> str:
    what = f"{preference.words} ({_number(preference.value(chosen))})"
    if not within:
        return (
            f"{chosen.name} gives away least: {_gain(chosen)}. "
            f"{_too_risky(len(ranked), policy_name)} of {_points(limit)}. Its {what} was not weighed."
        )
    if len(within) == 1:
        return f"{chosen.name} is the only configuration that keeps the promises of {policy_name}{_safe(chosen, limit)}; its {preference.words} is {_number(preference.value(chosen))}."
    return (
        f"{chosen.name} has the best {what} of the {len(within)} configurations that keep the promises of {policy_name}"
        f"{_safe(chosen, limit)}."
    )


def _too_risky(n_ranked: int, policy_name: str) -> str:
    if n_ranked == 1:
        return f"It is the only configuration that keeps the promises of {policy_name}, and exceeds the risk"
    return (
        f"None of the {n_ranked} configurations that keep the promises of {policy_name} stays within a risk"
    )


def _safe(chosen: Result, limit: float) -> str:
    if chosen.risk is None:
        return ""
    return f" and with which no attack that was tried is right for more than {_points(limit)} {BEYOND} (here {_points(chosen.risk)})"


def _ties(chosen: Result, within: list[Result], preference: Preference) -> list[str]:
    same = [
        each.name
        for each in within
        if each is not chosen
        and abs((preference.value(each) or 0.0) - (preference.value(chosen) or 0.0)) <= ALMOST
    ]
    return [f"Just as good by this measure: {', '.join(same)}; it gives away no less."] if same else []


def _better(
    chosen: Result, results: Sequence[Result], preference: Preference, limit: float, policy_name: str
) -> list[str]:
    """What stands above the chosen one, and why it was not taken."""
    cost = preference.cost(chosen)
    assert cost is not None
    above = [
        each for each in results if (other := preference.cost(each)) is not None and other < cost - ALMOST
    ]
    reasons = {
        each.name: f"does not keep what {policy_name} promises" if not each.keeps_policy else _gain(each)
        for each in above
    }
    return [
        f"{name} is better ({_number(preference.value(each))}), but {reasons[name]}."
        for each in above[:3]
        for name in [each.name]
    ]


def _gain(result: Result) -> str:
    if not result.gains or not result.risk:
        return "no attack that was tried gains anything"
    return f"{result.worst_attack} is right for {_points(result.risk)} {BEYOND}"


def _ignored(preference: Preference, untried: Sequence[str], *, tried: bool) -> list[str]:
    others = [each.words for each in PREFERENCES.values() if each is not preference and each.name != LEARNING]
    said = ["other measures: " + ", ".join(others)]
    if not tried:
        said.append("privacy beyond the promises: no attack was tried")
    elif untried:
        said.append("attacks that were not tried: " + ", ".join(untried))
    return [*said, "people whom an attack hits harder than others", "other releases of the same people"]


def _nothing(results: Sequence[Result], kept: list[Result], preference: Preference, policy_name: str) -> str:
    if kept:
        return (
            f"No configuration that keeps the promises of {policy_name} has a {preference.words} to compare."
        )
    if any(each.published for each in results):
        return f"No configuration keeps what {policy_name} promises; those that were published promise less."
    return f"No configuration can keep what {policy_name} promises."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _points(share: float) -> str:
    """A share of targets.

    >>> _points(0.1), _points(0.0437)
    ('10 % of targets', '4.4 % of targets')
    """
    return f"{100 * share:.2g} % of targets" if share < 0.995 else "100 % of targets"
