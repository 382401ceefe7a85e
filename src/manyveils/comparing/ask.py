"""`compare`: publish the same data in several ways, and lay the outcomes side by side."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from manyveils.attacks import ATTACKS
from manyveils.comparing.comparison import Asked, Comparison
from manyveils.comparing.configurations import configurations, refuse_methods
from manyveils.comparing.preferences import LEARNING, read_preference
from manyveils.comparing.trial import Desk, Task
from manyveils.comparing.vary import read_variations
from manyveils.comparing.workers import Progress, n_cores, try_all
from manyveils.errors import InputError, Problem
from manyveils.policy import Policy
from manyveils.policy.check import suggest
from manyveils.promises.work import silent
from manyveils.run import as_policy, refuse_seed
from manyveils.table import take_in

# The others are slow, rest on these, or need more than a release.
USUAL_ATTACKS = ("linkage", "homogeneity", "background-join")
USUAL_RISK = 0.1


def compare(
    data: object,
    policy: "Policy | str | Path | Mapping[str, Any]",
    *,
    methods: Sequence[str] | None = None,
    vary: "Sequence[str] | Mapping[str, Sequence[Any]]" = (),
    prefer: str = "query-error",
    risk: float = USUAL_RISK,
    attacks: "str | Sequence[str]" = USUAL_ATTACKS,
    learn: str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Publish, audit, measure and attack in every configuration, in parallel processes; nothing is written."""
    rules = as_policy(policy)
    preference, tried = read_preference(prefer), read_attacks(attacks)
    _refuse_arguments(methods, risk, preference.name, learn, workers)
    refuse_seed(seed)
    ways = configurations(rules, methods, read_variations(vary))
    source = _source(data, rules)
    split = secrets.randbits(128) if seed is None else seed
    task = Task(rules, source, seed, tried, learn, split)
    _refuse_data(task)
    results = try_all(task, ways, workers=workers or n_cores(), progress=progress)
    untried = tuple(name for name in ATTACKS if name not in tried)
    file = Path(policy) if isinstance(policy, str | Path) else None
    path = source if isinstance(source, Path) else None
    return Comparison(Asked(rules, preference, risk, tried, untried, learn, file, path), results)


def read_attacks(asked: "str | Sequence[str]") -> tuple[str, ...]:
    """The names of attacks: `all`, `none`, a list, or names with commas between them."""
    if isinstance(asked, str):
        asked = {"all": tuple(ATTACKS), "none": ()}.get(
            asked, tuple(part.strip() for part in asked.split(","))
        )
    problems = [
        Problem("attacks", f"there is no attack {name!r}.", suggest(name, tuple(ATTACKS)))
        for name in asked
        if name not in ATTACKS
    ]
    if problems:
        raise InputError(problems)
    return tuple(name for name in ATTACKS if name in asked)


def _refuse_arguments(
    methods: Sequence[str] | None, risk: float, prefer: str, learn: str | None, workers: int | None
) -> None:
    problems = list(refuse_methods((methods,) if isinstance(methods, str) else methods or ()))
    if methods is not None and not len(methods):
        problems.append(Problem("methods", "none is named.", "Name one, or leave it out for all."))
    if not 0 <= risk <= 1:
        problems.append(Problem("risk", "must be a share from 0 to 1.", "For example 0.1."))
    if prefer == LEARNING and learn is None:
        problems.append(
            Problem("prefer", "learning needs a target.", "Name an attribute with --learn, or learn=.")
        )
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        problems.append(Problem("workers", "must be a whole number, at least 1."))
    if problems:
        raise InputError(problems)


def _source(data: object, policy: Policy) -> Path | pl.DataFrame | None:
    """The data as they can be sent to other processes; a path is read there again."""
    if data is None or isinstance(data, Path):
        return data
    return Path(data) if isinstance(data, str) else take_in(data, delimiter=policy.data.delimiter)[0]


def _refuse_data(task: Task) -> None:
    """Wrong data, and a target that nobody can learn, are told once and not as every configuration's refusal."""
    desk = Desk(task)
    _ = desk.held
    if task.learn is not None:
        _ = desk.lesson
