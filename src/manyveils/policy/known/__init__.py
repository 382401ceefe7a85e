"""Hierarchies that everybody shares: classifications, countries, regions, worked out for the values that occur."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files

from manyveils.policy.hierarchies import TOP, Lines

ICD10 = re.compile(r"^([A-Z][0-9]{2})(?:\.?[0-9A-Z]{1,4})?[-*+!†]?$")
ICD9 = re.compile(r"^(?:([0-9]{1,3})|(V[0-9]{2})|(E[0-9]{3}))(?:\.[0-9]{0,2})?$")
ISCO = re.compile(r"^[0-9]{4}$")
# The sub-major groups of ISCO-08: which second digits there are after each first one.
ISCO_GROUPS = ("123", "1234", "123456", "12345", "1234", "1234", "123", "12345", "123", "123456")
NUTS = re.compile(r"^[A-Z]{2}[0-9A-Z]{0,3}$")
# The first category of each chapter of ICD-9; codes with V and E are chapters of their own.
ICD9_CHAPTERS = (1, 140, 240, 280, 290, 320, 390, 460, 520, 580, 630, 680, 710, 740, 760, 780, 800, 1000)
# Labels above a value, from the next level to the one below the top; nothing where it is not known.
Above = Callable[[str], tuple[str, ...] | None]


def known_lines(name: str, texts: Iterable[str]) -> tuple[Lines, tuple[str, ...]]:
    """The lines of a known hierarchy for some values, and the values that it does not know.

    >>> known_lines("icd10", ["E11.9", "?"])
    ((('E11.9', 'E11', 'E10-E14', 'E00-E90', '*'),), ('?',))
    """
    above = {text: KNOWN[name](text) for text in texts if text}
    lines = tuple((text, *labels, TOP) for text, labels in above.items() if labels is not None)
    return lines, tuple(text for text, labels in above.items() if labels is None)


@cache
def _blocks() -> tuple[list[str], list[tuple[str, str, str]]]:
    """The first category of each block of ICD-10, in order, and the last one, the block and its chapter."""
    listed = []
    for line in _read("icd10"):
        chapter, blocks = line.split(": ")
        listed += [(*block.split("-"), _alone(block), chapter) for block in blocks.split()]
    ordered = sorted(listed)
    return [first for first, *_ in ordered], [(last, block, chapter) for _, last, block, chapter in ordered]


def _alone(block: str) -> str:
    first, last = block.split("-")
    return block if first != last else f"{first}-"


def _icd10(text: str) -> tuple[str, ...] | None:
    matched = ICD10.match(text.strip().upper())
    if matched is None:
        return None
    category, (firsts, blocks) = matched[1], _blocks()
    place = bisect_right(firsts, category) - 1
    if place < 0 or category > blocks[place][0]:
        return None
    return category, *blocks[place][1:]


def _icd9(text: str) -> tuple[str, ...] | None:
    matched = ICD9.match(text.strip().upper())
    if matched is None:
        return None
    number, health, cause = matched.groups()
    if number is None:
        return (health, "V01-V91") if health else (cause, "E000-E999")
    place = bisect_right(ICD9_CHAPTERS, int(number)) - 1
    if place < 0:
        return None
    return number.zfill(3), f"{ICD9_CHAPTERS[place]:03}-{ICD9_CHAPTERS[place + 1] - 1:03}"


@cache
def _regions() -> Mapping[str, tuple[str, str]]:
    """Subregion and region of every country, by its codes and its names in small letters."""
    regions: dict[str, tuple[str, str]] = {}
    region = ""
    for line in _read("countries"):
        if not line.startswith(" "):
            region = line
            continue
        subregion, countries = line.strip().split(": ")
        for country in countries.split("; "):
            *codes, names = country.split(" ", 2)
            for written in (*codes, *names.split(" = ")):
                regions[written.lower()] = subregion, region
    return regions


def _country(text: str) -> tuple[str, ...] | None:
    return _regions().get(text.strip().lower())


def _nuts(text: str) -> tuple[str, ...] | None:
    code = text.strip().upper()
    return (code[:4], code[:3], code[:2]) if NUTS.match(code) else None


def _isco(text: str) -> tuple[str, ...] | None:
    code = text.strip()
    if not ISCO.match(code) or code[1] not in ISCO_GROUPS[int(code[0])]:
        return None
    return code[:3], code[:2], code[:1]


def _read(name: str) -> list[str]:
    text = files("manyveils.policy.known").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


KNOWN: Mapping[str, Above] = {
    "icd10": _icd10,
    "icd9": _icd9,
    "countries": _country,
    "nuts": _nuts,
    "isco": _isco,
}
# Hierarchies that are other keys in short.
SHORT: Mapping[str, Mapping[str, object]] = {
    "ages": {"widths": [5, 10, 20]},
    "dates": {"dates": ["month", "quarter", "year"]},
    "postcodes": {"mask": "right"},
}
