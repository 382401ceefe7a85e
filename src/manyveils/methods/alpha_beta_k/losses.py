"""What published labels lose: the values of the domain that they add to a cell's own.

A reader knows a label by its text, so labels that read alike are one here, whatever groups they were made for.
"""

from collections import Counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP, Lines
from manyveils.promises.entries import Ids, tally
from manyveils.release import Recoding
from manyveils.table import Attribute


def domain_size(attribute: Attribute, lines: Lines | None) -> int:
    """How many values there could be: the lines of the hierarchy, or the values of the data, a missing one included."""
    return len(lines) if lines else attribute.n_values


def domain_ranks(attribute: Attribute, lines: Lines | None) -> Ids:
    """How many numbers of the domain lie below each value; those of the data if the hierarchy lists none."""
    texts = pl.Series([line[0] for line in lines or ()], dtype=pl.String)
    listed = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    numbers: NDArray[np.float64] = np.unique(listed if listed.size else attribute.numbers)
    return np.searchsorted(numbers[np.isfinite(numbers)], attribute.numbers)


def mean_loss(n_leaves: Ids, n_rows: Ids, size: int) -> float:
    """The mean over cells of (values under the label - 1) / domain, from the values and the rows of every label.

    Claim: it is what `utility.distortion` measures of the release, though no code is shared.
    Tested by: tests/claims/test_alpha_beta_k_losses.py
    """
    return float((n_rows * (np.clip(n_leaves, 1, size) - 1)).sum()) / (size * max(int(n_rows.sum()), 1))


def loss_of_groups(
    attribute: Attribute, lines: Lines | None, recoding: Recoding | None, *, is_range: bool
) -> float:
    """The mean loss of a quasi-identifier whose groups share a range, a set or a label of the hierarchy."""
    if recoding is None:
        return 0.0
    labels = recoding.values.fill_null("").to_list()
    texts = list(dict.fromkeys(labels))
    number_of = {text: number for number, text in enumerate(texts)}
    shown = np.array([number_of[text] for text in labels], dtype=np.int64)[recoding.codes]
    keys, counts = tally(shown * attribute.n_values + attribute.codes, len(texts) * attribute.n_values)
    owners, codes = np.divmod(keys, attribute.n_values)
    starts = np.searchsorted(owners, np.arange(len(texts)))
    n_leaves = np.bincount(owners)
    if is_range:
        ranks = domain_ranks(attribute, lines)[codes]
        n_leaves = np.maximum.reduceat(ranks, starts) - np.minimum.reduceat(ranks, starts) + 1
    # From the top down, so that the lowest level has the last word.
    for level in reversed(range(len(attribute.levels))):
        step, under = attribute.levels[level], leaves_under(attribute, lines, level)
        numbers = step.label_of[codes]
        is_label = np.bincount(owners[numbers != numbers[starts][owners]], minlength=len(texts)) == 0
        for text in np.flatnonzero(is_label).tolist():
            number = numbers[starts[text]]
            if step.labels[number] == texts[text]:
                n_leaves[text] = under[number]
    size = domain_size(attribute, lines)
    n_rows = np.add.reduceat(counts, starts)
    return mean_loss(np.where([text == TOP for text in texts], size, n_leaves), n_rows, size)


def leaves_under(attribute: Attribute, lines: Lines | None, level: int) -> list[int]:
    """How many values of the domain each label of a level covers; a value covers itself."""
    step = attribute.levels[level]
    if lines and level and step.labels != (TOP,):
        written = Counter(line[level] for line in lines)
        return [written[label] for label in step.labels]
    return np.bincount(step.label_of, minlength=len(step.labels)).tolist()
