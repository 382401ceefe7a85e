"""Multi-SA publishing: one table, quasi-identifiers beside all sensitive attributes together (paper 002, Appendix B).

The baseline that versatile publishing is compared with: what stands on the right side of a rule is sensitive.
It promises that each sensitive attribute is diverse even for someone who knows all the others, bucket by bucket.
It cannot do so without leaving out rows, often most of them: use `guardian` where that is too many.
It cannot publish tables in which persons have several rows: it chooses rows one by one.
"""

import math
from dataclasses import replace
from time import perf_counter

import numpy as np
from pydantic import Field

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods import Gap, Method, Options
from manyveils.methods.multi_sa.blocks import Choice, Division, divide, largest_part
from manyveils.methods.multi_sa.buckets import broken_together, placed, refuse_ties, settled, watches_of
from manyveils.methods.multi_sa.caps import Cap, Combinations, caps_of, combinations_of, share_of
from manyveils.promises.entries import Ids
from manyveils.promises.explain import refuse, whole_table_problems
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release.dealing import arranged, bucket_notes, ranks_within
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows


class MultiSaOptions(Options):
    """Keys of [publish] for `method = "multi-sa"`."""

    time_limit: float = Field(60.0, gt=0)


def plan(work: Work) -> FromRows:
    """Which rows are published, and in which buckets, is found by looking at all of them."""
    _refuse_persons(work)
    return FromRows(_divided_rows)


def _refuse_persons(work: Work) -> None:
    """Its search chooses how many rows of each combination leave, and knows nothing of whose they are."""
    if work.table.persons is not None:
        what = "multi-sa chooses rows one by one and cannot keep those of a person together."
        remedy = 'Use method = "anatomize" or "guardian", or publish a table with one row per person.'
        raise PolicyError.at(f"{work.policy.name}: data.person", what, remedy)


def _divided_rows(work: Work) -> Drafts:
    """One view: what may be known in one column, everything sensitive in another, inside buckets."""
    options = work.options_as(MultiSaOptions)
    deadline = perf_counter() + options.time_limit
    names = _protected(work)
    refuse_ties(work)
    combinations = combinations_of(work, names)
    known = tuple(name for name in work.published if name not in names)
    columns = (known, names) if known else (names,)
    watches = tuple(watches_of(work, columns))
    caps = caps_of(work, combinations)
    # The other half of the time is left for dividing the rows.
    choice = largest_part(combinations.counts, caps, options.time_limit / 2)
    _refuse_loss(work, names, choice)
    rows = _chosen_rows(work, combinations, choice.amounts)
    bucket_of, division = _divided(work, combinations, caps, choice, deadline)
    buckets = np.full(work.table.n_rows, -1, dtype=np.int64)
    buckets[rows] = work.streams.of("multi-sa.numbers").permutation(int(bucket_of.max()) + 1)[bucket_of]
    merged = settled(buckets, watches)
    if merged is None:
        raise refuse(work, broken_together(buckets, watches))
    draft = Draft("main", columns, rows, buckets=merged[rows])
    return Drafts((draft,), _notes(combinations, choice, division, merged[rows]))


def _protected(work: Work) -> tuple[str, ...]:
    """The sensitive attributes, and those on the right side of a rule, in the order of the policy."""
    by_rule = {name for promise in work.promises if promise.is_rule for name in promise.protects}
    names = tuple(name for name in work.published if name in by_rule or name in work.sensitive)
    # A bucket's lines are kept apart by shares only.
    uncapped = [p for p in work.promises if p.is_rule and share_of(p.guarantee) is None]
    PolicyError.refuse(
        Problem(
            f"{work.policy.name}: rules",
            f"{promise.guarantee.kind} of {work.subject_of(promise)} is no bound on shares, which is all that multi-sa keeps of rules.",
            'Use method = "guardian".',
        )
        for promise in uncapped
    )
    if not names:
        what = "multi-sa needs a sensitive attribute or a rule."
        raise PolicyError.at(work.policy.name, what, 'Use method = "generalize".')
    return names


def _refuse_loss(work: Work, names: tuple[str, ...], choice: Choice) -> None:
    """Refuse if more rows would be lost than may be, or all of them."""
    lost = work.table.n_rows - int(choice.amounts.sum())
    if lost <= work.limit and choice.amounts.any():
        return
    # Values too common by themselves; what they would cost alone is no remedy for all attributes together.
    alone = watch(work.promises, work.table, ())
    problems = whole_table_problems(replace(work, suppresses=False), alone)
    raise InfeasibleError(dict.fromkeys([*problems, _loss(work, names, choice, lost)]))


def _loss(work: Work, names: tuple[str, ...], choice: Choice, lost: int) -> Problem:
    n_rows, homes = work.table.n_rows, {work.table.home(name) for name in names}
    where = f"{work.policy.name}: {', '.join(name for name in work.policy.published if name in homes)}"
    diverse = "each of them is diverse for those who know the others" if len(homes) > 1 else "it is diverse"
    remedy = 'lower l, make the attributes coarser, or use method = "guardian".'
    if lost == n_rows and not choice.timed_out:
        return Problem(where, f"there is no part of the {n_rows} rows in which {diverse}.", f"L{remedy[1:]}")
    at_best = f" ({n_rows - choice.bound} by a longer search at best)" if choice.timed_out else ""
    share = math.ceil(10000 * lost / n_rows) / 10000
    return Problem(
        where,
        f"{lost} of {n_rows} rows must be left out before {diverse}{at_best}; {work.limit} may be.",
        f"Allow suppression = {share:g}, {remedy}",
    )


def _chosen_rows(work: Work, combinations: Combinations, amounts: Ids) -> Ids:
    """As many rows of each combination as were chosen, at random; combination by combination, in random order."""
    ordered = arranged(shuffled_rows(work, "multi-sa.order"), combinations.of_row)
    counts = combinations.counts
    return ordered[ranks_within(counts) < np.repeat(amounts, counts)]


def _divided(
    work: Work, combinations: Combinations, caps: tuple[Cap, ...], choice: Choice, deadline: float
) -> tuple[Ids, Division]:
    """The bucket of each chosen row, combination by combination, and how the buckets were found."""
    l, n_rows = _anatomy(caps), int(choice.amounts.sum())
    if l is not None:
        return np.arange(n_rows) % max(n_rows // l, 1), Division((), 0)
    codes = tuple(
        codes[combinations.example].astype(np.int64) for codes in work.table.codes(combinations.names)
    )
    division = divide(choice.amounts, caps, codes, deadline, lambda share: work.progress("dividing", share))
    return placed(division.blocks), division


def _anatomy(caps: tuple[Cap, ...]) -> int | None:
    """The l of plain anatomy: a single sensitive attribute without exceptions, so that dealing is enough."""
    if not caps:
        return 1
    [first, *more] = caps
    l = int(first.bottom[0])
    is_plain = not more and first.is_simple and not first.line_of.any()
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
        **bucket_notes(sizes, int(sizes.size)),
    }


METHOD = Method(
    "multi-sa",
    "Jin, Zhang, Das 2010: multi-SA publishing, paper 002",
    MultiSaOptions,
    plan,
    takes_rules=True,
    suppresses=True,
    leaves_out=lambda _: True,
    gap=Gap(
        "its search looks at the clock, so a task that is done again could choose other rows",
        "Use another method, or the local engine.",
    ),
    why_not="its search for groups knows one table only, and cannot heed where people stood before",
)
