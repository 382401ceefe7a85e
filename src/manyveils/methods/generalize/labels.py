"""Cut a whole table into groups, and write each group's values as a range, a set, or a label of the hierarchy."""

from collections import defaultdict
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.kernels.cuts import LABEL, RANGE
from manyveils.methods.generalize.cutting import Labels, cutting_of, style_of
from manyveils.methods.generalize.mondrian import cut_apart
from manyveils.methods.generalize.together import Together
from manyveils.policy import Promise
from manyveils.policy.hierarchies import TOP
from manyveils.promises.entries import Ids, dense, distinct, examples, numbered
from manyveils.promises.keeping import watch
from manyveils.promises.sightings import about_constants, sightings_of
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release import Recoding, draft
from manyveils.release.dealing import arranged, ranks_within
from manyveils.table.attributes import Attribute
from manyveils.table.order import in_order


def cut_table(
    work: Work, promises: tuple[Promise, ...], known: tuple[str, ...], *, labels: Labels, relaxed: bool
) -> Ids:
    """The group of every row, by Mondrian; the whole table must keep the promises."""
    columns, watches = tuple(work.table[name] for name in work.quasi), watch(promises, work.table, known)
    cutting = cutting_of(columns, tuple(map(work.n_leaves, work.quasi)), labels)
    progress = partial(work.progress, "cutting")
    groups, cuts = cut_apart(cutting, _near_order(work), watches, relaxed=relaxed, progress=progress)
    constant = about_constants(work.policy, work.table, promises)
    sightings = sightings_of(constant, work.table, known)
    together = Together(watches, sightings, lambda groups: alike(work, groups, labels))
    return together.settled(groups, cuts)


def alike(work: Work, groups: Ids, labels: Labels) -> Ids:
    """A number for each group of rows, the same for groups whose quasi-identifiers are published alike."""
    recodings, firsts = label_groups(work, groups, labels, work.quasi), first_rows(groups)
    columns = []
    for name in work.quasi:
        recoding, codes = recodings.get(name), work.table[name].codes[firsts].astype(np.int64)
        if recoding is not None:
            # Labels are read by their texts.
            numbers = recoding.values.fill_null("").rank("dense").to_numpy().astype(np.int64)
            codes = numbers[recoding.codes[firsts]]
        columns.append(codes)
    sizes = tuple(int(codes.max(initial=0)) + 1 for codes in columns)
    return dense(tuple(columns), sizes, firsts.size)[0]


def first_rows(groups: Ids) -> Ids:
    """The first row of each group.

    >>> first_rows(np.array([1, 0, 1]))
    array([1, 0])
    """
    return groups.size - 1 - examples(groups[::-1], int(groups.max(initial=-1)) + 1)


def label_groups(work: Work, groups: Ids, labels: Labels, names: tuple[str, ...]) -> dict[str, Recoding]:
    """The recodings that give every group of rows its own ranges, sets or labels."""
    columns, n_groups = [work.table[name] for name in names], int(groups.max(initial=-1)) + 1
    recodings = {
        column.name: recoding_of_groups(column, groups, n_groups, style_of(column, labels))
        for column in columns
    }
    return {name: recoding for name, recoding in recodings.items() if recoding is not None}


def _near_order(work: Work) -> Ids:
    """All rows with like quasi-identifiers next to each other, and equal ones shuffled.

    Where a cut must part equal values, the rows that stay behind are then alike in other attributes too, and those of
    one person stand together.
    """
    shuffled = _by_person(work.table.persons, shuffled_rows(work, "mondrian.order"))
    keys, _ = numbered(work.table, work.quasi)
    near: Ids = shuffled[in_order(keys[shuffled])]
    return near


def _by_person(persons: Ids | None, rows: Ids) -> Ids:
    """The listed rows person after person, in the order in which persons first come up."""
    if persons is None:
        return rows
    firsts = np.zeros(int(persons.max(initial=-1)) + 1, dtype=np.int64)
    firsts[persons[rows[::-1]]] = np.arange(rows.size)[::-1]
    return arranged(rows, firsts[persons])


def recoding_of_groups(column: Attribute, groups: Ids, n_groups: int, style: int) -> Recoding | None:
    """Give every group one published value for an attribute; nothing if every group has one value only."""
    owners, values = _members(column, groups, n_groups)
    if owners.size == n_groups:
        return None
    if style == RANGE:
        return _unmistaken(column, _ranges(column, groups, owners, values, n_groups))
    if style == LABEL:
        return _unmistaken(column, _hierarchy_labels(column, groups, owners, values, n_groups))
    torn = _torn(column.texts)
    return _unmistaken(column, _sets(column, groups, owners, values, n_groups), torn)


def _torn(texts: tuple[str, ...]) -> frozenset[str]:
    """Values that read, in a set, like several of which one is a value too; and those of which they are several."""
    words = {text: {*text.split(", ")} for text in texts if ", " in text}
    known = {*texts} if words else set()
    return frozenset(
        name for text, parts in words.items() if parts & known for name in (text, *(parts & known))
    )


def _unmistaken(column: Attribute, recoding: Recoding, torn: frozenset[str] = frozenset()) -> Recoding:
    """The recoding with `*` in place of labels that read like a value or like another label beside them.

    Claim: what one text stands for, over all groups, is what one of them meant by it.
    Why: labels that are written alike stay only if one of them covers all that the others do, and no label is a set
    of values that could be read as others.
    Tested by: tests/claims/test_labels_unmistaken.py
    """
    texts = [text or "" for text in recoding.labels]
    if recoding.covers is None or (len({*texts}) == len(texts) and not torn):
        return recoding
    numbers, originals = recoding.covers
    covered: list[set[str]] = [set() for _ in texts]
    for number, original in zip(numbers.tolist(), originals, strict=True):
        covered[number].add(original)
    united: dict[str, set[str]] = defaultdict(set)
    for text, own in zip(texts, covered, strict=True):
        united[text] |= own
    meant = {text for text, own in zip(texts, covered, strict=True) if own == united[text]}
    lost = [
        own != {text} and (text not in meant or not torn.isdisjoint(own))
        for text, own in zip(texts, covered, strict=True)
    ]
    return _starred(column, recoding, np.array(lost)) if any(lost) else recoding


def _starred(column: Attribute, recoding: Recoding, lost: NDArray[np.bool_]) -> Recoding:
    """The recoding with `*` in place of some labels."""
    assert recoding.covers is not None
    numbers, originals = recoding.covers
    all_texts, every = (*recoding.labels, TOP), np.arange(column.n_values)
    codes = np.where(lost[recoding.codes], lost.size, recoding.codes).astype(np.int32)
    stays = ~lost[numbers]
    added, added_texts = _present(column, np.full(every.size, lost.size), every)
    kept = tuple(text for text, is_kept in zip(originals, stays.tolist(), strict=True) if is_kept)
    return Recoding(codes, all_texts, (np.append(numbers[stays], added), kept + added_texts))


def _members(column: Attribute, groups: Ids, n_groups: int) -> tuple[Ids, Ids]:
    """The different (group, value) pairs, group after group, values in order."""
    return np.divmod(distinct(groups * column.n_values + column.codes), column.n_values)


def _ranges(column: Attribute, groups: Ids, owners: Ids, values: Ids, n_groups: int) -> Recoding:
    first, last = _ends(owners, n_groups)
    low, high = values[first], values[last]
    if column.has_missing:
        # Numbers together with a missing value have no range: the cell is suppressed.
        mixed = (high == column.n_values - 1) & (low != high)
        low, high = np.where(mixed, 0, low), np.where(mixed, column.n_values - 1, high)
    pairs, label_of_group = np.unique(low * column.n_values + high, return_inverse=True)
    lows, highs = np.divmod(pairs, column.n_values)
    labels = tuple(_range_text(column, a, b) for a, b in zip(lows.tolist(), highs.tolist(), strict=True))
    n_pairs = int((highs - lows + 1).sum())
    covers = None
    if n_pairs <= draft.MOST_LISTED:
        numbers = np.repeat(np.arange(pairs.size), highs - lows + 1)
        covers = _present(column, numbers, lows[numbers] + ranks_within(highs - lows + 1))
    return Recoding(label_of_group[groups].astype(np.int32), labels, covers)


def _range_text(column: Attribute, low: int, high: int) -> str | None:
    if column.has_missing and high == column.n_values - 1:
        return None if low == high else TOP
    return column.texts[low] if low == high else f"[{column.texts[low]}, {column.texts[high]}]"


def _ends(owners: Ids, n_groups: int) -> tuple[Ids, Ids]:
    first = np.searchsorted(owners, np.arange(n_groups))
    return first, np.append(first[1:], owners.size) - 1


def _sets(column: Attribute, groups: Ids, owners: Ids, values: Ids, n_groups: int) -> Recoding:
    texts = pl.Series(column.texts).gather(values)
    members = pl.DataFrame({"group": owners, "text": texts, "value": values})
    joined = members.group_by("group", maintain_order=True).agg(pl.col("text").str.join(", "), pl.len())
    written = joined.select(
        pl.when(pl.col("len") == 1).then(pl.col("text")).otherwise("{" + pl.col("text") + "}").alias("label")
    )["label"]
    # Two sets may be written alike if values hold commas, so their members tell them apart.
    signature = members.group_by("group", maintain_order=True).agg(
        pl.col("value").cast(pl.String).str.join(",")
    )["value"]
    distinct = signature.unique(maintain_order=True)
    label_of_group = signature.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    firsts = np.full(len(distinct), n_groups, dtype=np.int64)
    np.minimum.at(firsts, label_of_group, np.arange(n_groups))
    labels = tuple(label or None for label in written.gather(firsts).to_list())
    stands_for = firsts[label_of_group[owners]] == owners
    covers = _present(column, label_of_group[owners[stands_for]], values[stands_for])
    return Recoding(label_of_group[groups].astype(np.int32), labels, covers)


def _hierarchy_labels(column: Attribute, groups: Ids, owners: Ids, values: Ids, n_groups: int) -> Recoding:
    first, _ = _ends(owners, n_groups)
    level_of, label_of = np.full(n_groups, -1, dtype=np.int64), np.zeros(n_groups, dtype=np.int64)
    for number, level in enumerate(column.levels.each):
        numbers_at = level.label_of[values].astype(np.int64)
        differs = numbers_at != numbers_at[first][owners]
        alike = (np.bincount(owners[differs], minlength=n_groups) == 0) & (level_of < 0)
        level_of[alike], label_of[alike] = number, numbers_at[first][alike]
    width = max(column.levels.sizes)
    pairs, label_of_group = np.unique(level_of * width + label_of, return_inverse=True)
    steps = [(column.levels[level], label) for level, label in zip(*np.divmod(pairs, width), strict=True)]
    texts = tuple(step.labels[label] or None for step, label in steps)
    parts = [np.flatnonzero(step.label_of == label) for step, label in steps]
    covers = _present(
        column, np.repeat(np.arange(pairs.size), [part.size for part in parts]), np.concatenate(parts)
    )
    return Recoding(label_of_group[groups].astype(np.int32), texts, covers)


def _present(column: Attribute, numbers: Ids, values: Ids) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Pairs of label and original, for the originals that occur."""
    occurs = column.counts[values] > 0
    return numbers[occurs], tuple(column.texts[value] for value in values[occurs].tolist())
