"""A release whose tables stay where Spark wrote them."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import finalize

import polars as pl

from manyveils.keys.key import Key
from manyveils.release import Release
from manyveils.release.release import table_files
from manyveils.spark.source import address


class SparkRelease(Release):
    """A release in a folder: `tables` are Spark's dataframes, and rows come into memory only where they are asked for.

    A folder that is its own goes when it goes; `save` keeps a copy.
    """

    def __init__(
        self, outline: Release, folder: Path, spark: Any, *, notes: Mapping[str, object], key: Key | None
    ) -> None:
        self.folder = folder
        self._loaded: dict[str, pl.DataFrame] | None = None
        self._spark = spark
        super().__init__(outline.manifest, {}, outline.recodings, notes=notes, key=key)

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables in the memory of the driver, read when they are first asked for."""
        if self._loaded is None:
            self._loaded = Release.load(self.folder).frames
        return self._loaded

    @frames.setter
    def frames(self, frames: Mapping[str, pl.DataFrame]) -> None:
        """Tables stay where they are."""

    @property
    def tables(self) -> dict[str, Any]:
        """The published tables by name, as Spark's dataframes."""
        tables = {}
        for name, path in table_files(self.folder).items():
            tables[name] = self._spark.read.parquet(address(path))
            # The files are there as long as somebody may read them.
            tables[name]._release = self
        return tables

    def moved(self, folder: Path) -> "SparkRelease":
        """The release after its files were moved to a folder."""
        return SparkRelease(self, folder, self._spark, notes=self.notes, key=self.key)

    def write(self, folder: Path, *, format: str = "parquet") -> None:  # noqa: A002
        """Copy the files of the release into a folder that is being prepared; as csv they go through memory."""
        if format == "parquet":
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        else:
            super().write(folder, format=format)

    def save(self, path: str | Path, *, format: str = "parquet", force: bool = False) -> Path:  # noqa: A002
        """Write the release folder; it appears whole or not at all."""
        return super().save(path, format=format, force=force)


def in_own_folder(write: Callable[[Path], Release]) -> Release:
    """A release that is written into a folder nobody named; the folder goes with it, or with the process."""
    folder = Path(tempfile.mkdtemp(prefix="manyveils-"))
    try:
        release = write(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finalize(release, shutil.rmtree, folder, ignore_errors=True)
    return release
