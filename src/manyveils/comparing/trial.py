"""One configuration tried: published, audited, measured and attacked, all in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from traceback import extract_tb
from typing import Any

import numpy as np
import polars as pl

from manyveils.arguments import Order, order_of, streams_of
from manyveils.attacks import attack
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.result import Result
from manyveils.errors import DataError, ManyveilsError
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.run import judge, make
from manyveils.table import Restore, Streams, Table, hold, take_in
from manyveils.utility import measure
from manyveils.utility.examples import read_held_out
from manyveils.utility.learning import Lesson

LEAST_ROWS = 10
PARTS = 5


@dataclass(frozen=True, repr=False)
class Task:
    """What all configurations share; the data are read and coded once for all of them."""

    policy: Policy
    data: Path | pl.DataFrame | None
    seed: int | None = None
    attacks: tuple[str, ...] = ()
    learn: str | None = None
    # Decides who is held out.
    split: int = 0

    def __reduce__(self) -> tuple[type["Task"], tuple[Any, ...]]:
        # Another process reads the data for itself, so that little is sent when they are a path.
        return Task, (self.policy, self.data, self.seed, self.attacks, self.learn, self.split)

    @cached_property
    def held(self) -> tuple[Table, Restore]:
        """The table, and how to hand frames back."""
        return hold(self.data, self.policy)

    @cached_property
    def lesson(self) -> Lesson:
        """Learning from four fifths of the rows, with the last fifth to test on."""
        assert self.learn is not None
        taught, tested = split(self.data, self.policy, self.split)
        table, _ = hold(taught, self.policy)
        return Lesson(table, self.policy, self.learn, read_held_out(tested, table, self.policy))


def split(data: Path | pl.DataFrame | None, policy: Policy, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Four fifths of the rows to publish, and a random fifth to test on, who are then not in the release."""
    source = policy.source if data is None else data
    frame, _ = take_in(source, delimiter=policy.data.delimiter)
    if frame.height < LEAST_ROWS:
        what = f"{frame.height} rows are too few to hold some out."
        raise DataError.at("learn", what, f"{LEAST_ROWS} are needed.")
    rows = Streams(seed).of("compare.held-out").permutation(frame.height)
    is_held_out = np.zeros(frame.height, dtype=bool)
    is_held_out[rows[: frame.height // PARTS]] = True
    return frame.filter(~pl.Series(is_held_out)), frame.filter(pl.Series(is_held_out))


def attempt(task: Task, configuration: Configuration) -> Result:
    """Try a configuration; one that cannot be published has the reason instead."""
    try:
        return _tried(task, configuration)
    except ManyveilsError as error:
        return Result(configuration, first_problem(error))
    except Exception as error:
        # The message of an unforeseen error may quote cells.
        frame = extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Result(configuration, f"This is a fault of manyveils: {where}: {type(error).__name__}.")


def first_problem(error: ManyveilsError) -> str:
    """The reason for a refusal, in one sentence or two."""
    return str(error.problems[0]) if error.problems else "It cannot be done."


def _tried(task: Task, configuration: Configuration) -> Result:
    table, restore = task.held
    policy = configuration.of(task.policy)
    order = order_of(task.data, policy, seed=task.seed)
    start = perf_counter()
    release = make(order, table, restore)
    judge(release, table, policy).refuse_broken()
    seconds = perf_counter() - start
    learnt, note = _learnt(task, order) if task.learn is not None else ({}, "")
    return Result(
        configuration,
        rows=release.rows,
        suppressed=release.suppressed,
        keeps_policy=_keeps(release, table, configuration, task.policy),
        utility=single_numbers(measure(release, table, policy)) | learnt,
        attacks=_attacked(release, table, policy, task),
        secret=tuple(dict.fromkeys(table.home(name) for name in release.manifest.secret)),
        seconds=seconds,
        notes=(note,) if note else (),
    )


def single_numbers(utility: Mapping[str, Any]) -> dict[str, Any]:
    """The measures that are one number; those by attribute are for `measure`."""
    return {key: value for key, value in utility.items() if not isinstance(value, dict)}


def _keeps(release: Release, table: Table, configuration: Configuration, policy: Policy) -> bool:
    """Whether the release keeps what the policy file promises, too."""
    if dict(configuration.guarantee) == policy.guarantee.model_dump(exclude_unset=True):
        return True
    try:
        return judge(release, table, policy.replaced(publish=dict(configuration.publish))).kept
    except ManyveilsError:
        return False


def _attacked(release: Release, table: Table, policy: Policy, task: Task) -> dict[str, dict[str, Any]]:
    if not task.attacks:
        return {}
    outcomes = attack(release, table, policy, only=task.attacks, streams=streams_of(task.seed))
    return {name: outcome.describe() for name, outcome in outcomes.items()}


def _learnt(task: Task, order: Order) -> tuple[dict[str, Any], str]:
    """What is learnt from a release of the rows that are not held out, or why nothing is."""
    lesson, (_, restore) = task.lesson, task.held
    try:
        release = make(order, lesson.table, restore)
        learnt = dict(lesson.of(release))
    except ManyveilsError as error:
        return {}, f"Nothing was learnt: {first_problem(error)}"
    hopeless = (
        f"Models of the original predict {lesson.table.home(lesson.target)} hardly more often than "
        "its commonest value does, so there is no learning to keep; learn another attribute."
    )
    return learnt, "" if "learning" in learnt else hopeless
