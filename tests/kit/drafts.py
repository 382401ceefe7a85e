"""Views as papers print them: some columns, and groups of rows counted from 1."""

from collections.abc import Mapping, Sequence

import numpy as np

from manyveils.release import Draft


def printed_drafts(tables: Mapping[tuple[str, ...], Sequence[Sequence[int]]], n_rows: int) -> list[Draft]:
    """A draft for each list of columns; with groups, the last column stands apart from the others inside buckets."""
    drafts = []
    for number, (names, groups) in enumerate(tables.items()):
        buckets = np.zeros(n_rows, dtype=np.int64)
        for bucket, members in enumerate(groups):
            buckets[[member - 1 for member in members]] = bucket
        columns = (names[:-1], names[-1:]) if groups else (names,)
        drafts.append(Draft(f"t{number}", columns, np.arange(n_rows), buckets if groups else None))
    return drafts
