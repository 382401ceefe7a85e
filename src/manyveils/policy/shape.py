"""What is wrong with one section of a policy by itself, in the words of the policy file."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from manyveils.errors import Problem

Keys = Mapping[str, Any]
# What init writes in place of a role that the holder of the data has to decide.
UNDECIDED = "?"


def section_problems(model: type[BaseModel], value: object, where: str) -> Iterator[Problem]:
    """What pydantic finds wrong with one section, in the words of the policy file."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        for entry in error.errors(include_url=False):
            key = ".".join([where, *_place(entry["loc"])])
            yield _translate(model, dict(entry), key)


def _place(loc: tuple[int | str, ...]) -> list[str]:
    """The keys that lead to a problem; those of l_of are values of the data, which no message quotes."""
    parts = [str(part) for part in loc]
    return parts[: parts.index("l_of") + 1] if "l_of" in parts else parts


def list_problems(model: type[BaseModel], entries: object, name: str) -> Iterator[Problem]:
    """What is wrong with the entries of a list of tables, one by one."""
    if not isinstance(entries, list):
        yield Problem(name, "must be a list of tables.", f"Write [[{name}]] for each.")
        return
    for number, entry in enumerate(entries, start=1):
        yield from section_problems(model, entry, f"{name}[{number}]")


def _translate(model: type[BaseModel], entry: dict[str, Any], where: str) -> Problem:
    match entry["type"]:
        case "extra_forbidden":
            if entry["loc"][-1] == "accept":
                return Problem(
                    where, "unknown key.", "It stands above all sections, in the first line of the policy."
                )
            return Problem(where, "unknown key.", suggest(str(entry["loc"][-1]), _keys(model, entry["loc"])))
        case "missing":
            return Problem(where, "is missing.", "Add it.")
        case "literal_error" if entry["input"] == UNDECIDED:
            remedy = "Write one of {expected} in its place; the comment above it says what speaks for which."
            return Problem(
                where, "is not decided: manyveils init was not sure.", remedy.format(**entry["ctx"])
            )
        case "literal_error":
            return Problem(where, f"must be one of {entry['ctx']['expected']}.", _nearest(entry))
        case "value_error":
            return Problem(where, entry["msg"].removeprefix("Value error, ") + ".")
        case _:
            return Problem(where, entry["msg"].replace("Input should", "should") + ".")


def _keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys that are known where an error stands, which may be in a table inside the section."""
    for part in loc[:-1]:
        field = model.model_fields.get(str(part))
        kinds = [kind for kind in get_args(field.annotation) if isinstance(kind, type)] if field else []
        inner = next((kind for kind in kinds if issubclass(kind, BaseModel)), None)
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _nearest(entry: Keys) -> str:
    """A guess at what a misspelt choice stands for."""
    choices = entry["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
    near = get_close_matches(str(entry["input"]), choices, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def suggest(key: str, known: list[str] | tuple[str, ...]) -> str:
    """What someone who wrote an unknown key may have meant."""
    near = get_close_matches(key, known, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Known are {', '.join(known)}." if known else "Drop it."
