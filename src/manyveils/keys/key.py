"""The key of a release: pseudonyms and grades, what they stand for, and the file they are locked in."""

import base64
import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from manyveils.errors import DataError
from manyveils.table.kinds import as_number

Kind = Literal["value", "group", "number", "public"]
FORMAT = "manyveils-key/1"
HIGHEST = 0.999
# Above this share of a category grades rise more slowly, so that its largest value alone has the highest.
BEND = 0.998
LOCKED = "manyveils-locked-key/1"
# About a tenth of a second and 64 MiB per guess.
WORK = {"n": 2**16, "r": 8, "p": 1}


@dataclass(frozen=True, repr=False)
class Meaning:
    """What one published cell stands for: a value, any value of a group, a number, or itself."""

    attribute: str
    published: str
    kind: Kind
    meaning: str

    def describe(self) -> dict[str, str]:
        """The meaning as plain texts for JSON."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Pseudonyms:
    """The pseudonyms of one categorical attribute: of single values, and of groups with the values under them."""

    values: Mapping[str, str]
    groups: Mapping[str, tuple[str, tuple[str, ...]]]

    def meaning(self, attribute: str, published: str) -> Meaning:
        """What a published cell stands for; anything but a pseudonym stands for itself."""
        if published in self.values:
            return Meaning(attribute, published, "value", self.values[published])
        if published in self.groups:
            name, members = self.groups[published]
            return Meaning(attribute, published, "group", f"{name}: one of {', '.join(members)}")
        return Meaning(attribute, published, "public", published)


@dataclass(frozen=True, repr=False)
class Grades:
    """The categories of one numeric attribute, and the original of every grade that is published."""

    categories: tuple[tuple[float, float], ...]
    originals: Mapping[str, str]

    @cached_property
    def _published(self) -> tuple[list[float], list[str]]:
        """The published grades in order, and their originals."""
        pairs = sorted((float(grade), original) for grade, original in self.originals.items())
        return [grade for grade, _ in pairs], [original for _, original in pairs]

    def meaning(self, attribute: str, published: str) -> Meaning | None:
        """The original that a grade was published for; None for anything else, however close."""
        grade = number_of(published)
        original = None if grade is None else self.originals.get(repr(grade))
        return None if original is None else Meaning(attribute, published, "number", original)

    def at_most(self, grade: float) -> str | None:
        """The original of the highest published grade up to a grade; None if there is none."""
        grades, originals = self._published
        index = bisect_right(grades, grade)
        return originals[index - 1] if index else None

    def at_least(self, grade: float) -> str | None:
        """The original of the lowest published grade from a grade on; None if there is none."""
        grades, originals = self._published
        index = bisect_left(grades, grade)
        return originals[index] if index < len(grades) else None

    @property
    def ends(self) -> tuple[str, str]:
        """The smallest and the largest original."""
        return self._published[1][0], self._published[1][-1]

    def grade(self, number: float) -> float:
        """The grade of a number inside a category; a number on a shared boundary belongs to the upper one."""
        index = bisect_right([low for low, _ in self.categories], number) - 1
        if index < 0 or number > self.categories[index][1]:
            raise ValueError("outside all categories")
        low, high = self.categories[index]
        share = (number - low) / (high - low) if high > low else 0.0
        if share > BEND:
            share = BEND + (share - BEND) * (HIGHEST - BEND) / (1 - BEND)
        return index + 1 + share


def number_of(text: str) -> float | None:
    """A finite number that a text writes, if it writes one.

    >>> number_of("1"), number_of("nan")
    (1.0, None)
    """
    number = as_number(text)
    return number if number is not None and isfinite(number) else None


@dataclass(frozen=True, repr=False)
class Key:
    """What everything secret in one release means, attribute by attribute."""

    pseudonyms: Mapping[str, Pseudonyms] = field(default_factory=dict)
    grades: Mapping[str, Grades] = field(default_factory=dict)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are published in secret."""
        return (*self.pseudonyms, *self.grades)

    def meaning(self, attribute: str, published: str) -> Meaning | None:
        """What a published cell means; None where it cannot be a cell of a graded attribute.

        Attributes that are not secret mean what they say.
        """
        if attribute in self.grades:
            if published == "":
                return Meaning(attribute, "", "public", "")
            return self.grades[attribute].meaning(attribute, published)
        if attribute in self.pseudonyms:
            return self.pseudonyms[attribute].meaning(attribute, published)
        return Meaning(attribute, published, "public", published)

    def describe(self) -> dict[str, Any]:
        """The key as plain values, to be locked away."""
        return {
            "format": FORMAT,
            "aliases": {name: asdict(pseudonyms) for name, pseudonyms in self.pseudonyms.items()},
            "grades": {name: asdict(grades) for name, grades in self.grades.items()},
        }

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Key":
        """Read a key back; a KeyError, TypeError or ValueError means that it is none."""
        if document["format"] != FORMAT:
            raise ValueError("another format")
        return cls(
            {name: _pseudonyms(plain) for name, plain in document["aliases"].items()},
            {name: _grades(plain) for name, plain in document["grades"].items()},
        )

    def __repr__(self) -> str:
        return f"<Key: {len(self.pseudonyms)} attributes with pseudonyms, {len(self.grades)} with grades>"


def _pseudonyms(plain: Mapping[str, Any]) -> Pseudonyms:
    values = {str(code): str(value) for code, value in plain["values"].items()}
    groups = {
        str(code): (str(label), tuple(map(str, members)))
        for code, (label, members) in plain["groups"].items()
    }
    return Pseudonyms(values, groups)


def _grades(plain: Mapping[str, Any]) -> Grades:
    categories = tuple((float(low), float(high)) for low, high in plain["categories"])
    return Grades(categories, {str(grade): str(original) for grade, original in plain["originals"].items()})


def write_key(key: Key, path: str | Path, secret: str | bytes | None = None) -> None:
    """Write a key for its owner alone; with a passphrase, or 32 bytes of key, encrypted (scrypt, AES-256-GCM)."""
    document = key.describe() if secret is None else locked(key, secret)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
        file.write("\n")


def read_key(path: str | Path, secret: str | bytes | None = None) -> Key:
    """Read a key file; an encrypted one needs the secret it was written with."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError.at(str(path), f"cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise DataError.at(str(path), "is not a key file.") from None
    return unlocked(document, secret, str(path))


def locked(key: Key, secret: str | bytes) -> dict[str, Any]:
    """An encrypted key as plain values."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = os.urandom(16), os.urandom(12)
    plain = json.dumps(key.describe(), ensure_ascii=False).encode()
    hidden = AESGCM(_stretched(secret, salt)).encrypt(nonce, plain, LOCKED.encode())
    parts = {"salt": salt, "nonce": nonce, "data": hidden}
    derived = {"kdf": "none"} if isinstance(secret, bytes) else {"kdf": "scrypt", **WORK}
    return {"format": LOCKED, **derived} | {
        name: base64.b64encode(part).decode() for name, part in parts.items()
    }


def unlocked(document: object, secret: str | bytes | None = None, where: str = "key") -> Key:
    """A key from plain values, decrypted if it was encrypted."""
    try:
        if isinstance(document, dict) and document.get("format") == LOCKED:
            document = _decrypted(document, secret, where)
        return Key.parse(document)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError.at(where, "is not a key file.") from None


def _decrypted(document: dict[str, Any], secret: str | bytes | None, where: str) -> Any:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if secret is None:
        raise DataError.at(where, "is encrypted.", "Give the passphrase or key it was written with.")
    salt, nonce, data = (base64.b64decode(document[name]) for name in ("salt", "nonce", "data"))
    try:
        plain = AESGCM(_stretched(secret, salt)).decrypt(nonce, data, LOCKED.encode())
    except InvalidTag:
        raise DataError.at(where, "cannot be opened with this passphrase or key.") from None
    return json.loads(plain)


def _stretched(secret: str | bytes, salt: bytes) -> bytes:
    if isinstance(secret, bytes):
        if len(secret) != 32:
            raise DataError.at("key", f"has {len(secret)} bytes, and needs 32.")
        return secret
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, **WORK).derive(secret.encode())
