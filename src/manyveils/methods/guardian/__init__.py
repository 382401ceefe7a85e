"""Versatile publishing: several tables that together keep any rules between attributes (paper 002).

Tables are in Guardian Normal Form: for every rule, what is known does not lead to what is protected, or it leads there
through one table only, the guardian, which hides it by itself.
It promises rules of any shape, and guarantees of roles, against those who join tables.
It cannot promise anything to combinations of attributes, nor against dependencies it was not told of.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods import Gap, Method, Options, drafts_of, plan_of_counts
from manyveils.methods.guardian.decompose import by_colouring, by_repair
from manyveils.methods.guardian.pieces import (
    Crowd,
    Demand,
    Demands,
    Piece,
    chance_of,
    column_dependencies,
    demands_of,
    inner_work,
    strength,
)
from manyveils.methods.guardian.score import Divergence, by_counts
from manyveils.policy.promises import rules_of
from manyveils.policy.rules import known_from
from manyveils.promises.entries import distinct, numbered
from manyveils.promises.explain import refuse, whole_table_problems
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work
from manyveils.release.dealing import DealtView
from manyveils.release.draft import Drafts
from manyveils.release.plan import FromRows, LeveledView, Plan
from manyveils.table.attributes import tally as people


class GuardianOptions(Options):
    """Keys of [publish] for `method = "guardian"`."""

    decompose: Literal["uad", "gd"] = "uad"
    repairs: Literal["shrinking", "drawn"] = "shrinking"
    anonymizer: Literal["anatomize", "slice", "generalize"] = "anatomize"


def plan(work: Work) -> Plan | FromRows:
    """Tables in Guardian Normal Form, and how each hides what it guards; slices hide it by looking at rows."""
    if work.options_as(GuardianOptions).anonymizer == "slice":
        return FromRows(_sliced)
    tables = _decomposed(work)
    plans = tables.plans(work)
    if all(isinstance(inner, Plan) for inner in plans):
        return tables.plan(plans, work)
    from_counts = partial(tables.plan, plans) if work.table.persons is None else None
    return FromRows(partial(tables.drafts, plans), from_counts=from_counts)


def _sliced(work: Work) -> Drafts:
    tables = _decomposed(work)
    return tables.drafts(tables.plans(work), work)


@dataclass(frozen=True, repr=False)
class Tables:
    """Tables in Guardian Normal Form, what is demanded of them, and by which method they hide what they guard."""

    pieces: tuple[Piece, ...]
    demands: tuple[Demand, ...]
    anonymizer: str
    notes: dict[str, object]

    def plans(self, work: Work) -> tuple[Plan | FromRows, ...]:
        """How every table is published by itself."""
        return tuple(self._planned(work, piece) for piece in self.pieces)

    def _planned(self, work: Work, piece: Piece) -> Plan | FromRows:
        if not _guards(piece):
            return Plan((LeveledView("", _shown(work, piece)),))
        method, inner = inner_work(work, piece, self.demands, self._method(piece))
        return method.plan(inner)

    def _method(self, piece: Piece) -> str:
        """Slices hide in which bucket a person is, which a table with the same columns side by side may tell."""
        alone = all(piece is other or piece.columns.isdisjoint(other.columns) for other in self.pieces)
        return "anatomize" if self.anonymizer == "slice" and not alone else self.anonymizer

    def _work(self, work: Work, piece: Piece) -> Work:
        return inner_work(work, piece, self.demands, self._method(piece))[1] if _guards(piece) else work

    def plan(self, plans: Sequence[Plan | FromRows], work: Work) -> Plan:
        """The views of all tables, decided from counts."""
        views: list[LeveledView | DealtView] = []
        for number, (piece, inner) in enumerate(zip(self.pieces, plans, strict=True)):
            decided = plan_of_counts(self._work(work, piece), inner)
            assert decided is not None
            [view] = decided.views
            if isinstance(view, DealtView):
                view = replace(view, chance=(chance_of(work, piece), *view.chance))
            views.append(replace(view, name=_named(number), enforces=self._enforced(work, piece)))
        return Plan(tuple(views), self.notes)

    def drafts(self, plans: Sequence[Plan | FromRows], work: Work) -> Drafts:
        """The drafts of all tables, from rows that are at hand."""
        drafts = []
        for number, (piece, inner) in enumerate(zip(self.pieces, plans, strict=True)):
            [draft] = drafts_of(self._work(work, piece), inner).views
            drafts.append(replace(draft, name=_named(number), enforces=self._enforced(work, piece)))
        return Drafts(tuple(drafts), self.notes)

    def _enforced(self, work: Work, piece: Piece) -> dict[str, Any] | None:
        if not _guards(piece):
            return None
        assert piece.protects is not None
        return {
            "given": [name for name in _shown(work, piece) if name != piece.protects],
            "protect": piece.protects,
            "l": strength(piece.protects, self.demands),
        }


def _guards(piece: Piece) -> bool:
    return piece.protects is not None and len(piece.columns) > 1


def _named(number: int) -> str:
    return f"table{number + 1}"


def _shown(work: Work, piece: Piece) -> tuple[str, ...]:
    return tuple(name for name in work.published if name in piece.columns)


def _decomposed(work: Work) -> Tables:
    options = work.options_as(GuardianOptions)
    demands = demanded(work)
    if options.decompose == "uad":
        pieces = by_colouring(work.published, demands)
    else:
        hiding = by_counts(work.counts, lambda piece: _dealt(work, piece, demands.each))
        progress = partial(work.progress, "adding columns back")
        rng = work.streams.of("guardian.repairs") if options.repairs == "drawn" else None
        pieces = by_repair(work.published, demands, Divergence(work.counts, hiding), progress, rng)
    refuse_sightings(work, pieces)
    assert demands.all_kept(pieces), "the tables are not in Guardian Normal Form, or break k"
    return Tables(pieces, demands.each, options.anonymizer, _notes(work, options, pieces, demands))


def refuse_sightings(work: Work, pieces: tuple[Piece, ...]) -> None:
    """Refuse tables that show a constant attribute in several groups of one person: what they tell together is not judged."""
    several = work.table.persons is not None
    protected = {work.table.home(name) for promise in work.promises for name in promise.protects}
    seen = Counter(
        home
        for piece in pieces
        if several and len(piece.columns) > 1
        for home in sorted({work.table.home(name) for name in piece.columns} & protected)
    )
    PolicyError.refuse(
        Problem(
            f"{work.policy.name}: attributes.{name}.constant",
            f"persons have several rows, and {n_tables} tables show it: what these tell together is not judged.",
            'Use decompose = "uad", whose tables share no attribute, or method = "anatomize".',
        )
        for name, n_tables in seen.items()
        if n_tables > 1 and work.policy.attributes[name].constant
    )


def demanded(work: Work) -> Demands:
    """What must be kept; refused if the whole table as one group does not keep it."""
    demands = demands_of(work)
    # Whatever the tables are, each attribute's own distribution is in one of them.
    alone = watch_counts(work, tuple(dict.fromkeys(demand.promise for demand in demands)), ())
    if list(whole_table_problems(work, alone)):
        raise refuse(work, alone)
    return Demands(demands, column_dependencies(work), _crowd(work))


def _crowd(work: Work) -> Crowd | None:
    """The size of groups that is asked for, and how small they get; nothing where groups may be of any size."""
    if work.least_rows == 1:
        return None

    @cache
    def smallest(names: frozenset[str]) -> int:
        ordered = tuple(sorted(names))
        table = work.counts(ordered)
        groups, n_groups = numbered(table, ordered)
        if table.persons is not None:
            groups = distinct(groups * table.n_persons + table.persons) // table.n_persons
            return int(np.bincount(groups).min())
        return int(people(groups, table.weights, n_groups).min(initial=table.n_people))

    known = known_from(frozenset(work.quasi), column_dependencies(work))
    return Crowd(work.least_rows, frozenset(known), frozenset(work.sensitive), smallest)


def _dealt(work: Work, piece: Piece, demands: tuple[Demand, ...]) -> DealtView | None:
    """How the rows of a table would be dealt by what it guards; nothing if they cannot be, or persons are."""
    method, inner = inner_work(work, piece, demands, "anatomize")
    try:
        decided = plan_of_counts(inner, method.plan(inner))
    except InfeasibleError:
        return None
    if decided is None:
        return None
    [view] = decided.views
    assert isinstance(view, DealtView)
    return view


def _notes(
    work: Work, options: GuardianOptions, pieces: tuple[Piece, ...], demands: Demands
) -> dict[str, object]:
    settled = rules_of(work.policy)
    rules = [(demand.given, demand.protect) for demand in demands.each]
    verdicts = dict(zip(rules, demands.verdicts(pieces), strict=True))
    return {
        "decompose": options.decompose,
        "anonymizer": options.anonymizer,
        "implied_rules": [f"{rule} follows from {by}" for rule, by in settled.implied],
        "rules_from_dependencies": [f"{rule} because of {by}" for rule, by in settled.derived],
        "dependencies_that_do_not_hold": list(_false_dependencies(work)),
        "tables": [
            {"view": _named(number), "attributes": [*_shown(work, piece)], "protects": piece.protects or ""}
            for number, piece in enumerate(pieces)
        ],
        "rules": [
            {"given": sorted(given), "protect": protect, "verdict": verdict.reason}
            for (given, protect), verdict in verdicts.items()
        ],
    }


def _false_dependencies(work: Work) -> Iterator[str]:
    """Declared dependencies that the data contradict; they are honoured all the same."""
    for dependency in work.policy.dependencies:
        left = work.table.expand(dependency.from_)
        both = (*left, *work.table.expand([dependency.to]))
        n_left, n_both = (numbered(work.counts(names), names)[1] for names in (left, both))
        if n_left != n_both:
            yield f"{', '.join(dependency.from_)} → {dependency.to}"


METHOD = Method(
    "guardian",
    "Jin, Zhang, Das 2010: versatile publishing, paper 002",
    GuardianOptions,
    plan,
    takes_rules=True,
    enforces=True,
    variants={
        "gd": {"decompose": "gd"},
        "slice": {"anonymizer": "slice"},
        "generalize": {"anonymizer": "generalize"},
    },
    demo={"guardian": {"decompose": "gd"}},
    gap=Gap(
        "with this anonymizer tables are made from rows",
        'Use anonymizer = "anatomize" or "generalize", or the local engine.',
    ),
    why_not="each of its tables puts people into groups of its own, and what these tell together over several releases is not worked out",
)
