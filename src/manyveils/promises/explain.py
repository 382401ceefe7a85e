"""Why a promise cannot be kept, by how much, and the nearest one that can."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from manyveils.errors import Change, InfeasibleError, Problem
from manyveils.policy import guarantees
from manyveils.promises.crowds import Crowd, Floats
from manyveils.promises.entries import Entries, Ids, count
from manyveils.promises.keeping import Watch, kept
from manyveils.promises.work import Work
from manyveils.wording import counted, ordinal

MAY = {"fills": "fill", "is held by": "be held by"}
NOT_CONDITIONAL = (Change("guarantee", "conditional", False),)
APART = "Set conditional = false, make the other attributes coarser, or use a method that separates them (anatomize)."


def refuse(work: Work, watches: tuple[Watch, ...]) -> InfeasibleError:
    """The error for promises that even the whole table as one group does not keep."""
    problems = list(whole_table_problems(work, watches))
    if not problems:
        asked = [watched.promise.guarantee for watched in watches]
        asked += [
            one.guarantee for one in work.promises if isinstance(one.guarantee, guarantees.OF_ALL_GROUPS)
        ]
        promised = ", ".join(sorted({guarantee.kind for guarantee in asked}))
        what = f"no release of method {work.policy.publish.method!r} keeps {promised} together."
        problems = [Problem(work.policy.name, what, "Lower a threshold, or allow more suppression.")]
    return InfeasibleError(problems)


def whole_table_problems(work: Work, watches: tuple[Watch, ...]) -> Iterator[Problem]:
    """One problem per promise that fails with all rows in one group."""
    for watched, entries in _broken_as_one_group(watches, work.table.n_people):
        guarantee = watched.promise.guarantee
        if isinstance(guarantee, guarantees.LeastSize) or entries is None:
            there = counted(work.table.n_persons, counted_as(work)[:-1])
            what = f"groups of the size asked need more than {there}."
            key = guarantee.keys.get("risk")
            remedy = f"Raise {key}." if key else "Lower k."
            yield Problem(work.policy.name, what, remedy, () if key else _set("k", work.table.n_persons))
        else:
            subject = work.subject_of(watched.promise)
            problem = _explained(work, watched, entries)
            changes = tuple(
                replace(change, attribute=subject if change.section == "guarantee" else "")
                for change in problem.changes
            )
            yield replace(problem, where=f"{work.policy.name}: {subject}", changes=changes)


def counted_as(work: Work) -> str:
    """What promises count: rows, or persons where somebody has several rows."""
    return "rows" if work.table.persons is None else "persons"


def breaks_as_one_group(watches: tuple[Watch, ...], n_rows: int) -> bool:
    """Whether some promise fails with all rows in one group."""
    return any(True for _ in _broken_as_one_group(watches, n_rows))


def _broken_as_one_group(
    watches: tuple[Watch, ...], n_rows: int
) -> Iterator[tuple[Watch, Entries | Crowd | None]]:
    sizes = np.array([n_rows])
    for watched in watches:
        entries = None
        if watched.subject is not None:
            entries = count(watched.subject, np.zeros(watched.table.n_rows, dtype=np.int64), 1)
        if not kept(watched, entries, sizes)[0]:
            yield watched, entries


def _explained(work: Work, watched: Watch, entries: Entries | Crowd) -> Problem:
    """What is wrong with the whole table, and what to do."""
    if isinstance(watched.promise.guarantee, guarantees.Elimination):
        return _about_eliminations(watched.promise.guarantee)
    if isinstance(entries, Crowd):
        return _about_persons(work, watched, entries)
    codes, counts = entries.codes, entries.counts
    if watched.subject is not None and watched.subject.n_known > 1:
        if watched.subject.rows is not None:
            return _about_known_sets(watched, codes, counts)
        goes_with = np.bincount(codes % watched.subject.n_known)
        least = int(goes_with[goes_with > 0].min())
        what = (
            f"{watched.promise.guarantee.kind} cannot be kept against someone who knows the other sensitive "
            f"attributes: some combination of them goes with {least} values only, in the whole table."
        )
        return Problem("", what, APART, NOT_CONDITIONAL)
    return _about_values(work, watched, codes, counts)


def _about_known_sets(watched: Watch, codes: Ids, counts: Ids) -> Problem:
    subject = watched.subject
    assert subject is not None
    values, known = np.divmod(codes, subject.n_known)
    is_row = values == subject.n_values - 1
    n_rows = np.zeros(subject.n_known, dtype=np.int64)
    n_rows[known[is_row]] = counts[is_row]
    worst = np.flatnonzero(~is_row)[np.argmax(counts[~is_row] / n_rows[known[~is_row]])]
    what = (
        f"{watched.promise.guarantee.kind} cannot be kept against someone who knows the other sensitive attributes: "
        f"of {n_rows[known[worst]]} rows with some combination of them, {counts[worst]} have one value."
    )
    return Problem("", what, APART, NOT_CONDITIONAL)


def _about_eliminations(guarantee: guarantees.Elimination) -> Problem:
    ruled_out = counted(guarantee.eliminations, "value")
    remedy = "Lower eliminations, publish" if guarantee.eliminations > 1 else "Publish"
    return Problem(
        "",
        f"ruling out {ruled_out} of {' or '.join(guarantee.ruled_out)} leaves one value only, in the whole table.",
        # Coarser values would rule out more rows at once.
        f"{remedy} finer values of the others, mark values as insensitive, give the attribute a hierarchy and use "
        "alpha-beta-k, or use a method that separates attributes (anatomize).",
    )


def _about_persons(work: Work, watched: Watch, crowd: Crowd) -> Problem:
    """The same where persons are counted."""
    guarantee = watched.promise.guarantee
    if crowd.group_of is not None:
        least = int(crowd.sizes.min(initial=work.table.n_persons))
        what = (
            f"{guarantee.kind} cannot be kept against someone who knows the other sensitive attributes: some "
        )
        what += f"combination of them goes with {least} persons only, in the whole table."
        return Problem("", what, APART, NOT_CONDITIONAL)
    if isinstance(guarantee, guarantees.DistinctDiversity):
        reached = _most_different(watched, guarantee, crowd)
        what = f"{guarantee.kind} cannot be kept: l = {guarantee.strongest}, and {reached} of {work.table.n_persons} persons "
        what += "at most have different values, a different one each."
        return Problem("", what, f"Lower l to {reached}.", _set("l", reached))
    is_weighed = isinstance(guarantee, guarantees.EntropyDiversity | guarantees.RecursiveDiversity)
    return _about_values(work, watched, crowd.values, crowd.weights if is_weighed else crowd.counts)


def _most_different(watched: Watch, guarantee: guarantees.DistinctDiversity, crowd: Crowd) -> int:
    """The largest l that all persons together keep."""

    def breaks(l: int) -> bool:
        promise = replace(watched.promise, guarantee=replace(guarantee, l=l, l_of=()))
        return not kept(replace(watched, promise=promise), crowd, crowd.sizes)[0]

    return bisect_left(range(1, guarantee.strongest + 1), True, key=breaks)


def _about_values(work: Work, watched: Watch, values: Ids, counts: Ids | Floats) -> Problem:
    n_rows, rows = work.table.n_persons, counted_as(work)
    fills = "fills" if work.table.persons is None else "is held by"
    broken, kind = f"{watched.promise.guarantee.kind} cannot be kept", _counted(watched.promise.guarantee)
    most, owed = _worst(watched, values, counts)
    # The key that asks for so much.
    l = f"l_of = {owed}" if owed != getattr(watched.promise.guarantee, "l", owed) else f"l = {owed}"
    key = l.partition(" ")[0]
    match watched.promise.guarantee:
        case guarantees.FrequencyDiversity():
            what = f"one {kind} {fills} {most} of {n_rows} {rows}; with {l} it may {MAY[fills]} at most {n_rows // owed}."
            return _fewer(Problem("", what), most, n_rows, owed, work, key, kind)
        case guarantees.DistinctDiversity():
            what = f"{broken}: {l} but only {len(counts)} different {kind}s."
            return Problem("", what, f"Lower {key} to {len(counts)}.", _set(key, len(counts)))
        case guarantees.EntropyDiversity():
            shares = counts / n_rows
            reached = math.exp(-float((shares * np.log(shares)).sum()))
            what = f"{broken}: the whole table has the entropy of {reached:.2f} equal {kind}s; {l} is asked."
            if reached < 2:
                return Problem("", what, "Ask for distinct diversity instead.", _set("l_kind", "distinct"))
            lower = int(reached + 1e-9)
            return Problem("", what, f"Lower {key} to {lower}.", _set(key, lower))
        case guarantees.RecursiveDiversity(c=c):
            most = counts[watched.is_sensitive[values]].max(initial=0)
            tail = np.sort(counts)[::-1][owed - 1 :].sum()
            return Problem(
                "",
                f"{broken}: the commonest {kind} has {most:.10g} {rows}, the {ordinal(owed)} and rarer ones {tail:.10g} together, "
                f"and c = {float(c):g}.",
                f"Raise c above {most / tail:.3f} or lower {key}." if tail else f"Lower {key}.",
                _set("c", math.ceil(1000 * most / tail) / 1000 + 0.001) if tail else (),
            )
        case guarantees.CappedShare(alpha=bound) | guarantees.Linkability(epsilon=bound):
            share = math.ceil(1000 * most / n_rows) / 1000
            what = f"{broken}: one value {fills} {most} of {n_rows} {rows}, more than the share {float(bound):g}."
            own = watched.promise.guarantee
            bound_key = own.keys.get(own.bound, own.bound)
            remedy = f"Raise the bound to {share:g}, or mark the value as insensitive."
            return Problem("", what, remedy, _set(bound_key, share))
        case guarantees.NumericSpread(e=e):
            numbers = watched.columns[0].numbers
            spread = float(np.nanmax(numbers) - np.nanmin(numbers)) if np.isfinite(numbers).any() else 0.0
            what = f"{broken}: all values lie within {spread:g}, and e = {float(e):g}."
            return Problem("", what, f"Lower e to {spread:g}.", _set("e", spread))
        case _:
            return Problem(
                "", f"{broken}, even with all {n_rows} {rows} in one group.", "Lower its threshold."
            )


def _set(key: str, value: str | int | float) -> tuple[Change, ...]:
    """A key of [guarantee]; values that ask for an l of their own are not changed for anybody."""
    return () if key == "l_of" else (Change("guarantee", key, value),)


def _counted(guarantee: guarantees.Guarantee) -> str:
    """What is counted, as a word to which an s can be added."""
    return f"level-{guarantee.level} label" if guarantee.level else "value"


def _worst(watched: Watch, values: Ids, counts: Ids | Floats) -> tuple[int, int]:
    """The rows (or persons) of one value, and the l that is asked: of the value furthest above its share, or the largest l of all."""
    guarantee = watched.promise.guarantee
    concerned = watched.is_sensitive[values]
    most = int(counts[concerned].max(initial=0))
    if not isinstance(guarantee, guarantees.Diverse):
        return most, 1
    if not guarantee.singled_out:
        return most, guarantee.l
    ls = np.array([guarantee.l_for(text) for text in watched.columns[0].texts])[values[concerned]]
    if not isinstance(guarantee, guarantees.FrequencyDiversity):
        return most, int(ls.max(initial=1))
    furthest = int(np.argmax(ls * counts[concerned]))
    return int(counts[concerned][furthest]), int(ls[furthest])


def _fewer(problem: Problem, most: int, n_rows: int, l: int, work: Work, key: str, kind: str) -> Problem:
    l_reached = n_rows // max(most, 1)
    spare = "the value as insensitive" if kind == "value" else "all its values as insensitive"
    remedy = f"Lower {key} to {l_reached} or mark {spare}" if l_reached > 1 else f"Mark {spare}"
    changes = _set(key, l_reached) if l_reached > 1 else ()
    if not work.suppresses:
        return replace(problem, remedy=f"{remedy}.", changes=changes)
    needed = -(-(most * l - n_rows) // (l - 1)) if l > 1 else 0
    share = math.ceil(10000 * needed / n_rows) / 10000
    remedy = f"{remedy}, or allow suppression of {needed} {counted_as(work)} (suppression = {share:g})."
    return replace(problem, remedy=remedy, changes=(*changes, Change("publish", "suppression", share)))
