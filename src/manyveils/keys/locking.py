"""A key in a file: readable only for its owner, and encrypted where a secret is given."""

import base64
import json
import os
from pathlib import Path
from typing import Any

from manyveils.errors import DataError
from manyveils.keys.key import Key

LOCKED = "manyveils-locked-key/1"
# About a tenth of a second and 64 MiB per guess.
WORK = {"n": 2**16, "r": 8, "p": 1}


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
