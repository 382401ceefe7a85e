"""What is varied: `k=2,5,10`, `suppression=0,0.02` or `slice.columns=2,3`."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyveils.errors import InputError, Problem
from manyveils.methods import METHODS, method_problems
from manyveils.policy.check import section_problems, suggest
from manyveils.policy.sections import Guarantee

SHARED = "suppression"
NONE = "none"
EXAMPLE = "For example k=2,5,10 or slice.columns=2,3."


@dataclass(frozen=True)
class Variation:
    """A key of [guarantee] or [publish] and the values it takes in turn; None leaves the key out."""

    key: str
    values: tuple[Any, ...]
    # The method the key belongs to; None for keys that every method takes.
    method: str | None = None

    def __hash__(self) -> int:
        return hash(self.name)

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
    if problems:
        raise InputError(problems)
    return tuple(variations)


def _parsed(texts: Sequence[str]) -> list[tuple[str, list[Any]]]:
    parts = [text.partition("=") for text in texts]
    problems = [
        Problem("vary", f"{''.join(part)!r} is not a key and its values.", EXAMPLE)
        for part in parts
        if not part[0] or not part[2].strip()
    ]
    if problems:
        raise InputError(problems)
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
    if method is not None and method not in METHODS:
        yield Problem(where, f"{method!r} is not a method.", suggest(method, METHODS))
    elif method is None and variation.key not in (*Guarantee.model_fields, SHARED):
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
    remedy = suggest(key, (*Guarantee.model_fields, SHARED))
    return remedy if remedy.startswith("Did") else ""


def _value_problems(variation: Variation, value: Any) -> Iterator[Problem]:
    if variation.in_guarantee:
        yield from section_problems(Guarantee, {variation.key: value}, "vary")
    elif variation.key != SHARED:
        yield from method_problems({"method": variation.method, variation.key: value}, "vary")
    elif not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        yield Problem(f"vary {SHARED}", "must be a share from 0 to 1.", "For example 0,0.02.")
