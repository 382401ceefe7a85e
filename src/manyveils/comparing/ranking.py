"""Which results are best by what somebody prefers, which to take, why, and what this advice does not look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from manyveils.comparing.trial import PRESENCE, RELATIONS, Result
from manyveils.errors import InputError
from manyveils.policy.shape import suggest

LEARNING = "learning"
# Shares that differ by less are equal: sums in another order differ in their last digits.
TOLERANCE = 1e-9
# Where so many people's presence is shown, k hides nobody; where so few relations are left, columns are all there is.
NEARLY_EVERYBODY, HARDLY_ANY = 0.9, 0.1
MOST_NAMED = 3
BEYOND = "beyond guessing and beyond people outside the data"


@dataclass(frozen=True)
class Preference:
    """A measure that should be small, or large."""

    name: str
    key: str
    words: str
    larger_is_better: bool = False

    def value(self, result: Result) -> float | None:
        """The measure; None where there is none, or where it leaves out what is published in secret."""
        value = result.utility.get(self.key)
        return None if value is None or result.secret else float(value)

    def cost(self, result: Result) -> float | None:
        """The same, so that less is better."""
        value = self.value(result)
        return -value if value is not None and self.larger_is_better else value

    def shown(self, result: Result) -> str:
        """The measure in words."""
        value = self.value(result)
        return "" if value is None else f"{value:.4g}"


PREFERENCES = {
    preference.name: preference
    for preference in (
        Preference("query-error", "query_error", "error of count queries"),
        Preference("kl", "kl", "divergence from the original"),
        Preference("loss", "loss", "loss of detail in quasi-identifiers"),
        Preference("discernibility", "discernibility", "discernibility"),
        Preference("suppressed", "suppressed_share", "share of rows left out"),
        Preference(LEARNING, "learning", "share of learning kept", larger_is_better=True),
    )
}


@dataclass(frozen=True)
class Recommendation:
    """A configuration's name, the reason in words, and what was ignored; no name if none can be recommended."""

    name: str | None
    reason: str
    ignores: tuple[str, ...] = ()

    def describe(self) -> dict[str, object]:
        """The recommendation as plain values for JSON."""
        return {"name": self.name, "reason": self.reason, "ignores": list(self.ignores)}


def read_preference(name: str) -> Preference:
    """The preference of a name; underscores stand for hyphens."""
    hyphened = name.replace("_", "-")
    if hyphened not in PREFERENCES:
        what = f"{name!r} is not a measure to prefer."
        raise InputError.at("prefer", what, suggest(hyphened, tuple(PREFERENCES)))
    return PREFERENCES[hyphened]


def ordered(results: Sequence[Result], preference: Preference) -> tuple[Result, ...]:
    """The best first; among equals the less risky; then what has no such measure, then what was refused."""

    def rank(result: Result) -> tuple[bool, bool, *tuple[float, ...]]:
        measures = preference.cost(result), result.risk
        numbers = [inf if number is None else rounded(number) for number in measures]
        return not result.published, measures[0] is None, *numbers

    return tuple(sorted(results, key=rank))


def frontier(results: Sequence[Result], preference: Preference) -> tuple[str, ...]:
    """The names of those to which no other is as good in both risk and what is preferred, and better in one.

    Only releases that keep the policy are on it, and it is empty where no attack was tried.
    """
    points = [
        (result.name, rounded(result.risk), rounded(cost))
        for result in results
        if result.keeps_policy and result.risk is not None and (cost := preference.cost(result)) is not None
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
    return round(number / TOLERANCE) * TOLERANCE if abs(number) < 1 else float(f"{number:.12g}")


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
    keeping = [result for result in results if result.keeps_policy]
    ranked = [result for result in keeping if preference.value(result) is not None]
    if not ranked:
        return Recommendation(None, _why_none(results, keeping, preference, policy_name))
    bearable = [result for result in ranked if result.risk is None or result.risk <= limit + TOLERANCE]
    within = [result for result in bearable if not _shortcoming(result)] or bearable
    chosen = within[0] if within else min(ranked, key=lambda result: rounded(result.risk or 0.0))
    shown = preference.shown(chosen)
    promises = f"the promises of {policy_name}"
    if len(within) > 1:
        reason = (
            f"{chosen.name} has the best {preference.words} ({shown}) of the {len(within)} configurations "
            f"that keep {promises}{_safe(chosen, limit)}."
        )
    elif within:
        reason = (
            f"{chosen.name} is the only configuration that keeps {promises}{_safe(chosen, limit)}; "
            f"its {preference.words} is {shown}."
        )
    else:
        reason = (
            f"{chosen.name} gives away least: {_gain(chosen)}. {_too_risky(len(ranked), promises)} "
            f"of {_points(limit)}. Its {preference.words} ({shown}) was not weighed."
        )
    sentences = [
        reason,
        *_ties(chosen, within, preference),
        *_better(chosen, results, preference, policy_name),
        *_given_up(chosen),
        *_instead(chosen, ranked),
    ]
    is_attacked = ranked[0].risk is not None
    ignored = tuple(_ignored(preference, untried, is_attacked=is_attacked))
    return Recommendation(chosen.name, " ".join(sentences), ignored)


def _too_risky(n_ranked: int, promises: str) -> str:
    if n_ranked == 1:
        return f"It is the only configuration that keeps {promises}, and exceeds the risk"
    return f"None of the {n_ranked} configurations that keep {promises} stays within a risk"


def _safe(chosen: Result, limit: float) -> str:
    if chosen.risk is None:
        return ""
    most = f"no attack that was tried is right for more than {_points(limit)} {BEYOND}"
    return f" and with which {most} (here {_points(chosen.risk)})"


def _ties(chosen: Result, within: list[Result], preference: Preference) -> list[str]:
    best = preference.value(chosen) or 0.0
    equal = [
        result.name
        for result in within
        if result is not chosen and abs((preference.value(result) or 0.0) - best) <= TOLERANCE
    ]
    return [f"Just as good by this measure: {', '.join(equal)}; it gives away no less."] if equal else []


def _better(chosen: Result, results: Sequence[Result], preference: Preference, policy_name: str) -> list[str]:
    """What stands above the chosen one, and why it was not taken."""
    best = preference.cost(chosen)
    assert best is not None
    above = [
        result
        for result in results
        if (cost := preference.cost(result)) is not None and cost < best - TOLERANCE
    ]
    weaker = f"does not keep what {policy_name} promises"
    return [
        f"{result.name} is better ({preference.shown(result)}), "
        f"but {_against(result, chosen) if result.keeps_policy else weaker}."
        for result in above[:MOST_NAMED]
    ]


def _against(result: Result, chosen: Result) -> str:
    """What speaks against a result that is better by the preference: presence and relations, or else attacks."""
    shortcoming = _shortcoming(result)
    return shortcoming if shortcoming and not _shortcoming(chosen) else _gain(result)


def _shortcoming(result: Result) -> str:
    """What nobody should give up unasked, in words: hidden presence, and any relation between attributes."""
    presence, relations = result.utility.get(PRESENCE), result.utility.get(RELATIONS)
    if presence is not None and presence >= NEARLY_EVERYBODY:
        return f"it shows the presence of {_share(presence)} of the people"
    if relations is not None and relations <= HARDLY_ANY:
        return f"it keeps {_share(relations)} of the relations between attributes"
    return ""


def _given_up(chosen: Result) -> list[str]:
    """What is given up by taking the chosen one, where that was measured."""
    given = []
    if chosen.utility.get(PRESENCE):
        given.append(f"it shows the presence of {_share(chosen.utility[PRESENCE])} of the people")
    if (kept := chosen.utility.get(RELATIONS)) is not None:
        given.append(f"of the relations between attributes it keeps {_share(kept)}")
    return [f"What it gives up: {'; '.join(given)}."] if given else []


def _instead(chosen: Result, ranked: Sequence[Result]) -> list[str]:
    """The least risky way that gives up neither, where the chosen one gives up presence or relations."""
    others = [result for result in ranked if not _shortcoming(result)]
    if not _shortcoming(chosen) or not others:
        return []
    least = min(others, key=lambda result: rounded(result.risk or 0.0))
    return [f"{least.name} is the least risky that gives up neither; there, {_gain(least)}."]


def _share(share: float) -> str:
    """A share of a whole.

    >>> _share(1.0), _share(0.0437), _share(0.0001)
    ('all', '4.4 %', 'hardly any')
    """
    if share >= 0.9995:
        return "all"
    return "hardly any" if share < 0.001 else f"{100 * share:.2g} %"


def _gain(result: Result) -> str:
    if not result.risk:
        return "no attack that was tried gains anything"
    return f"{result.worst_attack} is right for {_points(result.risk)} {BEYOND}"


def _ignored(preference: Preference, untried: Sequence[str], *, is_attacked: bool) -> list[str]:
    ignorable = PREFERENCES.keys() - {preference.name, LEARNING}
    measures = [measure.words for name, measure in PREFERENCES.items() if name in ignorable]
    ignored = ["other measures: " + ", ".join(measures)]
    if not is_attacked:
        ignored.append("privacy beyond the promises: no attack was tried")
    elif untried:
        ignored.append("attacks that were not tried: " + ", ".join(untried))
    return [*ignored, "people whom an attack hits harder than others", "other releases of the same people"]


def _why_none(results: Sequence[Result], keeping: list[Result], preference: Preference, policy: str) -> str:
    if keeping:
        return f"No configuration that keeps the promises of {policy} has any {preference.words}."
    if any(result.published for result in results):
        return f"No configuration keeps what {policy} promises; those that were published promise less."
    return f"No configuration can keep what {policy} promises."


def _points(share: float) -> str:
    """A share of targets.

    >>> _points(0.1), _points(0.0437)
    ('10 % of targets', '4.4 % of targets')
    """
    return f"{100 * share:.2g} % of targets" if share < 0.995 else "100 % of targets"
