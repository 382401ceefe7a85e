"""Grading: each person decides how her sensitive value appears, and numbers keep their order but not their size.

Poovammal and Ponnavaikko 2009. Categorical values are published as they are, as the code of their group or as a code of
their own, by choice; numeric ones as grades. Codes and boundaries are in the key, which only the holder of the data has.
It promises nothing by itself: quasi-identifiers stay as they are, so whoever knows them finds the row. `then` hands the
graded table to another method, which keeps the guarantees of the policy on what is published.
It cannot hide common values: a code has the frequency of its value, and grades have the order of theirs.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.keys.key import Aliases, Grades, Key
from manyveils.methods.entries import dense
from manyveils.methods.grade.aliases import aliased, choices_of
from manyveils.methods.grade.categories import asked_for, categories_of, grades_of
from manyveils.methods.keeping import all_kept, count_for, watch
from manyveils.methods.work import Made, Method, Options, Work
from manyveils.policy import Policy
from manyveils.policy.check import section_problems
from manyveils.policy.sections import Count, Number
from manyveils.release import Draft, Recoding
from manyveils.table import Column, Table, resolve
from manyveils.table.levels import value_or_top

FOLLOWING = ("generalize", "anatomize", "slice", "codip", "separate")
Categories = Count | list[tuple[Number, Number]]


class GradeOptions(Options):
    """Keys of [publish] for `method = "grade"`."""

    categories: Categories | dict[str, Categories] = 5
    spacing: Literal["equal-width", "quantile"] = "equal-width"
    default_choice: Literal[1, 2, 3] = 3
    then: str | dict[str, Any] | None = Field(None)


def make(work: Work) -> Made:
    """Publish the table with sensitive values as codes and grades, as it is or by the method that follows."""
    options = work.options
    assert isinstance(options, GradeOptions)
    _refuse_strangers(work, options)
    columns, key = _graded(work, options)
    table = replace(work.table, columns={**work.table.columns, **columns})
    made = _followed(work, table, options) if options.then is not None else _alone(work, table)
    drafts = tuple(_in_secret(draft, columns) for draft in made.drafts)
    notes = {
        "graded": {name: len(grades.categories) for name, grades in key.grades.items()},
        "aliased": {name: len(each.values) + len(each.groups) for name, each in key.aliases.items()},
        **({"then": dict(made.notes)} if options.then is not None else {}),
    }
    return Made(drafts, notes, key)


def _graded(work: Work, options: GradeOptions) -> tuple[dict[str, Column], Key]:
    """The sensitive columns as they are published, and what they mean."""
    choices = choices_of(work, options.default_choice)
    columns: dict[str, Column] = {}
    aliases: dict[str, Aliases] = {}
    grades: dict[str, Grades] = {}
    for name in work.sensitive:
        column = work.table[name]
        if column.kind == "numeric":
            where = f"{work.policy.name}: publish.categories"
            asked = asked_for(name, options.categories)
            found, grades[name] = grades_of(column, categories_of(column, asked, options.spacing, where))
            domain = pl.Series(name, found).fill_nan(None)
            columns[name] = _as_column(name, "numeric", column.codes, domain)
        else:
            codes, labels, aliases[name] = aliased(work, column, choices)
            columns[name] = _compact(name, codes, labels)
    return columns, Key(aliases, grades)


def _as_column(name: str, kind: Any, codes: Any, domain: pl.Series) -> Column:
    texts = [text if text is not None else "" for text in domain.cast(pl.String).to_list()]
    return Column(name, kind, codes, domain, value_or_top(texts))


def _compact(name: str, codes: Any, labels: tuple[str | None, ...]) -> Column:
    """A column of the labels that occur, in the order of their texts, a missing one last."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    ordered = sorted(used.tolist(), key=lambda place: (labels[place] is None, labels[place] or ""))
    rank = np.zeros(len(labels), dtype=np.int32)
    rank[ordered] = np.arange(len(ordered))
    domain = pl.Series(name, [labels[place] for place in ordered], dtype=pl.String)
    return _as_column(name, "categorical", rank[codes], domain)


def _in_secret(draft: Draft, columns: dict[str, Column]) -> Draft:
    """The draft with graded values in place of the originals, and nothing to read them by."""
    shown = [name for column in draft.columns for name in column if name in columns]
    secret = {name: _recoding(columns[name], draft) for name in shown}
    return replace(draft, recodings={**draft.recodings, **secret})


def _recoding(column: Column, draft: Draft) -> Recoding:
    return Recoding(column.codes[draft.rows], column.domain, None, is_secret=True)


def _alone(work: Work, table: Table) -> Made:
    """One view with one column; refused if the policy promises what unchanged quasi-identifiers do not keep."""
    promises = resolve(_understood(work.policy, "grade", {}), table)
    groups, n_groups = dense(table.codes(work.quasi), table.sizes(work.quasi), table.n_rows)
    watches = watch(promises, table, work.sensitive)
    sizes = np.bincount(groups, minlength=n_groups)
    fine = all_kept(watches, count_for(watches, groups, n_groups), sizes)
    if not fine.all():
        kinds = ", ".join(sorted({promise.guarantee.kind for promise in promises}))
        raise InfeasibleError(
            [
                Problem(
                    work.policy.name,
                    f"grading leaves quasi-identifiers as they are: {int((~fine).sum())} of {n_groups} groups "
                    f"({int(sizes[~fine].sum())} rows) do not keep {kinds}.",
                    'Drop [guarantee], or let another method follow, such as then = "generalize" or "anatomize".',
                )
            ]
        )
    return Made((Draft("main", (work.published,), np.arange(table.n_rows)),))


def _followed(work: Work, table: Table, options: GradeOptions) -> Made:
    """What the following method makes of the graded table."""
    name, keys = _following(options)
    method: Method = import_module(f"manyveils.methods.{name}").METHOD
    policy = _understood(work.policy, name, keys)
    following = Work(
        policy,
        table,
        resolve(policy, table),
        method.options.model_validate(keys),
        work.streams.apart("then"),
        work.progress,
    )
    return method.make(following)


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


METHOD = Method("grade", "Poovammal and Ponnavaikko 2009", GradeOptions, make)
