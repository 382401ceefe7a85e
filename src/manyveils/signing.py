"""A signed digest of a release, its policy and its audit, and whether they are still what was signed."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any

from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.policy.model import read_document
from manyveils.release.folder import AUDIT, DIGEST, SIGNATURE, write_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORMAT = "manyveils-digest/1"
PUBLIC = ".pub.pem"
# What decides about numbers, besides our own code.
LIBRARIES = ("manyveils", "numpy", "polars", "scipy")
REMEDY = "Name its folder with --private, or sign the release with: manyveils report --evidence."


@dataclass(frozen=True)
class Verification:
    """Whether a release, its policy and its audit are what was signed; `problems` say what is not.

    `signed` is what the digest says, or nothing where its signature does not hold.
    """

    problems: tuple[Problem, ...]
    signed: Mapping[str, Any]

    @property
    def kept(self) -> bool:
        """Whether everything is as it was signed."""
        return not self.problems

    def describe(self) -> dict[str, object]:
        """The verification as plain values for JSON."""
        return {"kept": self.kept, "problems": list(map(asdict, self.problems)), "signed": dict(self.signed)}


def private_beside(release: Path) -> Path:
    """The private folder of a release, where nobody says otherwise."""
    return release.with_name(f"{release.name}.private")


def sign(
    release: str | Path,
    policy: str | Path,
    key: str | Path,
    *,
    private: str | Path | None = None,
    secret: str | None = None,
) -> Path:
    """Sign the digest of a release, its policy file and the audit in its private folder; gives the digest's place.

    `key` is an Ed25519 key as PEM, with `secret` if it is encrypted. Where there is no such file, a key is made, and its
    public half beside it. Whoever verifies needs that alone.
    """
    release, policy = Path(release).absolute(), Path(policy)
    folder = Path(private) if private else private_beside(release)
    document = {
        "format": FORMAT,
        "day": date.today().isoformat(),
        "versions": {"python": python_version(), **{name: version(name) for name in LIBRARIES}},
        "release": _release_digests(release),
        "policy": _sha256(_needed(policy)),
        "hierarchies": {name: _sha256(_needed(policy.parent / name)) for name in _hierarchies(policy)},
        "audit": _sha256(_needed(folder / AUDIT)),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    signature = owner_key(Path(key), secret).sign(text.encode())
    write_file(folder / DIGEST, text, force=True, mode=0o600)
    write_file(folder / SIGNATURE, base64.b64encode(signature).decode() + "\n", force=True, mode=0o600)
    return folder / DIGEST


def verify(
    release: str | Path,
    policy: str | Path,
    public_key: str | Path,
    *,
    private: str | Path | None = None,
) -> Verification:
    """Check a release, its policy file and its audit against the digest that their owner signed.

    Claim: one changed byte of any of them, of the digest or of its signature is told, and so is a file too many.
    Why: the signature is checked over the bytes of the digest before they are read, and the digest has the SHA-256 of
    every file.
    Tested by: tests/claims/test_signing.py
    """
    release, policy = Path(release).absolute(), Path(policy)
    folder = Path(private) if private else private_beside(release)
    now = _release_digests(release)
    key, text = _public_key(Path(public_key)), _bytes(_needed(folder / DIGEST))
    if not _is_signed(text, _bytes(_needed(folder / SIGNATURE)), key):
        what = "is not what the owner of this key signed: it, its signature or the key is another."
        return Verification((Problem(str(folder / DIGEST), what),), {})
    signed = json.loads(text)
    if signed.get("format") != FORMAT:
        raise DataError.at(str(folder / DIGEST), "is signed, and is no digest of a release.")
    return Verification(tuple(_differences(signed, now, policy, folder)), signed)


def _differences(
    signed: Mapping[str, Any], now: Mapping[str, str], policy: Path, folder: Path
) -> Iterator[Problem]:
    files = signed["release"]
    for name in sorted({*files, *now}):
        yield from _difference(f"release: {name}", files.get(name), now.get(name))
    yield from _difference(str(policy), signed["policy"], _sha256(_needed(policy)))
    for name, digest in signed["hierarchies"].items():
        yield from _difference(f"hierarchy: {name}", digest, _sha256(policy.parent / name))
    yield from _difference(str(folder / AUDIT), signed["audit"], _sha256(folder / AUDIT))


def _difference(where: str, signed: str | None, now: str | None) -> Iterator[Problem]:
    if now is None:
        yield Problem(where, "is missing.")
    elif signed is None:
        yield Problem(where, "was not there when the release was signed.")
    elif signed != now:
        yield Problem(where, "is not what was signed.")


def _release_digests(release: Path) -> dict[str, str]:
    """The digest of every file of a release, or of the one that a table from elsewhere is."""
    if not release.exists():
        raise InputError.at(str(release), "does not exist.", "Check the path.")
    files = sorted(release.rglob("*")) if release.is_dir() else [release]
    folder = release if release.is_dir() else release.parent
    # What is neither a file nor a folder has no bytes, and is no file that anybody signed.
    return {
        path.relative_to(folder).as_posix(): _sha256(path) or "not a file"
        for path in files
        if not path.is_dir() or path.is_symlink()
    }


def _hierarchies(policy: Path) -> list[str]:
    """The files that a policy names for its hierarchies."""
    attributes = read_document(policy).get("attributes", {})
    bodies = attributes.values() if isinstance(attributes, dict) else ()
    hierarchies = (body.get("hierarchy") for body in bodies if isinstance(body, dict))
    names = (hierarchy.get("file") for hierarchy in hierarchies if isinstance(hierarchy, dict))
    return sorted({name for name in names if isinstance(name, str)})


def _sha256(path: Path) -> str | None:
    """The SHA-256 of a file; None where there is none."""
    return hashlib.sha256(_bytes(path)).hexdigest() if path.is_file() else None


def _needed(path: Path) -> Path:
    if path.is_file():
        return path
    if path.name in (DIGEST, SIGNATURE, AUDIT):
        raise InputError.at(str(path), "does not exist.", REMEDY)
    raise PolicyError.at(str(path), "there is no such file.", "Check the path.")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError.at(str(path), f"cannot be read: {error.strerror}.") from None


def _is_signed(text: bytes, signature: bytes, key: "Ed25519PublicKey") -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        raw = base64.b64decode(signature.removesuffix(b"\n"), validate=True)
        key.verify(raw, text)
    except (InvalidSignature, ValueError):
        return False
    # Base64 can write the same bytes in two ways, and one of them was signed.
    return base64.b64encode(raw) + b"\n" == signature


def refuse_unusable(key: Path, secret: str | None) -> None:
    """Refuse a key that could not sign, before any work is done."""
    _library()
    if key.exists():
        owner_key(key, secret)
    elif key.with_name(key.stem + PUBLIC).exists():
        what = f"does not exist, and the public half of another key, {key.stem + PUBLIC}, stands beside it."
        raise InputError.at(str(key), what, "Name the key that it belongs to, or a new one.")


def owner_key(path: Path, secret: str | None) -> "Ed25519PrivateKey":
    """The owner's key; a new one where there is none."""
    serialization, kinds = _library()
    if not path.exists():
        return _new_key(path, secret)
    try:
        key = serialization.load_pem_private_key(
            _bytes(path), None if secret is None or b"ENCRYPTED" not in _bytes(path) else secret.encode()
        )
    except TypeError:
        raise InputError.at(
            str(path), "is encrypted.", "Give its passphrase in MANYVEILS_PASSPHRASE."
        ) from None
    except ValueError:
        what = "cannot be opened: it is no private key as PEM, or its passphrase is another."
        raise InputError.at(str(path), what) from None
    if not isinstance(key, kinds.Ed25519PrivateKey):
        raise InputError.at(str(path), "is no Ed25519 key.", "Name a file that does not exist to make one.")
    return key


def _new_key(path: Path, secret: str | None) -> "Ed25519PrivateKey":
    """Make a key for its owner alone, encrypted if there is a passphrase, and its public half beside it."""
    serialization, kinds = _library()
    key, pem = kinds.Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    cipher = (
        serialization.BestAvailableEncryption(secret.encode()) if secret else serialization.NoEncryption()
    )
    written = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, cipher).decode()
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    write_file(path.with_name(path.stem + PUBLIC), public, force=False)
    write_file(path, written, force=False, mode=0o600)
    return key


def _public_key(path: Path) -> "Ed25519PublicKey":
    serialization, kinds = _library()
    if not path.is_file():
        raise InputError.at(str(path), "does not exist.", "Ask the owner for the public key.")
    try:
        key = serialization.load_pem_public_key(_bytes(path))
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, kinds.Ed25519PublicKey):
        raise InputError.at(
            str(path), "is no public Ed25519 key as PEM.", "Ask the owner for the public key."
        )
    return key


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        what = "needs the library cryptography, which is not installed."
        raise InputError.at("signing", what, "Install it with: pip install 'manyveils[sign]'") from None
    return serialization, ed25519
