"""Methods × parameters: the configurations that are compared, and what is varied: `k=2,5,10` or `slice.columns=2,3`."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from manyveils.errors import InputError, Problem
from manyveils.methods import load, method_names, method_problems
from manyveils.policy import Policy
from manyveils.policy.sections import GuaranteeKeys
from manyveils.policy.shape import section_problems, suggest

MOST = 64
SHARED = "suppression"
NONE = "none"
EXAMPLE = "For example k=2,5,10 or slice.columns=2,3."


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


@dataclass(frozen=True)
class Variation:
    """A key of [guarantee] or [publish] and the values it takes in turn; None leaves the key out."""

    key: str
    values: tuple[Any, ...]
    # The method the key belongs to; None for keys that every method takes.
    method: str | None = None

    @property
    def name(self) -> str:
        """The key as users write it."""
        return self.key if self.method is None else f"{self.method}.{self.key}"

    @property
    def in_guarantee(self) -> bool:
        """Whether the key says what is promised, and not how it is kept."""
        return self.method is None and self.key != SHARED

    def applies_to(self, method: str) -> bool:
        """Whether a method takes the key."""
        return self.method in (None, method)


def usual_names() -> tuple[str, ...]:
    """What is compared unless methods are named: every method, and the variants it lists to be tried with it."""
    methods = [load(name) for name in method_names()]
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
    known = method_names()
    for name in names:
        method, colon, variant = name.partition(":")
        variants = tuple(load(method).variants) if method in known else ()
        if method not in known:
            yield Problem("methods", f"{method!r} is not a method.", suggest(method, known))
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
        chosen = list(zip(applying, values, strict=True))
        promised = {variation.key: value for variation, value in chosen if variation.in_guarantee}
        others = {variation.key: value for variation, value in chosen if not variation.in_guarantee}
        words = [f"{variation.key} = {_written(value)}" for variation, value in chosen]
        yield Configuration(
            ", ".join([name, *words]),
            without_none(publish | others),
            without_none(guarantee | promised),
            {variation.name: value for variation, value in chosen},
        )


def without_none(value: Any) -> Any:
    """Sections without the keys that are None, which TOML cannot write."""
    if isinstance(value, Mapping):
        return {key: without_none(entry) for key, entry in value.items() if entry is not None}
    return [without_none(entry) for entry in value] if isinstance(value, list) else value


def _written(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_idle(variations: Sequence[Variation], sections: Mapping[str, Mapping[str, Any]]) -> None:
    methods = {section["method"] for section in sections.values()}
    idle = [variation for variation in variations if not any(map(variation.applies_to, methods))]
    remedy = "Add it, or drop this."
    InputError.refuse(
        Problem(f"vary {key.name}", f"{key.method} is not among the methods.", remedy) for key in idle
    )


def _too_many(sections: Mapping[str, Mapping[str, Any]], variations: Sequence[Variation]) -> Problem:
    n_configurations = sum(
        prod(len(variation.values) for variation in variations if variation.applies_to(section["method"]))
        for section in sections.values()
    )
    what = f"{n_configurations:,} configurations, {MOST} at most."
    return Problem("compare", what, "Vary fewer values or methods.")


def read_variations(vary: Sequence[str] | Mapping[str, Sequence[Any]]) -> tuple[Variation, ...]:
    """Variations from texts such as "k=2,5,10", or from lists of values by key; all problems at once."""
    pairs = list(vary.items()) if isinstance(vary, Mapping) else _parsed(vary)
    variations = [_variation(str(name), list(values)) for name, values in pairs]
    problems = [problem for variation in variations for problem in _problems(variation)]
    names = [variation.name for variation in variations]
    problems += [
        Problem(f"vary {name}", "is given twice.", "List all values in one.")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    InputError.refuse(problems)
    return tuple(variations)


def _parsed(texts: Sequence[str]) -> list[tuple[str, list[Any]]]:
    parts = [text.partition("=") for text in texts]
    InputError.refuse(
        Problem("vary", f"{''.join(part)!r} is not a key and its values.", EXAMPLE)
        for part in parts
        if not part[0] or not part[2].strip()
    )
    return [(name.strip(), _values(values)) for name, _, values in parts]


def _values(text: str) -> list[Any]:
    """Values as TOML writes them; what TOML does not know is a text.

    >>> _values('2, 5'), _values('0.5, none'), _values('equal-width, cluster'), _values('[["a", "b"], ["c"]], 2')
    ([2, 5], [0.5, 'none'], ['equal-width', 'cluster'], [[['a', 'b'], ['c']], 2])
    """
    try:
        return list(tomllib.loads(f"values = [{text}]")["values"])
    except tomllib.TOMLDecodeError:
        return [_value(part.strip()) for part in text.split(",") if part.strip()]


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _variation(name: str, values: list[Any]) -> Variation:
    method, dot, key = name.partition(".")
    unique: list[Any] = []
    for text in values:
        value = None if isinstance(text, str) and text.lower() == NONE else text
        if not any(type(value) is type(known) and value == known for known in unique):
            unique.append(value)
    return Variation(key, tuple(unique), method) if dot else Variation(name, tuple(unique))


def _problems(variation: Variation) -> Iterator[Problem]:
    where, method = f"vary {variation.name}", variation.method
    if not variation.values:
        yield Problem(where, "has no values.", EXAMPLE)
    if method is not None and method not in method_names():
        yield Problem(where, f"{method!r} is not a method.", suggest(method, method_names()))
    elif method is None and variation.key not in (*GuaranteeKeys.model_fields, SHARED):
        remedy = f"Write the keys of a method with its name, such as slice.columns. {_nearest(variation.key)}"
        yield Problem(where, "is neither a key of [guarantee] nor suppression.", remedy)
    elif variation.key == "method":
        yield Problem(where, "methods are not varied like this.", "List them in --methods.")
    else:
        # Values that contradict each other are refused with their configuration.
        for value in variation.values:
            for problem in () if value is None else _value_problems(variation, value):
                yield Problem(where, f"{value!r}: {problem.what}", problem.remedy)


def _nearest(key: str) -> str:
    remedy = suggest(key, (*GuaranteeKeys.model_fields, SHARED))
    return remedy if remedy.startswith("Did") else ""


def _value_problems(variation: Variation, value: Any) -> Iterator[Problem]:
    if variation.in_guarantee:
        yield from section_problems(GuaranteeKeys, {variation.key: value}, "vary")
    elif variation.key != SHARED:
        yield from method_problems({"method": variation.method, variation.key: value}, "vary")
    elif not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        yield Problem(f"vary {SHARED}", "must be a share from 0 to 1.", "For example 0,0.02.")
