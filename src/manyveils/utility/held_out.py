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
    "Split the data before you publish, publish one part, and give the other part as held-out; "
    "manyveils compare --learn does all of this by itself."
)


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
    return InputError([Problem("held-out", what, REMEDY)])


def _reading_policy(policy: Policy, table: Table) -> Policy:
    """The policy as far as it says how to read the cells."""
    attributes = {name: _as_read(name, body, table) for name, body in policy.attributes.items()}
    return policy.replaced(attributes=attributes, guarantee={}, rules=[], dependencies=[], publish={})


def _as_read(name: str, body: AttributeSection, table: Table) -> Mapping[str, Any]:
    keys = body.model_dump(include={"kind", "multivalued"}, exclude_none=True)
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
    tested, published = _rows(held_out, names), _rows(table, names)
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


def _rows(table: Table, names: list[str]) -> pl.DataFrame:
    texts = {name: pl.Series(table[name].texts, dtype=pl.String).gather(table[name].codes) for name in names}
    return pl.DataFrame(texts).sort(names)
