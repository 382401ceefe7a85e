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

from manyveils.methods.codip.anonymized import Anonymized
from manyveils.methods.codip.anonymizer import Anonymizer, Names
from manyveils.methods.codip.association import Plan, associate, mutual_information
from manyveils.methods.codip.full_domain import FullDomain
from manyveils.methods.codip.mondrian import Mondrian
from manyveils.methods.codip.notes import Entry, notes_of
from manyveils.methods.codip.parts import given_plan, smallest_parts
from manyveils.methods.codip.refusals import refuse_many
from manyveils.methods.codip.search import Found, Limits, Search
from manyveils.methods.work import Gap, Method, Options
from manyveils.policy.guarantees import KAnonymity, Promise, exact
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
    options = work.options
    assert isinstance(options, CodipOptions)
    if options.anonymizer == "mondrian":
        return FromRows(_cut)
    tables, notes = _tables(work, options)
    views = tuple(LeveledView(name, columns, made.levels or {}) for name, columns, made in tables)
    return PlannedViews(views, notes)


def _cut(work: Work) -> Drafts:
    """One view per table of the plan, each with groups of its own."""
    options = work.options
    assert isinstance(options, CodipOptions)
    tables, notes = _tables(work, options)
    rows = np.arange(work.table.n_rows)
    return Drafts(
        tuple(Draft(name, (columns,), rows, recodings=made.recodings) for name, columns, made in tables),
        notes,
    )


def _tables(work: Work, options: CodipOptions) -> tuple[list[tuple[str, Names, Anonymized]], Entry]:
    """The tables of the plan with their columns, and what is worth knowing of it."""
    work = _with_crowds(work)
    if options.search == "optimal" and options.plan is None:
        refuse_many(work, len(smallest_parts(work)))
    given = None if options.plan is None else given_plan(work, options.plan)
    search = Search(
        work,
        associate(work.table, work.policy, work.sensitive, work.counts),
        _anonymizer(work, options),
        options.limits,
    )
    found = search.run(options.search, given) if work.sensitive else Found(((),))
    neutral = _beside(work, found.plan)
    tables = []
    for number, part in enumerate(found.plan):
        names = tuple(work.sensitive[member] for member in part)
        shown = {*work.quasi, *names, *neutral[number]}
        columns = tuple(name for name in work.published if name in shown)
        tables.append((f"table{number + 1}", columns, search.anonymizer.anonymized(names)))
    how = "as given" if given is not None else options.search
    views = {view: made for view, _, made in tables}
    return tables, {"anonymizer": options.anonymizer, **notes_of(search, found, views, how)}


def _with_crowds(work: Work) -> Work:
    """With several tables, classes of at least two: a person alone in her class would be joined across tables."""
    asked = [p.guarantee.k for p in work.promises if isinstance(p.guarantee, KAnonymity)]
    if len(work.sensitive) < 2 or max(asked, default=1) >= LEAST_CROWD:
        return work
    return replace(work, promises=(*work.promises, Promise(KAnonymity(LEAST_CROWD), work.quasi)))


def _anonymizer(work: Work, options: CodipOptions) -> Anonymizer:
    kinds: dict[str, type[FullDomain] | type[Mondrian]] = {"full-domain": FullDomain, "mondrian": Mondrian}
    return kinds[options.anonymizer](work, options.discernibility)


def _beside(work: Work, plan: Plan) -> list[list[str]]:
    """For every table the neutral attributes that stand in it: each in one alone, where it tells most.

    In several tables an attribute published as it is would tie their rows together.
    """
    placed: list[list[str]] = [[] for _ in plan]
    for name in work.published:
        if name in work.quasi or name in work.sensitive:
            continue
        told = [
            [
                mutual_information(work.counts((name, work.sensitive[member])), name, work.sensitive[member])
                for member in part
            ]
            for part in plan
        ]
        means = [fmean(each) if each else 0.0 for each in told]
        placed[means.index(max(means))].append(name)
    return placed


METHOD = Method(
    "codip",
    "CODIP: paper 000",
    CodipOptions,
    plan,
    gap=Gap(
        "with this anonymizer every projection would be cut by itself, and projections are cut together",
        'Use anonymizer = "full-domain", or the local engine.',
    ),
)
