"""Who was seen in which group of a release, by a keyed hash of who she is: what the next release of a chain must know."""

import hashlib
import io
import json
import os
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from manyveils.errors import DataError
from manyveils.release.folder import LEDGER, REPLACED, staged
from manyveils.release.preparing import in_turn
from manyveils.release.release import UNREADABLE

FORMAT = "manyveils-ledger/1"
KEY_BYTES, HASH_BYTES = 32, 16
KEYS = {"format", "key", "number", "after", "release", "n_shown", "n_persons", "method"}
SIGHTINGS = {"person": pl.Binary, "group": pl.Int64}
HELD_BACK = {"person": pl.Binary}
VALUES = {
    "group": pl.Int64,
    "attribute": pl.String,
    "value": pl.String,
    "weight": pl.Float64,
    "expected": pl.Float64,
}
CONSTANTS = {"person": pl.Binary, "attribute": pl.String, "value": pl.String}
FRAMES = {"sightings": SIGHTINGS, "values": VALUES, "held_back": HELD_BACK, "constants": CONSTANTS}
DAMAGED = (
    *UNREADABLE,
    zipfile.BadZipFile,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
    EOFError,
    NotImplementedError,
)
START = (
    "Put its private folder beside it as it was; or, if that is lost, start a ledger with `manyveils ledger start`, from "
    "the release and its original, and with --after where it was published after others."
)


def fresh_key() -> bytes:
    """A key for a chain that begins."""
    return secrets.token_bytes(KEY_BYTES)


@dataclass(frozen=True)
class Link:
    """An earlier release of a chain: what tells it from any other, and what its folder was called.

    Two releases may have the same files, so `digest` has the number of the ledger in it, too.
    """

    digest: str
    name: str


@dataclass(frozen=True, repr=False)
class Ledger:
    """Who was seen in which group of a release, and what the groups have of each sensitive attribute.

    `sightings` has a line for each person in each group: `person`, her keyed hash, and `group`. The first `n_shown`
    groups are those that the release shows; further ones can be told by subtracting releases from each other.
    `values` says what groups have: `group`, `attribute`, `value` (missing for a missing one), `weight` in persons, and
    the weight `expected` by someone who has the releases before.
    `held_back` are the persons of the original who are in no view, for whom the next release is to find a place first.
    `constants` has what does not change of each person, by her hash: `attribute` and `value`. It makes the ledger as
    private as the original.
    `after` are the earlier releases of the chain, oldest first. Whose identity is missing stands in no ledger.
    """

    sightings: pl.DataFrame
    values: pl.DataFrame
    n_shown: int
    n_persons: int
    method: str
    key: bytes = field(default_factory=fresh_key)
    after: tuple[Link, ...] = ()
    # Drawn once, and told by links.
    number: str = field(default_factory=lambda: secrets.token_hex(HASH_BYTES))
    held_back: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=HELD_BACK))
    constants: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CONSTANTS))

    def without(self, names: pl.Series) -> "Ledger":
        """The ledger without some persons, who are then new to it."""
        is_kept = ~pl.col("person").is_in(hashed(names, self.key).drop_nulls().implode())
        return replace(
            self,
            sightings=self.sightings.filter(is_kept),
            held_back=self.held_back.filter(is_kept),
            constants=self.constants.filter(is_kept),
        )


def hashed(names: pl.Series, key: bytes) -> pl.Series:
    """A keyed hash of every name (BLAKE2b); a missing one stays missing."""
    keyed, digests = hashlib.blake2b(key=key, digest_size=HASH_BYTES), list[bytes | None]()
    for name in names.cast(pl.Binary).to_list():
        if name is None:
            digests.append(None)
            continue
        own = keyed.copy()
        own.update(name)
        digests.append(own.digest())
    return pl.Series("person", digests, dtype=pl.Binary)


def as_numbers(hashes: pl.Series) -> pl.Series:
    """The hashes as whole numbers, which are compared in a fraction of the time."""
    return hashes.bin.reinterpret(dtype=pl.Int128, endianness="little")


@contextmanager
def appearing(out: Path, private: Path | None, *, force: bool = False) -> Iterator[tuple[Path, Path | None]]:
    """Prepare a release folder and the private folder that goes with it, if there is one.

    Claim: whenever the process dies, a release that is there has the ledger that belongs to it, or had none; and of
    several that publish to one place at once, release and private folder are of the same one.
    Why: the private folder comes first, with the ledger of the release that stands there until now beside the new
    one; that goes only after the new release came. Who moves the two has a lock on the folder that they come into.
    Tested by: tests/faults/test_two_publishers.py
    """
    if private is None:
        with staged(out, force=force) as folder:
            yield folder, None
        return
    # Folders are prepared first, so that a place which is taken is refused before any work; the release appears last.
    with ExitStack() as moving:
        with staged(out, force=force) as folder, staged(private, force=force, mode=0o700) as aside:
            yield folder, aside
            moving.enter_context(in_turn(out.parent))
            last = _file_of(out, private) if force else None
            if last is not None:
                shutil.copyfile(last, aside / REPLACED)
        (private / REPLACED).unlink(missing_ok=True)


def _file_of(release: Path, private: Path) -> Path | None:
    """The ledger in a private folder that belongs to a release; None where there is none."""
    digest = digest_of(release) if release.is_dir() else None
    for path in (private / LEDGER, private / REPLACED):
        document = _document(path)
        if document and document.get("release") == digest:
            return path
    return None


def _document(path: Path) -> dict[str, Any]:
    """What a ledger says of itself; nothing where that cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("ledger.json"))
    except DAMAGED:
        return {}
    return document if isinstance(document, dict) else {}


def write_ledger(ledger: Ledger, release: Path, private: Path) -> None:
    """Write the ledger of a release that stands in a folder into its private folder, whole or not at all."""
    document = {
        "format": FORMAT,
        "key": ledger.key.hex(),
        "number": ledger.number,
        "after": [[link.digest, link.name] for link in ledger.after],
        "release": digest_of(release),
        "n_shown": ledger.n_shown,
        "n_persons": ledger.n_persons,
        "method": ledger.method,
    }
    parts = {
        "ledger.json": json.dumps(document, indent=2).encode(),
        "sightings.parquet": _as_parquet(ledger.sightings.select(*SIGHTINGS)),
        "values.parquet": _as_parquet(ledger.values.select(*VALUES).sort("group", "attribute", "value")),
        "held_back.parquet": _as_parquet(ledger.held_back.select(*HELD_BACK)),
        "constants.parquet": _as_parquet(ledger.constants.select(*CONSTANTS)),
    }
    number, name = tempfile.mkstemp(prefix=f".{LEDGER}.", dir=private)
    aside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for part, content in parts.items():
                    archive.writestr(zipfile.ZipInfo(part), content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(private / LEDGER)
    finally:
        aside.unlink(missing_ok=True)


def _as_parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def read_ledger(release: Path, private: Path) -> tuple[Ledger, Link]:
    """The ledger of a release and the release as a link, if both are whole and belong together; otherwise an error."""
    path = _file_of(release, private) or private / LEDGER
    if not path.is_file():
        raise DataError.at(str(private), f"has no ledger, so nobody knows who is in {release.name}.", START)
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("ledger.json"))
            frames = [_from_parquet(archive, name) for name in FRAMES]
        ledger = _parsed(document, *frames)
    except DAMAGED:
        raise DataError.at(str(path), "is damaged: it cannot be read as a ledger.", START) from None
    digest = digest_of(release)
    if document["release"] != digest:
        what = "was changed, or is another one than its ledger was written with."
        raise DataError.at(str(release), what, "Restore the release as it was published.")
    return ledger, Link(f"{digest}-{ledger.number}", release.name)


def links_of(private: Path) -> tuple[Link, ...]:
    """After which releases one was published, as the ledger in its private folder says; none where nothing can be read."""
    try:
        return tuple(Link(*map(str, link)) for link in _document(private / LEDGER)["after"])
    except DAMAGED:
        return ()


def _parsed(document: Any, *frames: pl.DataFrame) -> Ledger:
    """The ledger, if it is one of this format; otherwise a ValueError."""
    key, after = bytes.fromhex(document["key"]), tuple(Link(*map(str, link)) for link in document["after"])
    is_ours = document["format"] == FORMAT and document.keys() == KEYS and len(key) == KEY_BYTES
    if not is_ours or [dict(frame.schema) for frame in frames] != list(FRAMES.values()):
        raise ValueError
    sightings, values, held_back, constants = frames
    if not all(_is_hashes(frame["person"]) for frame in (sightings, held_back, constants)):
        raise ValueError
    counts = int(document["n_shown"]), int(document["n_persons"]), str(document["method"])
    number = str(document["number"])
    return Ledger(sightings, values, *counts, key, after, number, held_back, constants)


def _is_hashes(persons: pl.Series) -> bool:
    return not persons.has_nulls() and bool((persons.bin.size() == HASH_BYTES).all())


def _from_parquet(archive: zipfile.ZipFile, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(archive.read(f"{name}.parquet")))


def digest_of(release: Path) -> str:
    """What tells a release from any other: a hash of all its files with their names."""
    return _sha256(sorted(path for path in release.rglob("*") if path.is_file()), release)


def _sha256(files: Iterable[Path], folder: Path) -> str:
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            own = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{own} {path.relative_to(folder).as_posix()}\n".encode())
    return total.hexdigest()
