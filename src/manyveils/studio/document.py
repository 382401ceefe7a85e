"""A policy as text, edited without losing its comments: each function takes the text and gives the new one."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from manyveils.arguments import read_policy
from manyveils.errors import Change, PolicyError, Problem
from manyveils.methods import read_options
from manyveils.policy import Policy

BY_HAND = "chosen in the studio"


def sections_of(text: str, name: str = "policy.toml") -> dict[str, Any]:
    """The sections of a policy's text, not judged.

    >>> sections_of("[guarantee]\\nk = 3")
    {'guarantee': {'k': 3}}
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        what = (
            f"is not valid TOML: {error}."
            if isinstance(error, tomllib.TOMLDecodeError)
            else "cannot be read."
        )
        raise PolicyError.at(name, what, "Undo the last change, or mend the line.") from None


def policy_of(text: str, folder: Path, name: str) -> Policy:
    """The policy of a text that stands in a folder; all its problems at once."""
    sections = sections_of(text, name)
    private = [
        Problem(f"{name}: {key}", "is not a section.", "Leave it out.") for key in sections if key[:1] == "_"
    ]
    PolicyError.refuse(private)
    policy = read_policy(sections | {"_folder": folder, "_name": name})
    read_options(policy)
    return policy


def role_of(sections: Mapping[str, Any], name: str) -> str:
    """The role that the text gives a column, or ? where it gives none."""
    section = _table(_table(sections, "attributes"), name)
    return str(section.get("role", "?"))


def having(sections: Mapping[str, Any], role: str) -> tuple[str, ...]:
    """The columns of a role, in the order of the text."""
    return tuple(name for name in _table(sections, "attributes") if role_of(sections, name) == role)


def person_in(sections: Mapping[str, Any]) -> tuple[str, ...]:
    """The identifiers that tell persons apart; none where every row is a person of its own, or nothing is said."""
    said = _table(sections, "data").get("person", "row")
    names = said if isinstance(said, list) else [said]
    return tuple(name for name in names if isinstance(name, str) and name != "row")


def with_role(text: str, name: str, role: str) -> str:
    """The text with another role for a column, marked as chosen by hand."""
    document = _parsed(text)
    section = _made(_made(document, "attributes"), name)
    if section.get("role") == role:
        return text
    value = tomlkit.item(role)
    section["role"] = value
    section.value.item("role").comment(BY_HAND)
    return tomlkit.dumps(document)


def with_person(text: str, names: Sequence[str]) -> str:
    """The text with other identifiers that tell persons apart; with none, every row is a person of its own."""
    told: Any = "row" if not names else names[0] if len(names) == 1 else list(names)
    return with_key(text, "data", "person", told)


def with_key(text: str, section: str, key: str, value: Any) -> str:
    """The text with another value for a key of a section; without it for None.

    >>> with_key("[guarantee]  # for all\\nk = 3\\n", "guarantee", "k", 5)
    '[guarantee]  # for all\\nk = 5\\n'
    """
    document = _parsed(text)
    table = _made(document, section)
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
    return tomlkit.dumps(document)


def with_method(text: str, method: str, options: Mapping[str, Any]) -> str:
    """The text with another method and its own keys; keys of the method before it go, suppression stays."""
    document = _parsed(text)
    before = document.get("publish", {})
    kept = {key: before[key] for key in ("suppression", "leaving") if key in before}
    document["publish"] = tomlkit.table()
    for key, value in {"method": method, **options, **kept}.items():
        document["publish"][key] = value
    return tomlkit.dumps(document)


def with_change(text: str, change: Change) -> str:
    """The text with what an error suggests; an attribute's own promise comes before the one for all."""
    if change.section == "attributes":
        return with_role(text, change.attribute, str(change.value))
    if (change.section, change.key) == ("publish", "method"):
        return with_method(text, str(change.value), {})
    own = _table(_table(_table(sections_of(text), "attributes"), change.attribute), "guarantee")
    if change.section != "guarantee" or change.key not in own:
        return with_key(text, change.section, change.key, change.value)
    document = _parsed(text)
    document["attributes"][change.attribute]["guarantee"][change.key] = change.value
    return tomlkit.dumps(document)


def change_in_words(text: str, change: Change) -> str:
    """What a change sets, and where.

    >>> change_in_words("", Change("publish", "suppression", 0.02))
    'Set suppression = 0.02 in [publish]'
    """
    own = _table(_table(_table(sections_of(text), "attributes"), change.attribute), "guarantee")
    is_own = change.section == "attributes" or (change.section == "guarantee" and change.key in own)
    of = f" of {change.attribute}" if is_own else f" in [{change.section}]"
    return f"Set {change.key} = {tomlkit.item(change.value).as_string()}{of}"


def with_hierarchy(text: str, name: str, hierarchy: Mapping[str, Any] | None) -> str:
    """The text with another hierarchy of an attribute; without one for None."""
    document = _parsed(text)
    section = _made(_made(document, "attributes"), name)
    section.pop("hierarchy", None)
    if hierarchy is not None:
        inline = tomlkit.inline_table()
        inline.update(hierarchy)
        section["hierarchy"] = inline
        section.value.item("hierarchy").comment(BY_HAND)
    return tomlkit.dumps(document)


def _parsed(text: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError:
        sections_of(text)
        raise PolicyError.at(
            "policy.toml", "cannot be edited as it is written.", "Write it more simply."
        ) from None


def _table(sections: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = sections.get(name)
    return section if isinstance(section, Mapping) else {}


def _made(document: Any, name: str) -> Any:
    if name not in document:
        document[name] = tomlkit.table()
    return document[name]
