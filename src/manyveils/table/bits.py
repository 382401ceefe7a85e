"""A multi-valued attribute as 0/1 attributes, one per value: the bitmap transformation of paper 000."""

import numpy as np
import polars as pl

from manyveils.errors import DataError, PolicyError
from manyveils.policy.model import Policy
from manyveils.policy.sections import AttributeSection
from manyveils.table.attributes import Attribute
from manyveils.table.levels import Codes, value_or_top

MANY_BITS = 1_000


def bits_of(values: pl.Series, attribute: AttributeSection, policy: Policy) -> list[Attribute]:
    """One derived attribute per atomic value; an empty cell has none of them, and is 0 everywhere."""
    assert attribute.multivalued is not None
    cells = values.cast(pl.String)
    distinct = cells.drop_nulls().unique().sort()
    members = [
        sorted({part.strip() for part in cell.split(attribute.multivalued) if part.strip()})
        for cell in distinct.to_list()
    ]
    atoms = sorted({atom for parts in members for atom in parts})
    _refuse_unfit(str(values.name), atoms, {line[0] for line in policy.lines(str(values.name)) or ()}, policy)
    cell_code = cells.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(len(members)).to_numpy()
    holds = np.zeros((len(atoms), len(members) + 1), dtype=np.int32)
    number = {atom: row for row, atom in enumerate(atoms)}
    for code, parts in enumerate(members):
        holds[[number[part] for part in parts], code] = 1
    return [_bit(f"{values.name}={name}", holds[row][cell_code]) for name, row in number.items()]


def _refuse_unfit(name: str, atoms: list[str], listed: set[str], policy: Policy) -> None:
    where = f"attributes.{name}"
    if not atoms:
        raise DataError.at(where, "no cell holds a value.", "Drop the column, or its separator.")
    if len(atoms) > MANY_BITS:
        what = f"gives {len(atoms):,} different values, {MANY_BITS:,} at most."
        raise PolicyError.at(f"{where}.multivalued", what, "Check the separator, or group rare values.")
    unlisted = len(set(atoms) - listed) if listed else 0
    if unlisted:
        what = f"misses {unlisted} of {len(atoms)} values."
        raise PolicyError.at(f"{policy.name}: {where}.hierarchy", what, "Add a line for each.")


def _bit(name: str, codes: Codes) -> Attribute:
    domain = pl.Series(name, [0, 1], dtype=pl.Int64)
    return Attribute(name, "categorical", codes, domain, value_or_top(["0", "1"]), absence=0)
