"""People who are not in a release, read like the original: on them is tested what can be learnt from it."""

from collections.abc import Mapping
from math import log, log1p
from typing import Any

import polars as pl

from manyveils.errors import DataError, InputError, Problem
from manyveils.policy import Policy
from manyveils.policy.sections import AttributeSection
from manyveils.table import Table, hold

# Less than once in a billion tables.
UNLIKELY = log(1e9)
REMEDY = (
    "Split the data before you publish, publish one part, and give the other one here; "
    "manyveils compare --learn does all of this by itself."
)


def read_held_out(data: object, table: Table, policy: Policy) -> Table:
    """Read held-out people with the original's kinds; values that no hierarchy lists are fine among them."""
    if data is None:
        what = "there are no people to test on who are not in the release."
        raise InputError([Problem("held-out", what, REMEDY)])
    try:
        held_out, _ = hold(data, _plain(policy, table))
    except InputError as error:
        raise DataError(problem.within("held-out") for problem in error.problems) from None
    _refuse_the_original(held_out, table, policy)
    return held_out


def _plain(policy: Policy, table: Table) -> Policy:
    """The policy as far as it says how to read the cells."""
    attributes = {name: _as_read(name, body, table) for name, body in policy.attributes.items()}
    plain: dict[str, Any] = {"guarantee": {}, "rules": [], "dependencies": []}
    return policy.replaced(attributes=attributes, publish={"method": "separate"}, **plain)


def _as_read(name: str, body: AttributeSection, table: Table) -> Mapping[str, Any]:
    keys = body.model_dump(include={"kind", "multivalued"}, exclude_none=True)
    if name in table.inferred and name in table.attributes:
        keys["kind"] = table[name].kind
    if keys.get("kind") == "ordinal":
        # Its order need not list what only others have.
        keys["kind"] = "categorical"
    return {"role": "neutral" if body.role == "quasi" else body.role, **keys}


def _refuse_the_original(held_out: Table, table: Table, policy: Policy) -> None:
    """The same rows again would make a test of what was learnt by heart."""
    names = [name for name in table.expand(policy.published) if name in held_out.attributes]
    if not names:
        return
    here, there = _rows(held_out, names), _rows(table, names)
    if here.height == there.height and here.equals(there):
        what = f"these are the {table.n_rows:,} rows that were published."
        raise InputError([Problem("held-out", what, REMEDY)])
    if _surely_from(here, there):
        what = f"all {here.height:,} rows are among those that were published."
        raise InputError([Problem("held-out", what, REMEDY)])


def _surely_from(here: pl.DataFrame, there: pl.DataFrame) -> bool:
    """Whether all rows are found there, though that would be a wonder if they were of other people.

    Of other people about as many are new as there are rows that stand alone (Good and Turing's estimate).
    """
    if here.join(there.unique(), on=here.columns, how="anti", nulls_equal=True).height:
        return False
    alone = int((~there.is_duplicated()).sum()) / there.height
    return alone == 1 or -here.height * log1p(-alone) > UNLIKELY


def _rows(table: Table, names: list[str]) -> pl.DataFrame:
    texts = {name: pl.Series(table[name].texts, dtype=pl.String).gather(table[name].codes) for name in names}
    return pl.DataFrame(texts).sort(names)
