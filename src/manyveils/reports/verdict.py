"""What an audit and the attacks come to, as a page tells it first: places of findings and names of attacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Plain = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """Findings by their place in the audit: asked for by the policy, true of every release, and others.

    `broken` are promised and not kept, `joined` not promised and not so for someone who knows other sensitive values.
    Attacks by name: `applying`, of them `beyond` a promised bound, and `uncapped` where no promise caps what they learn;
    `successes` has, for each meaning of success, the attacks whose success means that.
    """

    asked: Sequence[int]
    own: Sequence[int]
    others: Sequence[int]
    broken: Sequence[int]
    joined: Sequence[int]
    applying: Sequence[str]
    beyond: Sequence[str]
    uncapped: Sequence[str]
    successes: Mapping[str, Sequence[str]]


def verdict_of(document: Plain) -> Verdict:
    """Sort the findings of an audit and the outcomes of attacks; a public document has neither."""
    findings = document.get("audit", {}).get("findings", [])
    outcomes = document.get("attack", {}).get("attacks", {})

    def places(chosen: Callable[[Plain], bool]) -> list[int]:
        return [place for place, finding in enumerate(findings) if chosen(finding)]

    def names(standing: str) -> list[str]:
        return [name for name, each in outcomes.items() if each["standing"] == standing]

    return Verdict(
        asked=places(lambda each: each["promised"] and each["reading"] != "release"),
        own=places(lambda each: each["promised"] and each["reading"] == "release"),
        others=places(lambda each: not each["promised"]),
        broken=places(lambda each: each["promised"] and not each["kept"]),
        joined=places(_is_joined),
        applying=[name for name, each in outcomes.items() if each["applies"]],
        beyond=names("broken"),
        uncapped=names("not promised"),
        successes=_successes(outcomes),
    )


def _successes(outcomes: Mapping[str, Plain]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, each in outcomes.items():
        if each["applies"]:
            found.setdefault(each["measures"], []).append(name)
    return found


def _is_joined(finding: Plain) -> bool:
    return finding["reading"] == "conditional" and not finding["promised"] and not finding["kept"]
