"""What an audit and the attacks come to, as a page tells it first: indices of findings and names of attacks."""

from collections.abc import Callable, Mapping
from typing import Any

Plain = Mapping[str, Any]


def verdict_of(document: Plain) -> Plain:
    """Sort the findings of an audit and the outcomes of attacks; a public document has neither.

    Findings by their index in the audit: `asked` for by the policy, the release's `own` (true of every release), and
    `others`; `broken` are promised and not kept, `joined` not promised and not kept against someone who knows other
    sensitive values. Attacks by name: those `applying`; of them those `beyond` a promised bound, and the `uncapped`,
    where no promise caps what they learn; `successes` has, for each meaning of success, the attacks that mean it.
    """
    findings = document.get("audit", {}).get("findings", [])
    outcomes = document.get("attack", {}).get("attacks", {})

    def indices(is_chosen: Callable[[Plain], bool]) -> list[int]:
        return [index for index, finding in enumerate(findings) if is_chosen(finding)]

    def standing(words: str) -> list[str]:
        return [name for name, outcome in outcomes.items() if outcome["standing"] == words]

    applying = [name for name, outcome in outcomes.items() if outcome["applies"]]
    successes: dict[str, list[str]] = {}
    for name in applying:
        successes.setdefault(outcomes[name]["measures"], []).append(name)
    return {
        "asked": indices(lambda finding: finding["promised"] and finding["reading"] != "release"),
        "own": indices(lambda finding: finding["promised"] and finding["reading"] == "release"),
        "others": indices(lambda finding: not finding["promised"]),
        "broken": indices(lambda finding: finding["promised"] and not finding["kept"]),
        "joined": indices(_is_joined),
        "applying": applying,
        "beyond": standing("broken"),
        "uncapped": standing("not promised"),
        "successes": successes,
    }


def _is_joined(finding: Plain) -> bool:
    return finding["reading"] == "conditional" and not finding["promised"] and not finding["kept"]
