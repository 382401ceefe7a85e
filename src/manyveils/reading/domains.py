"""The originals a release speaks of, attribute by attribute."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release import Release

TOP = "*"


@dataclass(frozen=True, repr=False)
class Domain:
    """The originals of one attribute as texts, in order; a missing one is empty."""

    name: str
    texts: tuple[str, ...]

    @cached_property
    def code(self) -> dict[str, int]:
        """The place of each text."""
        return {text: code for code, text in enumerate(self.texts)}

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The originals as numbers; not a number where they are none."""
        return (
            pl.Series(self.texts, dtype=pl.String).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        )


def texts_of(published: pl.Series) -> pl.Series:
    """Published values as texts; a missing one is empty."""
    return published.cast(pl.String).fill_null("")


def domains_of(release: Release) -> dict[str, Domain]:
    """The originals of every attribute: those that recodings list, and published values they say nothing of."""
    found: dict[str, set[str]] = {}
    for view in release.views:
        for file in view.files:
            for name in file.attributes:
                recoding = release.recodings.get((view.name, name))
                found.setdefault(name, set()).update(_originals(release.frames[file.table][name], recoding))
    return {name: Domain(name, tuple(_ordered(texts))) for name, texts in found.items()}


def _originals(published: pl.Series, recoding: pl.DataFrame | None) -> set[str]:
    texts = set(texts_of(published.unique()).to_list())
    if recoding is None:
        return texts
    # A recoding may change some cells of a value only, and need not list the others.
    unlisted = texts - set(texts_of(recoding["published"].unique()).to_list()) - {TOP}
    return unlisted | set(texts_of(recoding["original"].unique()).to_list())


def _ordered(texts: set[str]) -> list[str]:
    """Numbers by size, other texts by name, a missing value first."""
    numbers = pl.Series(list(texts), dtype=pl.String).cast(pl.Float64, strict=False)
    keys = [(value is not None, value or 0.0, text) for text, value in zip(texts, numbers, strict=True)]
    return [text for _, _, text in sorted(keys)]
