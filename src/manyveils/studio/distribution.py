"""How the values of a column are spread, as a few bars with a text that says the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.profiling.guesses import percent
from manyveils.table import Attribute
from manyveils.table.levels import DAY, are_dates

N_BARS = 8
HEIGHT, WIDTH, GAP = 44, 18, 3
LONGEST = 40

Counts = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Bar:
    """A value or a range of values, and how many rows have it."""

    label: str
    n_rows: int


@dataclass(frozen=True, repr=False)
class Distribution:
    """The bars of a column; `is_range` where they are ranges in their order, and not the commonest values.

    `rest` are the values that have no bar, and would dwarf the others.
    """

    bars: tuple[Bar, ...]
    n_rows: int
    is_range: bool
    rest: Bar | None = None

    def described(self, name: str) -> str:
        """The bars in words."""
        told = (*self.bars, *(() if self.rest is None else (self.rest,)))
        parts = (f"{bar.label} {percent(bar.n_rows / max(self.n_rows, 1))}" for bar in told)
        return f"Rows by {name}: {'; '.join(parts)}." if self.bars else f"{name} has no value."

    def drawn(self, name: str) -> str:
        """The bars as a small SVG, which says in words what it shows."""
        most = max((bar.n_rows for bar in self.bars), default=1) or 1
        bars = "".join(_bar(bar, index, most) for index, bar in enumerate(self.bars))
        width = max(len(self.bars), 1) * (WIDTH + GAP)
        return (
            f'<svg class="bars" role="img" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
            f'aria-label="{escape(self.described(name), quote=True)}">{bars}</svg>'
        )


def _bar(bar: Bar, index: int, most: int) -> str:
    height = max(round((HEIGHT - 1) * bar.n_rows / most, 1), 1.0 if bar.n_rows else 0.0)
    title = f"<title>{escape(bar.label)}: {bar.n_rows:,} rows</title>"
    place = f'x="{index * (WIDTH + GAP)}" y="{HEIGHT - height:g}" width="{WIDTH}" height="{height:g}"'
    return f"<rect {place}>{title}</rect>"


def distribution_of(attribute: Attribute) -> Distribution:
    """Ranges of equal width for numbers and dates of many values, otherwise the commonest values; what is missing comes last."""
    n_present = attribute.n_values - attribute.has_missing
    counts, n_rows = attribute.counts[:n_present], len(attribute.codes)
    places = _places(attribute, n_present) if n_present > N_BARS else None
    rest: Bar | None = None
    if places is None:
        bars, rest = _commonest(attribute.texts, counts)
    else:
        bars = _ranges(places[0], counts, are_days=places[1])
    if attribute.has_missing:
        bars = [*bars, Bar("missing", int(attribute.counts[-1]))]
    return Distribution(tuple(bars), n_rows, places is not None, rest)


def _commonest(texts: Sequence[str], counts: Counts) -> tuple[list[Bar], Bar | None]:
    order = np.argsort(-counts, kind="stable")
    shown = order if order.size <= N_BARS else order[: N_BARS - 1]
    bars = [Bar(_short(texts[code]), int(counts[code])) for code in shown]
    n_rest = order.size - shown.size
    return bars, Bar(f"{n_rest:,} others", int(counts[order[shown.size :]].sum())) if n_rest else None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _places(attribute: Attribute, n_present: int) -> tuple[NDArray[np.float64], bool] | None:
    """Where values lie on a line, and whether they are days; None where they lie on none."""
    domain = attribute.domain.head(n_present)
    if attribute.kind == "numeric":
        numbers = attribute.numbers[:n_present]
        return (numbers, False) if np.isfinite(numbers).all() else None
    if domain.dtype == pl.String and bool(are_dates(domain).all()):
        domain = domain.str.slice(0, DAY).str.to_date(strict=False)
    if domain.dtype not in (pl.Date, pl.Datetime) or domain.null_count():
        return None
    return domain.cast(pl.Date).to_physical().to_numpy().astype(np.float64), True


def _ranges(places: NDArray[np.float64], counts: Counts, *, are_days: bool) -> list[Bar]:
    are_whole = bool((places == np.round(places)).all())
    low, high = float(places.min()), float(places.max())
    step = (high - low + are_whole) / N_BARS
    step = max(float(np.ceil(step)), 1.0) if are_whole else step
    n_bars = int(np.ceil((high - low + are_whole) / step)) if are_whole else N_BARS
    index = np.minimum(((places - low) / step).astype(np.int64), n_bars - 1)
    sums = np.bincount(index, weights=counts, minlength=n_bars).astype(np.int64)
    ends = [(low + at * step, min(low + (at + 1) * step - are_whole, high)) for at in range(n_bars)]
    return [
        Bar(f"{_written(start, is_day=are_days)} to {_written(end, is_day=are_days)}", int(n))
        for (start, end), n in zip(ends, sums, strict=True)
    ]


def _written(place: float, *, is_day: bool) -> str:
    if is_day:
        return str(np.datetime64(int(place), "D"))
    return f"{place:.0f}" if place == round(place) and abs(place) < 1e15 else f"{place:.4g}"
