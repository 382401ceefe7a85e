"""Which rows of a bare table fall short, and of what: for its owner, who can act on them."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from manyveils.audits.bare import candidates_for, reads_missing_as_any
from manyveils.audits.judge import known_besides, measured_groups
from manyveils.policy import Promise
from manyveils.reading.candidates import n_candidates
from manyveils.reading.evidence import Evidence, lines_of
from manyveils.reading.keys import Bools
from manyveils.reading.sight import known_in, sight_of
from manyveils.table import resolve

ROW, GROUP, SIZE = "row", "group", "rows_in_group"


def rows_short(evidence: Evidence) -> pl.DataFrame:
    """A line for each row: its number from 1, its group and how many rows that has, and whether each promise fails it.

    Groups are rows with equal quasi-identifiers, numbered from 1; where a missing cell may be any value, its rows are
    all that may be alike. Promises about single values of a multi-valued attribute share a column.
    """
    [view] = evidence.release.views
    [file] = view.files
    quasi = evidence.table.expand(evidence.policy.quasi)
    groups = evidence.group_numbers(file, tuple(name for name in file.attributes if name in quasi))
    alike = n_candidates(evidence, quasi)
    sizes = np.bincount(groups)[groups] if alike is None else alike
    numbers = {ROW: np.arange(1, groups.size + 1), GROUP: groups + 1, SIZE: sizes}
    failing: dict[str, Bools] = {}
    for name, fails in _failing(evidence):
        failing[name] = failing[name] | fails if name in failing else fails
    return pl.DataFrame({**numbers, **failing})


def _failing(evidence: Evidence) -> Iterator[tuple[str, Bools]]:
    """What is promised, and which rows are in a group that falls short of it."""
    promises = resolve(evidence.policy, evidence.table, is_made=True)
    is_any = reads_missing_as_any(evidence, promises)
    for promise in promises:
        seen = candidates_for(evidence, promise) if is_any else evidence
        fails = _fails(seen, promise)
        if fails is not None:
            lines = lines_of(seen)
            yield _named(evidence, promise), fails if lines is None else fails[lines]


def _fails(evidence: Evidence, promise: Promise) -> Bools | None:
    """Which lines are in a group that falls short; None where what is protected is not shown, or nobody can tell."""
    [view] = evidence.release.views
    [file] = view.files
    if not {*promise.protects} <= {*file.attributes}:
        return None
    known, others = known_in(view, promise, evidence), known_besides(evidence, promise)
    sight = sight_of(promise, view, file, known, others)
    measured = measured_groups(evidence, promise, (sight,))
    if measured is None:
        return None
    numbers = evidence.group_numbers(file, sight.key)
    groups = measured["group"].to_numpy() if "group" in measured.columns else np.arange(measured.height)
    is_short = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
    is_short[groups[~measured["kept"].to_numpy()]] = True
    return is_short[numbers]


def _named(evidence: Evidence, promise: Promise) -> str:
    """The promise in the words of the policy."""
    kind = f"conditional {promise.guarantee.kind}" if promise.conditional else promise.guarantee.kind
    about = "+".join(dict.fromkeys(evidence.table.home(name) for name in promise.protects))
    about = about or promise.guarantee.about
    given = f" given {', '.join(promise.given)}" if promise.is_rule else ""
    return f"{kind} of {about}{given}" if about else kind
