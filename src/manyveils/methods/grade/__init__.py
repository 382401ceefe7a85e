"""Grading: each person decides how her sensitive value appears, and numbers keep their order but not their size.

Poovammal and Ponnavaikko 2009. Categorical values are published as they are, as the code of their group or as a code of
their own, by choice; numeric ones as grades. Codes and boundaries are in the key, which only the holder of the data has.
It promises nothing by itself: quasi-identifiers stay as they are, so whoever knows them finds the row. `then` hands the
graded table to another method, which keeps the guarantees of the policy on what is published.
It cannot hide common values: a code has the frequency of its value, and grades have the order of theirs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.keys.choices import DEFAULT_CATEGORIES, DEFAULT_CHOICE, categories_for
from manyveils.keys.key import Grades, Key, Pseudonyms
from manyveils.methods import Gap, Method, Options, load
from manyveils.methods.grade.pseudonyms import (
    categories_of,
    checked_choices,
    grades_of,
    lookup_of,
    pseudonymized,
)
from manyveils.policy import Policy
from manyveils.policy.sections import Count, Number
from manyveils.policy.shape import section_problems
from manyveils.promises.entries import Ids, Kept, distinct, numbered
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work
from manyveils.release.dealing import DealtView
from manyveils.release.draft import Drafts, Lookup, Lookups, in_secret, labelled, needed
from manyveils.release.plan import FromRows, LeveledView, Plan
from manyveils.table import Table, resolve
from manyveils.table.attributes import tally as people

THEN = "then"
FOLLOWING = ("generalize", "anatomize", "slice", "codip", "separate")
Categories = Count | list[tuple[Number, Number]]


class GradeOptions(Options):
    """Keys of [publish] for `method = "grade"`."""

    categories: Categories | dict[str, Categories] = DEFAULT_CATEGORIES
    spacing: Literal["equal-width", "quantile"] = "equal-width"
    default_choice: Literal[1, 2, 3] = DEFAULT_CHOICE
    then: str | dict[str, Any] | None = Field(None)


def plan(work: Work) -> Plan | FromRows:
    """What everybody's values read, and what follows; where that looks at rows, it does so after grading."""
    options = work.options_as(GradeOptions)
    _refuse_misfits(work, options)
    grading = _Grading(*_graded(work, options), options)
    after = grading.followed(work)
    if options.then is None:
        _refuse_broken(after)
        return grading.graded(Plan((LeveledView("main", work.published),)))
    following = load(_following(options)[0]).plan(after)
    if isinstance(following, Plan):
        return grading.graded(following)
    from_counts = partial(grading.from_counts, following) if following.from_counts else None
    return FromRows(partial(grading.make, following), from_counts=from_counts)


@dataclass(frozen=True, repr=False)
class _Grading:
    """What is read in place of sensitive values, what it means, and what follows."""

    lookups: Lookups
    key: Key
    options: GradeOptions

    def followed(self, work: Work) -> Work:
        """The publication for the method that follows."""
        return _following_work(seen(work, self.lookups), self.options)

    def graded(self, plan: Plan) -> Plan:
        """The plan of what follows, with labels in place of values."""
        views = tuple(_in_secret(view, self.lookups) for view in plan.views)
        return Plan(views, self._notes(plan.notes), self.key)

    def make(self, following: FromRows, work: Work) -> Drafts:
        """The drafts of what follows, with labels in place of values."""
        after = self.followed(work)
        drafts = following.make(after)
        views = tuple(in_secret(draft, after.table, self.lookups) for draft in drafts.views)
        return Drafts(views, self._notes(drafts.notes), self.key)

    def from_counts(self, following: FromRows, work: Work) -> Plan:
        """The plan of what follows, where it does without the rows."""
        assert following.from_counts is not None
        return self.graded(following.from_counts(self.followed(work)))

    def _notes(self, following: Mapping[str, object]) -> dict[str, object]:
        key = self.key
        return {
            "graded": {name: len(grades.categories) for name, grades in key.grades.items()},
            "aliased": {
                name: len(codes.values) + len(codes.groups) for name, codes in key.pseudonyms.items()
            },
            **({"then": dict(following)} if self.options.then is not None else {}),
        }


def _in_secret(view: LeveledView | DealtView, lookups: Lookups) -> LeveledView | DealtView:
    if isinstance(view, DealtView):
        return replace(view, lookups=lookups, chance=(THEN, *view.chance))
    return replace(view, lookups=lookups)


def seen(work: Work, lookups: Lookups) -> Work:
    """The same work with labels in place of values, in the table and in what is counted of it."""
    if work.counted is None:
        return replace(work, table=labelled(work.table, lookups))
    counted = _counted(work, lookups)
    labels = {name: counted((name,))[name] for name in lookups}
    table = replace(work.table, attributes={**work.table.attributes, **labels})
    return replace(work, table=table, counted=counted)


def _counted(work: Work, lookups: Lookups) -> Callable[[tuple[str, ...]], Table]:
    """Counts of labels; the same question gets the same table."""
    tables: dict[frozenset[str], Table] = {}

    def counted(names: tuple[str, ...]) -> Table:
        key = frozenset(names)
        if key not in tables:
            tables[key] = labelled(work.counts(needed(names, lookups)), lookups)
        return tables[key]

    return counted


def _graded(work: Work, options: GradeOptions) -> tuple[Lookups, Key]:
    """What is read in place of sensitive values, and what it means; decided from counts."""
    choices = checked_choices(work)
    lookups: dict[str, Lookup] = {}
    pseudonyms: dict[str, Pseudonyms] = {}
    grades: dict[str, Grades] = {}
    for name in work.sensitive:
        column = work.table[name]
        if column.kind == "numeric":
            where = f"{work.policy.name}: publish.categories"
            wanted = categories_for(name, options.categories)
            graded, grades[name] = grades_of(column, categories_of(column, wanted, options.spacing, where))
            domain = pl.Series(name, graded).fill_nan(None)
            numbers = np.arange(column.n_values, dtype=np.int32)[np.newaxis, :]
            lookups[name] = lookup_of("numeric", domain, numbers)
        else:
            lookups[name], pseudonyms[name] = pseudonymized(work, column, choices)
    return lookups, Key(pseudonyms, grades)


def _refuse_broken(work: Work) -> None:
    """Refuse if the policy promises what unchanged quasi-identifiers do not keep."""
    _refuse_sightings(work)
    fine, sizes = _judged(work)
    if not fine.all():
        kinds = ", ".join(sorted({promise.guarantee.kind for promise in work.promises}))
        what = (
            f"grading leaves quasi-identifiers as they are: {int((~fine).sum())} of {fine.size} groups "
            f"({int(sizes[~fine].sum())} rows) do not keep {kinds}."
        )
        remedy = 'Drop [guarantee], or let another method follow, such as then = "generalize" or "anatomize".'
        raise InfeasibleError.at(work.policy.name, what, remedy)


def _refuse_sightings(work: Work) -> None:
    """Refuse to promise anything of a constant attribute that is seen beside several values of one person."""
    persons = work.table.persons
    if persons is None:
        return
    groups, n_groups = numbered(work.table, work.quasi)
    n_seen = int((np.bincount(distinct(persons * n_groups + groups) // n_groups) > 1).sum())
    protected = dict.fromkeys(work.table.home(name) for promise in work.promises for name in promise.protects)
    what = f"grading leaves quasi-identifiers as they are, and {n_seen} persons are seen in several groups with it."
    remedy = 'Drop [guarantee], or let another method follow, such as then = "anatomize".'
    InfeasibleError.refuse(
        Problem(f"{work.policy.name}: attributes.{name}.constant", what, remedy)
        for name in protected
        if n_seen and work.policy.attributes[name].constant
    )


def _judged(work: Work) -> tuple[Kept, Ids]:
    """Which groups of equal quasi-identifiers keep every promise, and how many people are in each."""
    fine, sizes = np.ones(0, dtype=bool), np.zeros(0, dtype=np.int64)
    watches = watch_counts(work, work.promises, work.sensitive, work.quasi)
    for table in {id(watched.table): watched.table for watched in watches}.values():
        # Groups are numbered by their quasi-identifiers, so every table has the same.
        groups, n_groups = numbered(table, work.quasi)
        sizes = people(groups, table.weights, n_groups)
        together = tuple(watched for watched in watches if watched.table is table)
        kept = kept_by_groups(together, groups, n_groups, table.weights)
        fine = kept & fine if fine.size else kept
    return fine, sizes


def _following_work(work: Work, options: GradeOptions) -> Work:
    """What is to be made of the graded table; promises are those of codes and grades."""
    name, keys = _following(options) if options.then is not None else ("grade", {})
    policy = _understood(work.policy, name, keys)
    return Work(
        policy,
        work.table,
        resolve(policy, work.table),
        options if options.then is None else load(name).options.model_validate(keys),
        work.streams.apart(THEN),
        work.progress,
        counted=work.counted,
    )


def _following(options: GradeOptions) -> tuple[str, dict[str, Any]]:
    if isinstance(options.then, dict):
        keys = dict(options.then)
        return str(keys.pop("method", "")), keys
    return str(options.then), {}


def _understood(policy: Policy, method: str, keys: dict[str, Any]) -> Policy:
    """The policy for a table whose sensitive values are codes and grades: their own hierarchies say nothing of it."""
    attributes = {}
    for name, attribute in policy.attributes.items():
        section = attribute.model_dump(exclude_unset=True)
        if attribute.role == "sensitive":
            section = {key: value for key, value in section.items() if key not in ("hierarchy", "order")}
            section["kind"] = "categorical" if attribute.kind == "ordinal" else attribute.kind
        attributes[name] = {key: value for key, value in section.items() if value is not None}
    # Every row stays: what is left out could not be told from the release, which is all that codes are judged by.
    publish = {"method": method, **keys, "suppression": 0.0}
    return policy.replaced(attributes=attributes, publish=publish)


def _refuse_misfits(work: Work, options: GradeOptions) -> None:
    """Refuse categories of attributes that have none, and methods that cannot follow."""
    where, problems = work.policy.name, []
    numeric = [name for name in work.sensitive if work.table[name].kind == "numeric"]
    problems += [
        Problem(f"{where}: publish.categories", f"{name!r} is not a numeric sensitive attribute.")
        for name in (options.categories if isinstance(options.categories, dict) else ())
        if name not in numeric
    ]
    if options.then is not None:
        name, keys = _following(options)
        if name not in FOLLOWING:
            known = ", ".join(FOLLOWING)
            problems.append(
                Problem(f"{where}: publish.then", f"{name!r} cannot follow.", f"Known are {known}.")
            )
        else:
            problems += section_problems(load(name).options, keys, f"{where}: publish.then")
        if name == "slice" and any(promise.conditional for promise in work.promises):
            # Beliefs about people whose other sensitive values are known need those values, and codes hide them.
            what = "conditional promises cannot be judged on slices of codes."
            problems.append(Problem(f"{where}: publish.then", what, 'Use then = "anatomize".'))
        if name in ("anatomize", "slice") and work.promises and work.table.persons is not None:
            # Which person of a bucket has which code, nobody could tell who judges the release without the key.
            what = "persons have several rows, and cannot be counted in buckets of codes."
            problems.append(Problem(f"{where}: publish.then", what, 'Use then = "generalize" or "separate".'))
    problems += [
        Problem(
            f"{where}: attributes.{name}",
            "its values are the names of its 0/1 columns, and two codes are told apart by how common they are.",
            "Leave multivalued out, so that a cell is one value, or use another method.",
        )
        for name in work.table.derived
    ]
    terms = dict.fromkeys(promise.guarantee.terms for promise in work.promises if promise.guarantee.terms)
    what = "codes hide which label a value is under, and which value it is, so l counts codes, all alike."
    problems += [Problem(f"{where}: guarantee ({words})", what, "Use another method.") for words in terms]
    if not work.sensitive:
        problems.append(Problem(where, "grade needs a sensitive attribute.", 'Use method = "generalize".'))
    PolicyError.refuse(problems)


METHOD = Method(
    "grade",
    "Poovammal and Ponnavaikko 2009",
    GradeOptions,
    plan,
    secret=True,
    variants={name: {"then": name} for name in ("generalize", "anatomize", "slice")},
    promising={"then": "generalize"},
    demo={"grade": {"then": "generalize"}},
    # It gives every value a code.
    whole_cells=True,
    gap=Gap(
        "what comes after grading cuts rows, and grades are given to all rows at once",
        'Use then = "generalize", "anatomize", "codip" or "separate", or the local engine.',
    ),
    why_not="its codes and grades are secret, and what two sets of them tell together is not worked out",
)
