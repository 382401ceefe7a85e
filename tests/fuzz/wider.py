"""What is drawn for some cases beside the rest: a population, somebody who knows everybody, little memory, a third release.

Each has random numbers of its own, so that all other cases of a seed stay as they were.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.fuzz.columns import Column

Keys = dict[str, Any]


def with_everybody(rng: Random, policy: Keys) -> Keys:
    """The policy, and of many that slice one that binds even those who know everybody."""
    if policy["publish"]["method"] != "slice" or not policy["guarantee"] or rng.random() < 0.5:
        return policy
    return policy | {"guarantee": policy["guarantee"] | {"everybody": True}}


def populated(
    rng: Random, columns: Sequence[Column], rows: Sequence[Keys], policy: Keys
) -> tuple[Keys, tuple[Keys, ...] | None]:
    """The policy with a promise about a population, and its list: most of the table's people, and others."""
    publish = policy["publish"]
    quasi = [column for column in columns if column.role == "quasi"]
    is_counting = publish["method"] == "generalize" and publish.get("recoding") != "mondrian"
    if not quasi or rng.random() < (0.6 if is_counting else 0.98):
        return policy, None
    asked = rng.choice(
        ({"k_map": rng.choice((1, 2, 3, 4, 6, 10))}, {"journalist_risk": rng.choice((0.1, 0.3, 0.5))})
    )
    people = [{column.name: row[column.name] for column in quasi} for row in rows if rng.random() < 0.9]
    others = rng.choice((0, 10, 40, 100))
    people += [{column.name: column.cell(rng, 0) for column in quasi} for _ in range(others)]
    rng.shuffle(people)
    return policy | {"guarantee": policy["guarantee"] | asked}, tuple(people)


def limited(rng: Random, policy: Keys) -> int | None:
    """How many rows are read at once where a case is published from disk; most have all rows in memory."""
    has_persons = policy["data"].get("person") not in (None, "row")
    return rng.choice((1, 3, 7, 1000)) if rng.random() < (0.01 if has_persons else 0.12) else None


def changed(
    rng: Random, columns: Sequence[Column], rows: Sequence[Keys], joined: Sequence[Keys], fixed: Sequence[str]
) -> tuple[Keys, ...]:
    """Rows some time later: some people have left, those who joined are there, and what may change did, now and then."""
    gone = {row["id"] for row in rows if rng.random() < 0.15}
    stayed = [dict(row) for row in rows if row["id"] not in gone]
    for row in stayed:
        for column in columns:
            if column.name not in (*fixed, "id") and rng.random() < 0.1:
                row[column.name] = column.cell(rng, 0)
    return (*stayed, *joined)


def returned(
    rng: Random, first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]
) -> list[Keys]:
    """Some of those who left come back as they were."""
    held = {row["id"] for row in second}
    back = {row["id"] for row in first if row["id"] not in held and rng.random() < 0.5}
    return [dict(row) for row in first if row["id"] in back]
