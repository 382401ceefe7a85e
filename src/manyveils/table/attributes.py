"""A table held as attributes of small integers, each with a dictionary; a multi-valued one as 0/1 attributes (paper 000)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, PolicyError
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.policy.model import Policy
from manyveils.policy.sections import AttributeSection, Kind
from manyveils.table.earlier import Earlier
from manyveils.table.levels import Codes, Levels, value_or_top
from manyveils.table.order import in_order

if TYPE_CHECKING:
    from manyveils.table.persons import Identifier
    from manyveils.table.population import Population

MANY_BITS = 1_000
# What Python takes for white space.
WHITESPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def tally(codes: NDArray[np.integer], weights: NDArray[np.int64] | None, n: int) -> NDArray[np.int64]:
    """People per code; every row stands for one person unless weights say for how many.

    >>> tally(np.array([0, 1, 1]), np.array([5, 1, 1]), 3)
    array([5, 2, 0])
    """
    if weights is None:
        return np.bincount(codes, minlength=n)
    # Exact: sums of whole numbers below 2^53.
    return np.bincount(codes, weights=weights, minlength=n).astype(np.int64)


@dataclass(frozen=True, repr=False)
class Attribute:
    """One attribute: a code per row, a value per code.

    A row may stand for many people that look alike; `weights` says for how many, and without it each stands for one.
    Numeric and ordinal values are in order; a missing value, if there is one, is the last code and null.
    `absence` is the code that only says what is not there: 0 in a derived attribute, -1 in any other.
    """

    name: str
    kind: Kind
    codes: Codes
    domain: pl.Series
    levels: Levels
    absence: int = -1
    weights: NDArray[np.int64] | None = None
    # People per value among all, where the rows are only a part of them.
    of_all: NDArray[np.int64] | None = None

    @property
    def n_values(self) -> int:
        """How many different values there are, a missing one included."""
        return len(self.domain)

    @property
    def has_missing(self) -> bool:
        """Whether some cell is missing."""
        return self.n_values > 0 and self.domain[-1] is None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Each value as text; a missing one is empty."""
        return tuple(text if text is not None else "" for text in self.domain.cast(pl.String).to_list())

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """People per value, among all people."""
        if self.of_all is not None:
            return self.of_all
        return tally(self.codes, self.weights, self.n_values)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Each value as a number; a missing one is NaN."""
        return self.domain.cast(pl.Float64).to_numpy().astype(np.float64)

    def taking(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "Attribute":
        """The attribute of some rows only; the dictionary stays."""
        return replace(
            self, codes=self.codes[rows], weights=None if self.weights is None else self.weights[rows]
        )

    def at_level(self, level: int) -> "Attribute":
        """The attribute with labels of its hierarchy in place of values: of a level, or else of the highest below the top.

        Level 0 is the attribute itself.
        """
        level = min(level, self.levels.highest)
        if not level:
            return self
        step = self.levels[level]
        of_all = None if self.of_all is None else tally(step.label_of, self.of_all, len(step.labels))
        return replace(
            self,
            kind="categorical",
            codes=step.label_of[self.codes],
            domain=pl.Series(self.name, step.labels, dtype=pl.String),
            levels=value_or_top(step.labels),
            of_all=of_all,
        )

    def labels_of(self, which: NDArray[np.bool_], level: int) -> NDArray[np.bool_]:
        """The labels of a level under which at least one of some values stands."""
        level = min(level, self.levels.highest)
        if not level:
            return which
        step = self.levels[level]
        return np.bincount(step.label_of[which], minlength=len(step.labels)) > 0

    def __repr__(self) -> str:
        return f"<Attribute {self.name}: {self.kind}, {len(self.codes)} rows, {self.n_values} values>"


@dataclass(frozen=True, repr=False)
class Table:
    """The rows of one data set, without identifiers.

    Rows may be a part of all there are; `reference` then counts attributes over all people.
    `derived` lists the 0/1 attributes that stand for a multi-valued one.
    `persons` numbers the person of each row from 0, in any order and without gaps; it is None where every row is a
    person of its own, so that whoever asks whether it is None asks whether somebody has several rows.
    """

    attributes: Mapping[str, Attribute]
    n_rows: int
    n_dropped: int = 0
    derived: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inferred: tuple[str, ...] = ()
    weights: NDArray[np.int64] | None = None
    reference: "Callable[[tuple[str, ...]], Table] | None" = None
    persons: NDArray[np.int64] | None = None
    # The identifiers that tell persons apart, for the ledger alone; and where persons were seen in earlier releases.
    keys: pl.DataFrame | None = None
    earlier: Earlier | None = None
    # Identifiers that repeat, beside those by which the policy tells persons apart.
    repeating: "tuple[Identifier, ...]" = ()
    # Whom the people of the data are some of, where the policy names a list.
    population: "Population | None" = None

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[name]

    @cached_property
    def n_people(self) -> int:
        """How many people the rows stand for."""
        return self.n_rows if self.weights is None else int(self.weights.sum())

    @cached_property
    def n_persons(self) -> int:
        """How many different persons the rows are about."""
        return self.n_people if self.persons is None else int(self.persons.max(initial=-1)) + 1

    def of_persons(self) -> "Table":
        """The same with a number for the person of every row, also where nobody has several."""
        return self if self.persons is not None else replace(self, persons=np.arange(self.n_rows))

    @cached_property
    def by_person(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows person after person, and where those of each person start, and the last ones end."""
        assert self.persons is not None
        starts = np.append(0, np.cumsum(np.bincount(self.persons, minlength=self.n_persons)))
        return in_order(self.persons), starts

    def taking(self, rows: NDArray[np.int64]) -> "Table":
        """The table of some rows only; dictionaries stay, and so do the numbers of persons."""
        attributes = {name: attribute.taking(rows) for name, attribute in self.attributes.items()}
        weights, persons = (None if of is None else of[rows] for of in (self.weights, self.persons))
        keys = None if self.keys is None else self.keys[rows]
        return replace(
            self, attributes=attributes, n_rows=rows.size, weights=weights, persons=persons, keys=keys
        )

    def whole(self, names: tuple[str, ...]) -> "Table":
        """A table in which these attributes can be counted together over all people."""
        return self if self.reference is None else self.reference(names)

    def expand(self, names: tuple[str, ...] | list[str]) -> tuple[str, ...]:
        """The attributes of the table that stand for those of the policy; a multi-valued one has derived ones."""
        return tuple(derived for name in names for derived in self.derived.get(name, (name,)))

    @cached_property
    def _homes(self) -> dict[str, str]:
        return {derived: name for name, every in self.derived.items() for derived in every}

    def home(self, name: str) -> str:
        """The attribute of the policy that an attribute stands for; that of a derived one is multi-valued."""
        return self._homes.get(name, name)

    def atom(self, name: str) -> str | None:
        """The value whose presence a derived attribute tells; None for any other."""
        home = self._homes.get(name)
        return None if home is None else name.removeprefix(f"{home}=")

    def at_level(self, names: tuple[str, ...], level: int) -> "Table":
        """The table with labels in place of the values of some attributes, among all people too."""
        if not any(min(level, self[name].levels.highest) for name in names):
            return self
        labels = {name: self[name].at_level(level) for name in names}
        whole = self.reference
        above = None if whole is None else lambda asked: whole(asked).at_level(_both(names, asked), level)
        return replace(self, attributes={**self.attributes, **labels}, reference=above)

    def codes(self, names: tuple[str, ...]) -> tuple[Codes, ...]:
        """The codes of several attributes."""
        return tuple(self.attributes[name].codes for name in names)

    def sizes(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The dictionary sizes of several attributes."""
        return tuple(self.attributes[name].n_values for name in names)

    def __repr__(self) -> str:
        return f"<Table: {self.n_rows} rows, {len(self.attributes)} attributes>"


def _both(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in others)


def bits_of(values: pl.Series, attribute: AttributeSection, policy: Policy) -> list[Attribute]:
    """One derived attribute per atomic value; an empty cell has none of them, and is 0 everywhere.

    With a level, values are those of that level of the hierarchy.
    """
    assert attribute.multivalued is not None
    pairs = _parts(values.cast(pl.String), attribute.multivalued)
    name, lines = str(values.name), policy.lines(str(values.name)) or ()
    _refuse_unfit(name, pairs["part"].unique(), lines, attribute, policy)
    if attribute.level:
        labels = pl.DataFrame(
            [(line[0], line[attribute.level]) for line in lines], ("part", "label"), orient="row"
        )
        pairs = pairs.join(labels.cast(pl.String), on="part").select("row", part="label").unique()
    # A part and its rows stand together, so that no table of all parts and rows is made.
    pairs = pairs.sort("part", "row")
    parts = pairs.group_by("part", maintain_order=True).len()
    stops = parts["len"].cum_sum().to_list()
    rows = pairs["row"].to_numpy()
    bits = []
    for part, start, stop in zip(parts["part"].to_list(), [0, *stops], stops, strict=False):
        codes = np.zeros(len(values), dtype=np.int32)
        codes[rows[start:stop]] = 1
        bits.append(_bit(f"{name}={part}", codes))
    return bits


def _parts(cells: pl.Series, separator: str) -> pl.DataFrame:
    """The values in the cells, each once: row, part."""
    rows = pl.DataFrame({"row": np.arange(len(cells), dtype=np.int64), "part": cells.str.split(separator)})
    parts = rows.explode("part").with_columns(pl.col("part").str.strip_chars(WHITESPACE))
    return parts.filter(pl.col("part") != "").unique()


def _refuse_unfit(
    name: str, parts: pl.Series, lines: Lines, attribute: AttributeSection, policy: Policy
) -> None:
    where = f"attributes.{name}"
    if not len(parts):
        raise DataError.at(where, "no cell holds a value.", "Drop the column, or its separator.")
    listed = {line[0] for line in lines}
    unlisted = sum(part not in listed for part in parts.to_list()) if listed else 0
    if unlisted:
        what = f"misses {unlisted} of {len(parts)} values."
        raise PolicyError.at(
            f"{policy.name}: {where}.hierarchy",
            what,
            "Add a line for each; `manyveils complete` writes them down.",
        )
    sizes = _sizes_of_levels(parts, lines)
    level = attribute.level or 0
    if level >= len(sizes):
        what = f"is {level}, and the hierarchy has {len(sizes) - 1} levels between its values and *."
        remedy = (
            f"Lower it to {len(sizes) - 1}."
            if len(sizes) > 1
            else "Give the attribute a hierarchy, or drop it."
        )
        raise PolicyError.at(f"{policy.name}: {where}.level", what, remedy)
    if sizes[level] > MANY_BITS:
        what = f"gives {sizes[level]:,} different values, {MANY_BITS:,} at most."
        fitting = next((at for at in range(level + 1, len(sizes)) if sizes[at] <= MANY_BITS), None)
        remedy = "Check the separator, or group values in a hierarchy."
        if fitting is not None:
            remedy = f"Check the separator, or set level = {fitting}, which has {sizes[fitting]:,}."
        raise PolicyError.at(f"{where}.multivalued", what, remedy)


def _sizes_of_levels(parts: pl.Series, lines: Lines) -> list[int]:
    """How many values the data have at each level of a hierarchy below `*`."""
    if not lines:
        return [len(parts)]
    present = {*parts.to_list()}
    levels = list(zip(*(line for line in lines if line[0] in present), strict=True))
    sizes = [len({*level}) for level in levels]
    return sizes[:-1] if {*levels[-1]} == {TOP} else sizes


def _bit(name: str, codes: Codes) -> Attribute:
    domain = pl.Series(name, [0, 1], dtype=pl.Int64)
    return Attribute(name, "categorical", codes, domain, value_or_top(["0", "1"]), absence=0)
