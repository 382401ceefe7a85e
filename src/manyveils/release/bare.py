"""A table that something else published, as a release of one view: read as it stands, nothing is recoded or sorted."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release.release import Release
from manyveils.release.seal import type_name
from manyveils.release.views import ColumnFile, Manifest, View
from manyveils.table import Restore, Table

# The one view of a bare table, and what stands in place of its method.
TABLE, ELSEWHERE = "table", "another tool"


class BareRelease(Release):
    """A bare table as a release.

    `exposed` counts the cells of attributes that are never published, by name. `unnamed` are the identifiers that tell
    persons apart and are not in the table, so that its rows are counted. It `is_alone` where there is no original.
    """

    exposed: Mapping[str, int] = {}
    unnamed: Sequence[str] = ()
    # Attributes of the policy that the table does not have.
    absent: Sequence[str] = ()
    is_alone: bool = False
    # Where lines are candidates for several rows: the line that has each row's own values.
    lines: NDArray[np.int64] | None = None


def bare_release(
    frame: pl.DataFrame,
    original: Table,
    levels: Mapping[str, int],
    restore: Restore,
    recodings: Mapping[str, pl.DataFrame],
    placement: NDArray[np.int64] | None = None,
) -> BareRelease:
    """One view with the columns of a frame.

    `recodings` list what labels of an attribute stand for, and `placement` the line of each row of the original, as far
    as these are known.
    """
    types = {name: type_name(dtype) for name, dtype in frame.schema.items()}
    file = ColumnFile(tuple(frame.columns), TABLE, types)
    derived = {
        home: tuple(name for name in names if name in types) for home, names in original.derived.items()
    }
    manifest = Manifest(
        method=ELSEWHERE,
        rows=frame.height,
        suppressed=max(original.n_people - frame.height, 0),
        promises=(),
        views=(View(TABLE, (file,), bucketed=False, rows=frame.height),),
        derived=derived,
        recodings={(TABLE, name): name for name in recodings},
        levels=dict(levels),
        kinds={name: own.kind for name, own in original.attributes.items() if name in types},
    )
    placements = {} if placement is None else {TABLE: placement}
    meant = {(TABLE, name): lines for name, lines in recodings.items()}
    return BareRelease(manifest, {TABLE: frame}, meant, restore=restore, placements=placements)
