"""Whether secret labels are what was chosen: codes and grades beside the original, as far as they can be told."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
import polars as pl

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.keys.choices import ACTUAL, GENERALIZED, HIDDEN, PSEUDONYM, choices_of, n_categories
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import PEOPLE, Bools, people_in, with_people
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally
from manyveils.table.levels import Codes

# Decimals that grades have at least, and at most.
FEWEST_PLACES, MOST_PLACES = 4, 15


def secret_findings(evidence: Evidence) -> Iterator[Finding]:
    """A finding for every secret attribute in every view: numbers keep their ranks, and choices are respected.

    The evidence has the original with its secret attributes, not as it is published.
    """
    table, secret = evidence.table, evidence.release.manifest.secret
    for view in evidence.release.views:
        for file in view.files:
            for name in file.attributes:
                if name in secret and name in table.attributes:
                    promise = "ranks-kept" if table[name].kind == "numeric" else "choices-respected"
                    n_wrong = _wrong(evidence, view, file, name)
                    yield count_of_faults(promise, n_wrong, view.name, table.home(name))


def _wrong(evidence: Evidence, view: View, file: ColumnFile, name: str) -> int | None:
    """Rows that cannot be right; None where the column is not there, or rows were left out and nobody knows which."""
    policy, published = evidence.policy, evidence.frame(file)
    if evidence.release.suppressed or not {name, *file.attributes} <= {*published.columns}:
        return None
    beside = _beside(evidence, view, file)
    table = evidence.table.whole((*beside, name, *policy.having("choice")))
    shown = with_people(published, evidence.weights(file))
    if table[name].kind == "numeric":
        return _out_of_range(shown, table[name], policy) + _moved(shown, beside, table, name)
    return _unchosen(shown, beside, table, policy, name)


def _beside(evidence: Evidence, view: View, file: ColumnFile) -> tuple[str, ...]:
    """Quasi-identifiers that stand beside a secret as they are, by which rows can be matched with the original's."""
    if view.bucketed:
        return ()
    known = [name for name in evidence.table.expand(evidence.policy.quasi) if name in file.attributes]
    return tuple(name for name in known if evidence.listed(view, name) is None)


def _original(table: Table, names: Sequence[str], **more: pl.Series) -> pl.DataFrame:
    """Some attributes of the original as texts, with the people that rows stand for."""
    texts = {name: pl.Series(table[name].texts).gather(table[name].codes) for name in names}
    return with_people(pl.DataFrame(texts | more), table.weights)


def _published(rows: pl.DataFrame, names: Sequence[str], **more: pl.Expr) -> pl.DataFrame:
    """Some published attributes as texts, with the people that rows stand for."""
    texts = (pl.col(name).cast(pl.String).fill_null("") for name in names)
    return rows.select(*texts, pl.col(f"^{PEOPLE}$"), **more)


def _differing(original: pl.DataFrame, published: pl.DataFrame) -> int:
    """By how many rows two tables differ, whatever their order."""
    keys = [name for name in original.columns if name != PEOPLE]
    wanted, shown = (
        rows.group_by(keys).agg(people_in(rows).alias("#people")) for rows in (original, published)
    )
    both = wanted.join(shown, on=keys, how="full", coalesce=True, nulls_equal=True, suffix="#").fill_null(0)
    return int((both["#people"] - both["#people#"]).abs().sum()) // 2


def _height(rows: pl.DataFrame) -> int:
    """How many people the rows stand for."""
    return int(rows.select(people_in(rows)).item())


def _moved(rows: pl.DataFrame, beside: tuple[str, ...], table: Table, name: str) -> int:
    """Rows whose number stands in another rank than the original's, ties included."""
    if not rows[name].dtype.is_numeric():
        return _height(rows)
    column = table[name]
    present = column.counts[: column.n_values - column.has_missing] > 0
    ranks = np.append(np.cumsum(present), [0] * column.has_missing)[column.codes]
    shown = pl.col(name).rank("dense").cast(pl.Int64).fill_null(0)
    original = _original(table, beside, **{"#rank": pl.Series(ranks.astype(np.int64))})
    return _differing(original, _published(rows, beside, **{"#rank": shown}))


def _out_of_range(rows: pl.DataFrame, column: Attribute, policy: Policy) -> int:
    """Rows that no category has; all rows if the numbers are simply the original's."""
    published = rows[column.name]
    if not published.dtype.is_numeric():
        return _height(rows)
    most = n_categories(policy, column.name)
    numbers = published.drop_nulls().cast(pl.Float64).unique()
    if len(numbers) > most and set(numbers) == set(column.numbers[column.counts > 0].tolist()):
        return _height(rows)
    if _has_idle_digits(numbers, column):
        return _height(rows)
    number = pl.col(column.name).cast(pl.Float64)
    return _height(rows.filter((number < 1) | (number >= most + 1)))


def _has_idle_digits(numbers: pl.Series, column: Attribute) -> bool:
    """Whether numbers that keep all values apart have more decimals than that takes, which could be those of values."""
    if len(numbers) < int((~np.isnan(column.numbers)).sum()):
        # Values that nobody published has may have needed them.
        return False
    exact = (places for places in range(MOST_PLACES) if (numbers.round(places) == numbers).all())
    places = next(exact, MOST_PLACES)
    return places > FEWEST_PLACES and numbers.round(places - 1).n_unique() == len(numbers)


def _unchosen(rows: pl.DataFrame, beside: tuple[str, ...], table: Table, policy: Policy, name: str) -> int:
    """Rows by which published cells differ from what was chosen: values, codes of groups and codes of values.

    Which code is whose cannot be seen without the key, so codes are compared by how often they occur.
    """
    column, choices = table[name], choices_of(policy, table.attributes)
    choice = choices.of({own: table[own].codes for own in policy.having("choice")}, table.n_rows)
    is_missing = (column.codes == column.n_values - 1) & column.has_missing
    original = _original(table, (*beside, name)).filter(pl.Series((choice == ACTUAL) | is_missing))
    shown = _published(rows, (*beside, name))
    is_open = shown[name].is_in(list(column.texts))
    parents = column.levels[min(1, len(column.levels) - 1)].label_of[column.codes]
    wanted = [
        *_tallied(parents, (choice == GENERALIZED) & ~is_missing, table),
        *_tallied(column.codes, (choice == HIDDEN) & ~is_missing, table),
    ]
    opened, hidden = shown.filter(is_open), shown.filter(~is_open)
    codes = dict(hidden.group_by(name).agg(people_in(hidden)).iter_rows())
    n_unknown = sum(count for code, count in codes.items() if not PSEUDONYM.fullmatch(code))
    n_off = _differing(original, opened) + abs(_height(original) - _height(opened))
    return n_off + n_unknown + _uneven(wanted, list(codes.values()))


def _tallied(numbers: Codes, chosen: Bools, table: Table) -> list[int]:
    """People per number, of some rows of a table."""
    weights = None if table.weights is None else table.weights[chosen]
    return tally(numbers[chosen].astype(np.int64), weights, 0).tolist()


def _uneven(wanted: list[int], published: list[int]) -> int:
    """By how many rows two lists of counts differ, each taken in order of size."""
    falling = (sorted(counts, reverse=True) for counts in (wanted, published))
    return sum(abs(first - second) for first, second in zip_longest(*falling, fillvalue=0))
