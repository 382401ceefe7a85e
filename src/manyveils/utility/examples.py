"""Rows as a learner sees them, and people who are not in a release, on whom it is tested what can be learnt."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, log1p
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, InputError
from manyveils.policy import Policy
from manyveils.policy.sections import AttributeSection
from manyveils.reading.sampling import draw
from manyveils.release import Release
from manyveils.table import Attribute, Table, hold

# More rows make models better by little, and slower by much.
MOST_ROWS = 50_000
MOST_CLASSES = 20
FIFTHS = (0.2, 0.4, 0.6, 0.8)
Texts = Mapping[str, pl.Series]
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
# Less than once in a billion tables.
UNLIKELY = log(1e9)
REMEDY = (
    "Split the data before you publish, publish one part, and give the other part as held-out; "
    "manyveils compare --learn does all of this by itself."
)


def rows_of(table: Table, names: tuple[str, ...], rng: np.random.Generator) -> Texts:
    """The cells of a table as texts, of a random part of the rows if there are many."""
    chosen = np.arange(table.n_rows)
    if table.n_rows > MOST_ROWS:
        chosen = rng.choice(table.n_rows, MOST_ROWS, replace=False)
    return {name: _cells(table, name).gather(chosen) for name in names}


def _cells(table: Table, name: str) -> pl.Series:
    if name not in table.attributes:
        # The derived attribute of a value that nobody has here.
        return pl.repeat("0", table.n_rows, dtype=pl.String, eager=True)
    return pl.Series(table[name].texts, dtype=pl.String).gather(table[name].codes)


def rows_from(release: Release, names: tuple[str, ...], rng: np.random.Generator) -> Texts:
    """As many rows as are published, drawn from the distribution that the release implies."""
    estimate = release.reading.estimate
    drawn = draw(estimate, min(release.rows, MOST_ROWS), rng)
    return {
        name: pl.Series(estimate.domains[name].texts, dtype=pl.String).gather(drawn[name]) for name in names
    }


@dataclass(frozen=True, repr=False)
class Classes:
    """What a model tells apart: the values of an attribute, or the fifths that its numbers fall into."""

    values: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    are_numbers: bool = False

    def of(self, cells: pl.Series) -> Labels:
        """The class of each cell; rare values share one, and so do missing numbers."""
        if self.edges:
            fifths = np.searchsorted(np.array(self.edges), _numbers(cells), side="left")
            return np.where(np.isnan(_numbers(cells)), len(self.edges) + 1, fifths).astype(np.int64)
        known = pl.DataFrame({"cell": self._read(pl.Series(self.values)), "class": range(len(self.values))})
        rows = self._read(cells).to_frame("cell")
        joined = rows.join(known, on="cell", how="left", maintain_order="left", nulls_equal=True)
        return joined["class"].fill_null(len(self.values)).to_numpy().astype(np.int64)

    def _read(self, cells: pl.Series) -> pl.Series:
        """Cells as they are told apart; one table may write 2 where another, with a 2.5 in it, has 2.0."""
        return cells.cast(pl.Float64, strict=False) if self.are_numbers else cells.cast(pl.String)


def classes_of(target: Attribute) -> Classes:
    """The classes of a target: fifths of the rows for a number with many values, else its commonest values.

    A fifth ends at a quantile; where one value fills more than a fifth of the rows, there are fewer fifths.
    """
    is_numeric = target.kind == "numeric"
    if is_numeric and target.n_values > MOST_CLASSES:
        numbers = target.numbers[target.codes]
        cuts = np.unique(np.quantile(numbers[~np.isnan(numbers)], FIFTHS))
        return Classes(edges=tuple(float(cut) for cut in cuts))
    common = sorted(range(target.n_values), key=lambda code: (-target.counts[code], target.texts[code]))
    values = tuple(target.texts[code] for code in common[:MOST_CLASSES])
    return Classes(values=values, are_numbers=is_numeric)


def matrices(*tables: Texts, numeric: tuple[str, ...]) -> list[Floats]:
    """Several tables of cells as matrices of the same attributes: numbers as they are, all else as codes."""
    coded = [_coded([table[name] for table in tables], as_numbers=name in numeric) for name in tables[0]]
    return [np.column_stack(columns) for columns in zip(*coded, strict=True)]


def _coded(tables: list[pl.Series], *, as_numbers: bool) -> list[Floats]:
    if as_numbers:
        return [_numbers(cells) for cells in tables]
    codes = pl.concat(tables).rank("dense").to_numpy().astype(np.float64)
    return np.split(codes, np.cumsum([len(cells) for cells in tables])[:-1])


def _numbers(cells: pl.Series) -> Floats:
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)


def read_held_out(data: object, table: Table, policy: Policy) -> Table:
    """Read held-out people with the original's kinds; values that no hierarchy lists are fine among them."""
    if data is None:
        raise _refusal("learning is tested on people who are not in the release, and none were given.")
    try:
        held_out, _ = hold(data, _reading_policy(policy, table))
    except InputError as error:
        raise DataError(problem.within("held-out") for problem in error.problems) from None
    _refuse_the_original(held_out, table, policy)
    return held_out


def _refusal(what: str) -> InputError:
    return InputError.at("held-out", what, REMEDY)


def _reading_policy(policy: Policy, table: Table) -> Policy:
    """The policy as far as it says how to read the cells."""
    attributes = {name: _as_read(name, body, table) for name, body in policy.attributes.items()}
    none: list[object] = []
    return policy.replaced(
        attributes=attributes,
        population={},
        guarantee={},
        keys=none,
        rules=none,
        dependencies=none,
        publish={},
    )


def _as_read(name: str, body: AttributeSection, table: Table) -> Mapping[str, Any]:
    needed = {"kind", "multivalued", "level"} | ({"hierarchy"} if body.level else set())
    keys = body.model_dump(include=needed, exclude_none=True)
    if name in table.inferred and name in table.attributes:
        keys["kind"] = table[name].kind
    if keys.get("kind") == "ordinal":
        # Its order need not list values that only held-out people have.
        keys["kind"] = "categorical"
    return {"role": "neutral" if body.role == "quasi" else body.role, **keys}


def _refuse_the_original(held_out: Table, table: Table, policy: Policy) -> None:
    """Refuse published rows: a test on them would measure what was learnt by heart."""
    names = [name for name in table.expand(policy.published) if name in held_out.attributes]
    if not names:
        return
    tested, published = (
        pl.DataFrame({name: _cells(rows, name) for name in names}).sort(names) for rows in (held_out, table)
    )
    if tested.height == published.height and tested.equals(published):
        raise _refusal(f"these are the {table.n_rows:,} rows that were published.")
    if _are_surely_from(published, tested):
        raise _refusal(f"all {tested.height:,} rows are among those that were published.")


def _are_surely_from(published: pl.DataFrame, tested: pl.DataFrame) -> bool:
    """Whether all tested rows were published, and that is too unlikely if they were of other people.

    Of other people, about the share of unique published rows would be new (Good and Turing's estimate).
    """
    if tested.join(published.unique(), on=tested.columns, how="anti", nulls_equal=True).height:
        return False
    unique = int((~published.is_duplicated()).sum()) / published.height
    return unique == 1 or -tested.height * log1p(-unique) > UNLIKELY
