"""Whether rows are persons: Spark counts rows, so data in which somebody has several are refused."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from manyveils.errors import InfeasibleError, Problem
from manyveils.policy import Policy
from manyveils.spark.dictionaries import BROKEN
from manyveils.table.persons import (
    SPELLED,
    Identifier,
    keys_read,
    refuse_empty,
    refuse_repeats,
    refuse_unlike,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NESTED = ("array", "map", "struct", "variant")
TEXTS = ("string", "char", "varchar")
# White space of every alphabet around a text.
AROUND = r"(?U)^\s+|\s+$"
REASON = "it counts rows, and a group of rows may be one person's"
REMEDY = "Use the local engine, or give one row for each person."
IsMissing = Callable[[str, "Column"], "Column"]


def refuse_several(
    rows: "DataFrame", published: Sequence[str], policy: Policy, is_missing: IsMissing
) -> None:
    """Refuse rows of which some are one person's, and identifiers that repeat while nothing says who is who."""
    names = keys_read(policy)
    if not names:
        return
    refuse_nested(rows, names)
    keys = _keys(rows, names, published, policy, is_missing)
    if policy.person is None:
        identifiers, n_rows = _counted(keys, names)
        refuse_repeats(identifiers, n_rows, policy)
    else:
        _refuse_persons(keys, policy)


def refuse_nested(rows: "DataFrame", names: Sequence[str]) -> None:
    """Refuse identifiers whose cells cannot be compared."""
    kinds = {name: kind.partition("<")[0] for name, kind in rows.dtypes}
    unlike = [name for name in names if kinds[name] in NESTED]
    refuse_unlike(unlike, [kinds[name] for name in unlike])


def refuse_persons(n_rows: int, n_persons: int, policy: Policy) -> None:
    """Refuse persons with several rows."""
    if n_persons < n_rows:
        several = (
            f"{n_rows:,} rows are of {n_persons:,} persons, and persons with several rows are not on Spark"
        )
        raise InfeasibleError([Problem(f"{policy.name}: data.person", f"{several}: {REASON}.", REMEDY)])


def _keys(
    rows: "DataFrame", names: Sequence[str], published: Sequence[str], policy: Policy, is_missing: IsMissing
) -> "DataFrame":
    """The identifiers as `k0`, `k1`, …, spelled in one way, of the rows that stay."""
    from pyspark.sql import functions as f

    types = dict(rows.dtypes)

    def cell(name: str) -> "Column":
        return f.col(f"`{name.replace('`', '``')}`")

    if policy.data.missing == "drop":
        for name in published:
            rows = rows.where(cell(name).isNotNull() & ~is_missing(name, cell(name)))
    return rows.select(
        *(
            _spelled_once(f.when(~is_missing(name, cell(name)), cell(name)), types[name]).alias(f"k{number}")
            for number, name in enumerate(names)
        )
    )


def _spelled_once(cell: "Column", kind: str) -> "Column":
    """A cell as the local engine compares it."""
    from pyspark.sql import functions as f

    if kind in BROKEN:
        return f.when(~f.isnan(cell), cell)
    if not kind.startswith(TEXTS):
        return cell
    plain = f.regexp_replace(f.regexp_replace(cell, AROUND, ""), SPELLED, "$1")
    return f.when(plain != "", plain)


def _counted(keys: "DataFrame", names: Sequence[str]) -> tuple[list[Identifier], int]:
    """Every identifier by itself, and the number of rows."""
    from pyspark.sql import functions as f

    columns = [f.col(column) for column in keys.columns]
    row = keys.agg(
        f.count(f.lit(1)), *(f.count(key) for key in columns), *(f.count_distinct(key) for key in columns)
    ).first()
    assert row is not None
    n_rows, *counts = row
    n = len(names)
    return [Identifier(*said) for said in zip(names, counts[:n], counts[n:], strict=True)], n_rows


def _refuse_persons(keys: "DataFrame", policy: Policy) -> None:
    """Refuse persons with several rows; a row in which some identifier is missing is a person of its own."""
    from pyspark.sql import functions as f

    assert policy.person
    columns = [f.col(column) for column in keys.columns]
    complete = keys.dropna()
    n_present = [int(number) for number in keys.agg(*(f.count(key) for key in columns)).first() or ()]
    refuse_empty([name for name, n in zip(policy.person, n_present, strict=True) if not n])
    counted = complete.agg(f.count(f.lit(1)), f.count_distinct(*columns)).first()
    assert counted is not None
    refuse_persons(int(counted[0]), int(counted[1]), policy)
