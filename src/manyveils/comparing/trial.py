"""One configuration tried: published, audited, measured and attacked, all in memory; and what came of it.

A result holds counts, shares and times, never a cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from manyveils.arguments import Order, Progress, streams_of
from manyveils.attacks import attack
from manyveils.comparing.configurations import Configuration
from manyveils.engines import judge
from manyveils.errors import DataError, ManyveilsError, fault
from manyveils.plain import plain
from manyveils.policy import Policy
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.run import make
from manyveils.table import Restore, Streams, Table, hold, take_in
from manyveils.table.encode import persons_in
from manyveils.utility import measure
from manyveils.utility.examples import read_held_out
from manyveils.utility.learning import Lesson
from manyveils.utility.portrait import relations_kept

DESCRIBED = ["rows", "suppressed", "keeps_policy", "risk", "worst_attack", "utility", "attacks", "secret"]
LEAST_ROWS = 10
# The measures of a release that a recommendation weighs besides the preferred one.
PRESENCE, RELATIONS = "singled_out", "relations"
PARTS = 5


@dataclass(frozen=True)
class Result:
    """A configuration that was published, audited, measured and attacked; or the reason why it was not.

    `keeps_policy` says whether the release keeps all that the policy file promises, whatever was varied.
    `secret` are the attributes that only the key can read: the measures leave them out.
    """

    configuration: Configuration
    refusal: str = ""
    rows: int = 0
    suppressed: int = 0
    keeps_policy: bool = False
    utility: Mapping[str, Any] = field(default_factory=dict)
    attacks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    secret: tuple[str, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The configuration's name."""
        return self.configuration.name

    @property
    def published(self) -> bool:
        """Whether there is a release, which then keeps what its own configuration promises."""
        return not self.refusal

    @property
    def gains(self) -> dict[str, float]:
        """What each attack that applies gets right beyond guessing and beyond non-members, as a share of targets.

        What it gets right of non-members too is knowledge about everybody, which no release could prevent. Where people
        have several rows, of those who know one and those who know all the one who gains more counts.
        """
        return gains_of(self.attacks)

    @property
    def risk(self) -> float | None:
        """The greatest gain of any attack; None if none was tried."""
        return max(self.gains.values(), default=0.0) if self.attacks else None

    @property
    def worst_attack(self) -> str:
        """The attack that gains most."""
        gains = self.gains
        return max(gains, key=lambda name: gains[name], default="")

    def describe(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        document = {**self.configuration.describe(), "published": self.published}
        if not self.published:
            return document | {"refusal": self.refusal}
        # What is published is kept: a broken promise would have been a refusal.
        return (
            document
            | {"kept": True}
            | {name: plain(getattr(self, name)) for name in (*DESCRIBED, "seconds", "notes")}
        )


def gains_of(attacks: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """What each attack that applies gains, by its name; `Result.gains` says how it is counted."""
    return {
        name: max(_gain(outcome), _gain(outcome.get("all_rows") or outcome))
        for name, outcome in attacks.items()
        if outcome["success"] is not None
    }


def _gain(outcome: Mapping[str, Any]) -> float:
    return max(0.0, outcome["success"] - max(outcome["baseline"] or 0.0, outcome["control"] or 0.0))


@dataclass(frozen=True, repr=False)
class Task:
    """What all configurations share; the data are read and coded once for all of them."""

    policy: Policy
    data: Path | str | pl.DataFrame | None
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


def split(
    data: Path | str | pl.DataFrame | None, policy: Policy, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Four fifths of the persons to publish, and a random fifth to test on, who are then not in the release."""
    source = policy.source if data is None else data
    frame, _ = take_in(source, policy.data)
    if frame.height < LEAST_ROWS:
        what = f"{frame.height} rows are too few to hold some out."
        raise DataError.at("learn", what, f"{LEAST_ROWS} are needed.")
    persons = persons_in(frame, policy)
    n_persons = frame.height if persons is None else int(persons.max()) + 1
    chosen = Streams(seed).of("compare.held-out").permutation(n_persons)
    is_held_out = np.zeros(n_persons, dtype=bool)
    is_held_out[chosen[: n_persons // PARTS]] = True
    # All rows of a person go together.
    is_held_out = is_held_out if persons is None else is_held_out[persons]
    return frame.filter(~pl.Series(is_held_out)), frame.filter(pl.Series(is_held_out))


def attempt(task: Task, configuration: Configuration) -> Result:
    """Try a configuration; one that cannot be published has the reason instead."""
    try:
        return _tried(task, configuration)
    except ManyveilsError as error:
        return Result(configuration, first_problem(error))
    except Exception as error:
        return Result(configuration, f"This is a fault of manyveils: {fault(error)}")


def first_problem(error: ManyveilsError) -> str:
    """The reason for a refusal, in one sentence or two."""
    return str(error.problems[0]) if error.problems else "It cannot be done."


@dataclass(frozen=True, repr=False)
class Trial:
    """A release that was judged and keeps its promises, with what it loses and what attacks make of it."""

    release: Release
    table: Table
    utility: Mapping[str, Any]
    attacks: Mapping[str, Mapping[str, Any]]
    seconds: float
    notes: tuple[str, ...]


def tried(task: Task, policy: Policy, progress: Progress = silent) -> Trial:
    """Publish under a policy in memory, judge, measure and attack; an error where it cannot be published."""
    table, restore = task.held
    order = Order(task.data, policy, seed=task.seed, progress=progress)
    start = perf_counter()
    release = make(order, table, restore)
    progress("audit", 0.0)
    judge(release, table, policy).refuse_broken()
    seconds = perf_counter() - start
    progress("measure", 0.0)
    learnt, note = _learnt(task, order) if task.learn is not None else ({}, "")
    return Trial(
        release,
        table,
        single_numbers(measure(release, table, policy)) | _relations(release, table, policy) | learnt,
        _attacked(release, table, policy, task, progress),
        seconds,
        (note,) if note else (),
    )


def _tried(task: Task, configuration: Configuration) -> Result:
    trial = tried(task, configuration.of(task.policy))
    release, table = trial.release, trial.table
    return Result(
        configuration,
        rows=release.rows,
        suppressed=release.suppressed,
        keeps_policy=_keeps(release, table, configuration, task.policy),
        utility=trial.utility,
        attacks=trial.attacks,
        secret=tuple(dict.fromkeys(table.home(name) for name in release.manifest.secret)),
        seconds=trial.seconds,
        notes=trial.notes,
    )


def _relations(release: Release, table: Table, policy: Policy) -> dict[str, float]:
    """The share of relations between attributes that survive, where there are any."""
    kept = relations_kept(release, table, policy)
    return {} if kept is None else {RELATIONS: kept}


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


def _attacked(
    release: Release, table: Table, policy: Policy, task: Task, progress: Progress
) -> dict[str, dict[str, Any]]:
    if not task.attacks:
        return {}
    streams = streams_of(task.seed)
    outcomes = attack(release, table, policy, only=task.attacks, streams=streams, progress=progress)
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
