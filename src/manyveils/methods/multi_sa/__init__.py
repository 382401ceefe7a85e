"""Multi-SA publishing: one table, quasi-identifiers beside all sensitive attributes together (paper 002, Appendix B).

The baseline that versatile publishing is compared with: what stands on the right side of a rule is sensitive.
It promises that each sensitive attribute is diverse even for someone who knows all the others, bucket by bucket.
It cannot do so without leaving out rows, often most of them: use `guardian` where that is too many.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from pydantic import Field

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.multi_sa.buckets import broken_together, placed, settled
from manyveils.methods.multi_sa.caps import Cap, caps_of
from manyveils.methods.multi_sa.choose import Choice, largest_part
from manyveils.methods.multi_sa.combinations import Combinations, combinations_of, sensitive_columns
from manyveils.methods.multi_sa.divide import Division, divide
from manyveils.methods.multi_sa.watching import refuse_ties, watches_of
from manyveils.methods.work import Gap, Method, Options
from manyveils.promises.entries import Ids
from manyveils.promises.explain import refuse, whole_table_problems
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release.dealing import arranged
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows


class MultiSaOptions(Options):
    """Keys of [publish] for `method = "multi-sa"`."""

    time_limit: float = Field(60.0, gt=0)


def plan(work: Work) -> FromRows:
    """Which rows are published, and in which buckets, is found by looking at all of them."""
    return FromRows(_divided_rows)


def _divided_rows(work: Work) -> Drafts:
    """One view: what may be known in one column, everything sensitive in another, inside buckets."""
    options = work.options
    assert isinstance(options, MultiSaOptions)
    deadline = perf_counter() + options.time_limit
    names = _protected(work)
    refuse_ties(work)
    combinations = combinations_of(work, names)
    columns = _columns(work, names)
    watches = tuple(watches_of(work, columns))
    caps = caps_of(work, combinations)
    # Half of the time is for dividing, which needs some however the rows are chosen.
    choice = largest_part(combinations.counts, caps, options.time_limit / 2)
    _refuse_loss(work, choice)
    rows = _chosen_rows(work, combinations, choice.amounts)
    found, division = _divided(work, combinations, caps, choice, deadline)
    buckets = np.full(work.table.n_rows, -1, dtype=np.int64)
    buckets[rows] = work.streams.of("multi-sa.numbers").permutation(int(found.max()) + 1)[found]
    kept = settled(buckets, watches)
    if kept is None:
        raise refuse(work, broken_together(buckets, watches))
    draft = Draft("main", columns, rows, buckets=kept[rows])
    return Drafts((draft,), _notes(combinations, choice, division, kept[rows]))


def _protected(work: Work) -> tuple[str, ...]:
    names = sensitive_columns(work)
    if not names:
        raise PolicyError(
            [
                Problem(
                    work.policy.name,
                    "multi-sa needs a sensitive attribute or a rule.",
                    'Use method = "generalize".',
                )
            ]
        )
    return names


def _columns(work: Work, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    known = tuple(name for name in work.published if name not in names)
    return ((known,) if known else ()) + (names,)


def _refuse_loss(work: Work, choice: Choice) -> None:
    """Refuse if more rows would be lost than may be, or all of them."""
    lost = work.table.n_rows - int(choice.amounts.sum())
    if lost <= work.limit and choice.amounts.any():
        return
    # Values too common by themselves; what they would cost alone is no remedy for all attributes together.
    alone = watch(work.promises, work.table, ())
    problems = whole_table_problems(replace(work, suppresses=False), alone)
    raise InfeasibleError(dict.fromkeys([*problems, _loss(work, choice, lost)]))


def _loss(work: Work, choice: Choice, lost: int) -> Problem:
    n_rows, names = work.table.n_rows, list(_attributes(work))
    where = f"{work.policy.name}: {', '.join(names)}"
    diverse = "each of them is diverse for those who know the others" if names[1:] else "it is diverse"
    remedy = 'lower l, make the attributes coarser, or use method = "guardian".'
    if lost == n_rows and not choice.timed_out:
        return Problem(where, f"no part of the {n_rows} rows is such that {diverse}.", f"L{remedy[1:]}")
    found = f" ({n_rows - choice.bound} by a longer search at best)" if choice.timed_out else ""
    share = math.ceil(10000 * lost / n_rows) / 10000
    return Problem(
        where,
        f"{lost} of {n_rows} rows must go before {diverse}{found}; {work.limit} may.",
        f"Allow suppression = {share:g}, {remedy}",
    )


def _attributes(work: Work) -> Iterator[str]:
    """The attributes that count as sensitive; the names of 0/1 columns hold values."""
    names = set(sensitive_columns(work))
    return (name for name in work.policy.published if names & set(work.table.expand((name,))))


def _chosen_rows(work: Work, combinations: Combinations, amounts: Ids) -> Ids:
    """As many rows of each combination as were chosen, at random; combination by combination, in random order."""
    shuffled = shuffled_rows(work, "multi-sa.order")
    ordered = arranged(shuffled, combinations.of_row)
    counts = combinations.counts
    place = np.arange(ordered.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return ordered[place < np.repeat(amounts, counts)]


def _divided(
    work: Work,
    combinations: Combinations,
    caps: tuple[Cap, ...],
    choice: Choice,
    deadline: float,
) -> tuple[Ids, Division]:
    """The bucket of each chosen row, combination by combination, and how the buckets were found."""
    l, n_rows = _anatomy(caps), int(choice.amounts.sum())
    if l is not None:
        return np.arange(n_rows) % max(n_rows // l, 1), Division((), 0)
    codes = tuple(
        column[combinations.example].astype(np.int64) for column in work.table.codes(combinations.names)
    )
    division = divide(choice.amounts, caps, codes, deadline, lambda share: work.progress("dividing", share))
    return placed(division.blocks), division


def _anatomy(caps: tuple[Cap, ...]) -> int | None:
    """The l of plain anatomy: a single sensitive attribute without exceptions, so that dealing is enough."""
    if not caps:
        return 1
    [first, *more] = caps
    is_plain = not more and first.is_simple and not first.line_of.any()
    l = int(first.bottom[0])
    return l if is_plain and (first.top == 1).all() and (first.bottom == l).all() else None


def _notes(combinations: Combinations, choice: Choice, division: Division, buckets: Ids) -> dict[str, object]:
    sizes = np.bincount(buckets)
    return {
        "combinations": int(combinations.example.size),
        "rows_left_out": int(combinations.of_row.size - choice.amounts.sum()),
        "rows_at_most": choice.bound,
        "gap": choice.gap,
        "kinds_of_buckets": len(division.blocks),
        "rows_divided_coarsely": division.coarse,
        "time_limit_hit": choice.timed_out or division.coarse > 0,
        "buckets": int(sizes.size),
        "smallest_bucket": int(sizes.min()),
        "largest_bucket": int(sizes.max()),
    }


METHOD = Method(
    "multi-sa",
    "Jin, Zhang, Das 2010: multi-SA publishing, paper 002",
    MultiSaOptions,
    plan,
    takes_rules=True,
    suppresses=True,
    gap=Gap(
        "its search looks at the clock, so a task that is done again could choose other rows",
        "Use another method, or the local engine.",
    ),
)
