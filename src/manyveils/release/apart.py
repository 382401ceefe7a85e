"""A release whose tables stay in a folder, and come into memory only where somebody asks for them."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar
from weakref import finalize

import polars as pl

from manyveils.release.release import Release

if TYPE_CHECKING:
    from manyveils.keys.key import Key

R = TypeVar("R", bound=Release)


class FolderRelease(Release):
    """A release in a folder, written there in one format; `save` keeps a copy."""

    def __init__(
        self,
        outline: Release,
        folder: Path,
        *,
        notes: Mapping[str, object],
        key: "Key | None",
        format: str = "parquet",  # noqa: A002
    ) -> None:
        self.folder, self.format = folder, format
        self._loaded: dict[str, pl.DataFrame] | None = None
        super().__init__(outline.manifest, {}, outline.recodings, notes=notes, key=key)

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables in memory, read when they are first asked for."""
        if self._loaded is None:
            self._loaded = Release.load(self.folder).frames
        return self._loaded

    @frames.setter
    def frames(self, frames: Mapping[str, pl.DataFrame]) -> None:
        """Tables stay where they are."""

    def moved(self, folder: Path) -> Self:
        """The release after its files were moved to a folder."""
        moved = type(self).__new__(type(self))
        moved.__dict__.update(self.__dict__, folder=folder)
        return moved

    def write(self, folder: Path, *, format: str | None = None) -> None:  # noqa: A002
        """Copy the files of the release into a folder that is being prepared; in another format they go through memory."""
        if format in (None, self.format):
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        else:
            assert format is not None
            super().write(folder, format=format)


def in_own_folder(write: Callable[[Path], R]) -> R:
    """A release that is written into a folder nobody named; the folder goes with it, or with the process."""
    folder = Path(tempfile.mkdtemp(prefix="manyveils-"))
    try:
        release = write(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finalize(release, shutil.rmtree, folder, ignore_errors=True)
    return release
