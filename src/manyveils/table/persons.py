"""Whose row is whose: identifiers are read to number persons, and forgotten."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.plain import toml_text
from manyveils.policy.model import Policy
from manyveils.table.attributes import Attribute, Table

Persons = NDArray[np.int64]
Changing = NDArray[np.bool_]

# Spellings of a whole number that are one number, as in every other column: 17, +17 and 17.00.
# Leading zeros make a code of it.
SPELLED = r"^\+?(-?(?:0|[1-9][0-9]*))(?:\.0*)?$"
# Fewer persons to a value may be spellings, or people who share a name.
PERSONS_TO_A_VALUE = 2
# People share names, so these are not asked about.
OF_NAMES = re.compile(
    r"(^|[^a-z])(names?|(first|last|fore|sur|family|given) ?names?|nachname|vorname)($|[^a-z])"
)
UNSET = (
    "Write person = {} in [data] if it tells persons apart{}, "
    'or person = "row" if every row is a person of its own.'
)


def keys_read(policy: Policy) -> tuple[str, ...]:
    """The identifiers that are looked at: those that tell persons apart, or all where nothing is said."""
    return policy.having("identifier") if policy.person is None else policy.person


def refuse_unlike(names: Sequence[str], kinds: Sequence[str]) -> None:
    """Refuse identifiers whose cells cannot be compared, because of their type."""
    remedy = 'Turn them into texts or numbers, or write person = "row" in [data] if every row is a person of its own.'
    DataError.refuse(
        Problem(f"data: {name}", f"cells of type {kind} cannot tell persons apart.", remedy)
        for name, kind in zip(names, kinds, strict=True)
    )


def alike(dtype: pl.DataType) -> bool:
    """Whether cells of a type can be compared."""
    return not dtype.is_nested() and dtype != pl.Object


def persons_of(keys: pl.DataFrame, policy: Policy) -> Persons | None:
    """The person of each row, numbered from 0 without gaps; None where no two rows are of one person.

    `keys` are the identifiers to look at, with missing cells as null; a row in which one of them is missing is a
    person of its own. Where the policy does not say who is who, an identifier that repeats is refused.
    """
    if not keys.width:
        return None
    if policy.person is None:
        refuse_repeats(identifiers_in(keys), keys.height, policy)
        return None
    keys = keys.select(_spelled_once(column) for column in keys)
    refuse_empty([column.name for column in keys if column.null_count() == len(column)])
    numbers = numbered(keys)
    n_persons = int(numbers.max(initial=-1)) + 1
    if n_persons == len(numbers):
        return None
    if n_persons == 1:
        what = f"all {len(numbers)} rows are one person's."
        remedy = 'Name what differs from person to person, or write person = "row".'
        raise PolicyError.at(f"{policy.name}: data.person", what, remedy)
    return numbers


def how_counted(table: Table, policy: Policy) -> dict[str, object]:
    """By what persons are counted, how many there are in how many rows, and a sentence that says so."""
    return {
        "counted_by": list(policy.person) if policy.person else "rows",
        "n": table.n_persons,
        "rows": table.n_people,
        "is_assumed": policy.person is None and not policy.having("identifier"),
        "note": _note(table, policy),
    }


def _note(table: Table, policy: Policy) -> str:
    if policy.person:
        is_alone = table.n_persons == table.n_people
        several = "no two rows are of one person" if is_alone else "some have several rows"
        return f"Persons are told apart by {' and '.join(policy.person)}; {several}."
    if policy.person is not None:
        return 'Every row is taken as a person of its own: the policy says person = "row".'
    if policy.having("identifier"):
        return "Every row is a person of its own: no identifier has a value twice."
    return (
        "Every row is taken as a person of its own: the policy names no identifier that tells persons apart."
    )


def names_of(keys: pl.DataFrame) -> pl.Series:
    """What tells the person of each row apart, as one text that is the same in any table; missing where a key is.

    >>> names_of(pl.DataFrame({"house": ["7.0", None], "member": ["b", "b"]})).to_list()
    ['1:7|1:b', None]
    """
    texts = [_spelled_once(column).cast(pl.String).str.replace(SPELLED, "$1") for column in keys]
    parts = [pl.concat_str(text.str.len_bytes(), pl.lit(":"), text) for text in texts]
    return pl.select(pl.concat_str(parts, separator="|")).to_series()


def numbered(keys: pl.DataFrame) -> Persons:
    """A number for each row, the same for rows that are equal in all columns and have no cell missing.

    >>> numbered(pl.DataFrame({"house": [7, 7, 8, None, None], "member": ["a", "a", "a", "b", "b"]}))
    array([0, 0, 1, 2, 3])
    """
    rows = np.arange(keys.height, dtype=np.int64)
    # Names of their own, whatever the columns are called.
    keys = keys.rename({name: f"key {number}" for number, name in enumerate(keys.columns)})
    # The first row of each person stands for her.
    first = keys.with_columns(row=rows).select(pl.col("row").min().over(keys.columns)).to_series()
    is_alone = keys.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    stands = np.where(is_alone, rows, first.to_numpy())
    numbers: Persons = (np.cumsum(stands == rows) - 1)[stands]
    return numbers


def _spelled_once(cells: pl.Series) -> pl.Series:
    """The cells with one spelling for each whole number; blank ones and what is not a number are missing."""
    if cells.dtype.is_float():
        return cells.fill_nan(None)
    if cells.dtype != pl.String:
        return cells
    plain = cells.str.strip_chars().str.replace(SPELLED, "$1")
    return plain.set(plain == "", None)


@dataclass(frozen=True)
class Identifier:
    """How many rows have a value of an identifier, and how many different ones there are.

    `n_persons` are those with a value of it, where the policy tells persons apart by something else.
    """

    name: str
    n_present: int
    n_different: int
    n_persons: int | None = None

    @property
    def repeats(self) -> bool:
        """Whether rows share a value; missing ones are no repeats."""
        return self.n_different < self.n_present

    @property
    def is_shared(self) -> bool:
        """Whether so many persons share its values that it may be what tells them apart."""
        is_few = 1 < self.n_different <= (self.n_persons or 0) / PERSONS_TO_A_VALUE
        return is_few and OF_NAMES.search(self.name.lower()) is None


def identifiers_in(keys: pl.DataFrame) -> tuple[Identifier, ...]:
    """The columns of a frame of identifiers, counted."""
    present = (_spelled_once(column).drop_nulls() for column in keys)
    return tuple(Identifier(column.name, len(column), column.n_unique()) for column in present)


def names_beside(frame: pl.DataFrame, policy: Policy) -> list[str]:
    """The identifiers that can be compared beside those by which the policy tells persons apart."""
    if policy.person is None:
        return []
    names = [name for name in policy.having("identifier") if name not in policy.person]
    return [name for name in names if name in frame.columns and alike(frame.schema[name])]


def repeating_beside(beside: pl.DataFrame, keys: pl.DataFrame, policy: Policy) -> tuple[Identifier, ...]:
    """Those of them that repeat, with the number of persons who have a value, if the policy tells them apart."""
    repeating = tuple(column for column in identifiers_in(beside) if column.repeats)
    if not repeating or not policy.person:
        return repeating
    persons = persons_of(keys, policy)
    numbers = np.arange(keys.height) if persons is None else persons
    have_one = (_spelled_once(beside[column.name]).is_not_null().to_numpy() for column in repeating)
    return tuple(
        replace(column, n_persons=np.unique(numbers[has_one]).size)
        for column, has_one in zip(repeating, have_one, strict=True)
    )


def refuse_repeats(identifiers: Sequence[Identifier], n_rows: int, policy: Policy) -> None:
    """Refuse identifiers that repeat, where the policy does not say who is who."""
    unique = [column.name for column in identifiers if not column.repeats and column.n_present == n_rows]
    problems = []
    for column in identifiers:
        if column.repeats:
            lacking = n_rows - column.n_present
            rest = f", and {lacking:,} rows have none" if lacking else ""
            values = "values" if column.n_different > 1 else "value"
            what = f"is not set, and the identifier {column.name!r} repeats: {column.n_present:,} rows have "
            what += f"{column.n_different:,} different {values} of it{rest}."
            problems.append(Problem("data.person", what, _remedy(column, len(identifiers), unique)))
    PolicyError.refuse(problem.within(policy.name) for problem in problems)


def _remedy(column: Identifier, n_identifiers: int, unique: Sequence[str]) -> str:
    """What would say who is who: the identifier itself, several of them, one that has no value twice, or rows."""
    if column.n_different == 1:
        named = 'Name what tells persons apart in [data] person, or write person = "row" if every row is a person of its own.'
    else:
        several = ", or a list of identifiers that do" if n_identifiers > 1 else ""
        named = UNSET.format(toml_text(column.name), several)
    return f"{named} {unique[0]!r} has no value twice." if unique else named


def refuse_empty(names: Sequence[str]) -> None:
    """Refuse keys without any value: they would make a person of every row without a word."""
    remedy = 'Name another identifier in data.person, or write person = "row".'
    what = "every cell is missing, so it tells no persons apart."
    DataError.refuse(Problem(f"data: {name}", what, remedy) for name in names)


def refuse_changes(
    attributes: Mapping[str, Attribute],
    derived: Mapping[str, Sequence[str]],
    persons: Persons | None,
    policy: Policy,
) -> None:
    """Refuse attributes that are said to be constant and change from row to row of a person."""
    if persons is None:
        return
    n_persons = int(persons.max(initial=-1)) + 1
    problems = []
    for name in policy.constant:
        columns = [attributes[column] for column in derived.get(name, (name,))]
        changing = _any(_changing(column.codes, persons, n_persons) for column in columns)
        known = _any(_changing_values(column, persons, n_persons) for column in columns)
        if changing.any():
            problems.append(_changes(name, int(changing.sum()), int(known.sum()), n_persons))
    PolicyError.refuse(problem.within(policy.name) for problem in problems)


def _changes(name: str, n_changing: int, n_known: int, n_persons: int) -> Problem:
    what = f"changes for {n_changing:,} of {n_persons:,} persons"
    if n_known < n_changing:
        what += f"; for {n_changing - n_known:,} of them only because a cell is missing beside a value"
    remedy = "Correct or fill in the data, or drop constant: rows of one person may then differ in it."
    return Problem(f"attributes.{name}.constant", f"{what}.", remedy)


def changing_persons(attribute: Attribute, persons: Persons) -> int:
    """How many persons have two values of an attribute or more, a missing one included."""
    return int(_changing(attribute.codes, persons, int(persons.max(initial=-1)) + 1).sum())


def _changing_values(attribute: Attribute, persons: Persons, n_persons: int) -> Changing:
    """The persons with two values or more that are not missing."""
    if not attribute.has_missing:
        return _changing(attribute.codes, persons, n_persons)
    present = attribute.codes != attribute.n_values - 1
    return _changing(attribute.codes[present], persons[present], n_persons)


def _changing(codes: NDArray[np.int32], persons: Persons, n_persons: int) -> Changing:
    """The persons with two different codes or more: some row of theirs differs from the one that stands for them."""
    standing = np.zeros(n_persons, dtype=codes.dtype)
    standing[persons] = codes
    changing = np.zeros(n_persons, dtype=np.bool_)
    changing[persons[codes != standing[persons]]] = True
    return changing


def _any(masks: Iterator[Changing]) -> Changing:
    first = next(masks)
    for mask in masks:
        first |= mask
    return first
