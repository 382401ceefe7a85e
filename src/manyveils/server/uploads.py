"""Uploads: data and a policy, stored under names the server chooses, and read without following paths in them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.methods import read_options
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.server.refusals import TooLarge

DATA = {".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc"}
POLICY = {".toml", ".json"}
MOST_POLICY = 1_000_000
CHUNK = 1 << 20


@dataclass(frozen=True)
class Upload:
    """A file as it comes in: the name the sender gives it, of which only the ending counts, and its bytes."""

    name: str
    content: BinaryIO


def store(upload: Upload, folder: Path, stem: str, endings: set[str], most: int) -> Path:
    """Write an upload under a name of the server's own."""
    ending = PurePath(upload.name).suffix.lower()
    if ending not in endings:
        raise InputError.at(stem, f"the file's name must end in {', '.join(sorted(endings))}.")
    path = folder / f"{stem}{ending}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    size = 0
    with os.fdopen(descriptor, "wb") as file:
        while chunk := upload.content.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise TooLarge.at(stem, f"has more than {most} bytes.")
            file.write(chunk)
    if not size:
        raise DataError.at(stem, "is empty.")
    return path


def uploaded_policy(path: Path) -> Policy:
    """Read an uploaded policy; the data are those that came with it, and files it names are refused."""
    document = read_document(path)
    PolicyError.refuse(_file_problems(document, path.name))
    data = document.get("data")
    if isinstance(data, dict):
        data.pop("source", None)
    policy = Policy(**document, _folder=path.parent, _name=path.name)
    read_options(policy)
    return policy


def _file_problems(document: Mapping[str, Any], name: str) -> Iterator[Problem]:
    population = document.get("population")
    if isinstance(population, dict) and "source" in population:
        what = "names a file, and an uploaded policy cannot."
        yield Problem(
            f"{name}: population.source", what, "Ask for k instead, or publish where the list of people is."
        )
    attributes = document.get("attributes")
    for attribute, body in attributes.items() if isinstance(attributes, dict) else ():
        hierarchy = body.get("hierarchy") if isinstance(body, dict) else None
        if isinstance(hierarchy, dict) and "file" in hierarchy:
            where, what = (
                f"{name}: attributes.{attribute}.hierarchy.file",
                "names a file, and an uploaded policy cannot.",
            )
            yield Problem(where, what, "Write the hierarchy as a tree.")
