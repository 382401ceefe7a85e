"""What a release means for people, in the order of its weight, in words that need no statistics."""

from collections.abc import Iterator, Mapping
from typing import Any

Plain = Mapping[str, Any]

# What would have promised that an attack does not succeed.
PROMISES = {
    "linkage": "a larger k would",
    "homogeneity": "a higher l would",
    "skewness": "t or beta would",
    "similarity": "l_level, which counts groups of values, would",
    "elimination": "eliminations would",
    "background-join": "conditional = true would",
    "intersection": "conditional = true would",
    "proximity": "e, or epsilon and m, would",
    "membership": "delta would",
    "dependency": "declaring what follows from what under [[dependencies]] would",
}
# Attacks that guess no value say in their own words what they do.
OF_VALUES = ("share of targets guessed right", "mean belief in the true value")
SHOWN, NEARLY_ALL = 0.05, 0.995


def consequences_of(document: Plain) -> list[dict[str, Any]]:
    """What somebody can do with the release, the heaviest first.

    Each has the place of its numbers in the document: `path` of an attack's, `key` of a measure's, or neither, and
    then `what` and `remedy` in words. Promised bounds come first, then presence, then certainty before likelihood,
    many people before few; of one attribute only the worst of several attacks.
    """
    told = [*_presence(document), *_attacks(document), *_beyond(document)]
    return sorted(told, key=lambda consequence: consequence["rank"])


def _presence(document: Plain) -> Iterator[dict[str, Any]]:
    share = document.get("measure", {}).get("singled_out")
    if isinstance(share, float | int) and share >= SHOWN:
        # Outside buckets nobody is shown without a whole group that looks like her.
        in_buckets = any(view["bucketed"] for view in document["manifest"]["views"])
        yield {
            "kind": "presence",
            "rank": (1 if in_buckets else 3, -share, ""),
            "is_everybody": share >= NEARLY_ALL,
            "in_buckets": in_buckets,
        }


def _attacks(document: Plain) -> Iterator[dict[str, Any]]:
    worst: dict[str, dict[str, Any]] = {}
    n_people = document["manifest"]["rows"] + document["manifest"]["suppressed"]
    for name, outcome in document.get("attack", {}).get("attacks", {}).items():
        if outcome["standing"] not in ("broken", "not promised"):
            continue
        if outcome["measures"] not in OF_VALUES or not outcome["by_attribute"]:
            yield _of_attack(name, outcome, n_people)
            continue
        for about, numbers in outcome["by_attribute"].items():
            if not (numbers.get("certain") or numbers.get("broken")):
                continue
            told = _of_attack(name, outcome, n_people, about)
            if about not in worst or told["rank"] < worst[about]["rank"]:
                worst[about] = told
    yield from worst.values()


def _of_attack(name: str, outcome: Plain, n_people: int, about: str = "") -> dict[str, Any]:
    numbers = outcome["by_attribute"][about] if about else outcome
    certain, broken = numbers.get("certain") or 0, numbers.get("broken") or 0
    n = max(numbers.get("targets") or 1, 1)
    # A person with several values in a cell is several cases.
    noun = "people" if n <= n_people else "cases"
    place = ("attack", "attacks", name)
    return {
        "kind": "certain" if about and certain else ("likely" if about else "other"),
        "who": _who(outcome["knows"]),
        "about": about,
        "noun": noun,
        "path": (*place, "by_attribute", about) if about else place,
        "words": outcome["verdict"][:1].lower() + outcome["verdict"][1:],
        "promised": bool(outcome["promised"]),
        "remedy": PROMISES.get(name, ""),
        # A bound that is promised weighs most, then certainty, then the share of people.
        "rank": (
            0 if outcome["promised"] and not certain else (1 if certain else 2),
            -(certain or broken) / n,
            name,
        ),
    }


def _who(knows: str) -> str:
    """Who does it, by what she knows; what is said in two parts ends with a comma."""
    told = (
        knows.replace("the target", "a person")
        .replace("the quasi-identifiers, or what a rule gives", "the quasi-identifiers of a person")
        .replace("; compares", ", and compares")
    )
    return f"Someone who knows {told}," if "," in told else f"Someone who knows {told}"


def _beyond(document: Plain) -> Iterator[dict[str, Any]]:
    """What the audit says of those who know more, where no attack has shown it."""
    shown = {
        about
        for name in ("background-join", "intersection")
        for about in document.get("attack", {}).get("attacks", {}).get(name, {}).get("by_attribute", {})
    }
    for place, told in enumerate(document.get("audit", {}).get("not_promised", [])):
        if told["reading"] != "conditional" or told["about"] not in shown:
            yield {
                "kind": "beyond",
                "rank": (1 if told["is_certain"] else 2, -told["rows"] / max(told["of"], 1), told["about"]),
                "path": ("audit", "not_promised", place),
                "words": told["what"],
                "remedy": told["remedy"],
            }
