"""Refusals in the log: who was refused what, but no more of one person than an auditor can read."""

from collections.abc import Mapping
from typing import Any

from manyveils.server import throttle
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper

MOST = 20
OMITTED = "further refusals omitted"


def note_refusal(
    keeper: Keeper,
    actor: str,
    action: str,
    subject: str,
    details: Mapping[str, Any],
    *,
    of: str | None = None,
    most: int = MOST,
) -> bool:
    """Write a refusal down, unless there were too many of the same person lately; that there were is written once.

    Gives whether it was written.
    """
    with keeper.database.writing() as connection:
        before = throttle.count_refusal(keeper, connection, of or actor, most)
        if before < most:
            append(keeper, connection, actor, action, subject, details)
        elif before == most:
            append(keeper, connection, actor, OMITTED, subject, {"minutes": int(throttle.WINDOW // 60)})
    return before < most
