"""How strong a promise the data allow: rows per group, and diversity of each sensitive attribute."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from manyveils.profiling.facts import Facts
from manyveils.profiling.guesses import percent

# k by the number of rows: small tables would otherwise become a single group.
SIZES = ((50, 5), (20, 3), (0, 2))
# The commonest value may fill this share of the rows, well below 1/l, or groups could hardly be smaller than the table.
FREQUENCY = ((0.25, 3), (0.4, 2))
MANY_CELLS = 10_000
MANY_PIECES = 200


@dataclass(frozen=True)
class Diversity:
    """A promise of diversity that the whole table keeps, and why it is not stronger."""

    l: int
    kind: Literal["distinct", "frequency"]
    reason: str
    separator: str | None = None

    @property
    def strength(self) -> tuple[bool, int]:
        """What makes one promise stronger than another."""
        return self.kind == "frequency", self.l


def rows_per_group(n_rows: int) -> tuple[int, str]:
    """k, and why."""
    k = next(k for least, k in SIZES if n_rows >= least)
    if k == SIZES[0][1]:
        return k, "Everybody shares their published quasi-identifiers with at least k - 1 others; 5 is usual"
    return k, f"5 is usual, but there are only {n_rows} rows"


def diversity_of(facts: Facts, k: int, taken: Collection[str] = ()) -> Diversity:
    """The strongest of frequency l = 3 or 2 and distinct l = 2 that leaves the groups room.

    `taken` are the names of columns, which the derived attributes of a multi-valued one must not have.
    """
    largest = _largest_piece(facts, taken)
    if largest is not None and (l := _frequency_l(largest, k)):
        reason = f"The commonest of the values in its cells stands in {percent(largest)} of the rows"
        return Diversity(l, "frequency", reason, facts.form.separator)
    reason = f"The commonest value fills {percent(facts.commonest)} of the rows"
    if l := _frequency_l(facts.commonest, k):
        return Diversity(l, "frequency", reason)
    return Diversity(2, "distinct", f"{reason}, too many to limit its share in groups")


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
