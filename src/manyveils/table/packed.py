"""Files that are packed: .gz, .zst, and .zip with one file in it, unpacked into memory and never onto a disk."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from manyveils.errors import DataError
from manyveils.table.room import unpacked

# What archives hold besides files: folders, and what one system adds for itself.
BESIDE = ("__MACOSX/", ".DS_Store")


@dataclass(frozen=True, repr=False)
class Source:
    """A data file as it is read: from where it lies, or from memory where it was packed."""

    path: Path
    name: str
    content: bytes | None = None

    @property
    def suffix(self) -> str:
        """The ending of what is inside."""
        return PurePath(self.name).suffix.lower()

    def open(self) -> BinaryIO:
        """The bytes from their beginning."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    @property
    def n_bytes(self) -> int:
        """How large it is, unpacked."""
        return self.path.stat().st_size if self.content is None else len(self.content)

    def __str__(self) -> str:
        return str(self.path)


DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile)


def source_of(path: Path) -> Source:
    """The file, unpacked if its name ends as packed files do."""
    unpack = UNPACKING.get(path.suffix.lower())
    if unpack is None:
        return Source(path, path.name)
    try:
        return unpack(path)
    except Exception as error:
        # Python's own zstd has errors of its own, where it has any.
        is_damage = isinstance(error, DAMAGE) or type(error).__name__ == "ZstdError"
        if not is_damage or isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise DataError.at(str(path), "is damaged or not of the kind its ending says.") from None


def _gunzipped(path: Path) -> Source:
    with gzip.open(path) as file:
        return Source(path, path.stem, unpacked(str(path), file.read))


def _unzipped(path: Path) -> Source:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        names = [
            name for name in names if not name.startswith(BESIDE[0]) and PurePath(name).name != BESIDE[1]
        ]
        if len(names) != 1:
            what = f"has {len(names)} files in it, and one is a table."
            raise DataError.at(str(path), what, "Unpack it and name the file.")
        with archive.open(names[0]) as file:
            return Source(path, PurePath(names[0]).name, unpacked(str(path), file.read))


def _unzstd(path: Path) -> Source:
    """Unpack by whichever library there is: Python's own from 3.14 on, or Arrow; others do not notice a file that is cut short."""
    for module, unpack in LIBRARIES.items():
        try:
            import_module(module)
        except ImportError:
            continue
        with path.open("rb") as packed, unpack(packed) as file:
            return Source(path, path.stem, unpacked(str(path), file.read))
    what = "needs a library to be unpacked."
    raise DataError.at(str(path), what, "Install one with: pip install pyarrow, or unpack the file first.")


def _by_python(packed: BinaryIO) -> Any:
    return import_module("compression.zstd").open(packed)


def _by_pyarrow(packed: BinaryIO) -> Any:
    arrow = import_module("pyarrow")
    return arrow.CompressedInputStream(arrow.PythonFile(packed, "r"), "zstd")


LIBRARIES: Mapping[str, Callable[[BinaryIO], Any]] = {
    "compression.zstd": _by_python,
    "pyarrow": _by_pyarrow,
}
UNPACKING: Mapping[str, Callable[[Path], Source]] = {".gz": _gunzipped, ".zip": _unzipped, ".zst": _unzstd}
