"""Methods × parameters: the configurations that are compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from manyveils.comparing.vary import Variation
from manyveils.errors import InputError, Problem
from manyveils.methods import METHODS, load
from manyveils.policy import Policy
from manyveils.policy.check import suggest

MOST = 64


@dataclass(frozen=True)
class Configuration:
    """One way to publish: a name, and the sections of the policy that differ from one to the next."""

    name: str
    publish: Mapping[str, Any]
    guarantee: Mapping[str, Any]
    changed: Mapping[str, Any] = field(default_factory=dict)

    def of(self, policy: Policy) -> Policy:
        """The policy with these sections."""
        return policy.replaced(publish=dict(self.publish), guarantee=dict(self.guarantee))

    def describe(self) -> dict[str, Any]:
        """The configuration as plain values for JSON."""
        sections = {"publish": self.publish, "guarantee": self.guarantee, "changed": self.changed}
        return {"name": self.name, **{key: dict(section) for key, section in sections.items()}}


def usual_names() -> tuple[str, ...]:
    """What is compared unless methods are named: every method, and the variants it lists to be tried with it."""
    methods = [load(name) for name in METHODS]
    variants = {method.name: [f"{method.name}:{variant}" for variant in method.tried] for method in methods}
    return tuple(name for method, names in variants.items() for name in (method, *names))


def configurations(
    policy: Policy, methods: Sequence[str] | None, variations: Sequence[Variation]
) -> tuple[Configuration, ...]:
    """Every method with every combination of the parameters that apply to it; equal configurations count once."""
    sections = {name: _publish(policy, name) for name in methods or usual_names()}
    _refuse_idle(variations, sections)
    different: list[Configuration] = []
    for name, section in sections.items():
        for new in _varied(policy, name, section, variations):
            if all((new.publish, new.guarantee) != (known.publish, known.guarantee) for known in different):
                different.append(new)
            if len(different) > MOST:
                raise InputError([_too_many(sections, variations)])
    return tuple(different)


def name_problems(names: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the names of methods and their variants."""
    for name in names:
        method, colon, variant = name.partition(":")
        variants = tuple(load(method).variants) if method in METHODS else ()
        if method not in METHODS:
            yield Problem("methods", f"{method!r} is not a method.", suggest(method, METHODS))
        elif colon and variant not in variants:
            remedy = suggest(variant, variants) if variants else f"Say {method}."
            yield Problem("methods", f"{method} has no variant {variant!r}.", remedy)


def _publish(policy: Policy, name: str) -> dict[str, Any]:
    """A method with its own defaults, and the policy's method as the policy has it."""
    method, _, variant = name.partition(":")
    own = policy.publish.options if method == policy.publish.method else {}
    section = {"method": method, "suppression": policy.publish.suppression, **own}
    return section | (dict(load(method).variants[variant]) if variant else {})


def _varied(
    policy: Policy, name: str, publish: dict[str, Any], variations: Sequence[Variation]
) -> Iterator[Configuration]:
    applying = [variation for variation in variations if variation.applies_to(publish["method"])]
    guarantee = policy.guarantee.model_dump(exclude_unset=True)
    for values in product(*(variation.values for variation in applying)):
        chosen = dict(zip(applying, values, strict=True))
        promised = {variation.key: value for variation, value in chosen.items() if variation.in_guarantee}
        others = {variation.key: value for variation, value in chosen.items() if not variation.in_guarantee}
        words = [f"{variation.key} = {_written(value)}" for variation, value in chosen.items()]
        yield Configuration(
            ", ".join([name, *words]),
            _without_none(publish | others),
            _without_none(guarantee | promised),
            {variation.name: value for variation, value in chosen.items()},
        )


def _without_none(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


def _written(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_idle(variations: Sequence[Variation], sections: Mapping[str, Mapping[str, Any]]) -> None:
    methods = {section["method"] for section in sections.values()}
    problems = [
        Problem(
            f"vary {variation.name}", f"{variation.method} is not among the methods.", "Add it, or drop this."
        )
        for variation in variations
        if not any(map(variation.applies_to, methods))
    ]
    if problems:
        raise InputError(problems)


def _too_many(sections: Mapping[str, Mapping[str, Any]], variations: Sequence[Variation]) -> Problem:
    n_configurations = sum(
        prod(len(variation.values) for variation in variations if variation.applies_to(section["method"]))
        for section in sections.values()
    )
    what = f"{n_configurations:,} configurations, {MOST} at most."
    return Problem("compare", what, "Vary fewer values or methods.")
