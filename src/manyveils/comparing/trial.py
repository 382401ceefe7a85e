"""One configuration tried: published, audited, measured and attacked, all in memory."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from traceback import extract_tb
from typing import Any

import polars as pl

from manyveils.attacks import attack
from manyveils.audits import audit
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.held_out import split
from manyveils.comparing.result import Result
from manyveils.errors import ManyveilsError
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.run import make, refuse_broken
from manyveils.table import Restore, Streams, Table, hold
from manyveils.utility import Utility, measure
from manyveils.utility.held_out import read_held_out
from manyveils.utility.learning import Lesson


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
        assert self.task.learn is not None
        taught, tested = split(self.task.data, self.task.policy, self.task.split)
        table, _ = hold(taught, self.task.policy)
        return Lesson(
            table, self.task.policy, self.task.learn, read_held_out(tested, table, self.task.policy)
        )


def attempt(desk: Desk, configuration: Configuration) -> Result:
    """Try a configuration; what cannot be published is told with its reason."""
    try:
        return _tried(desk, configuration)
    except ManyveilsError as error:
        return Result(configuration, _reason(error))
    except Exception as error:
        # The message of an unforeseen error may quote cells.
        frame = extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Result(configuration, f"This is a fault of manyveils: {place}: {type(error).__name__}.")


def _reason(error: ManyveilsError) -> str:
    return str(error.problems[0]) if error.problems else "It cannot be done."


def _tried(desk: Desk, configuration: Configuration) -> Result:
    task, (table, restore) = desk.task, desk.held
    policy = configuration.of(task.policy)
    start = perf_counter()
    release = make(table, policy, restore, seed=task.seed)
    refuse_broken(audit(release, table, policy))
    seconds = perf_counter() - start
    utility, notes = dict(_numbers(measure(release, table, policy))), list[str]()
    if task.learn is not None:
        learnt, note = _learnt(desk, policy)
        utility |= learnt
        notes += [note] if note else []
    return Result(
        configuration,
        rows=release.rows,
        suppressed=release.suppressed,
        keeps_policy=_keeps(release, table, configuration, task.policy),
        utility=utility,
        attacks=_attacked(release, table, policy, task),
        secret=tuple(dict.fromkeys(table.home(name) for name in release.manifest.secret)),
        seconds=seconds,
        notes=tuple(notes),
    )


def _numbers(utility: Utility) -> dict[str, float]:
    """The measures that are one number; those by attribute are for `measure`."""
    return {key: value for key, value in utility.items() if not isinstance(value, dict)}


def _keeps(release: Release, table: Table, configuration: Configuration, policy: Policy) -> bool:
    """Whether the release keeps what the policy file promises, too."""
    if dict(configuration.guarantee) == policy.guarantee.model_dump(exclude_unset=True):
        return True
    try:
        return audit(release, table, policy.replaced(publish=dict(configuration.publish))).kept
    except ManyveilsError:
        return False


def _attacked(release: Release, table: Table, policy: Policy, task: Task) -> dict[str, dict[str, Any]]:
    if not task.attacks:
        return {}
    streams = Streams() if task.seed is None else Streams(task.seed)
    found = attack(release, table, policy, only=task.attacks, streams=streams)
    return {name: outcome.describe() for name, outcome in found.items()}


def _learnt(desk: Desk, policy: Policy) -> tuple[dict[str, Any], str]:
    """What is learnt from a release of the rows that are not held out, or why nothing is."""
    try:
        release = make(desk.lesson.table, policy, desk.held[1], seed=desk.task.seed)
        found = dict(desk.lesson.of(release))
    except ManyveilsError as error:
        return {}, f"Nothing was learnt: {_reason(error)}"
    said = "" if "learning" in found else _hopeless(desk.lesson)
    return found, said


def _hopeless(lesson: Lesson) -> str:
    return (
        f"Models of the original are right about {lesson.table.home(lesson.target)} hardly more often "
        "than the commonest value, so there is no learning to keep; learn another attribute."
    )
