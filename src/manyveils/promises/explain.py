"""Why a promise cannot be kept, by how much, and the nearest one that can."""

import math
from collections.abc import Iterator

import numpy as np

from manyveils.errors import InfeasibleError, Problem
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    Elimination,
    EntropyDiversity,
    FrequencyDiversity,
    Linkability,
    NumericSpread,
    RecursiveDiversity,
)
from manyveils.promises.entries import Entries, Ids, count
from manyveils.promises.keeping import Watch, kept
from manyveils.promises.work import Work


def refuse(work: Work, watches: tuple[Watch, ...]) -> InfeasibleError:
    """The error for promises that even the whole table as one group does not keep."""
    problems = list(whole_table_problems(work, watches))
    if not problems:
        promised = ", ".join(sorted({each.promise.guarantee.kind for each in watches}))
        problems = [
            Problem(
                work.policy.name,
                f"no release of method {work.policy.publish.method!r} keeps {promised} together.",
                "Lower a threshold, or allow more suppression.",
            )
        ]
    return InfeasibleError(problems)


def whole_table_problems(work: Work, watches: tuple[Watch, ...]) -> Iterator[Problem]:
    """One problem per promise that fails with all rows in one group."""
    for each, entries in _broken_as_one_group(watches, work.table.n_people):
        if entries is None:
            yield Problem(
                work.policy.name,
                f"groups of the size asked need more than {work.table.n_people} rows.",
                "Lower k.",
            )
        else:
            yield _problem(work, each, entries.codes, entries.counts)


def breaks_as_one_group(watches: tuple[Watch, ...], n_rows: int) -> bool:
    """Whether some promise fails with all rows in one group."""
    return any(True for _ in _broken_as_one_group(watches, n_rows))


def _broken_as_one_group(watches: tuple[Watch, ...], n_rows: int) -> Iterator[tuple[Watch, Entries | None]]:
    sizes = np.array([n_rows])
    for each in watches:
        entries = None
        if each.subject is not None:
            entries = count(each.subject, np.zeros(each.subject.codes.size, dtype=np.int64), 1)
        if not kept(each, entries, sizes)[0]:
            yield each, entries


def _problem(work: Work, each: Watch, codes: Ids, counts: Ids) -> Problem:
    where = f"{work.policy.name}: {work.subject_of(each.promise)}"
    said = f"{each.promise.guarantee.kind} cannot be kept"
    if isinstance(each.promise.guarantee, Elimination):
        return _elimination_problem(where, each.promise.guarantee)
    if each.subject is not None and each.subject.n_known > 1:
        goes_with = np.bincount(codes % each.subject.n_known)
        least = int(goes_with[goes_with > 0].min())
        return Problem(
            where,
            f"{said} against someone who knows the other sensitive attributes: "
            f"some combination of them goes with {least} values only, in the whole table.",
            "Set conditional = false, make the other attributes coarser, or use a method that separates them (anatomize).",
        )
    return _marginal_problem(where, said, each, codes, counts, work)


def _elimination_problem(where: str, guarantee: Elimination) -> Problem:
    ruled_out = f"{guarantee.eliminations} value{'s' if guarantee.eliminations > 1 else ''}"
    remedy = "Lower eliminations, publish" if guarantee.eliminations > 1 else "Publish"
    return Problem(
        where,
        f"ruling out {ruled_out} of {' or '.join(guarantee.ruled_out)} leaves one value only, in the whole table.",
        # Coarser values would rule out more rows at once.
        f"{remedy} finer values of the others, mark values as insensitive, give the attribute a hierarchy and use "
        "alpha-beta-k, or use a method that separates attributes (anatomize).",
    )


def _marginal_problem(where: str, said: str, each: Watch, values: Ids, counts: Ids, work: Work) -> Problem:
    n_rows = int(counts.sum())
    sensitive = counts[each.is_sensitive[values]]
    most = int(sensitive.max(initial=0))
    guarantee = each.promise.guarantee
    match guarantee:
        case FrequencyDiversity(l=l):
            return Problem(
                where,
                f"one value fills {most} of {n_rows} rows; with l = {l} it may fill at most {n_rows // l}.",
                _fewer(n_rows // max(most, 1), most, n_rows, l, work),
            )
        case DistinctDiversity(l=l):
            return Problem(
                where,
                f"{said}: l = {l} but only {len(counts)} different values.",
                f"Lower l to {len(counts)}.",
            )
        case EntropyDiversity(l=l):
            shares = counts / n_rows
            reached = math.exp(-float((shares * np.log(shares)).sum()))
            return Problem(
                where,
                f"{said}: the whole table has the entropy of {reached:.2f} equal values; l = {l} is asked.",
                f"Lower l to {int(reached + 1e-9)}."
                if reached >= 2
                else "Ask for distinct diversity instead.",
            )
        case RecursiveDiversity(c=c, l=l):
            tail = int(np.sort(counts)[::-1][l - 1 :].sum())
            remedy = f"Raise c above {most / tail:.3f} or lower l." if tail else "Lower l."
            return Problem(
                where,
                f"{said}: the commonest value has {most} rows, the {l}-th and rarer ones {tail} together, "
                f"and c = {float(c):g}.",
                remedy,
            )
        case CappedShare(alpha=bound) | Linkability(epsilon=bound):
            return Problem(
                where,
                f"{said}: one value fills {most} of {n_rows} rows, more than the share {float(bound):g}.",
                f"Raise the bound to {math.ceil(1000 * most / n_rows) / 1000:g}, or mark the value as insensitive.",
            )
        case NumericSpread(e=e):
            numbers = each.columns[0].numbers
            spread = float(np.nanmax(numbers) - np.nanmin(numbers)) if np.isfinite(numbers).any() else 0.0
            return Problem(
                where,
                f"{said}: all values lie within {spread:g}, and e = {float(e):g}.",
                f"Lower e to {spread:g}.",
            )
        case _:
            return Problem(
                where, f"{said}, even with all {n_rows} rows in one group.", "Lower its threshold."
            )


def _fewer(l_reached: int, most: int, n_rows: int, l: int, work: Work) -> str:
    remedy = (f"Lower l to {l_reached} or mark" if l_reached > 1 else "Mark") + " the value as insensitive"
    if not work.suppresses:
        return f"{remedy}."
    needed = -(-(most * l - n_rows) // (l - 1)) if l > 1 else 0
    share = math.ceil(10000 * needed / n_rows) / 10000
    return f"{remedy}, or allow suppression of {needed} rows (suppression = {share:g})."
