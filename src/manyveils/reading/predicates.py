"""Conditions as people write them: age >= 20 and age < 30 and disease = 'Flu'."""

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from manyveils.errors import InputError, Problem
from manyveils.reading.domains import Domain
from manyveils.reading.keys import Bools as Mask

TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)|(?P<sign><=|>=|!=|<>|==|=|<|>|\(|\)|,)|(?P<word>[^\s<>=!(),'"`]+))"""
)
# Whether an attribute with several values in a cell holds one of them, as = and != say too.
HOLDS = ("=", "contains")
LACKS = ("!=", "not contains")
OTHER_SIGNS = {"<>": "!=", "==": "="}
ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EXAMPLE = "Write, for example: age >= 20 and age < 30 and disease = 'Flu'."


@dataclass(frozen=True)
class Condition:
    """One attribute compared with one or several values."""

    name: str
    sign: str
    values: tuple[str, ...]


def parse(text: str) -> list[Condition]:
    """Read conditions joined by `and`."""
    if not isinstance(text, str):
        raise _wrong("must be a text.")
    words = _words(text)
    if not words:
        raise _wrong("is empty.")
    conditions = [_condition(words)]
    while words:
        _expect(words, "and")
        conditions.append(_condition(words))
    return conditions


def masks_of(
    conditions: list[Condition],
    domains: Mapping[str, Domain],
    derived: Mapping[str, tuple[str, ...]],
    coarse: Collection[str] = (),
) -> dict[str, Mask]:
    """For each attribute the originals for which its conditions hold.

    `coarse` names multi-valued attributes whose values are labels of their hierarchy.
    """
    masks: dict[str, Mask] = {}
    for condition in conditions:
        for name, mask in _mask(condition, domains, derived, coarse).items():
            masks[name] = masks[name] & mask if name in masks else mask
    return masks


def _mask(
    condition: Condition,
    domains: Mapping[str, Domain],
    derived: Mapping[str, tuple[str, ...]],
    coarse: Collection[str],
) -> dict[str, Mask]:
    if condition.name in derived:
        return _mask_of_value(condition, domains, derived[condition.name], is_coarse=condition.name in coarse)
    if condition.name not in domains:
        bits = {bit for names in derived.values() for bit in names}
        known = [*(name for name in domains if name not in bits), *derived]
        near = get_close_matches(condition.name.lower(), [name.lower() for name in known], n=1)
        meant = [name for name in known if near and name.lower() == near[0]]
        remedy = f"Did you mean {meant[0]!r}?" if meant else f"Published are {', '.join(known)}."
        raise _wrong(f"{condition.name!r} is not published.", remedy)
    if "contains" in condition.sign:
        remedy = "Compare it with = or in."
        raise _wrong(f"asks what {condition.name!r} contains, which holds one value in a cell.", remedy)
    return {condition.name: _holds(condition, domains[condition.name])}


def _mask_of_value(
    condition: Condition, domains: Mapping[str, Domain], bits: tuple[str, ...], *, is_coarse: bool
) -> dict[str, Mask]:
    """A multi-valued attribute holds a value or not: its 0/1 column says so."""
    if condition.sign not in (*HOLDS, *LACKS):
        remedy = "Write contains 'value' or not contains 'value', one value at a time."
        raise _wrong(f"{condition.name!r} holds several values.", remedy)
    bit = f"{condition.name}={condition.values[0]}"
    if bit not in domains:
        if is_coarse:
            what = f"{condition.name!r} is published as labels of its hierarchy, and this is none of the {len(bits)}."
            raise _wrong(what, "Ask for the label that it stands under.")
        # Nobody who is published has a value that does not occur; any attribute may say so.
        beside = next((name for name in bits if name in domains), next(iter(domains)))
        return {beside: np.full(len(domains[beside].texts), condition.sign in LACKS)}
    wanted = "1" if condition.sign in HOLDS else "0"
    return {bit: np.array([text == wanted for text in domains[bit].texts])}


def _holds(condition: Condition, domain: Domain) -> Mask:
    missing = np.array([text == "" for text in domain.texts])
    match condition.sign:
        case "is missing":
            return missing
        case "is not missing":
            return ~missing
        case "=" | "in":
            return np.logical_or.reduce([_equal(domain, value) for value in condition.values]) & ~missing
        case "!=":
            return ~np.logical_or.reduce([_equal(domain, value) for value in condition.values]) & ~missing
        case "between":
            low, high = condition.values
            return _compared(domain, ">=", low) & _compared(domain, "<=", high) & ~missing
        case sign:
            return _compared(domain, sign, condition.values[0]) & ~missing


def _equal(domain: Domain, value: str) -> Mask:
    exact = np.array([text == value for text in domain.texts])
    number = as_number(value)
    return exact if exact.any() or number is None else domain.numbers == number


def _compared(domain: Domain, sign: str, value: str) -> Mask:
    number = as_number(value)
    is_numeric = bool(np.isfinite(domain.numbers[[text != "" for text in domain.texts]]).all())
    if is_numeric != (number is not None):
        what = "numbers" if is_numeric else "texts that are no numbers"
        remedy = "Compare it with a number." if is_numeric else "Put the text into quotes, or use = and in."
        raise _wrong(f"compares {domain.name!r}, which holds {what}, with something else.", remedy)
    left: Any = domain.numbers if number is not None else np.array(domain.texts, dtype=np.str_)
    result: Mask = ORDER[sign](left, value if number is None else number)
    return result


def as_number(value: str) -> float | None:
    """The number that a text is, if it is one."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _words(text: str) -> list[str]:
    words, start = [], 0
    stripped = text.rstrip()
    while start < len(stripped):
        token = TOKEN.match(stripped, start)
        if not token:
            unread = len(stripped[start:].lstrip())
            raise _wrong(f"cannot be read from character {len(stripped) - unread + 1} on.")
        words.append(token[0].strip())
        start = token.end()
    return words


def _condition(words: list[str]) -> Condition:
    name, sign = _unquoted(_next(words)), _next(words).lower()
    sign = OTHER_SIGNS.get(sign, sign)
    if sign == "is":
        word = _next(words).lower()
        if word == "not":
            _expect(words, "missing")
            return Condition(name, "is not missing", ())
        if word != "missing":
            raise _wrong(f"has {word!r} after `is`.", "Write `is missing` or `is not missing`.")
        return Condition(name, "is missing", ())
    if sign == "between":
        low = _value(words)
        _expect(words, "and")
        return Condition(name, sign, (low, _value(words)))
    if sign == "in":
        return Condition(name, sign, _listed(words))
    if sign == "not":
        _expect(words, "contains")
        sign = "not contains"
    if sign not in ("=", "!=", "<", "<=", ">", ">=", "contains", "not contains"):
        raise _wrong(f"has {sign!r} where a comparison should be.")
    return Condition(name, sign, (_value(words),))


def _listed(words: list[str]) -> tuple[str, ...]:
    _expect(words, "(")
    values = [_value(words)]
    while (word := _next(words)) == ",":
        values.append(_value(words))
    if word != ")":
        raise _wrong("has a list that does not end.", "Write in ('a', 'b').")
    return tuple(values)


def _value(words: list[str]) -> str:
    word = _next(words)
    if word in ("(", ")", ",", "=", "<", ">", "<=", ">=", "!=", "<>"):
        raise _wrong(f"has {word!r} where a value should be.")
    return _unquoted(word)


def _unquoted(word: str) -> str:
    if word[0] in "'\"`":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word


def _next(words: list[str]) -> str:
    if not words:
        raise _wrong("ends too early.")
    return words.pop(0)


def _expect(words: list[str], wanted: str) -> None:
    word = _next(words)
    if word.lower() != wanted:
        raise _wrong(f"has {word!r} where {wanted!r} should be.")


def _wrong(what: str, remedy: str = EXAMPLE) -> InputError:
    return InputError([Problem("query", what, remedy)])
