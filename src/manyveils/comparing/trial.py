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

from manyveils.arguments import streams_of
from manyveils.attacks import attack
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.result import Result
from manyveils.errors import DataError, ManyveilsError
from manyveils.methods import Options, read_options
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.run import judge, make
from manyveils.table import Restore, Streams, Table, hold, take_in
from manyveils.utility import measure
from manyveils.utility.held_out import read_held_out
from manyveils.utility.learning import Lesson

LEAST_ROWS = 10
PARTS = 5


@dataclass(frozen=True, repr=False)
class Task:
    """What all configurations share; small enough to send to another process when the data are a path."""

    policy: Policy
    data: Path | pl.DataFrame | None
    seed: int | None = None
    attacks: tuple[str, ...] = ()
    learn: str | None = None
    # Decides who is held out.
    split: int = 0


@dataclass(frozen=True, repr=False)
class Desk:
    """A task with its data, read and coded once for all configurations."""

    task: Task

    @cached_property
    def held(self) -> tuple[Table, Restore]:
        """The table, and how to hand frames back."""
        return hold(self.task.data, self.task.policy)

    @cached_property
    def lesson(self) -> Lesson:
        """Learning from four fifths of the rows, with the last fifth to test on."""
        task = self.task
        assert task.learn is not None
        taught, tested = split(task.data, task.policy, task.split)
        table, _ = hold(taught, task.policy)
        return Lesson(table, task.policy, task.learn, read_held_out(tested, table, task.policy))


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


def attempt(desk: Desk, configuration: Configuration) -> Result:
    """Try a configuration; one that cannot be published has the reason instead."""
    try:
        return _tried(desk, configuration)
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


def _tried(desk: Desk, configuration: Configuration) -> Result:
    task, (table, restore) = desk.task, desk.held
    policy = configuration.of(task.policy)
    options = read_options(policy)
    start = perf_counter()
    release = make(table, policy, restore, options, seed=task.seed)
    judge(release, table, policy).refuse_broken()
    seconds = perf_counter() - start
    learnt, note = _learnt(desk, policy, options) if task.learn is not None else ({}, "")
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


def _learnt(desk: Desk, policy: Policy, options: Options) -> tuple[dict[str, Any], str]:
    """What is learnt from a release of the rows that are not held out, or why nothing is."""
    lesson, (_, restore) = desk.lesson, desk.held
    try:
        release = make(lesson.table, policy, restore, options, seed=desk.task.seed)
        learnt = dict(lesson.of(release))
    except ManyveilsError as error:
        return {}, f"Nothing was learnt: {first_problem(error)}"
    hopeless = (
        f"Models of the original predict {lesson.table.home(lesson.target)} hardly more often than "
        "its commonest value does, so there is no learning to keep; learn another attribute."
    )
    return learnt, "" if "learning" in learnt else hopeless
