"""The server's secret, and what is derived from it: a key for keys at rest, one for cookies, one for seals."""

import base64
import binascii
import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from manyveils.errors import InputError
from manyveils.server.settings import KEY_VARIABLE, Settings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LENGTH = 32
VERSION = b"\x01"
NONCE = 12


@dataclass(frozen=True, repr=False)
class Secret:
    """Subkeys of the server's secret; the secret itself is not kept."""

    keys: bytes
    cookies: bytes
    seals: bytes
    # For what is told elsewhere; whoever has its public key can check it without the secret.
    signing: bytes

    @property
    def public(self) -> str:
        """The key (Ed25519) that signatures are checked with."""
        return self._signer().public_key().public_bytes_raw().hex()

    def sign(self, text: bytes) -> bytes:
        """An Ed25519 signature."""
        return self._signer().sign(text)

    def has_signed(self, text: bytes, signature: str) -> bool:
        """Whether a signature was made with this secret."""
        return self.sign(text).hex() == signature

    def _signer(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.signing)

    def lock(self, plain: bytes, bound_to: str) -> bytes:
        """Encrypt with AES-256-GCM; it opens only for the thing that it is bound to."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = token_bytes(NONCE)
        return VERSION + nonce + AESGCM(self.keys).encrypt(nonce, plain, VERSION + bound_to.encode())

    def unlock(self, blob: bytes, bound_to: str) -> bytes:
        """Decrypt what `lock` made for the same thing."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, hidden = blob[1 : 1 + NONCE], blob[1 + NONCE :]
        try:
            return AESGCM(self.keys).decrypt(nonce, hidden, VERSION + bound_to.encode())
        except InvalidTag:
            raise InputError.at("server key", "does not open what is stored.") from None

    def seal(self, *parts: str) -> str:
        """A keyed digest (HMAC-SHA-256) that nobody without the secret can make or check by guessing."""
        text = "\x00".join(parts).encode("utf-8", "surrogatepass")
        return hmac.new(self.seals, text, hashlib.sha256).hexdigest()


def derive(root: bytes) -> Secret:
    """Derive the subkeys with HKDF-SHA-256."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    def subkey(purpose: str) -> bytes:
        return HKDF(
            algorithm=SHA256(), length=LENGTH, salt=None, info=f"manyveils/1/{purpose}".encode()
        ).derive(root)

    return Secret(subkey("keys at rest"), subkey("cookies"), subkey("seals"), subkey("signatures"))


def read_secret(settings: Settings, *, make: bool) -> tuple[Secret, str | None]:
    """The secret from the key file, the environment or the folder, where one may be made; and what to tell then."""
    if settings.key_file is not None:
        return derive(_from_file(settings.key_file)), None
    if os.environ.get(KEY_VARIABLE):
        return derive(_decoded(os.environ[KEY_VARIABLE], KEY_VARIABLE)), None
    own = own_key(settings)
    if own.exists():
        return derive(_from_file(own)), None
    if not make:
        remedy = f"Put its copy there, give --key-file, or set {KEY_VARIABLE}."
        raise InputError.at(str(own), "there is no such key, and the database was begun with one.", remedy)
    advice = "Keep a copy of it apart from the database; without it no key can be read."
    return derive(_made(own)), f"A server key was made: {own}. {advice}"


def own_key(settings: Settings) -> Path:
    """Where the server key is, unless it is given otherwise."""
    return settings.folder / "server.key"


def waiting_secret(settings: Settings) -> Secret | None:
    """The secret that is to take the place of the one in the folder."""
    path = _waiting(settings)
    return derive(_from_file(path)) if path.exists() else None


def make_waiting(settings: Settings) -> Secret:
    """Write a new secret beside the one in the folder."""
    _waiting(settings).unlink(missing_ok=True)
    return derive(_made(_waiting(settings)))


def take_waiting(settings: Settings) -> None:
    """Let the new secret take the place of the old one."""
    _waiting(settings).replace(own_key(settings))


def make_key(path: Path) -> Secret:
    """Write a new secret to a file that is not there yet."""
    return derive(_made(path))


def _waiting(settings: Settings) -> Path:
    return settings.folder / "server.key.new"


def _made(path: Path) -> bytes:
    root = token_bytes(LENGTH)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError.at(str(path), f"cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(base64.b64encode(root).decode() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return root


def _from_file(path: Path) -> bytes:
    try:
        if path.stat().st_mode & 0o077:
            raise InputError.at(str(path), "can be read by others.", f"Run: chmod 600 {path}")
        return _decoded(path.read_text(encoding="ascii"), str(path))
    except (OSError, UnicodeDecodeError):
        raise InputError.at(str(path), "cannot be read as a server key.") from None


def _decoded(text: str, where: str) -> bytes:
    try:
        root = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        root = b""
    if len(root) < LENGTH:
        what = f"must be {LENGTH} random bytes or more in base64."
        raise InputError.at(where, what, "Try: openssl rand -base64 32")
    return root
