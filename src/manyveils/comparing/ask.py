"""`compare`: publish the same data in several ways, and lay the outcomes side by side."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from manyveils.arguments import AnyPolicy, Progress, read_policy, streams_of
from manyveils.attacks import attack_names
from manyveils.comparing.comparison import Comparison, Question
from manyveils.comparing.configurations import configurations, name_problems, read_variations
from manyveils.comparing.ranking import LEARNING, read_preference
from manyveils.comparing.trial import Result, Task
from manyveils.comparing.workers import n_cores, try_all
from manyveils.errors import InputError, Problem
from manyveils.policy import Policy
from manyveils.policy.shape import suggest
from manyveils.promises.work import silent
from manyveils.table import take_in
from manyveils.table.foreign import is_address

SoFar = Callable[[Comparison, int], None]

# The others are slow, rest on these, or need more than a release.
USUAL_ATTACKS = ("linkage", "homogeneity", "background-join")
USUAL_RISK = 0.1


def unheard(comparison: Comparison, n: int) -> None:
    """Tell nobody."""


def compare(
    data: object,
    policy: AnyPolicy,
    *,
    methods: "str | Sequence[str] | None" = None,
    vary: "Sequence[str] | Mapping[str, Sequence[Any]]" = (),
    prefer: str = "query-error",
    risk: float = USUAL_RISK,
    attacks: "str | Sequence[str]" = USUAL_ATTACKS,
    learn: str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress = silent,
    so_far: SoFar = unheard,
) -> Comparison:
    """Publish, audit, measure and attack in every configuration, in parallel processes; nothing is written.

    `so_far` gets the comparison of what has finished, whenever another configuration has, and how many there are.
    """
    file = Path(policy) if isinstance(policy, str | Path) else None
    policy = read_policy(policy)
    preference, tried = read_preference(prefer), read_attacks(attacks)
    names = [methods] if isinstance(methods, str) else methods
    InputError.refuse(_problems(names, risk, preference.name, learn, workers))
    streams_of(seed)
    to_try = configurations(policy, names, read_variations(vary))
    source = _source(data, policy)
    task = Task(policy, source, seed, tried, learn, secrets.randbits(128) if seed is None else seed)
    # Wrong data, and a target that nobody can learn, are refused here, and not with every configuration.
    _ = task.held, task.lesson if learn is not None else None
    path = source if isinstance(source, Path) else None
    question, done = Question(policy, preference, risk, tried, learn, file, path), list[Result]()

    def finished(result: Result) -> None:
        done.append(result)
        so_far(Comparison(question, tuple(done)), len(to_try))

    so_far(Comparison(question, ()), len(to_try))
    results = try_all(task, to_try, workers=workers or n_cores(), progress=progress, finished=finished)
    return Comparison(question, results)


def read_attacks(names: "str | Sequence[str]") -> tuple[str, ...]:
    """The names of attacks: `all`, `none`, a list, or names with commas between them."""
    known = attack_names()
    if isinstance(names, str):
        listed = tuple(name.strip() for name in names.split(","))
        names = {"all": known, "none": ()}.get(names, listed)
    InputError.refuse(
        Problem("attacks", f"there is no attack {name!r}.", suggest(name, known))
        for name in names
        if name not in known
    )
    return tuple(name for name in known if name in names)


def _problems(
    names: Sequence[str] | None, risk: float, prefer: str, learn: str | None, workers: int | None
) -> Iterator[Problem]:
    if names is not None and not len(names):
        yield Problem("methods", "none is named.", "Name one, or leave it out for all.")
    yield from name_problems(names or ())
    if not 0 <= risk <= 1:
        yield Problem("risk", "must be a share from 0 to 1.", "For example 0.1.")
    if prefer == LEARNING and learn is None:
        yield Problem("prefer", "learning needs a target.", "Name an attribute with --learn, or learn=.")
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        yield Problem("workers", "must be a whole number, at least 1.")


def _source(data: object, policy: Policy) -> Path | str | pl.DataFrame | None:
    """The data as they can be sent to other processes; a path or an address is read there again."""
    if data is None or isinstance(data, Path):
        return data
    if isinstance(data, str):
        return data if is_address(data) else Path(data)
    return take_in(data, policy.data)[0]
