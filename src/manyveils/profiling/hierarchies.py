"""How the values of a quasi-identifier could become coarser, and how strong a promise the data allow."""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from manyveils.policy.sections import Kind
from manyveils.profiling.facts import FEW_VALUES, Facts
from manyveils.profiling.guesses import percent

# The first interval is about a twentieth of the range; the last is below the range itself.
FIRST_SHARE = 20
MOST_WIDTHS = 4
NO_HIERARCHY = (
    "No hierarchy: a value is published as it is, in a set, or as *; a tree or a file could group values"
)
NUMBERS = "Every cell is a number"
YEAR_FIRST = "Dates with the year first are in order"
# k by the number of rows: small tables would otherwise become a single group.
SIZES = ((50, 5), (20, 3), (0, 2))
# The commonest value may fill this share of the rows, well below 1/l, or groups could hardly be smaller than the table.
FREQUENCY = ((0.25, 3), (0.4, 2))
MANY_CELLS = 10_000
MANY_PIECES = 200


@dataclass(frozen=True)
class Coarser:
    """A kind and, if there is one, a hierarchy as it stands in a policy; each with its reason."""

    kind: Kind | None
    kind_reason: str
    hierarchy: str | None
    reason: str


def coarser(facts: Facts) -> Coarser:
    """What suits the type of the column."""
    if facts.type == "date":
        return _other_dates(facts) if facts.form.is_other_date else _dates(facts)
    if facts.type in ("whole number", "decimal"):
        return _intervals(facts)
    if facts.type == "range":
        return Coarser(
            "ordinal", "Every cell is a range, in the order of where ranges begin", None, NO_HIERARCHY
        )
    return _codes(facts) if facts.type == "code" else Coarser(None, "", None, NO_HIERARCHY)


def _dates(facts: Facts) -> Coarser:
    dtype = None if facts.attribute is None else facts.attribute.domain.dtype
    units = ["day"] if facts.form.has_time or isinstance(dtype, pl.Datetime) else []
    units += ["month", "quarter", "year"]
    listed = ", ".join(f'"{unit}"' for unit in units)
    reason = f"Every cell is a date: {', '.join(units)}, then *"
    return Coarser("ordinal", YEAR_FIRST, f"{{ dates = [{listed}] }}", reason)


def _other_dates(facts: Facts) -> Coarser:
    """Masks from where the day stands, so that the year stays longest."""
    reason = "Looks like dates: written as 2024-12-31 they could become months and years"
    if facts.form.length is None:
        return Coarser("categorical", "As they are written, these dates are not in order", None, reason)
    reason += "; masked, the year stays longest"
    if facts.form.year_last:
        return Coarser(
            "categorical", "With the year last, dates are not in order", '{ mask = "left" }', reason
        )
    return Coarser("ordinal", YEAR_FIRST, '{ mask = "right" }', reason)


def _intervals(facts: Facts) -> Coarser:
    widths = interval_widths(facts.spread, whole=facts.type == "whole number")
    if not widths or facts.distinct < 3:
        return Coarser("numeric", NUMBERS, None, "Too few values for intervals: published as a range or *")
    listed = ", ".join(written(width) for width in widths)
    reason = (
        "The first is about a twentieth of the range, without the outermost hundredth of rows on either side"
    )
    return Coarser("numeric", NUMBERS, f"{{ widths = [{listed}] }}", reason)


def _codes(facts: Facts) -> Coarser:
    length = facts.form.code_length
    if length is None:
        few = f"Numbers with only {facts.distinct} values are taken as codes without an order"
        if facts.distinct > FEW_VALUES:
            few = "Its name says that its numbers are codes, which have no order"
        return Coarser("categorical", few, None, NO_HIERARCHY)
    reason = f"All codes have {length} characters, and the first ones usually say most"
    return Coarser("categorical", "Codes are not amounts", '{ mask = "right" }', reason)


def interval_widths(spread: float, *, whole: bool) -> tuple[float, ...]:
    """Widths of 1, 2 or 5 times a power of ten, each a multiple of the one before.

    >>> interval_widths(73, whole=True), interval_widths(0.9, whole=False), interval_widths(3, whole=True)
    ((5.0, 10.0, 20.0), (0.05, 0.1, 0.2), (2.0,))
    """
    if not spread > 0 or not math.isfinite(spread):
        return ()
    mantissa, power = _rounded_up(spread / FIRST_SHARE)
    widths: list[float] = []
    while len(widths) < MOST_WIDTHS and (width := float(f"{mantissa}e{power}")) < spread:
        if not whole or width > 1:
            widths.append(width)
        # The next width that is a multiple of this one: 1, 2, 10, 20, … and 5, 10, 20, ….
        mantissa, power = (2, power) if mantissa == 1 else (1, power + 1)
    return tuple(widths)


def _rounded_up(value: float) -> tuple[int, int]:
    power = math.floor(math.log10(value))
    scaled = value / 10**power
    return next(((step, power) for step in (1, 2, 5) if scaled <= step * (1 + 1e-9)), (1, power + 1))


def written(width: float) -> str:
    """A width as a policy writes it."""
    return str(int(width)) if width.is_integer() and width < 1e15 else repr(width)


@dataclass(frozen=True)
class Diversity:
    """A promise of diversity that the whole table keeps, and why it is not stronger."""

    l: int
    kind: Literal["distinct", "frequency"]
    reason: str
    separator: str | None = None
    among: str = "rows"

    @property
    def strength(self) -> tuple[bool, int]:
        """What makes one promise stronger than another."""
        return self.kind == "frequency", self.l


def rows_per_group(n_rows: int, among: str = "rows") -> tuple[int, str]:
    """k, and why."""
    k = next(k for least, k in SIZES if n_rows >= least)
    if k == SIZES[0][1]:
        return k, "Everybody shares their published quasi-identifiers with at least k - 1 others; 5 is usual"
    return k, f"5 is usual, but there are only {n_rows} {among}"


def diversity_of(facts: Facts, k: int, taken: Collection[str] = (), among: str = "rows") -> Diversity:
    """The strongest of frequency l = 3 or 2 and distinct l = 2 that leaves the groups room.

    `taken` are the names of columns, which the derived attributes of a multi-valued one must not have; `among` says
    whether shares are of rows or of persons.
    """
    largest = _largest_piece(facts, taken)
    if largest is not None and (l := _frequency_l(largest, k)):
        verb = "stands in" if among == "rows" else "is that of"
        reason = f"The commonest of the values in its cells {verb} {percent(largest)} of the {among}"
        return Diversity(l, "frequency", reason, facts.form.separator, among)
    verb = "fills" if among == "rows" else "is that of"
    reason = f"The commonest value {verb} {percent(facts.commonest)} of the {among}"
    if l := _frequency_l(facts.commonest, k):
        return Diversity(l, "frequency", reason, among=among)
    return Diversity(2, "distinct", f"{reason}, too many to limit its share in groups", among=among)


def _frequency_l(commonest: float, k: int) -> int | None:
    return next((l for share, l in FREQUENCY if commonest <= share and l <= k), None)


def _largest_piece(facts: Facts, taken: Collection[str]) -> float | None:
    """The share of rows with the commonest value, where cells hold several; None if they do not."""
    mark, attribute = facts.form.separator, facts.attribute
    if mark is None or attribute is None or facts.distinct > MANY_CELLS:
        return None
    rows: Counter[str] = Counter()
    for text, count in zip(attribute.texts, attribute.counts.tolist(), strict=True):
        pieces = {piece.strip() for piece in text.split(mark)} - {""}
        rows.update(dict.fromkeys(pieces, count))
    is_fit = 0 < len(rows) <= MANY_PIECES and not any(f"{facts.name}={piece}" in taken for piece in rows)
    return max(rows.values()) / facts.n_rows if is_fit else None


def weakest(levels: Mapping[str, Diversity]) -> tuple[str, Diversity]:
    """The promise that all keep, and the attribute that allows no more."""
    return min(levels.items(), key=lambda level: level[1].strength)
