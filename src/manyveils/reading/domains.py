"""The originals a release speaks of, attribute by attribute, and what it says that its labels stand for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP
from manyveils.reading.cover import Cover, cover_of_pairs, joined_covers
from manyveils.reading.intervals import NUMBER
from manyveils.reading.keys import Floats, Ids
from manyveils.reading.meanings import range_ends, texts_of
from manyveils.release import Release, draft
from manyveils.table import Table


@dataclass(frozen=True, repr=False)
class Domain:
    """The originals of one attribute as texts: a missing one is empty and first, then texts, then numbers by size.

    `has_ranges` says that some labels are ranges that no recoding file lists.
    """

    name: str
    texts: tuple[str, ...]
    has_ranges: bool = False

    @cached_property
    def code(self) -> dict[str, int]:
        """The code of each text."""
        return {text: code for code, text in enumerate(self.texts)}

    @cached_property
    def numbers(self) -> Floats:
        """The originals as numbers; not a number where they are none."""
        return _numbers(pl.Series(self.texts, dtype=pl.String)).fill_null(np.nan).to_numpy()

    def codes_of(self, texts: Sequence[str]) -> Ids:
        """The code of each text, -1 where there is none; a number is the same however it is written.

        >>> Domain("x", ("a", "1.0", "2")).codes_of(["1", "2", "2.50", "a"]).tolist()
        [1, 2, -1, 0]
        """
        codes = np.array([self.code.get(text, -1) for text in texts], dtype=np.int64)
        unknown = np.flatnonzero(codes < 0)
        numbers = _numbers(pl.Series([texts[index] for index in unknown.tolist()], dtype=pl.String))
        code_of = {float(number): code for code, number in enumerate(self.numbers) if number == number}
        codes[unknown] = [code_of.get(number, -1) for number in numbers]
        return codes

    def with_texts(self, texts: set[str]) -> "Domain":
        """The domain with more originals."""
        return Domain(self.name, tuple(_ordered({*self.texts, *texts})), self.has_ranges)


def _numbers(texts: pl.Series) -> pl.Series:
    return texts.cast(pl.Float64, strict=False)


def domains_of(release: Release, table: Table | None = None) -> dict[str, Domain]:
    """The originals of every attribute: those that recodings list, and published values they say nothing of.

    Of ranges that nobody lists the ends are originals; whoever has the original table knows those between.
    """
    texts: dict[str, set[str]] = {}
    ranged, n_rows = set(), release.rows + release.suppressed
    for view in release.views:
        for file in view.files:
            for name in file.attributes:
                published = texts_of(release.frames[file.table][name].unique())
                recoding = release.recodings.get((view.name, name))
                texts.setdefault(name, set()).update(_originals(published, recoding, n_rows))
                if recoding is None and are_ranges(published, n_rows):
                    ranged.add(name)
                    if table is not None and name in table.attributes:
                        texts[name].update(table[name].texts)
    return {name: Domain(name, tuple(_ordered(own)), name in ranged) for name, own in texts.items()}


def are_ranges(published: pl.Series, n_rows: int) -> bool:
    """Whether an attribute without a recoding file is published as ranges: so many that their file would be too long.

    Texts such as `[20, 29]` that the original itself has stand for themselves. They overlap seldom, and of ranges
    that do not overlap a file has no more lines than there are rows.
    """
    low, high = range_ends(published)
    others = published.filter(low.is_null())
    others = others.filter((others != "") & (others != TOP))
    if low.null_count() == len(low) or not others.str.contains(f"^{NUMBER}$").all():
        return False
    ends = pl.concat([low, high]).drop_nulls()
    decimals = ends.str.extract(r"\.(\d+)").str.len_chars().fill_null(0).cast(pl.Int64)
    exponents = ends.str.extract(r"[eE]-(\d+)$").cast(pl.Int64).fill_null(0)
    places = int((decimals + exponents).max() or 0)  # type: ignore[arg-type]
    starts, stops = (_numbers(side.drop_nulls()).to_numpy() for side in (low, high))
    widths = np.minimum((stops - starts) * 10.0**places + 1, n_rows)
    # How many ranges begin before each one ends, at most: the depth to which they overlap.
    begun = np.searchsorted(np.sort(starts), starts, side="right")
    depth = int((begun - np.searchsorted(np.sort(stops), starts, side="left")).max())
    return float(min(widths.sum(), float(depth) * n_rows)) > draft.MOST_LISTED


def _originals(published: pl.Series, recoding: pl.DataFrame | None, n_rows: int) -> set[str]:
    if recoding is None:
        if not are_ranges(published, n_rows):
            return set(published.to_list())
        low, high = range_ends(published)
        exact = published.filter(low.is_null())
        # What is hidden beside numbers may be missing.
        hidden = {""} if (exact == TOP).any() else set()
        return ({*low.drop_nulls(), *high.drop_nulls(), *exact} - {TOP}) | hidden
    # A recoding may change some cells of a value only, and need not list the others.
    unlisted = set(published) - set(texts_of(recoding["published"].unique())) - {TOP}
    return unlisted | set(texts_of(recoding["original"].unique()))


def _ordered(texts: set[str]) -> Iterator[str]:
    """Texts that are no numbers by name, a missing value first; then numbers by size."""
    numbers = _numbers(pl.Series(list(texts), dtype=pl.String))
    keys = [(value is not None, value or 0.0, text) for text, value in zip(texts, numbers, strict=True)]
    return (text for _, _, text in sorted(keys))


def listed_cover(texts: pl.Series, recoding: pl.DataFrame | None, domain: Domain) -> Cover:
    """What a release itself says that labels stand for: what its recoding lists, the numbers in a range, or the label.

    A label that nothing explains hides everything.
    """
    numbered = pl.DataFrame({"label": texts}).with_row_index("number")
    lines = pl.DataFrame(schema={"number": pl.UInt32, "original": pl.String})
    if recoding is not None:
        lines = recoding.select(pl.col("published").alias("label"), "original").select(pl.all().fill_null(""))
        lines = lines.join(numbered, on="label").select("number", "original")
    labels = lines["number"].to_numpy().astype(np.int64)
    codes = np.array([domain.code[original] for original in lines["original"]], dtype=np.int64)
    n_labels, n_originals = len(texts), len(domain.texts)
    low, high = np.ones(n_labels, dtype=np.int64), np.zeros(n_labels, dtype=np.int64)
    own = np.array([domain.code.get(text, -1) for text in texts], dtype=np.int64)
    low[own >= 0] = high[own >= 0] = own[own >= 0]
    hidden = own < 0
    if domain.has_ranges and recoding is None:
        is_range, starts, stops = _spans(texts, domain)
        low[is_range], high[is_range], hidden[is_range] = starts, stops, False
    low[hidden], high[hidden] = 0, n_originals - 1
    listed = np.bincount(labels, minlength=n_labels) > 0
    high[listed] = low[listed] - 1
    return joined_covers(cover_of_pairs(labels, codes, n_labels, n_originals), low, high)


def _spans(texts: pl.Series, domain: Domain) -> tuple[NDArray[np.intp], Ids, Ids]:
    """The texts that are ranges, and the first and last original in each."""
    low, high = range_ends(texts)
    labels = np.flatnonzero(low.is_not_null().to_numpy())
    first = int(np.isnan(domain.numbers).sum())
    numbers = domain.numbers[first:]
    starts = np.searchsorted(numbers, _numbers(low.gather(labels)).to_numpy(), side="left")
    stops = np.searchsorted(numbers, _numbers(high.gather(labels)).to_numpy(), side="right") - 1
    return labels, first + starts, first + stops
