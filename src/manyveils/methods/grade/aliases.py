"""Aliases: random codes in place of values, or of groups of values, as each person chose."""

import base64

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import DataError, Problem
from manyveils.keys.key import Aliases
from manyveils.methods.work import Work
from manyveils.table import Column

ACTUAL, GENERALIZED, HIDDEN = 1, 2, 3
LENGTH = 10


def choices_of(work: Work, default: int) -> NDArray[np.int64]:
    """Each person's choice; the default where there is none, or no column of choices."""
    names = work.policy.having("choice")
    if not names:
        return np.full(work.table.n_rows, default)
    column = work.table[names[0]]
    meant = {
        "": default,
        "1": ACTUAL,
        "2": GENERALIZED,
        "3": HIDDEN,
        "1.0": ACTUAL,
        "2.0": GENERALIZED,
        "3.0": HIDDEN,
    }
    wrong = [code for code, text in enumerate(column.texts) if text not in meant]
    if wrong:
        n_rows = int(column.counts[wrong].sum())
        raise DataError(
            [
                Problem(
                    f"data: {names[0]}",
                    f"{n_rows} cells are no choice.",
                    "A choice is 1, 2 or 3, or missing.",
                )
            ]
        )
    return np.array([meant[text] for text in column.texts], dtype=np.int64)[column.codes]


def aliased(
    work: Work, column: Column, choices: NDArray[np.int64]
) -> tuple[NDArray[np.int32], tuple[str | None, ...], Aliases]:
    """What is published of a column: a number per row, what each number reads, and the key.

    A missing cell stays missing, whatever was chosen.
    """
    n_values = column.n_values
    parents = column.levels[min(1, len(column.levels) - 1)]
    n_parents = len(parents.labels)
    codes = _codes(work, column, n_values + n_parents)
    own, of_value, of_parent = list(column.texts), codes[:n_values], codes[n_values:]
    labels = (*(text or None for text in own), *of_value, *of_parent)
    numbers = np.where(
        choices == ACTUAL,
        column.codes,
        np.where(choices == HIDDEN, n_values + column.codes, 2 * n_values + parents.label_of[column.codes]),
    )
    if column.has_missing:
        numbers = np.where(column.codes == n_values - 1, n_values - 1, numbers)
    used = np.bincount(numbers, minlength=len(labels)) > 0
    values = {code: own[place] for place, code in enumerate(of_value) if used[n_values + place]}
    groups = {
        code: (_named(parents.labels[place], n_parents), _members(column, place))
        for place, code in enumerate(of_parent)
        if used[2 * n_values + place]
    }
    return numbers.astype(np.int32), labels, Aliases(values, groups)


def _named(label: str, n_labels: int) -> str:
    return "any value" if n_labels == 1 and label == "*" else label


def _members(column: Column, place: int) -> tuple[str, ...]:
    level = column.levels[min(1, len(column.levels) - 1)]
    texts = (column.texts[code] for code in np.flatnonzero(level.label_of == place).tolist())
    return tuple(text for text in texts if text)


def _codes(work: Work, column: Column, n_codes: int) -> list[str]:
    """As many codes, all different and like no value; without the seed nothing can be said of one from others."""
    codes: list[str] = []
    taken = set(column.texts)
    turn = 0
    while len(codes) < n_codes:
        code = base64.b32encode(work.streams.secret(f"alias {column.name} {turn}")).decode()[:LENGTH]
        turn += 1
        if code not in taken:
            taken.add(code)
            codes.append(code)
    return codes
