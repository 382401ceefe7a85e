"""One guardian table: what it protects, hidden from whoever knows the rest, by a method of the toolkit."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from manyveils.methods.guardian.demands import Demand
from manyveils.methods.guardian.pieces import Piece
from manyveils.methods.work import Method
from manyveils.policy import Promise
from manyveils.policy.guarantees import FrequencyDiversity
from manyveils.promises.work import Work


def inner_work(work: Work, piece: Piece, demands: Sequence[Demand], anonymizer: str) -> tuple[Method, Work]:
    """The publication of one table by itself, and the method for it."""
    assert piece.protects is not None
    method: Method = import_module(f"manyveils.methods.{anonymizer}").METHOD
    columns = tuple(name for name in work.published if name in piece.columns)
    policy = work.policy.replaced(
        attributes={name: _described(work, name, piece) for name in columns},
        guarantee={},
        rules=[],
        dependencies=[],
        publish={"method": anonymizer},
    )
    table = replace(work.table, attributes={name: work.table[name] for name in columns}, derived={})
    promises = _promises(piece.protects, _given(work, piece), demands)
    streams = work.streams.apart(chance_of(work, piece))
    inner = Work(policy, table, promises, method.options(), streams, work.progress, counted=work.counted)
    return method, inner


def _given(work: Work, piece: Piece) -> tuple[str, ...]:
    return tuple(name for name in work.published if name in piece.columns and name != piece.protects)


def chance_of(work: Work, piece: Piece) -> str:
    """The name of a table's own chance: buckets of two tables made by the same chance would tell of each other."""
    return f"{_given(work, piece)} and {piece.protects}"


def _promises(protect: str, given: tuple[str, ...], demands: Sequence[Demand]) -> tuple[Promise, ...]:
    """What the table must keep by itself: every promise about what it protects, whoever knows the rest of it."""
    promises = (
        replace(demand.promise, given=given, conditional=False, is_rule=False)
        for demand in demands
        if demand.protect == protect
    )
    return tuple(dict.fromkeys(promises))


def _described(work: Work, column: str, piece: Piece) -> dict[str, Any]:
    home = work.table.home(column)
    keys = work.policy.attributes[home].model_dump(exclude_unset=True)
    kind = work.table[column].kind
    hierarchy = {"hierarchy": keys["hierarchy"]} if "hierarchy" in keys and home == column else {}
    role = "sensitive" if column == piece.protects else "quasi"
    return {"role": role, "kind": kind, **hierarchy}


def strength(protect: str, demands: Sequence[Demand]) -> int | None:
    """The largest l that is demanded of a column; nothing if only other guarantees are."""
    ls = [
        demand.promise.guarantee.l
        for demand in demands
        if demand.protect == protect and isinstance(demand.promise.guarantee, FrequencyDiversity)
    ]
    return max(ls, default=None)
