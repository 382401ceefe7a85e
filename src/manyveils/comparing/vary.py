"""What is varied: `k=2,5,10`, `suppression=0,0.02` or `slice.columns=2,3`."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyveils.errors import InputError, Problem
from manyveils.methods import METHODS, method_problems
from manyveils.policy.check import section_problems, suggest
from manyveils.policy.guarantees import GuaranteeKeys

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
        return hash((self.method, self.key))

    @property
    def in_guarantee(self) -> bool:
        """Whether the key says what is promised, and not how it is made."""
        return self.method is None and self.key != SHARED

    @property
    def said(self) -> str:
        """The key as it was asked for."""
        return self.key if self.method is None else f"{self.method}.{self.key}"


def read_variations(asked: Sequence[str] | Mapping[str, Sequence[Any]]) -> tuple[Variation, ...]:
    """Variations from texts such as "k=2,5,10", or from lists of values by key; all problems at once."""
    pairs = _parsed(asked) if not isinstance(asked, Mapping) else list(asked.items())
    found = [_variation(str(key), list(values)) for key, values in pairs]
    problems = [problem for each in found for problem in _problems(each)]
    names = [each.said for each in found]
    problems += [
        Problem(f"vary {name}", "is there twice.", "List all values in one.")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return tuple(found)


def _parsed(asked: Sequence[str]) -> list[tuple[str, list[Any]]]:
    malformed = [text for text in asked if not text.partition("=")[2].strip() or not text.partition("=")[0]]
    if malformed:
        raise InputError(
            Problem("vary", f"{text!r} is not a key and its values.", EXAMPLE) for text in malformed
        )
    return [(key.strip(), _values(values)) for key, _, values in (text.partition("=") for text in asked)]


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


def _variation(said: str, values: list[Any]) -> Variation:
    method, dot, key = said.partition(".")
    plain = (None if isinstance(value, str) and value.lower() == NONE else value for value in values)
    unique: list[Any] = []
    for value in plain:
        if not any(type(value) is type(other) and value == other for other in unique):
            unique.append(value)
    return Variation(key if dot else said, tuple(unique), method if dot else None)


def _problems(each: Variation) -> Iterator[Problem]:
    place = f"vary {each.said}"
    if not each.values:
        yield Problem(place, "has no values.", EXAMPLE)
    if each.method is not None and each.method not in METHODS:
        yield Problem(place, f"{each.method!r} is not a method.", suggest(each.method, METHODS))
    elif each.method is None and each.key not in (*GuaranteeKeys.model_fields, SHARED):
        remedy = f"Keys of a method are written with its name, such as slice.columns. {_nearest(each.key)}"
        yield Problem(place, "is neither a key of [guarantee] nor suppression.", remedy)
    elif each.key == "method":
        yield Problem(place, "methods are not varied like this.", "List them in --methods.")
    else:
        yield from _value_problems(each)


def _nearest(key: str) -> str:
    said = suggest(key, (*GuaranteeKeys.model_fields, SHARED))
    return said if said.startswith("Did") else ""


def _value_problems(each: Variation) -> Iterator[Problem]:
    """What is wrong with single values; values that contradict each other are told of the configuration."""
    for value in each.values:
        if value is None:
            continue
        for problem in _wrong_with(each, value):
            yield Problem(f"vary {each.said}", f"{value!r}: {problem.what}", problem.remedy)


def _wrong_with(each: Variation, value: Any) -> Iterator[Problem]:
    if each.in_guarantee:
        yield from section_problems(GuaranteeKeys, {each.key: value}, "vary")
        return
    yield from method_problems({"method": each.method or "separate", each.key: value}, "vary")
    if each.key == SHARED and not _is_share(value):
        yield Problem(f"vary {SHARED}", "must be a share from 0 to 1.", "For example 0,0.02.")


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
