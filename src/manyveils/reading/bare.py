"""A published table of whatever origin, read as a release of one view beside what is known of its original."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.policy.standing import as_it_stands, without_role
from manyveils.reading.keys import Ids
from manyveils.reading.meanings import Meanings
from manyveils.release.bare import BareRelease, bare_release
from manyveils.release.draft import MOST_LISTED
from manyveils.release.seal import LEFT_OUT, levels_of
from manyveils.table import Attribute, Restore, Table, encode
from manyveils.table.attributes import bits_of
from manyveils.table.encode import as_read
from manyveils.table.persons import names_of
from manyveils.table.population import population_of

# A day, or a moment of it, with the year first.
MOMENT = r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$"


# How many cells of a column are not missing.
CellsOf = Callable[[str], int]


class Alone(NamedTuple):
    """A table by itself: as a release, as all that is known of its people, and the policy as far as it speaks of them."""

    release: BareRelease
    table: Table
    policy: Policy


def read_alone(frame: pl.DataFrame, restore: Restore, policy: Policy) -> Alone:
    """A table by itself: its own rows are all that is known of the people it is about."""
    narrow = policy_alone(frame.columns, policy)
    table = replace(encode(frame, without_role(narrow)), population=population_of(policy, None))
    _refuse_any(table, policy)
    shown = [name for name in table.expand(narrow.published) if name in table.attributes]
    published = pl.DataFrame([_field(name, frame, table) for name in shown])
    lines = np.arange(table.n_rows) if table.persons is not None else None
    release = bare_release(published, table, levels_of(narrow), restore, {}, lines)
    stand_alone(release, frame.columns, policy, partial(_n_cells, frame))
    return Alone(release, table, narrow)


def policy_alone(columns: Sequence[str], policy: Policy) -> Policy:
    """The policy as far as it speaks of a table with these columns; columns without a role are refused."""
    _refuse_strange(columns, policy)
    return as_it_stands(policy, columns)


def stand_alone(release: BareRelease, columns: Sequence[str], policy: Policy, n_cells: CellsOf) -> None:
    """Note what a table by itself does not say, and what it should not."""
    told = policy.having("identifier") if policy.person is None else policy.person
    release.unnamed = tuple(name for name in told if name not in columns)
    release.absent = _absent(columns, policy)
    release.exposed, release.is_alone = dict(_exposed(columns, policy, n_cells)), True


def _field(name: str, frame: pl.DataFrame, table: Table) -> pl.Series:
    """A field as it stands, or the 0/1 field of a value."""
    return frame[name] if name in frame.columns else table[name].domain.gather(table[name].codes).alias(name)


def read_beside(frame: pl.DataFrame, restore: Restore, policy: Policy, original: Table) -> BareRelease:
    """A table beside its original, whose values its labels stand for."""
    _refuse_strange(frame.columns, policy)
    if not frame.height:
        raise DataError.at("table", "there is a header but no row.")
    _refuse_any(original, policy)
    cells = as_read(frame.select(name for name in policy.published if name in frame.columns), policy)
    columns = [shown for published in cells for shown in _shown(published, original, policy)]
    lines = None if original.persons is None else _lines(frame, original, policy)
    recodings = {
        shown.name: meant for shown in columns if (meant := _meant(shown, original, policy)) is not None
    }
    release = bare_release(pl.DataFrame(columns), original, levels_of(policy), restore, recodings, lines)
    release.absent = _absent(frame.columns, policy)
    release.exposed = dict(_exposed(frame.columns, policy, partial(_n_cells, frame)))
    return release


def _shown(published: pl.Series, original: Table, policy: Policy) -> Iterator[pl.Series]:
    """A field as the original writes its values; one 0/1 field per value where a cell may have several."""
    section = policy.attributes[published.name]
    if section.multivalued:
        for bit in bits_of(published, section, policy):
            yield bit.domain.gather(bit.codes).alias(bit.name)
    else:
        yield _respelled(published, original[published.name])


def _respelled(published: pl.Series, attribute: Attribute) -> pl.Series:
    """Numbers and moments in the spelling of the original: 7 and 7.0 are one value, and so are a day and its midnight."""
    texts = published.cast(pl.String)
    originals = pl.Series(attribute.texts, dtype=pl.String)
    if attribute.domain.dtype.is_numeric():
        read = _as_number
    elif originals.str.contains(MOMENT).any():
        read = _as_moment
    else:
        return texts
    spelled = pl.DataFrame(
        {"value": read(originals), "code": np.arange(len(originals)), "spelled": originals}
    )
    spelled = spelled.drop_nulls("value").unique("value", keep="first")
    different = texts.drop_nulls().unique().alias("text").to_frame()
    values = different.with_columns(value=read(different["text"]))
    known = values.join(spelled, on="value", how="left")
    if known.height and not known["code"].null_count():
        codes = texts.replace_strict(known["text"], known["code"], return_dtype=pl.Int64)
        return attribute.domain.gather(codes).alias(published.name)
    return texts.replace(known["text"], known["spelled"].fill_null(known["text"]))


def _as_number(texts: pl.Series) -> pl.Series:
    return texts.str.strip_chars().cast(pl.Float64, strict=False)


def _as_moment(texts: pl.Series) -> pl.Series:
    """Dates and times, however libraries write them; null for anything else."""
    plain = texts.str.strip_chars().str.replace("T", " ", literal=True)
    plain = plain.str.replace(r"^(\S{10})$", "$1 00:00").str.replace(r" (\d\d:\d\d)$", " $1:00")
    return plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)


def _meant(shown: pl.Series, original: Table, policy: Policy) -> pl.DataFrame | None:
    """What the labels of a field stand for: published, original; None where none is coarse, or there are too many lines."""
    attribute = original.attributes.get(shown.name)
    if attribute is None or shown.dtype != pl.String:
        return None
    labels = shown.drop_nulls().unique()
    cover = Meanings(attribute, policy.lines(shown.name)).cover(labels.to_list())
    if not cover.is_coarse or int(cover.sizes.sum()) > MOST_LISTED:
        return None
    numbers, codes = cover.pairs()
    is_coarse = cover.sizes[numbers] > 1
    texts = pl.Series([text or None for text in attribute.texts], dtype=pl.String)
    pairs = {"published": labels.gather(numbers[is_coarse]), "original": texts.gather(codes[is_coarse])}
    return pl.DataFrame(pairs).unique().sort("published", "original")


def _lines(frame: pl.DataFrame, original: Table, policy: Policy) -> Ids | None:
    """A guess at the line of each row of the original, which is checked before it is believed.

    If the table tells whose its lines are, the first row of a person has her first line. If not, and no row is missing,
    lines stand as rows do.
    """
    keys = original.keys
    if keys is None or not {*keys.columns} <= {*frame.columns}:
        return np.arange(original.n_rows) if frame.height == original.n_rows else None
    rows = _in_turn(names_of(keys), "row")
    lines = _in_turn(names_of(as_read(frame.select(keys.columns), policy)), "line")
    joined = rows.join(lines, on=["name", "turn"], how="left", maintain_order="left")
    return joined["line"].fill_null(LEFT_OUT).to_numpy()


def _in_turn(names: pl.Series, number: str) -> pl.DataFrame:
    """Rows with the name of their person, and how many rows of hers come before."""
    counted = pl.DataFrame({"name": names, number: np.arange(len(names), dtype=np.int64)})
    return counted.with_columns(turn=pl.int_range(pl.len()).over("name"))


def _n_cells(frame: pl.DataFrame, name: str) -> int:
    return frame.height - frame[name].null_count()


def _absent(columns: Sequence[str], policy: Policy) -> tuple[str, ...]:
    return tuple(name for name in policy.published if name not in columns)


def _refuse_strange(columns: Sequence[str], policy: Policy) -> None:
    """Every column needs a role; attributes that are not published need no column."""
    if not any(name in policy.published for name in columns):
        what = f"none of its {len(columns)} columns is a published attribute of {policy.name}."
        raise DataError.at("table", what, "Is it the right file, and has it a header line?")
    DataError.refuse(
        Problem("table", f"column {name!r} has no role.", f"Add [attributes] for it to {policy.name}.")
        for name in columns
        if name not in policy.attributes and policy.data.columns is None
    )


def _refuse_any(table: Table, policy: Policy) -> None:
    """Whoever lacks a cell has candidates among rows; whose these are is not looked at."""
    if policy.data.missing == "any" and table.persons is not None:
        what = "any counts rows, and some persons have several."
        raise PolicyError.at(f"{policy.name}: data.missing", what, 'Write "category", or person = "row".')


def _exposed(columns: Sequence[str], policy: Policy, n_cells: CellsOf) -> Iterator[tuple[str, int]]:
    """How many cells the table shows of each attribute that is never published."""
    for name, body in policy.attributes.items():
        if body.role == "identifier" or (name in columns and name not in policy.published):
            yield name, n_cells(name) if name in columns else 0
