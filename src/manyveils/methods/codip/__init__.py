"""CODIP: sensitive attributes are spread over several tables, each with the quasi-identifiers, each anonymized by itself.

Paper 000. Attributes that tell most of each other share a table, so that knowing one sensitive value of a person no
longer gives away the others, at the smallest loss of association.
It promises any guarantee of each sensitive attribute in the table where it stands, and keeps a plan within limits
of what it loses (alpha) and exposes (beta).
It cannot stop those who know one sensitive value from reading off others of the same table, beyond limiting by beta
how much there is to be read.
"""

from dataclasses import replace
from statistics import fmean
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from manyveils.methods import Gap, Method, Options
from manyveils.methods.codip.anonymizers import Anonymized, FullDomain, Mondrian, Names
from manyveils.methods.codip.association import Members, Plan, associate, mutual_information
from manyveils.methods.codip.notes import Entry, notes_of
from manyveils.methods.codip.plans import Limits, Outcome, Search, given_plan
from manyveils.methods.codip.search import find, refuse_many, refuse_parts
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity, exact
from manyveils.policy.sections import Number
from manyveils.promises.work import Work
from manyveils.release.draft import Draft, Drafts
from manyveils.release.plan import FromRows, LeveledView
from manyveils.release.plan import Plan as PlannedViews

USUAL_BETA = 0.3
LEAST_CROWD = 2


class CodipOptions(Options):
    """Keys of [publish] for `method = "codip"`."""

    alpha: Number = Field(1.0, ge=0, le=1)
    beta: Number | None = Field(None, ge=0, le=1)
    discernibility: Number | None = Field(None, gt=0)
    anonymizer: Literal["full-domain", "mondrian"] = "full-domain"
    search: Literal["greedy", "patient", "optimal"] = "greedy"
    plan: list[list[str]] | None = None

    @field_validator("plan", mode="before")
    @classmethod
    def _lists(cls, plan: object) -> object:
        if isinstance(plan, list) and (not plan or not all(isinstance(part, list) and part for part in plan)):
            raise ValueError('must be a list of lists, one per table, such as [["a", "b"], ["c"]]')
        return plan

    @property
    def limits(self) -> Limits:
        """The limits; a plan that is given may expose anything unless beta forbids it."""
        usual = USUAL_BETA if self.plan is None else 1.0
        beta = usual if self.beta is None else self.beta
        return Limits(exact(self.alpha), exact(beta), self.discernibility, self.beta is None)


def plan(work: Work) -> PlannedViews | FromRows:
    """The tables of the plan, each at levels of its own; Mondrian cuts rows, all projections together."""
    options = work.options_as(CodipOptions)
    if options.anonymizer == "mondrian":
        return FromRows(_cut)
    tables, notes = _tables(work)
    views = tuple(LeveledView(name, columns, anonymized.levels or {}) for name, columns, anonymized in tables)
    return PlannedViews(views, notes)


def _cut(work: Work) -> Drafts:
    """One view per table of the plan, each with groups of its own."""
    tables, notes = _tables(work)
    rows = np.arange(work.table.n_rows)
    drafts = (
        Draft(name, (columns,), rows, recodings=anonymized.recodings) for name, columns, anonymized in tables
    )
    return Drafts(tuple(drafts), notes)


def _tables(work: Work) -> tuple[list[tuple[str, Names, Anonymized]], Entry]:
    """The tables of the plan with their attributes, and what is worth knowing of it."""
    work, options = _with_crowds(work), work.options_as(CodipOptions)
    given = None if options.plan is None else given_plan(work, options.plan)
    if options.search == "optimal" and given is None:
        refuse_many(work)
    anonymizer = FullDomain if options.anonymizer == "full-domain" else Mondrian
    counts = None if work.counted is None else work.counts
    association = associate(work.table, work.policy, work.sensitive, counts)
    search = Search(work, association, anonymizer(work, options.discernibility), options.limits)
    if work.sensitive:
        outcome = find(search, options.search, given)
    else:
        outcome = Outcome(((),), options.search)
        refuse_parts(search, outcome.plan, is_given=False)
    tables = []
    for number, (part, neutral) in enumerate(zip(outcome.plan, _beside(work, outcome.plan), strict=True)):
        names = search.names(part)
        columns = tuple(name for name in work.published if name in {*work.quasi, *names, *neutral})
        tables.append((f"table{number + 1}", columns, search.anonymizer.anonymized(names)))
    views = {view: anonymized for view, _, anonymized in tables}
    return tables, {"anonymizer": options.anonymizer, **notes_of(search, outcome, views)}


def _with_crowds(work: Work) -> Work:
    """With several tables, groups of at least two: a person alone in her group would be joined across tables."""
    if len(work.sensitive) < 2 or work.least_rows >= LEAST_CROWD:
        return work
    return replace(work, promises=(*work.promises, Promise(KAnonymity(LEAST_CROWD), work.quasi)))


def _beside(work: Work, plan: Plan) -> list[list[str]]:
    """For every table the neutral attributes that stand in it: each in one alone, where it tells most.

    In several tables an attribute published as it is would tie their rows together.
    """

    def told(name: str, part: Members) -> float:
        names = (work.sensitive[member] for member in part)
        shared = [mutual_information(work.counts((name, other)), name, other) for other in names]
        return fmean(shared) if shared else 0.0

    tables: list[list[str]] = [[] for _ in plan]
    for name in work.published:
        if name not in work.quasi and name not in work.sensitive:
            means = [told(name, part) for part in plan]
            tables[means.index(max(means))].append(name)
    return tables


METHOD = Method(
    "codip",
    "CODIP: paper 000",
    CodipOptions,
    plan,
    variants={
        "mondrian": {"anonymizer": "mondrian"},
        "patient": {"search": "patient"},
        "optimal": {"search": "optimal"},
    },
    hides=True,
    demo={"codip": {"beta": 0.5}},
    gap=Gap(
        "with this anonymizer every projection would be cut by itself, and projections are cut together",
        'Use anonymizer = "full-domain", or the local engine.',
    ),
    why_not="each of its tables puts people into groups of its own, and what these tell together over several releases is not worked out",
)
