"""The quasi-identifiers as they are cut: how the values of a group are written, and what that loses."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.cuts import LABEL, RANGE, SET
from manyveils.promises.entries import Ids
from manyveils.table.attributes import Attribute

Labels = Literal["auto", "ranges", "sets", "hierarchy"]


@dataclass(frozen=True)
class Cutting:
    """Codes of the quasi-identifiers, and per attribute the style and the measures of loss."""

    codes: NDArray[np.integer]
    styles: Ids
    numbers: NDArray[np.float64]
    number_starts: Ids
    missing: Ids
    wholes: NDArray[np.float64]
    labels: NDArray[np.int32]
    label_starts: Ids
    losses: NDArray[np.float64]
    loss_starts: Ids
    n_levels: Ids

    @property
    def measures(self) -> tuple[NDArray[np.generic], ...]:
        """The arrays that say what a group loses: all but the codes, in the order the kernel takes them."""
        return tuple(vars(self).values())[1:]


def style_of(column: Attribute, labels: Labels) -> int:
    """How a group of an attribute's values is written: a range, a set, or a label of the hierarchy."""
    if labels == "hierarchy":
        return LABEL
    if labels == "sets":
        return SET
    if column.kind == "numeric":
        return RANGE
    return LABEL if labels == "auto" and len(column.levels) > 2 else SET


def cutting_of(columns: tuple[Attribute, ...], n_leaves: tuple[int, ...], labels: Labels) -> Cutting:
    """Lay out the attributes; `n_leaves` are the sizes of their domains, a set's loss is measured by."""
    styles = [style_of(column, labels) for column in columns]
    numbers = [_numbers(column) for column in columns]
    wholes = [
        max(size - 1, 0) if style == SET else _span(column)
        for column, style, size in zip(columns, styles, n_leaves, strict=True)
    ]
    depth = max((len(column.levels) for column in columns), default=0)
    label_parts, loss_parts = [], []
    label_starts = np.zeros((len(columns), depth), dtype=np.int64)
    loss_starts = np.zeros((len(columns), depth), dtype=np.int64)
    n_labels = n_losses = 0
    for index, column in enumerate(columns):
        for level, step in enumerate(column.levels.each if styles[index] == LABEL else ()):
            label_starts[index, level], loss_starts[index, level] = n_labels, n_losses
            label_parts.append(step.label_of)
            loss_parts.append(step.loss)
            n_labels, n_losses = n_labels + step.label_of.size, n_losses + step.loss.size
    return Cutting(
        codes=np.stack([column.codes for column in columns]),
        styles=np.array(styles, dtype=np.int64),
        numbers=np.concatenate(numbers),
        number_starts=np.cumsum([0, *(part.size for part in numbers[:-1])]),
        missing=np.array([column.n_values - 1 if column.has_missing else -1 for column in columns]),
        wholes=np.array(wholes, dtype=np.float64),
        labels=np.concatenate([*label_parts, np.zeros(1, dtype=np.int32)]),
        label_starts=label_starts,
        losses=np.concatenate([*loss_parts, np.zeros(1)]),
        loss_starts=loss_starts,
        n_levels=np.array([len(column.levels) for column in columns]),
    )


def _numbers(column: Attribute) -> NDArray[np.float64]:
    return column.numbers if column.kind == "numeric" else np.arange(column.n_values, dtype=np.float64)


def _span(column: Attribute) -> float:
    numbers = _numbers(column)
    real = numbers[~np.isnan(numbers)]
    return float(real.max() - real.min()) if real.size else 0.0
