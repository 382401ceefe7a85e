"""Grading: each person decides how her sensitive value appears, and numbers keep their order but not their size.

Poovammal and Ponnavaikko 2009. Categorical values are published as they are, as the code of their group or as a code of
their own, by choice; numeric ones as grades. Codes and boundaries are in the key, which only the holder of the data has.
It promises nothing by itself: quasi-identifiers stay as they are, so whoever knows them finds the row. `then` hands the
graded table to another method, which keeps the guarantees of the policy on what is published.
It cannot hide common values: a code has the frequency of its value, and grades have the order of theirs.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.keys.choices import DEFAULT_CATEGORIES, DEFAULT_CHOICE, categories_for
from manyveils.keys.key import Grades, Key, Pseudonyms
from manyveils.methods.grade.aliases import aliased, checked_choices, lookup_of
from manyveils.methods.grade.categories import categories_of, grades_of
from manyveils.methods.grade.seen import seen
from manyveils.methods.labelling import Lookup, Lookups, in_secret
from manyveils.methods.leveled import Leveled
from manyveils.methods.work import Decided, Made, Method, Options, drafted
from manyveils.policy import Policy
from manyveils.policy.check import section_problems
from manyveils.policy.sections import Count, Number
from manyveils.promises.entries import Ids, dense
from manyveils.promises.keeping import all_kept, count_for, watch_counts
from manyveils.promises.tally import Kept
from manyveils.promises.work import Work
from manyveils.table import resolve
from manyveils.table.attributes import tally as people

FOLLOWING = ("generalize", "anatomize", "slice", "codip", "separate")
Categories = Count | list[tuple[Number, Number]]


class GradeOptions(Options):
    """Keys of [publish] for `method = "grade"`."""

    categories: Categories | dict[str, Categories] = DEFAULT_CATEGORIES
    spacing: Literal["equal-width", "quantile"] = "equal-width"
    default_choice: Literal[1, 2, 3] = DEFAULT_CHOICE
    then: str | dict[str, Any] | None = Field(None)


def decide(work: Work) -> Decided | None:
    """What everybody's values read, and what follows; nothing where what follows looks at rows."""
    options = work.options
    assert isinstance(options, GradeOptions)
    _refuse_strangers(work, options)
    lookups, key = _graded(work, options)
    after = _following_work(seen(work, lookups), options)
    if options.then is None:
        _refuse_broken(after)
        decided: Decided | None = Decided((Leveled("main", work.published),))
    else:
        decided = _method(options).decide(after)
    if decided is None:
        return None
    views = tuple(replace(view, lookups=lookups) for view in decided.views)
    return Decided(views, _notes(key, decided.notes, options), key)


def make(work: Work) -> Made:
    """Publish the table with sensitive values as codes and grades, as it is or by the method that follows."""
    options = work.options
    assert isinstance(options, GradeOptions)
    if options.then is None:
        decided = decide(work)
        assert decided is not None
        return drafted(work, decided)
    _refuse_strangers(work, options)
    lookups, key = _graded(work, options)
    after = _following_work(seen(work, lookups), options)
    made = _method(options).make(after)
    drafts = tuple(in_secret(draft, after.table, lookups) for draft in made.drafts)
    return Made(drafts, _notes(key, made.notes, options), key)


def _notes(key: Key, then: Mapping[str, object], options: GradeOptions) -> dict[str, object]:
    return {
        "graded": {name: len(grades.categories) for name, grades in key.grades.items()},
        "aliased": {name: len(each.values) + len(each.groups) for name, each in key.pseudonyms.items()},
        **({"then": dict(then)} if options.then is not None else {}),
    }


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
            asked = categories_for(name, options.categories)
            found, grades[name] = grades_of(column, categories_of(column, asked, options.spacing, where))
            domain = pl.Series(name, found).fill_nan(None)
            places = np.arange(column.n_values, dtype=np.int32)[np.newaxis, :]
            lookups[name] = lookup_of("numeric", domain, places)
        else:
            lookups[name], pseudonyms[name] = aliased(work, column, choices)
    return lookups, Key(pseudonyms, grades)


def _refuse_broken(work: Work) -> None:
    """Refuse if the policy promises what unchanged quasi-identifiers do not keep."""
    fine, sizes = _judged(work)
    if not fine.all():
        kinds = ", ".join(sorted({promise.guarantee.kind for promise in work.promises}))
        raise InfeasibleError(
            [
                Problem(
                    work.policy.name,
                    f"grading leaves quasi-identifiers as they are: {int((~fine).sum())} of {fine.size} groups "
                    f"({int(sizes[~fine].sum())} rows) do not keep {kinds}.",
                    'Drop [guarantee], or let another method follow, such as then = "generalize" or "anatomize".',
                )
            ]
        )


def _judged(work: Work) -> tuple[Kept, Ids]:
    """Which groups of equal quasi-identifiers keep every promise, and how many people are in each."""
    fine, sizes = np.ones(0, dtype=bool), np.zeros(0, dtype=np.int64)
    watches = watch_counts(work, work.promises, work.sensitive, work.quasi)
    for table in {id(each.table): each.table for each in watches}.values():
        # Groups are numbered by their quasi-identifiers, so every table has the same.
        groups, n_groups = dense(table.codes(work.quasi), table.sizes(work.quasi), table.n_rows)
        sizes = people(groups, table.weights, n_groups)
        some = tuple(each for each in watches if each.table is table)
        kept = all_kept(some, count_for(some, groups, n_groups), sizes)
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
        options if options.then is None else _method(options).options.model_validate(keys),
        work.streams.apart("then"),
        work.progress,
        counted=work.counted,
    )


def _method(options: GradeOptions) -> Method:
    method: Method = import_module(f"manyveils.methods.{_following(options)[0]}").METHOD
    return method


def _following(options: GradeOptions) -> tuple[str, dict[str, Any]]:
    if isinstance(options.then, dict):
        keys = dict(options.then)
        return str(keys.pop("method", "")), keys
    return str(options.then), {}


def _understood(policy: Policy, method: str, keys: dict[str, Any]) -> Policy:
    """The policy for a table whose sensitive values are codes and grades: their own hierarchies say nothing of it."""
    attributes = {}
    for name, attribute in policy.attributes.items():
        said = attribute.model_dump(exclude_unset=True)
        if attribute.role == "sensitive":
            said = {key: value for key, value in said.items() if key not in ("hierarchy", "order")}
            said["kind"] = "categorical" if attribute.kind == "ordinal" else attribute.kind
        attributes[name] = {key: value for key, value in said.items() if value is not None}
    # Every row stays: what is left out could not be told from the release, which is all that codes are judged by.
    publish = {"method": method, **keys, "suppression": 0.0}
    return policy.replaced(attributes=attributes, publish=publish)


def _refuse_strangers(work: Work, options: GradeOptions) -> None:
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
            method: Method = import_module(f"manyveils.methods.{name}").METHOD
            problems += section_problems(method.options, keys, f"{where}: publish.then")
        if name == "slice" and any(promise.conditional for promise in work.promises):
            # Beliefs about people whose other sensitive values are known need those values, and codes hide them.
            what = "conditional promises cannot be judged on slices of codes."
            problems.append(Problem(f"{where}: publish.then", what, 'Use then = "anatomize".'))
    problems += [
        Problem(
            f"{where}: attributes.{name}",
            "its values are the names of its 0/1 columns, and two codes are told apart by how common they are.",
            "Leave multivalued out, so that a cell is one value, or use another method.",
        )
        for name in work.table.derived
    ]
    if not work.sensitive:
        problems.append(Problem(where, "grade needs a sensitive attribute.", 'Use method = "generalize".'))
    if problems:
        raise PolicyError(problems)


METHOD = Method(
    "grade",
    "Poovammal and Ponnavaikko 2009",
    GradeOptions,
    make,
    decide,
    secret=True,
    variants={name: {"then": name} for name in ("generalize", "anatomize", "slice")},
    promising={"then": "generalize"},
    demo={"grade": {"then": "generalize"}},
    # It gives every value a code.
    whole_cells=True,
)
