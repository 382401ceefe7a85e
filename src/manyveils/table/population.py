"""The population: whom the people of the data are some of, as a list that only the owner has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.policy.model import Policy
from manyveils.policy.sections import AttributeSection
from manyveils.table.attributes import Attribute, Table
from manyveils.table.door import take_in
from manyveils.table.encode import as_read, encode_attribute
from manyveils.table.kinds import as_number

# No attribute is named so.
FIRST, PEOPLE = "\0first", "\0people"


@dataclass(frozen=True, repr=False)
class Population:
    """Different combinations of the quasi-identifiers with how many people have each; a dictionary holds the data's values too.

    `n_strangers` people have a value that a hierarchy does not list: they look like nobody, and are in no combination.
    """

    attributes: Mapping[str, Attribute]
    counts: NDArray[np.int64]
    n_strangers: int = 0

    @property
    def n_people(self) -> int:
        """How many people there are in all."""
        return int(self.counts.sum()) + self.n_strangers

    def __repr__(self) -> str:
        return f"<Population: {self.n_people} people>"


def population_of(policy: Policy, table: Table | None) -> Population | None:
    """The population that a policy names, read and recoded as the data are; nothing where it names none.

    Without a table, it is recoded by itself: for published tables of which no original is known.
    """
    source = policy.population_source
    if source is None:
        return None
    try:
        form = policy.data.model_copy(update={"columns": None, "sheet": None, "table": None, "query": None})
        frame, _ = take_in(source, form)
    except DataError as error:
        raise DataError(problem.within("population") for problem in error.problems) from None
    missing = [name for name in policy.quasi if name not in frame.columns]
    DataError.refuse(
        Problem("population", f"has no column {name!r}.", "It needs every quasi-identifier.")
        for name in missing
    )
    frame = as_read(frame.select(policy.quasi), policy)
    if policy.data.missing != "category":
        frame = frame.drop_nulls()
    n_all = frame.height
    for name in policy.quasi:
        frame = frame.filter(_listed(frame[name], None if table is None else table[name], policy))
    attributes = {
        name: _recoded(frame[name], None if table is None else table[name], policy) for name in policy.quasi
    }
    firsts, counts = _different(attributes)
    taken = {name: attribute.taking(firsts) for name, attribute in attributes.items()}
    return Population(taken, counts, n_all - int(counts.sum()))


def _different(attributes: Mapping[str, Attribute]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A row of each different combination, and how many rows have it."""
    codes = pl.DataFrame({name: attribute.codes for name, attribute in attributes.items()})
    if not codes.width:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    found = codes.with_row_index(FIRST).group_by(codes.columns, maintain_order=True)
    counted = found.agg(pl.col(FIRST).first(), pl.len().alias(PEOPLE))
    return counted[FIRST].to_numpy().astype(np.int64), counted[PEOPLE].to_numpy().astype(np.int64)


def _listed(values: pl.Series, attribute: Attribute | None, policy: Policy) -> pl.Series:
    """Which values a written hierarchy, or an order, has; all where there is none."""
    section = policy.attributes[values.name]
    written = section.order or [line[0] for line in policy.lines(values.name) or ()]
    if not written:
        return pl.repeat(value=True, n=len(values), eager=True)
    texts = values.cast(pl.String)
    known = texts.is_in([*written, *(attribute.texts if attribute is not None else ())])
    if section.kind in (None, "numeric"):
        # Written otherwise, it may be the same number.
        numbers = [number for number in map(as_number, written) if number is not None]
        known |= texts.cast(pl.Float64, strict=False).is_in(numbers).fill_null(value=False)
    return known | texts.is_null()


def _recoded(values: pl.Series, attribute: Attribute | None, policy: Policy) -> Attribute:
    """The values with a dictionary that holds the data's too, and the same labels for these as the data have."""
    section, both = policy.attributes[values.name], values
    if attribute is not None:
        section = section.model_copy(update={"kind": attribute.kind})
        both = _together(values, attribute.domain.alias(values.name))
    try:
        [coded] = encode_attribute(both, section, policy)
    except (DataError, PolicyError) as error:
        about = (replace(problem, where=problem.where.removeprefix("data: ")) for problem in error.problems)
        raise DataError(problem.within("population") for problem in about) from None
    if attribute is not None:
        _refuse_other_labels(coded, attribute, section)
    return coded.taking(np.arange(len(values)))


def _together(values: pl.Series, domain: pl.Series) -> pl.Series:
    if values.dtype == domain.dtype:
        return pl.concat([values, domain])
    if values.dtype.is_numeric() and domain.dtype.is_numeric():
        return pl.concat([values.cast(pl.Float64), domain.cast(pl.Float64)])
    return pl.concat([values.cast(pl.String), domain.cast(pl.String)])


def _refuse_other_labels(coded: Attribute, attribute: Attribute, section: AttributeSection) -> None:
    """Refuse a population that would change the labels of the data's values: its codes are longer, or its numbers finer."""
    own = coded.codes[-attribute.n_values :] if attribute.n_values else coded.codes[:0]
    if _labels(coded, own) == _labels(attribute, np.arange(attribute.n_values)):
        return
    finer = "its numbers have more decimals" if section.kind == "numeric" else "its values are longer"
    what = f"is not written as in the data: {finer}, so that labels would mean something else."
    raise DataError.at(f"population: {attribute.name}", what, "Write both in the same way.")


def _labels(attribute: Attribute, codes: NDArray[np.integer]) -> list[list[str]]:
    """The labels of some values, level by level above the values."""
    return [[level.labels[label] for label in level.label_of[codes]] for level in attribute.levels.each[1:]]


def refuse_unfit(policy: Policy, table: Table) -> None:
    """Refuse a population that is smaller than the data, and weights that are no numbers of people."""
    size, weights = policy.population.size, policy.population.weights
    if size is not None and size < table.n_persons:
        what = f"is {size}, and the data are about {table.n_persons} people of it."
        raise PolicyError.at(
            f"{policy.name}: population.size", what, "Write how many people there are in all."
        )
    if weights is None:
        return
    attribute = table[weights]
    if attribute.kind != "numeric":
        what = "is not numeric, and a weight says for how many people of the population a row stands."
        raise DataError.at(f"data: {weights}", what, "Name another in population.weights.")
    n_unfit = int(attribute.counts[~(attribute.numbers >= 1)].sum())
    if n_unfit:
        what = f"{n_unfit} of {table.n_rows} cells are missing or below 1: everybody stands for herself, at least."
        raise DataError.at(f"data: {weights}", what, "Correct them, or drop population.weights.")
