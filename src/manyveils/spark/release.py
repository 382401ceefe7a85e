"""A release whose tables stay where Spark wrote them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyveils.keys.key import Key
from manyveils.release import Release
from manyveils.release.apart import FolderRelease
from manyveils.release.release import table_files
from manyveils.spark.source import address


class SparkRelease(FolderRelease):
    """A release in a folder: `tables` are Spark's dataframes, and rows come into memory only where they are asked for.

    A folder that is its own goes when it goes; `save` keeps a copy.
    """

    def __init__(
        self, outline: Release, folder: Path, spark: Any, *, notes: Mapping[str, object], key: Key | None
    ) -> None:
        self._spark = spark
        super().__init__(outline, folder, notes=notes, key=key)

    @property
    def tables(self) -> dict[str, Any]:
        """The published tables by name, as Spark's dataframes."""
        tables = {}
        for name, path in table_files(self.folder).items():
            tables[name] = self._spark.read.parquet(address(path))
            # The files are there as long as somebody may read them.
            tables[name]._release = self
        return tables

    def save(self, path: str | Path, *, format: str = "parquet", force: bool = False) -> Path:  # noqa: A002
        """Write the release folder; it appears whole or not at all."""
        return super().save(path, format=format, force=force)
