"""From a frame and a policy to a table of codes, or to the list of all that does not fit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NoReturn

import numpy as np
import polars as pl

from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.plain import toml_key
from manyveils.policy.hierarchies import TOP
from manyveils.policy.known import known_lines
from manyveils.policy.model import Policy
from manyveils.policy.sections import AttributeSection, Kind
from manyveils.table.attributes import Attribute, Table, bits_of
from manyveils.table.kinds import as_number, spelled_as, typed, with_one_zero
from manyveils.table.levels import Codes, Levels, dated, intervals, masked, value_or_top, written
from manyveils.table.persons import (
    Identifier,
    Persons,
    alike,
    identifiers_in,
    keys_read,
    names_beside,
    persons_of,
    refuse_changes,
    refuse_unlike,
    repeating_beside,
)
from manyveils.table.ranges import are_ranges, lower_ends
from manyveils.table.room import refuse_long_cells
from manyveils.threads import side_by_side

MANY_VALUES = 100_000
FEW_COLUMNS, MOST_LISTED = 3, 12


def encode(frame: pl.DataFrame, policy: Policy) -> Table:
    """Code every attribute but the identifiers, which only number persons; all problems are reported at once."""
    refuse_columns(frame.columns, policy)
    if frame.height == 0:
        raise DataError.at("data", "there is a header but no row.")
    names = list(policy.held)
    keys = _keys(frame, policy)
    repeating = repeating_beside(as_read(frame.select(names_beside(frame, policy)), policy), keys, policy)
    frame = frame.select(names)
    refuse_other_types(frame)
    refuse_long_cells(frame)
    frame = as_read(frame, policy)
    complete = _complete(frame, policy)
    n_dropped = 0 if complete is None else int((~complete).sum())
    if complete is not None:
        frame, keys = frame.filter(complete), keys.filter(complete) if keys.width else keys
    persons = persons_of(keys, policy)
    attributes, derived = encode_attributes(
        {name: partial(frame.get_column, name) for name in names}, policy, frame.height
    )
    refuse_changes(attributes, derived, persons, policy)
    inferred = tuple(name for name in names if policy.attributes[name].kind is None)
    return Table(
        attributes,
        frame.height,
        n_dropped,
        derived,
        inferred,
        persons=persons,
        keys=keys if policy.person else None,
        repeating=repeating,
    )


def _keys(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """The identifiers that tell persons apart."""
    keys = frame.select(keys_read(policy))
    unlike = {name: type(dtype).__name__ for name, dtype in keys.schema.items() if not alike(dtype)}
    refuse_unlike([*unlike], [*unlike.values()])
    return as_read(keys, policy)


def repeating_in(frame: pl.DataFrame, policy: Policy) -> tuple[Identifier, ...]:
    """The identifiers of a frame that repeat, so that a policy has to say who is who."""
    keys = frame.select(name for name in policy.having("identifier") if name in frame.columns)
    counted = identifiers_in(as_read(keys, policy)) if keys.width else ()
    return tuple(column for column in counted if column.repeats)


def persons_in(frame: pl.DataFrame, policy: Policy) -> Persons | None:
    """The person of each row of a frame, whatever else is missing in it; None where no two rows are of one person."""
    refuse_columns(frame.columns, policy)
    return persons_of(_keys(frame, policy), policy)


def encode_attributes(
    values: Mapping[str, Callable[[], pl.Series]], policy: Policy, n_rows: int
) -> tuple[dict[str, Attribute], dict[str, tuple[str, ...]]]:
    """All attributes, and the names of those that stand for multi-valued ones; all problems at once."""
    attributes: dict[str, Attribute] = {}
    derived: dict[str, tuple[str, ...]] = {}
    errors = list[InputError]()
    told = side_by_side(lambda name: _coded_or_why(name, values[name], policy), values, n_rows)
    for name, coded in zip(values, told, strict=True):
        if isinstance(coded, InputError):
            errors.append(coded)
            continue
        errors += [_taken(column.name) for column in coded if column.name in attributes]
        attributes.update({attribute.name: attribute for attribute in coded})
        if policy.attributes[name].multivalued:
            derived[name] = tuple(attribute.name for attribute in coded)
    kind = DataError if any(isinstance(error, DataError) for error in errors) else PolicyError
    kind.refuse(problem for error in errors for problem in error.problems)
    return attributes, derived


def _coded_or_why(name: str, get: Callable[[], pl.Series], policy: Policy) -> list[Attribute] | InputError:
    """The attributes that stand for one of the policy, or why there are none."""
    try:
        return encode_attribute(get(), policy.attributes[name], policy)
    except InputError as error:
        return error
    except pl.exceptions.PolarsError:
        # The library's own message may quote cells.
        what = "cells of its type cannot be published."
        return DataError.at(f"data: {name}", what, "Turn them into text or numbers.")


def _taken(name: str) -> DataError:
    what = "one of its 0/1 columns has the name of another attribute."
    return DataError.at(f"data: {name.partition('=')[0]}", what, "Rename the other attribute.")


def refuse_columns(columns: Sequence[str], policy: Policy) -> None:
    """Every attribute needs a column, and every column a role."""
    missing = [name for name in policy.attributes if name not in columns]
    read = columns if policy.data.columns is None else policy.data.columns
    extra = [name for name in columns if name not in policy.attributes and name in read]
    if len(missing) == len(policy.attributes):
        raise DataError([_nothing_in_common(len(columns), policy)])
    problems = [
        Problem(f"{policy.name}: attributes.{name}", "the data have no such column.", _hint(name, columns))
        for name in missing
    ]
    problems += [
        Problem(f"{policy.name}: data.columns", f"leaves {name!r} out, which has a role.", "List it too.")
        for name in policy.attributes
        if name not in read and name in columns
    ]
    problems += [
        Problem(f"{policy.name}: data.columns", f"the data have no column {name!r}.", _hint(name, columns))
        for name in read
        if name not in columns and name not in policy.attributes
    ]
    DataError.refuse([*problems, *_without_role(extra)])


def _without_role(names: Sequence[str]) -> Iterator[Problem]:
    """Columns that the policy says nothing of: one by one if they are few, otherwise in one sentence."""
    if len(names) <= FEW_COLUMNS:
        remedy = 'Add [attributes.{}] with a role; role = "drop" leaves it out.'
        for name in names:
            yield Problem("data", f"column {name!r} has no role.", remedy.format(toml_key(name)))
        return
    listed = ", ".join(map(repr, names[:MOST_LISTED]))
    rest = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    remedy = "Add [attributes.NAME] with a role for each that is needed, and list the columns that are read: "
    remedy += 'columns = ["…"] in [data] leaves out all others. manyveils init guesses a role for each.'
    yield Problem("data", f"{len(names)} columns have no role: {listed}{rest}.", remedy)


def refuse_other_types(frame: pl.DataFrame) -> None:
    """Refuse columns whose cells have no published form."""
    remedy = "Make them texts, numbers, dates or true and false, or drop the column."
    DataError.refuse(
        Problem(f"data: {name}", f"cells of type {type(dtype).__name__} cannot be published.", remedy)
        for name, dtype in frame.schema.items()
        if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object)
    )


def _nothing_in_common(width: int, policy: Policy) -> Problem:
    """The names found are not quoted: without a header line they are cells."""
    remedy = "Is there a header line, and is it the right file?"
    if width == 1:
        remedy = "The file has one column only: is the delimiter right? Set delimiter in [data]."
    what = f"none of their {width} columns is an attribute of {policy.name} ({', '.join(policy.attributes)})."
    return Problem("data", what, remedy)


def _hint(name: str, columns: Sequence[str]) -> str:
    near = [column for column in columns if column.strip().lower() == name.strip().lower()]
    return f"There is {near[0]!r}." if near else "Correct the name or drop the attribute."


def _plain(values: pl.Series) -> pl.Series:
    """The same values in a type that a csv file gives back: text, 64-bit numbers, dates, true and false."""
    dtype = values.dtype
    if dtype in (pl.Categorical, pl.Enum, pl.Null):
        return values.cast(pl.String)
    if dtype.is_integer():
        whole = values.cast(pl.Int64, strict=False)
        # Numbers too long for that are codes.
        return whole if whole.null_count() == values.null_count() else values.cast(pl.String)
    if dtype.is_numeric() and dtype != pl.Float64:
        # By way of text, so that 0.1 stays 0.1.
        values = values.cast(pl.String).cast(pl.Float64)
    return with_one_zero(values)


def as_read(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """The cells in types that a csv file gives back, with null for what is missing."""
    frame = frame.with_columns(_plain(column) for column in frame)
    return frame.with_columns(_missing_as_null(frame, policy))


def _missing_as_null(frame: pl.DataFrame, policy: Policy) -> Iterator[pl.Expr]:
    markers = ["", *policy.data.missing_markers]
    numbers = [number for number in map(as_number, policy.data.missing_markers) if number is not None]
    for name in frame.columns:
        if frame[name].dtype == pl.String:
            yield pl.when(pl.col(name).is_in(markers)).then(None).otherwise(pl.col(name)).alias(name)
        elif frame[name].dtype.is_numeric() and numbers:
            marked = pl.col(name).cast(pl.Float64).is_in(numbers)
            yield pl.when(marked).then(None).otherwise(pl.col(name)).alias(name)


def _complete(frame: pl.DataFrame, policy: Policy) -> pl.Series | None:
    """The rows that stay where rows with a missing cell are dropped; None where all stay.

    Only cells that may be published count: a row without an identifier is a person nonetheless.
    """
    if policy.data.missing == "error":
        refuse_missing({name: frame[name].null_count() for name in frame.columns}, frame.height)
    if policy.data.missing != "drop":
        return None
    complete = frame.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    if not complete.any():
        refuse_all_dropped(frame.height)
    return complete


def refuse_all_dropped(n_rows: int) -> NoReturn:
    """Refuse data of whose rows nothing is left."""
    raise DataError.at("data", f"all {n_rows} rows have a missing cell.", 'Set missing = "category".')


def refuse_missing(counts: Mapping[str, int], n_rows: int) -> None:
    """Refuse missing cells."""
    remedy = 'Fill them, or set missing = "category" or "drop" in [data].'
    DataError.refuse(
        Problem(f"data: {name}", f"{count} of {n_rows} cells are missing.", remedy)
        for name, count in counts.items()
        if count
    )


def encode_attribute(values: pl.Series, attribute: AttributeSection, policy: Policy) -> list[Attribute]:
    """The attributes that stand for one of the policy: one, or one per value if a cell may hold several."""
    if attribute.multivalued:
        return bits_of(values, attribute, policy)
    domain = values.drop_nulls().unique()
    _refuse_far_dates(domain)
    kind, domain_typed = typed(values, domain, attribute)
    _refuse_many_values(domain, kind, attribute, policy)
    order = _order(domain_typed, kind, attribute, policy)
    codes, ordered = _code(values, domain.gather(order), domain_typed.gather(order), kind)
    return [Attribute(values.name, kind, codes, ordered, _levels(ordered, codes, kind, attribute, policy))]


def _refuse_far_dates(domain: pl.Series) -> None:
    """Refuse dates that Python cannot write."""
    if domain.dtype == pl.Date and not domain.dt.year().is_between(1, 9999).all():
        what, remedy = "has dates that are not in the years 1 to 9999.", "Correct them, or give them as text."
        raise DataError.at(f"data: {domain.name}", what, remedy)


def _refuse_many_values(domain: pl.Series, kind: Kind, attribute: AttributeSection, policy: Policy) -> None:
    """Numbers are not refused here: some methods cut them into ranges by themselves."""
    is_bare = attribute.role == "quasi" and attribute.hierarchy is None and kind != "numeric"
    if is_bare and len(domain) > MANY_VALUES:
        raise PolicyError.at(
            f"{policy.name}: attributes.{domain.name}",
            f"a quasi-identifier with {len(domain):,} different values and no hierarchy.",
            'Give it one (mask = "right" for codes, a file for names), make it numeric, or leave it out: role = "drop".',
        )


def _code(values: pl.Series, raw: pl.Series, ordered: pl.Series, kind: Kind) -> tuple[Codes, pl.Series]:
    """Number the distinct values in their order and give every row its number; a missing cell gets the last."""
    if raw.dtype == pl.String:
        # Two spellings of one number ("7", "7.0") are one value.
        new = np.ones(len(raw), dtype=bool)
        if kind == "numeric" and len(raw) > 1:
            new[1:] = (ordered[1:] != ordered[:-1]).to_numpy()
        merged = np.cumsum(new) - 1
        spelled = values.cast(pl.Enum(raw)).to_physical().cast(pl.Int64).fill_null(len(raw)).to_numpy()
        codes = np.append(merged, merged[-1] + 1 if len(merged) else 0)[spelled].astype(np.int32)
        ordered = ordered.filter(pl.Series(new))
    else:
        table = pl.DataFrame({"value": raw, "code": np.arange(len(raw), dtype=np.int32)})
        joined = values.to_frame("value").join(table, on="value", how="left", maintain_order="left")
        codes = joined["code"].fill_null(len(raw)).to_numpy().astype(np.int32)
    if values.null_count():
        ordered = ordered.append(pl.Series([None], dtype=ordered.dtype))
    return codes, ordered.alias(values.name)


def _order(typed: pl.Series, kind: Kind, attribute: AttributeSection, policy: Policy) -> pl.Series:
    listed = attribute.order or [line[0] for line in policy.lines(typed.name) or ()]
    if kind == "ordinal" and not listed and typed.dtype == pl.String and are_ranges(typed):
        # As texts, 5-10 would come after 10-15.
        return (
            pl.DataFrame({"end": lower_ends(typed), "text": typed})
            .select(pl.arg_sort_by("end", "text"))
            .to_series()
        )
    if kind == "numeric" or not listed:
        return typed.arg_sort()
    rank_of = {text: rank for rank, text in enumerate(listed)}
    texts = typed.cast(pl.String)
    unlisted = sum(text not in rank_of for text in texts.to_list())
    if attribute.order and unlisted:
        where = f"{policy.name}: attributes.{typed.name}.order"
        raise PolicyError.at(where, f"misses {unlisted} of {len(typed)} values.", "List every value.")
    ranks = pl.Series([rank_of.get(text, len(rank_of)) for text in texts.to_list()], dtype=pl.Int64)
    return pl.DataFrame({"rank": ranks, "text": texts}).select(pl.arg_sort_by("rank", "text")).to_series()


def _levels(
    ordered: pl.Series, codes: Codes, kind: Kind, attribute: AttributeSection, policy: Policy
) -> Levels:
    name = ordered.name
    texts = [text if text is not None else "" for text in ordered.cast(pl.String).to_list()]
    has_missing = len(ordered) > 0 and ordered[-1] is None
    where = f"{policy.name}: attributes.{name}.hierarchy"
    lines, hierarchy = policy.lines(name), attribute.hierarchy
    if lines is not None and kind == "numeric":
        lines = spelled_as(lines, ordered)
    elif lines is None and hierarchy is not None and hierarchy.known:
        lines, unknown = known_lines(hierarchy.known, texts)
        if unknown and not lines:
            what = f"{hierarchy.known} knows none of {len(unknown)} values."
            raise PolicyError.at(where, what, "Use another hierarchy, or a file.")
        lines = lines or ((TOP, TOP),)
    if lines is not None:
        counts = np.bincount(codes, minlength=len(texts))
        return written(texts, lines, where=where, counts=counts, has_missing=has_missing)
    if hierarchy is None:
        return value_or_top(texts)
    if hierarchy.dates:
        return dated(texts, hierarchy.dates, where=where, has_missing=has_missing)
    if hierarchy.mask:
        return masked(texts, side=hierarchy.mask, where=where, has_missing=has_missing)
    if kind != "numeric":
        what = f"widths need numbers, and {name} is {kind}."
        raise PolicyError.at(where, what, 'Use kind = "numeric", mask or a file.')
    return intervals(ordered, hierarchy.widths or (), has_missing=has_missing)
