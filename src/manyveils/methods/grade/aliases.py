"""Aliases: random codes in place of values, or of groups of values, as each person chose."""

import base64

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, Problem
from manyveils.keys.choices import ACTUAL, HIDDEN, PSEUDONYM_LENGTH, Choices, choices_of, is_choice
from manyveils.keys.key import Pseudonyms
from manyveils.policy.sections import Kind
from manyveils.promises.work import Work
from manyveils.release.labelling import Lookup
from manyveils.table import Attribute
from manyveils.table.levels import Codes, value_or_top


def checked_choices(work: Work) -> Choices:
    """The choices of a table, all of which can be understood."""
    choices = choices_of(work.policy, work.table.attributes)
    if choices.attribute is not None:
        attribute = work.table[choices.attribute]
        wrong = [code for code, text in enumerate(attribute.texts) if not is_choice(text)]
        if wrong:
            what = f"{int(attribute.counts[wrong].sum())} cells hold something other than a choice."
            remedy = "Write 1, 2 or 3 into them, or leave them empty."
            raise DataError([Problem(f"data: {choices.attribute}", what, remedy)])
    return choices


def aliased(work: Work, column: Attribute, choices: Choices) -> tuple[Lookup, Pseudonyms]:
    """What is published of a column for each choice and value, and the key; decided from how they occur together.

    A missing cell stays missing, whatever was chosen.
    """
    n_values = column.n_values
    parents = column.levels[min(1, len(column.levels) - 1)]
    n_parents = len(parents.labels)
    codes = _codes(work, column, n_values + n_parents)
    own, of_value, of_parent = list(column.texts), codes[:n_values], codes[n_values:]
    labels = (*(text or None for text in own), *of_value, *of_parent)
    numbers = _numbers(column, parents.label_of, choices)
    used = np.zeros(len(labels), dtype=bool)
    used[numbers[_occurring(work, column, choices)]] = True
    values = {code: own[number] for number, code in enumerate(of_value) if used[n_values + number]}
    groups = {
        code: (_named(parents.labels[number], n_parents), _members(column, number))
        for number, code in enumerate(of_parent)
        if used[2 * n_values + number]
    }
    return _lookup(column.name, numbers, labels, used, choices), Pseudonyms(values, groups)


def _numbers(column: Attribute, parent_of: Codes, choices: Choices) -> NDArray[np.int64]:
    """What is read for each choice and value: a number below the values, the codes of values or those of parents."""
    n_values, every, meant = column.n_values, np.arange(column.n_values), choices.meant[:, np.newaxis]
    hidden, generalized = n_values + every, 2 * n_values + parent_of
    numbers = np.where(meant == ACTUAL, every, np.where(meant == HIDDEN, hidden, generalized))
    if column.has_missing:
        numbers[:, -1] = n_values - 1
    return numbers


def _occurring(work: Work, column: Attribute, choices: Choices) -> NDArray[np.bool_]:
    """Which values occur with which choices."""
    if choices.attribute is None:
        return column.counts[np.newaxis, :] > 0
    both = work.counts((column.name, choices.attribute))
    keys = both[choices.attribute].codes.astype(np.int64) * column.n_values + both[column.name].codes
    span = choices.meant.size * column.n_values
    return (np.bincount(keys, minlength=span) > 0).reshape(-1, column.n_values)


def _lookup(
    name: str,
    numbers: NDArray[np.int64],
    labels: tuple[str | None, ...],
    used: NDArray[np.bool_],
    choices: Choices,
) -> Lookup:
    """A column of the labels that occur, in the order of their texts, a missing one last."""
    ordered = sorted(
        np.flatnonzero(used).tolist(), key=lambda number: (labels[number] is None, labels[number] or "")
    )
    rank = np.zeros(len(labels), dtype=np.int32)
    rank[ordered] = np.arange(len(ordered))
    domain = pl.Series(name, [labels[number] for number in ordered], dtype=pl.String)
    return lookup_of("categorical", domain, rank[numbers], choices.attribute)


def lookup_of(kind: Kind, domain: pl.Series, numbers: NDArray[np.int32], choice: str | None = None) -> Lookup:
    """Labels that stand for themselves, or for anything."""
    texts = [text if text is not None else "" for text in domain.cast(pl.String).to_list()]
    return Lookup(kind, domain, value_or_top(texts), numbers, choice)


def _named(label: str, n_labels: int) -> str:
    return "any value" if n_labels == 1 and label == "*" else label


def _members(column: Attribute, label: int) -> tuple[str, ...]:
    level = column.levels[min(1, len(column.levels) - 1)]
    texts = (column.texts[code] for code in np.flatnonzero(level.label_of == label).tolist())
    return tuple(text for text in texts if text)


def _codes(work: Work, column: Attribute, n_codes: int) -> list[str]:
    """As many codes, all different and like no value; without the seed nothing can be said of one from others."""
    codes: list[str] = []
    taken = set(column.texts)
    turn = 0
    while len(codes) < n_codes:
        code = base64.b32encode(work.streams.secret(f"alias {column.name} {turn}")).decode()[
            :PSEUDONYM_LENGTH
        ]
        turn += 1
        if code not in taken:
            taken.add(code)
            codes.append(code)
    return codes
