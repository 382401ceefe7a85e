"""A table that something else published, as a release of one view: read as it stands, nothing is recoded or sorted."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from manyveils.release.release import Release
from manyveils.release.seal import type_name
from manyveils.release.views import ColumnFile, Manifest, View
from manyveils.table import Restore, Table

# The one view of a bare table.
TABLE = "table"


def bare_release(
    frame: pl.DataFrame,
    original: Table,
    levels: Mapping[str, int],
    restore: Restore,
    placement: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None,
) -> Release:
    """One view with the columns of a frame; `placement` has the line of each row of the original, where that is known."""
    types = {name: type_name(dtype) for name, dtype in frame.schema.items()}
    file = ColumnFile(tuple(frame.columns), TABLE, types)
    derived = {
        home: tuple(name for name in names if name in types) for home, names in original.derived.items()
    }
    manifest = Manifest(
        method="",
        rows=frame.height,
        suppressed=max(original.n_people - frame.height, 0),
        promises=(),
        views=(View(TABLE, (file,), bucketed=False, rows=frame.height),),
        derived=derived,
        recodings={},
        levels=dict(levels),
        kinds={name: own.kind for name, own in original.attributes.items() if name in types},
    )
    placements = {} if placement is None else {TABLE: placement}
    return Release(manifest, {TABLE: frame}, {}, restore=restore, placements=placements)
