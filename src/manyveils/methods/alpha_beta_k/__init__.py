"""(α,β,k)-anonymity: groups in which ruling out a value of one sensitive attribute never makes another certain.

Wang, "A Novel Anonymity Algorithm for Privacy Preserving in Publishing Multiple Sensitive Attributes".
Rows are divided top-down into groups of k rows with β values of every sensitive attribute; where a group leaks, half
of the values that would be certain are published as their parent in the hierarchy, and where that cannot help the
group is merged with its nearest neighbour.
It promises k, β and eliminations, beside any other guarantee of the policy.
It cannot hide what a raised label stands for from someone who knows how it works: a value that is raised also stays
in its group, so a label over one value of the group is that value (`certain_labels` counts them).
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.methods import Gap, Method, Options
from manyveils.methods.alpha_beta_k.repair import Division, Repaired, division_of, leaking, repaired, start_of
from manyveils.methods.alpha_beta_k.rule import Climb, rule_of
from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.labels import cut_table
from manyveils.policy.alpha_beta_k import AlphaBetaK
from manyveils.policy.guarantees import Elimination
from manyveils.policy.hierarchies import TOP
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch
from manyveils.promises.sightings import about_constants
from manyveils.promises.work import Work
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, InParts

Repair = Literal["best", "rule", "merge"]


class AlphaBetaKOptions(AlphaBetaK, Options):
    """Keys of [publish] for `method = "alpha-beta-k"`."""

    repair: Repair = "best"
    climb: Climb = "parent"
    labels: Labels = "auto"
    cuts: Literal["strict", "relaxed"] = "relaxed"


def _refuse_for_persons(work: Work, options: AlphaBetaKOptions) -> None:
    """Refuse what is not shown to be safe where somebody has several rows."""
    problems = []
    if work.table.persons is not None and options.alpha_reading == "paper":
        what = "is the paper's, which knows one row per person, and persons have several."
        problems.append(Problem(f"{work.policy.name}: publish.alpha_reading", what, "Drop it."))
    if work.table.persons is not None and options.repair == "rule":
        what = "raises values to labels row by row, and persons have several rows."
        problems.append(Problem(f"{work.policy.name}: publish.repair", what, 'Use repair = "merge".'))
    constant = about_constants(work.policy, work.table, work.promises)
    for name in dict.fromkeys(work.subject_of(promise) for promise in constant):
        what = "is constant, and groups are merged by what they lose, not by what several of them tell of one person."
        remedy = 'Use method = "generalize" or "anatomize", or drop constant.'
        problems.append(Problem(f"{work.policy.name}: attributes.{name}.constant", what, remedy))
    PolicyError.refuse(problems)


def _repaired(work: Work) -> Drafts:
    """One view with one column, in which groups share their quasi-identifiers and leak nothing."""
    options = work.options_as(AlphaBetaKOptions)
    _refuse_for_persons(work, options)
    division = _divided(work, options)
    leaks = leaking(work, division)
    attempts = _attempts(work, division, options, leaks)
    if not attempts:
        raise refuse(work, watch(work.promises, work.table, work.sensitive))
    way, best = min(attempts.items(), key=lambda item: item[1].lost)
    rows = np.arange(work.table.n_rows)
    notes = {"groups_before": int(leaks.size), "leaking_before": int(leaks.sum()), **_notes(way, best)}
    if len(attempts) > 1:
        notes["lost_by"] = {way: attempt.lost for way, attempt in attempts.items()}
    return Drafts((Draft("main", (work.published,), rows, recodings=best.recodings),), notes)


def _divided(work: Work, options: AlphaBetaKOptions) -> Division:
    """Divide the rows as long as every group keeps every promise but those about eliminations."""
    promises = tuple(promise for promise in work.promises if not isinstance(promise.guarantee, Elimination))
    watches = watch(promises, work.table, work.sensitive)
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    groups = np.zeros(work.table.n_rows, dtype=np.int64)
    if work.quasi:
        relaxed = options.cuts == "relaxed"
        groups = cut_table(work, promises, work.sensitive, labels=options.labels, relaxed=relaxed)
    return division_of(work, groups)


def _attempts(
    work: Work, division: Division, options: AlphaBetaKOptions, leaks: NDArray[np.bool_]
) -> dict[str, Repaired]:
    """Repair by the rule and by merging alone, or by the way that is asked for; failed attempts are left out."""
    ways = [way for way in ("rule", "merge") if options.repair in ("best", way)]
    if work.table.persons is not None:
        ways = ["merge"]
    start, attempts = start_of(work, division, options.labels, leaks), {}
    # Without a leak both are the division itself.
    for way in ways if leaks.any() else ways[:1]:
        rule = rule_of(work, raising=way == "rule", climb=options.climb)
        attempt = repaired(work, division, options.labels, rule, start)
        if attempt is not None:
            attempts[way] = attempt
    return attempts


def _notes(way: str, best: Repaired) -> dict[str, object]:
    replaced, hidden, certain = {}, {}, {}
    for ladder, labels in zip(best.rule.ladders, best.labels, strict=True):
        counts = np.bincount(labels, minlength=len(ladder.texts)).tolist()
        raised = list(zip(ladder.texts, counts, strict=True))[ladder.attribute.n_values :]
        replaced[ladder.name] = sum(count for _, count in raised)
        hidden[ladder.name] = sum(count for text, count in raised if text == TOP)
        certain[ladder.name] = ladder.certain(labels, best.groups)
    return {
        "groups": int(best.groups.max()) + 1,
        "repair": way,
        "mergers": best.mergers,
        "sensitive_values_replaced": replaced,
        "of_these_hidden": hidden,
        "certain_labels": certain,
        "lost_quasi": best.lost_quasi,
        "lost_sensitive": best.lost_sensitive,
    }


def plan(work: Work) -> FromRows:
    """Groups are divided and repaired inside every part; without quasi-identifiers all rows are one group."""
    options = work.options_as(AlphaBetaKOptions)
    parts = InParts((work.published,), options.labels, work.sensitive) if work.quasi else None
    return FromRows(_repaired, parts)


METHOD = Method(
    "alpha-beta-k",
    "Wang 2013",
    AlphaBetaKOptions,
    plan,
    demo={"alpha-beta-k": {"beta": 3}},
    gap=Gap(
        "without quasi-identifiers all rows are one group, which no task may hold",
        "Give quasi-identifiers, or use the local engine.",
    ),
    why_not="it shows broader values in place of some sensitive ones, so groups do not say how often they have a value",
)
