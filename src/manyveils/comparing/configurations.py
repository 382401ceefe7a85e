"""Methods × parameters: the configurations that are compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from manyveils.comparing.vary import Variation
from manyveils.errors import InputError, Problem
from manyveils.methods import METHODS
from manyveils.policy import Policy
from manyveils.policy.check import suggest

MOST = 64
# What stands behind the colon of a method's name.
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "generalize": {"full-domain": {"recoding": "full-domain"}, "mondrian": {"recoding": "mondrian"}},
    "codip": {
        "mondrian": {"anonymizer": "mondrian"},
        "patient": {"search": "patient"},
        "optimal": {"search": "optimal"},
    },
    "guardian": {
        "gd": {"decompose": "gd"},
        "slice": {"anonymizer": "slice"},
        "generalize": {"anonymizer": "generalize"},
    },
    "grade": {name: {"then": name} for name in ("generalize", "anatomize", "slice")},
}
USUAL = ("generalize", "generalize:mondrian", *METHODS[1:])


@dataclass(frozen=True)
class Configuration:
    """One way to publish: a name, and the sections of the policy that differ from way to way."""

    name: str
    publish: Mapping[str, Any]
    guarantee: Mapping[str, Any]
    changed: Mapping[str, Any] = field(default_factory=dict)

    def of(self, policy: Policy) -> Policy:
        """The policy with these sections."""
        return policy.replaced(publish=dict(self.publish), guarantee=dict(self.guarantee))

    def describe(self) -> dict[str, Any]:
        """The configuration as plain values for JSON."""
        return {
            "name": self.name,
            "publish": dict(self.publish),
            "guarantee": dict(self.guarantee),
            "changed": dict(self.changed),
        }


def configurations(
    policy: Policy, methods: Sequence[str] | None, variations: Sequence[Variation]
) -> tuple[Configuration, ...]:
    """Every method with every combination of the parameters that apply to it; the same thing is not done twice."""
    ways = {name: _publish(policy, name) for name in methods or USUAL}
    _refuse_idle(variations, ways)
    found: list[Configuration] = []
    for each in (made for name, way in ways.items() for made in _varied(policy, name, way, variations)):
        if all((each.publish, each.guarantee) != (other.publish, other.guarantee) for other in found):
            found.append(each)
        if len(found) > MOST:
            raise InputError([_too_many(ways, variations)])
    return tuple(found)


def refuse_methods(methods: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the names of methods."""
    for name in methods:
        method, colon, variant = name.partition(":")
        if method not in METHODS:
            yield Problem("methods", f"{method!r} is not a method.", suggest(method, METHODS))
        elif colon and variant not in VARIANTS.get(method, {}):
            known = tuple(VARIANTS.get(method, {}))
            remedy = suggest(variant, known) if known else f"Say {method}."
            yield Problem("methods", f"{method} has no variant {variant!r}.", remedy)


def _publish(policy: Policy, name: str) -> dict[str, Any]:
    """A method with its own defaults, and the policy's method as the policy has it."""
    method, _, variant = name.partition(":")
    own = policy.publish.options if method == policy.publish.method else {}
    section = {"method": method, "suppression": policy.publish.suppression, **own}
    return section | VARIANTS.get(method, {}).get(variant, {})


def _varied(
    policy: Policy, name: str, publish: dict[str, Any], variations: Sequence[Variation]
) -> Iterator[Configuration]:
    applying = [each for each in variations if each.method in (None, publish["method"])]
    general = policy.guarantee.model_dump(exclude_unset=True)
    for values in product(*(each.values for each in applying)):
        chosen = dict(zip(applying, values, strict=True))
        promised = {each.key: value for each, value in chosen.items() if each.in_guarantee}
        made = {each.key: value for each, value in chosen.items() if not each.in_guarantee}
        words = [f"{each.key} = {_said(value)}" for each, value in chosen.items()]
        yield Configuration(
            ", ".join([name, *words]),
            _without_none(publish | made),
            _without_none(general | promised),
            {each.said: value for each, value in chosen.items()},
        )


def _without_none(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


def _said(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_idle(variations: Sequence[Variation], ways: Mapping[str, Mapping[str, Any]]) -> None:
    methods = {way["method"] for way in ways.values()}
    problems = [
        Problem(f"vary {each.said}", f"{each.method} is not among the methods.", "Add it, or drop this.")
        for each in variations
        if each.method is not None and each.method not in methods
    ]
    if problems:
        raise InputError(problems)


def _too_many(ways: Mapping[str, Mapping[str, Any]], variations: Sequence[Variation]) -> Problem:
    total = 0
    for way in ways.values():
        n = 1
        for each in variations:
            n *= len(each.values) if each.method in (None, way["method"]) else 1
        total += n
    return Problem("compare", f"{total:,} configurations, {MOST} at most.", "Vary fewer values or methods.")
