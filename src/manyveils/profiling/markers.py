"""Texts that people write where a value is missing."""

from collections.abc import Mapping

import polars as pl

WRITTEN = ("?", "NA", "N/A", "n/a", "na", "#N/A", "-", "--", ".", "NULL", "null", "NaN", "nan", "Nan")
# Fields of some files begin with a blank.
MARKERS = tuple(blank + text for text in WRITTEN for blank in ("", " "))


def markers_in(values: pl.Series) -> Mapping[str, int]:
    """How many cells hold each of the usual markers; an empty cell needs none."""
    if values.dtype != pl.String:
        return {}
    found = values.filter(values.is_in(list(MARKERS)))
    if len(found) == 0:
        return {}
    counted = found.alias("marker").value_counts(name="cells")
    counts = dict(zip(counted["marker"].to_list(), counted["cells"].to_list(), strict=True))
    return {marker: counts[marker] for marker in MARKERS if marker in counts}
