"""The trail: policy → table → views → sealed release → audit · attacks · utility.

Start reading here; each step is one package.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from manyveils.audits import Audit
from manyveils.audits import audit as judge
from manyveils.errors import BrokenPromise, DataError, InputError, PolicyError, Problem
from manyveils.methods import drafts_of, method_of, method_problems, read_options, work_of
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.promises.work import silent
from manyveils.release import Release, seal
from manyveils.table import Restore, Streams, Table, hold
from manyveils.table.door import is_sparks
from manyveils.utility import Utility
from manyveils.utility import measure as weigh
from manyveils.utility.held_out import read_held_out
from manyveils.utility.learning import Lesson

if TYPE_CHECKING:
    from manyveils.attacks import Attacks
    from manyveils.reports import Report

Progress = Callable[[str, float], None]
Engine = Literal["local", "spark"]


def publish(
    data: object, policy: "Policy | str | Path | Mapping[str, Any]", seed: int | None = None
) -> Release:
    """Publish data under a policy; the release is audited, and a broken promise is an error instead of a release.

    Spark publishes its own dataframes.
    """
    policy = as_policy(policy)
    if is_sparks(data):
        return _publish_there(data, policy, seed)
    table, restore = hold(data, policy)
    release = make(table, policy, restore, seed=seed)
    refuse_broken(judge(release, table, policy))
    return release


def _publish_there(data: object, policy: Policy, seed: int | None) -> Release:
    from manyveils.spark.engine import publish_there
    from manyveils.spark.release import SparkRelease, in_own_folder

    refuse_seed(seed)

    def write(folder: Path) -> SparkRelease:
        found = publish_there(data, policy, folder, seed=seed, progress=silent)
        refuse_broken(found.audit)
        return found.release

    return in_own_folder(write)


def make(
    table: Table, policy: Policy, restore: Restore, *, seed: int | None = None, progress: Progress = silent
) -> Release:
    """Make and seal a release that has not been audited yet."""
    refuse_seed(seed)
    streams = Streams() if seed is None else Streams(seed)
    work = work_of(policy, table, streams, progress)
    drafts = drafts_of(work, method_of(policy).plan(work))
    return seal(
        drafts.views,
        table,
        policy,
        restore,
        notes=drafts.notes,
        rng=streams.of("seal.buckets"),
        promises=work.promises,
        key=drafts.key,
    )


def audit(
    release: "Release | str | Path",
    data: object,
    policy: "Policy | str | Path | Mapping[str, Any]",
    *,
    levels: Mapping[str, float] | None = None,
    engine: Engine = "local",
    master: str | None = None,
    progress: Progress = silent,
) -> Audit:
    """Derive every promise again, from the release and the original alone; with Spark if it has the original."""
    policy = as_policy(policy)
    if engine == "spark" or is_sparks(data):
        from manyveils.spark.engine import audit_folder

        with _in_folder(release) as folder:
            return audit_folder(folder, data, policy, master=master, levels=levels, progress=progress)
    refuse_master(master)
    table, _ = hold(data, policy)
    return judge(as_release(release), table, policy, levels=levels)


@contextmanager
def _in_folder(release: "Release | str | Path") -> Iterator[Path]:
    """The folder of a release; one that is in memory is written for the time being."""
    if isinstance(release, Release):
        with TemporaryDirectory(prefix="manyveils-") as folder:
            yield release.save(Path(folder) / "release", format="parquet")
    else:
        yield Path(release)


def refuse_master(master: str | None) -> None:
    """A master is for Spark alone."""
    if master is not None:
        raise InputError([Problem("master", "is Spark's.", "Give --engine spark too, or leave it out.")])


def attack(
    release: "Release | str | Path",
    data: object,
    policy: "Policy | str | Path | Mapping[str, Any]",
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    others: Sequence["Release | str | Path"] = (),
    control: object = None,
    progress: Progress = silent,
) -> "Attacks":
    """Try what adversaries could do with the release; `control` has people who are known not to be in the data."""
    # Loaded only here: whoever publishes need not wait for it.
    from manyveils.attacks import attack as try_attacks

    policy = as_policy(policy)
    refuse_seed(seed)
    table, _ = hold(data, policy)
    outside = None if control is None else _hold_control(control, policy)
    return try_attacks(
        as_release(release),
        table,
        policy,
        only=only,
        others=[as_release(each) for each in others],
        control=outside,
        streams=Streams() if seed is None else Streams(seed),
        progress=progress,
    )


def _hold_control(control: object, policy: Policy) -> Table:
    try:
        return hold(control, policy)[0]
    except DataError as error:
        raise DataError(problem.within("control") for problem in error.problems) from None


def measure(
    release: "Release | str | Path",
    data: object,
    policy: "Policy | str | Path | Mapping[str, Any]",
    *,
    learn: str | None = None,
    held_out: object = None,
) -> Utility:
    """Measure what the release is still good for; with `learn`, also for models of that attribute.

    `held_out` has people who are not in the release, on whom models are tested.
    """
    policy = as_policy(policy)
    table, _ = hold(data, policy)
    release = as_release(release)
    if learn is None:
        _refuse_idle(held_out)
        return weigh(release, table, policy)
    lesson = Lesson(table, policy, learn, read_held_out(held_out, table, policy))
    return Utility({**weigh(release, table, policy), **lesson.of(release)})


def _refuse_idle(held_out: object) -> None:
    if held_out is not None:
        what = "people are held out, and nothing is to be learnt."
        raise InputError([Problem("held-out", what, "Say what with --learn, or learn=.")])


def report(
    release: "Release | str | Path",
    data: object,
    policy: "Policy | str | Path | Mapping[str, Any]",
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    plan: Mapping[str, Any] | None = None,
    comparison: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> "Report":
    """Lay out what is promised, lost and at risk, for the owner; `only` names the attacks, all unless it is given.

    `plan` is how the method went about it, and `comparison` what `compare` found, if there is one.
    """
    from manyveils.attacks import attack as try_attacks
    from manyveils.reports import refuse_damaged, render
    from manyveils.utility.portrait import portrait

    release, policy = as_release(release), as_policy(policy)
    refuse_seed(seed)
    found: dict[str, Any] = {"manifest": release.manifest.describe()}
    noted = {"plan": release.notes if plan is None else plan, "comparison": comparison}
    found |= {name: each for name, each in noted.items() if each}
    refuse_damaged(found)
    table, _ = hold(data, policy)
    streams = Streams() if seed is None else Streams(seed)
    # Attacks first: a name that is none of theirs is then said before any work is done.
    steps: dict[str, Callable[[], Any]] = {
        "attack": lambda: try_attacks(
            release, table, policy, only=only, streams=streams, progress=progress
        ).describe(),
        "audit": lambda: judge(release, table, policy).describe(),
        "measure": lambda: weigh(release, table, policy).describe(),
        "portrait": lambda: portrait(release, table, policy).describe(),
    }
    for place, (name, work) in enumerate(steps.items()):
        progress("report", place / len(steps))
        found[name] = work()
    return render(found)


def public_report(release: "Release | str | Path") -> "Report":
    """Lay out a release for those who receive it: nothing in it has been compared with the original."""
    from manyveils.reports import render
    from manyveils.utility.portrait import public_portrait

    release = as_release(release)
    shown = public_portrait(release).describe()
    return render({"manifest": release.manifest.describe(), "portrait": shown, "public": True})


def read_policy(policy: "Policy | str | Path") -> Policy:
    """A policy whose method and method's keys are checked too; all problems at once."""
    if not isinstance(policy, Policy):
        path = Path(policy)
        try:
            policy = Policy.load(path)
        except PolicyError as error:
            raise PolicyError(dict.fromkeys([*error.problems, *_method_problems(path)])) from None
    read_options(policy)
    return policy


def _method_problems(path: Path) -> list[Problem]:
    """What is wrong with the method's keys of a policy that is wrong elsewhere too."""
    try:
        section = read_document(path).get("publish", {})
    except PolicyError:
        return []
    return list(method_problems(section, path.name)) if isinstance(section, dict) else []


def refuse_seed(seed: int | None) -> None:
    """A seed is a whole number."""
    if seed is not None and (not isinstance(seed, int) or seed < 0):
        raise InputError([Problem("seed", "must be a whole number, not negative.")])


def as_policy(policy: "Policy | str | Path | Mapping[str, Any]") -> Policy:
    """A policy from a file, a mapping of sections, or as it is."""
    if isinstance(policy, Policy):
        return policy
    return Policy(**policy) if isinstance(policy, Mapping) else Policy.load(policy)


def as_release(release: "Release | str | Path") -> Release:
    """A release from a folder, or as it is."""
    return release if isinstance(release, Release) else Release.load(release)


def refuse_broken(verdict: Audit) -> None:
    """Turn an audit that found a broken promise into an error that says which, and by how much."""
    if not verdict.kept:
        raise BrokenPromise(
            Problem(
                f"{finding.view or 'release'}: {finding.promise}"
                + (f" of {finding.attribute}" if finding.attribute else ""),
                f"required {finding.required}, "
                + (
                    "and nothing in the release shows that it is kept."
                    if finding.measured is None
                    else f"measured {finding.measured}; {finding.rows_short} rows fall short."
                ),
            )
            for finding in verdict.broken
        )
