"""Versatile publishing: several tables that together keep any rules between attributes (paper 002).

Tables are in Guardian Normal Form: for every rule, what is known does not lead to what is protected, or it leads there
through one table only, the guardian, which hides it by itself.
It promises rules of any shape, and guarantees of roles, against those who join tables.
It cannot promise anything to combinations of attributes, nor against dependencies it was not told of.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from manyveils.errors import InfeasibleError
from manyveils.methods.dealt import Dealt
from manyveils.methods.guardian.anonymize import anonymized, inner_work, strength
from manyveils.methods.guardian.demands import Demand, column_dependencies, demands_of
from manyveils.methods.guardian.gd import by_repair
from manyveils.methods.guardian.hiding import by_counts
from manyveils.methods.guardian.pieces import Demands, Piece
from manyveils.methods.guardian.score import Divergence
from manyveils.methods.guardian.uad import by_colouring
from manyveils.methods.leveled import Leveled
from manyveils.methods.work import Decided, Made, Method, Options
from manyveils.policy.promises import rules_of
from manyveils.promises.entries import dense
from manyveils.promises.explain import refuse, whole_table_problems
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work
from manyveils.release import Draft
from manyveils.table import Table


class GuardianOptions(Options):
    """Keys of [publish] for `method = "guardian"`."""

    decompose: Literal["uad", "gd"] = "uad"
    anonymizer: Literal["anatomize", "slice", "generalize"] = "anatomize"


def decide(work: Work) -> Decided | None:
    """The tables and how each hides what it guards; nothing where slices hide it, which are cut by looking at rows."""
    options = work.options
    assert isinstance(options, GuardianOptions)
    if options.anonymizer == "slice":
        return None
    demands = _demands(work)
    together = Demands(demands, column_dependencies(work))
    pieces = _decomposed(work, options.decompose, together)
    views = tuple(
        _view(work, number, piece, demands, options.anonymizer) for number, piece in enumerate(pieces)
    )
    return Decided(views, _notes(work, options, pieces, together))


def _demands(work: Work) -> tuple[Demand, ...]:
    """What must be kept; refused if the whole table as one group does not keep it."""
    demands = demands_of(work)
    # Whatever the tables are, each attribute's own distribution is in one of them.
    alone = watch_counts(work, tuple(dict.fromkeys(demand.promise for demand in demands)), ())
    if list(whole_table_problems(work, alone)):
        raise refuse(work, alone)
    return demands


def _view(
    work: Work, number: int, piece: Piece, demands: tuple[Demand, ...], anonymizer: str
) -> Leveled | Dealt:
    name, columns = f"table{number + 1}", _columns(work, piece)
    if piece.protects is None or len(columns) == 1:
        return Leveled(name, columns)
    [view] = _inner(work, piece, demands, anonymizer).views
    return replace(view, name=name, enforces=_enforced(columns, piece, demands))


def _inner(work: Work, piece: Piece, demands: tuple[Demand, ...], anonymizer: str) -> Decided:
    """How one table hides what it guards, decided from counts."""
    method, inner = inner_work(work, piece, demands, anonymizer)
    decided = method.decide(inner)
    assert decided is not None
    return decided


def _dealt(work: Work, piece: Piece, demands: tuple[Demand, ...]) -> Dealt | None:
    try:
        [view] = _inner(work, piece, demands, "anatomize").views
    except InfeasibleError:
        return None
    assert isinstance(view, Dealt)
    return view


def make(work: Work) -> Made:
    """Publish tables in Guardian Normal Form."""
    options = work.options
    assert isinstance(options, GuardianOptions)
    demands = _demands(work)
    together = Demands(demands, column_dependencies(work))
    pieces = _decomposed(work, options.decompose, together)
    drafts = tuple(
        _draft(work, number, piece, demands, _anonymizer(options.anonymizer, piece, pieces))
        for number, piece in enumerate(pieces)
    )
    return Made(drafts, _notes(work, options, pieces, together))


def _decomposed(work: Work, how: str, demands: Demands) -> tuple[Piece, ...]:
    if how == "uad":
        pieces = by_colouring(work.published, demands)
    else:
        hiding = by_counts(work.counts, lambda piece: _dealt(work, piece, demands.each))
        progress = lambda share: work.progress("adding columns back", share)  # noqa: E731
        pieces = by_repair(work.published, demands, Divergence(work.counts, hiding), progress)
    assert demands.all_kept(pieces), "the tables are not in Guardian Normal Form"
    return pieces


def _anonymizer(asked: str, piece: Piece, pieces: tuple[Piece, ...]) -> str:
    """Slices hide in which bucket a person is, which a table with the same columns side by side may tell."""
    alone = all(piece is other or piece.columns.isdisjoint(other.columns) for other in pieces)
    return "anatomize" if asked == "slice" and not alone else asked


def _draft(work: Work, number: int, piece: Piece, demands: tuple[Demand, ...], anonymizer: str) -> Draft:
    name, columns = f"table{number + 1}", _columns(work, piece)
    if piece.protects is None or len(columns) == 1:
        return Draft(name, (columns,), np.arange(work.table.n_rows))
    [draft] = anonymized(work, piece, demands, anonymizer).drafts
    return replace(draft, name=name, enforces=_enforced(columns, piece, demands))


def _columns(work: Work, piece: Piece) -> tuple[str, ...]:
    return tuple(each for each in work.published if each in piece.columns)


def _enforced(columns: tuple[str, ...], piece: Piece, demands: tuple[Demand, ...]) -> dict[str, object]:
    assert piece.protects is not None
    return {
        "given": [each for each in columns if each != piece.protects],
        "protect": piece.protects,
        "l": strength(piece.protects, demands),
    }


def _notes(
    work: Work, options: GuardianOptions, pieces: tuple[Piece, ...], demands: Demands
) -> dict[str, object]:
    settled = rules_of(work.policy)
    asked = [(demand.given, demand.protect) for demand in demands.each]
    found = dict(zip(asked, demands.verdicts(pieces), strict=True))
    return {
        "decompose": options.decompose,
        "anonymizer": options.anonymizer,
        "implied_rules": [f"{rule} follows from {by}" for rule, by in settled.implied],
        "rules_from_dependencies": [f"{rule} because of {by}" for rule, by in settled.derived],
        "dependencies_that_do_not_hold": list(_false_dependencies(work)),
        "tables": [
            {
                "view": f"table{number + 1}",
                "attributes": [name for name in work.published if name in piece.columns],
                "protects": piece.protects or "",
            }
            for number, piece in enumerate(pieces)
        ],
        "rules": [
            {"given": sorted(given), "protect": protect, "verdict": each.reason}
            for (given, protect), each in found.items()
        ],
    }


def _false_dependencies(work: Work) -> Iterator[str]:
    """Declared dependencies that the data contradict; they are honoured all the same."""
    for each in work.policy.dependencies:
        left = work.table.expand(each.from_)
        both = (*left, *work.table.expand([each.to]))
        n_left, n_both = (_n_combinations(work.counts(names), names) for names in (left, both))
        if n_left != n_both:
            yield f"{', '.join(each.from_)} → {each.to}"


def _n_combinations(table: Table, names: tuple[str, ...]) -> int:
    return dense(table.codes(names), table.sizes(names), table.n_rows)[1]


METHOD = Method(
    "guardian",
    "Jin, Zhang, Das 2010: versatile publishing, paper 002",
    GuardianOptions,
    make,
    decide,
    takes_rules=True,
    enforces=True,
    variants={
        "gd": {"decompose": "gd"},
        "slice": {"anonymizer": "slice"},
        "generalize": {"anonymizer": "generalize"},
    },
    demo={"guardian": {"decompose": "gd"}},
)
