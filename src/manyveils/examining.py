"""What a release promises, gives away and is good for: each asked by itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from manyveils.arguments import (
    AnyPolicy,
    AnyPublished,
    AnyRelease,
    Earlier,
    Progress,
    beside,
    chain_for,
    is_bare,
    published_after,
    read_bare,
    read_bare_beside,
    read_policy,
    read_published,
    read_release,
    refuse_for_bare,
    refuse_itself,
    refuse_wrong_path,
    streams_of,
    told_beside,
)
from manyveils.audits import Audit
from manyveils.audits.kept import WEAKEST, Kept, kept_of
from manyveils.engines import (
    Engine,
    check_in_room,
    is_for_spark,
    judge,
    judge_in_room,
    judge_on_spark,
    judge_rows,
    refuse_chain_in_room,
    refuse_chain_on_spark,
)
from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.release.placements import private_folder, read_digest
from manyveils.streaming.room import Memory, read_size
from manyveils.table import Table, hold
from manyveils.utility import Utility
from manyveils.utility import measure as weigh
from manyveils.utility.examples import read_held_out
from manyveils.utility.learning import Lesson

if TYPE_CHECKING:
    from manyveils.attacks import Attacks
    from manyveils.profiling import Profile
    from manyveils.reports import Report


def audit(
    release: AnyPublished,
    data: object,
    policy: AnyPolicy,
    *,
    levels: Mapping[str, float] | None = None,
    rows: bool = False,
    private: str | Path | None = None,
    after: Earlier = (),
    engine: Engine = "local",
    master: str | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Audit:
    """Derive every promise again, from the release and the original alone; with Spark if it has the original.

    `levels` are thresholds to look at besides those that are promised, such as {"k": 10}. Where persons have several
    rows, the private folder of the release (`private`; the one beside it by default) says which rows stand where,
    which is checked before it is believed. With `after`, the folders of earlier releases of the same people, promises
    are judged against someone who has all of them. With `memory`, such as "8GB", release and original need not fit it.
    A table that something else published goes to `check`.
    """
    policy = read_policy(policy)
    if is_bare(release):
        told = {"private": private, "after": after or None, "engine": engine == "spark" or None}
        refuse_for_bare(told)
        return check(release, policy, data=data, levels=levels, rows=rows, memory=memory, progress=progress)
    if rows:
        what = "are told of tables that something else published, and this is a release."
        raise InputError.at("rows", what, "Leave it out.")
    refuse_wrong_path(release)
    chain = chain_for(after, policy)
    refuse_itself(release, chain)
    if is_for_spark(data, engine, master, memory):
        refuse_chain_on_spark(chain)
        with _in_folder(release) as folder:
            return judge_on_spark(folder, data, policy, levels, master, progress)
    if memory is not None:
        refuse_chain_in_room(chain)
        with _in_folder(release) as folder:
            kept = read_digest(private_folder(folder) if private is None else Path(private))
            return judge_in_room(folder, data, policy, levels, read_size(memory), kept, progress)
    table = beside(chain, hold(data, policy)[0], policy)
    verdict = judge(read_release(release, private), table, policy, levels)
    return told_beside(verdict, chain, published_after(release, private))


def check(
    frame: object,
    policy: AnyPolicy,
    *,
    data: object = None,
    levels: Mapping[str, float] | None = None,
    rows: bool = False,
    memory: Memory = None,
    progress: Progress = silent,
) -> Audit:
    """Judge a table that something else published: a path, a folder of parts, or a dataframe of any kind.

    It is one published view: its groups are the rows with equal quasi-identifiers as they stand. With `data`, the
    original, it is also compared with that; without, what needs it is listed as not judged. With `rows`, the audit
    has a dataframe `rows` that says of each row which group it is in and what that falls short of. With `memory`, such as "8GB", a table by
    itself need not fit it.
    """
    policy = read_policy(policy)
    if memory is not None:
        _refuse_beside_rows(data, rows=rows)
        return check_in_room(frame, policy, levels, read_size(memory), progress)
    if data is None:
        release, table, policy = read_bare(frame, policy)
    else:
        table, _ = hold(data, policy)
        release = read_bare_beside(frame, policy, table)
    return (judge_rows if rows else judge)(release, table, policy, levels)


def _refuse_beside_rows(data: object, *, rows: bool) -> None:
    """Refuse what a table in so much memory is not asked: each row for itself, or beside its original."""
    InputError.refuse(
        Problem(
            name,
            "a table is judged row by row, or beside its original, with all rows in memory alone.",
            "Leave it or memory out.",
        )
        for name, is_asked in {"data": data is not None, "rows": rows}.items()
        if is_asked
    )


def keeps(data: object, profile: "Profile") -> Kept:
    """What a table keeps as it stands, by the roles that a profile guessed: the largest k and l, the smallest t.

    Columns whose role is not decided are left out.
    """
    attributes: dict[str, dict[str, Any]] = {
        name: {"role": "drop" if told.role in ("?", "open") else told.role}
        for name, told in profile.decided.items()
    }
    for name in profile.having("sensitive"):
        attributes[name] |= {"kind": profile.coarsenings[name].kind or "categorical"}
    person = None if profile.whose is None else profile.whose.name
    form = profile.form.model_dump(exclude_unset=True)
    section = {**form, "missing_markers": list(profile.markers), "person": person or "row"}
    return kept_of(check(data, {"data": section, "attributes": attributes, "guarantee": dict(WEAKEST)}))


@contextmanager
def _in_folder(release: AnyRelease) -> Iterator[Path]:
    """The folder of a release; one that is in memory is written for the time being."""
    if not isinstance(release, Release):
        yield Path(release)
        return
    with TemporaryDirectory(prefix="manyveils-") as folder:
        yield release.save(Path(folder) / "release", format="parquet")


def attack(
    release: AnyPublished,
    data: object,
    policy: AnyPolicy,
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    others: Sequence[AnyRelease] = (),
    after: Earlier = (),
    control: object = None,
    progress: Progress = silent,
) -> "Attacks":
    """Try what adversaries could do with the release; `control` has people who are known not to be in the data.

    `others` are more releases of the same people; those in `after` have ledgers, which say who was in them.
    """
    # Loaded only here: whoever publishes need not wait for it.
    from manyveils.attacks import attack as try_attacks

    policy, streams = read_policy(policy), streams_of(seed)
    refuse_wrong_path(release)
    chain = chain_for(after, policy)
    refuse_itself(release, chain)
    table = beside(chain, hold(data, policy)[0], policy)
    several = [*others, *(() if chain is None else chain.folders)]
    return try_attacks(
        read_published(release, policy, table),
        table,
        policy,
        only=only,
        others=[read_published(other, policy, table) for other in several],
        control=None if control is None else _hold_control(control, policy),
        streams=streams,
        progress=progress,
    )


def _hold_control(control: object, policy: Policy) -> Table:
    try:
        return hold(control, policy)[0]
    except (DataError, PolicyError) as error:
        raise type(error)(problem.within("control") for problem in error.problems) from None


def measure(
    release: AnyPublished,
    data: object,
    policy: AnyPolicy,
    *,
    learn: str | None = None,
    held_out: object = None,
) -> Utility:
    """Measure what the release is still good for; with `learn`, also for models of that attribute.

    `held_out` has people who are not in the release, on whom models are tested.
    """
    if learn is None and held_out is not None:
        what = "people are held out, but no attribute is to be learnt."
        raise InputError.at("held-out", what, "Name it with --learn, or learn=.")
    policy = read_policy(policy)
    # A release that cannot be read is refused before the data are.
    release = release if is_bare(release) else read_release(release)
    table, _ = hold(data, policy)
    release = read_published(release, policy, table)
    if learn is None:
        return weigh(release, table, policy)
    lesson = Lesson(table, policy, learn, read_held_out(held_out, table, policy))
    return Utility({**weigh(release, table, policy), **lesson.of(release)})


def public_report(release: AnyRelease) -> "Report":
    """Lay out a release for those who receive it: nothing in it has been compared with the original."""
    from manyveils.reports import render
    from manyveils.utility.portrait import public_portrait

    release = read_release(release)
    portrait = public_portrait(release).describe()
    return render({"manifest": release.manifest.describe(), "portrait": portrait, "public": True})
