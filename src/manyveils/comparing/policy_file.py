"""The recommended configuration as a policy file: the user's own, with the keys that were chosen."""

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit

from manyveils.comparing.configurations import Configuration, without_none
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.release.folder import path_from


def policy_text(
    policy: Policy, file: Path | None, configuration: Configuration, *, folder: Path, data: Path | None
) -> str:
    """A policy for a file in `folder`; comments of a TOML file stay, and paths lead where they led before.

    `data` is where the data are, if not where the policy says.
    """
    document = _document(policy, file)
    _set(document, "guarantee", configuration.guarantee)
    _set(document, "publish", configuration.publish)
    if data is not None:
        _set(document, "data", {**document.get("data", {}), "source": str(data.absolute())})
    _move_paths(document, file.parent if file else Path(), folder)
    return tomlkit.dumps(document)


def _document(policy: Policy, file: Path | None) -> MutableMapping[str, Any]:
    if file is not None and file.suffix.lower() != ".json":
        return tomlkit.parse(file.read_text(encoding="utf-8-sig"))
    sections = read_document(file) if file else policy.model_dump(by_alias=True, exclude_unset=True)
    return tomlkit.item(without_none(sections))


def _set(document: MutableMapping[str, Any], name: str, keys: Mapping[str, Any]) -> None:
    """Let a section have just these keys; those that stay as they are keep their place and comment."""
    if name not in document:
        if not keys:
            return
        document[name] = tomlkit.table()
    section = document[name]
    for key in [key for key in section if key not in keys]:
        del section[key]
    for key, value in keys.items():
        if key not in section or section[key] != value:
            section[key] = value


def _move_paths(document: MutableMapping[str, Any], before: Path, folder: Path) -> None:
    data = document.get("data", {})
    if data.get("source"):
        data["source"] = path_from(folder, before / data["source"])
    for attribute in document["attributes"].values():
        hierarchy = attribute.get("hierarchy")
        if isinstance(hierarchy, MutableMapping) and isinstance(hierarchy.get("file"), str):
            hierarchy["file"] = path_from(folder, before / hierarchy["file"])
