"""How many values of other attributes someone may rule out before one value of a group is certain."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from manyveils.policy import Promise
from manyveils.policy.guarantees import Elimination
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Ids, distinct
from manyveils.reading.sight import Sight

# As many eliminations as a policy may ask for.
DEEPEST = 5


def measure_eliminations(
    evidence: Evidence, promise: Promise, guarantee: Elimination, sight: Sight
) -> pl.DataFrame:
    """Of each group: how many eliminations it withstands, as far as is asked, its rows, and whether that is enough.

    Only attributes in the same column tell which row a value of the protected one belongs to. Of a multi-valued
    attribute, having a value can be ruled out; to rule out not having it would be to know it.
    """
    ruled_out = evidence.table.expand(guarantee.ruled_out)
    others = [name for name in sight.file.attributes if name in ruled_out]
    groups = evidence.group_numbers(sight.file, sight.key)
    values, texts = _meant(evidence, sight, sight.shows[0])
    harmless = [code for code, text in enumerate(texts) if text in promise.insensitive]
    sizes = evidence.tally(sight.file, groups)
    near = _near(evidence, sight, others, guarantee.eliminations, sizes)[groups]
    beside = {f"other_{index}": _askable(evidence, sight, name) for index, name in enumerate(others)}
    rows = (
        pl.DataFrame({"group": groups, "value": values, **beside})
        .filter(pl.Series(near))
        .unique(maintain_order=True)
    )
    withstood = np.full(sizes.size, guarantee.eliminations, dtype=np.int64)
    kept = np.ones(sizes.size, dtype=bool)
    for n_ruled_out in range(guarantee.eliminations, -1, -1):
        leaking = np.array(_leaking(rows, list(beside), n_ruled_out, harmless), dtype=np.int64)
        withstood[leaking], kept[leaking] = max(n_ruled_out - 1, 0), False
    return pl.DataFrame({"measure": withstood.astype(np.float64), "rows": sizes, "kept": kept})


def _near(evidence: Evidence, sight: Sight, others: list[str], n_ruled_out: int, sizes: Ids) -> Bools:
    """The groups in which the commonest values of other attributes fill enough rows to leave a single value."""
    same = _commonest(evidence, sight, sight.shows[0])[:, 0]
    tops = [_commonest(evidence, sight, name) for name in others]
    most = -np.sort(-np.hstack([*tops, np.zeros((sizes.size, 1), dtype=np.int64)]), axis=1)
    near: Bools = same + most[:, :n_ruled_out].sum(axis=1) >= sizes
    return near


def _commonest(evidence: Evidence, sight: Sight, name: str) -> Ids:
    """The largest counts of an attribute's values in every group, most of all first; what is silent counts too."""
    question = ("commonest", sight.file.table, sight.key, (name,))
    return evidence.remembered(question, lambda: _counted(evidence, sight, name))


def _counted(evidence: Evidence, sight: Sight, name: str) -> Ids:
    groups = evidence.group_numbers(sight.file, sight.key)
    codes, texts = _meant(evidence, sight, name)
    first, counts = distinct(groups * len(texts) + codes, evidence.weights(sight.file))
    owners = groups[first]
    order = np.lexsort((-counts, owners))
    owners, counts = owners[order], counts[order]
    rank = np.arange(owners.size) - np.searchsorted(owners, owners)
    is_top = rank < DEEPEST
    largest = np.zeros((int(groups.max(initial=-1)) + 1, DEEPEST), dtype=np.int64)
    largest[owners[is_top], rank[is_top]] = counts[is_top]
    return largest


def _askable(evidence: Evidence, sight: Sight, name: str) -> pl.Series:
    """The codes of an attribute in every row; null where nobody can rule out the value."""
    question = ("askable", sight.file.table, (), (name,))
    return evidence.remembered(question, lambda: _not_silent(evidence, sight, name))


def _not_silent(evidence: Evidence, sight: Sight, name: str) -> pl.Series:
    codes, texts = _meant(evidence, sight, name)
    original = evidence.table[name]
    absent = original.texts[original.absence] if original.absence >= 0 else None
    silent = np.array([text == absent for text in texts], dtype=bool)
    return pl.Series(codes).set(pl.Series(silent[codes]), None)


def _meant(evidence: Evidence, sight: Sight, name: str) -> tuple[Ids, list[str]]:
    """Number what the cells of an attribute mean: a label that stands for one original is that original.

    A label without a meaning is what the release says of it, since adversaries may believe that.
    """
    meanings, cover = evidence.meanings(name), evidence.cover(sight.view, sight.file, name)
    originals, texts = meanings.attribute.texts, evidence.texts(sight.file, name)
    meant = [
        originals[first] if size == 1 and not meanings.unseen(text) else text
        for text, size, first in zip(texts, cover.sizes, cover.firsts.tolist(), strict=True)
    ]
    listed = evidence.listed(sight.view, name)
    for label in np.flatnonzero(cover.sizes == 0).tolist():
        said = set() if listed is None else listed.originals(texts[label])
        meant[label] = said.pop() if len(said) == 1 else texts[label]
    number = {text: code for code, text in enumerate(dict.fromkeys(meant))}
    codes = np.array([number[text] for text in meant], dtype=np.int64)
    return codes[evidence.coded(sight.file, name).codes], list(number)


def _leaking(rows: pl.DataFrame, others: list[str], n_ruled_out: int, harmless: list[int]) -> list[int]:
    """The groups in which ruling out so many values leaves one value that needs protection."""
    if n_ruled_out == 0:
        left = rows.group_by("group").agg(pl.col("value").n_unique().alias("n_left"), pl.col("value").first())
        return _certain(left, harmless)
    rows = _within_reach(rows, others, n_ruled_out)
    return sorted(
        {group for first in others for group in _ruling_out(rows, first, others, n_ruled_out, harmless)}
    )


def _ruling_out(
    rows: pl.DataFrame, first: str, others: list[str], n_ruled_out: int, harmless: list[int]
) -> Iterator[int]:
    """The groups that leak when the first value ruled out is one of the attribute `first`."""
    if n_ruled_out == 1:
        yield from _certain(_left_without_one(rows, first), harmless)
        return
    # Of two rows with different values one must go, so one of their values must be ruled out.
    ends = (pl.col("value").arg_min(), pl.col("value").arg_max())
    grouped = rows.group_by("group", maintain_order=True)
    out = pl.concat(grouped.agg(pl.col(first).get(end).alias("out")) for end in ends)
    out = out.drop_nulls().unique(maintain_order=True).with_row_index("state").cast({"state": pl.Int64})
    left = rows.join(out, on="group").filter(pl.col(first).ne_missing(pl.col("out"))).drop("out", "group")
    states = _leaking(left.rename({"state": "group"}), others, n_ruled_out - 1, harmless)
    yield from out["group"].gather(states).to_list()


def _left_without_one(rows: pl.DataFrame, other: str) -> pl.DataFrame:
    """What is left of each group without one value of an attribute: all values but those that go with it alone."""
    beside, value = pl.col(other), pl.col("value")
    values = rows.group_by("group", "value").agg(beside.n_unique().alias("n_beside"), beside.first())
    whole = values.group_by("group").agg(pl.len().alias("n_values"), value.sum().alias("sum_values"))
    bound = values.filter((pl.col("n_beside") == 1) & beside.is_not_null()).group_by("group", other)
    gone = bound.agg(pl.len().alias("n_gone"), value.sum().alias("sum_gone"))
    # Codes add up, so that the code of a single value that is left is what remains of the sum.
    return gone.join(whole, on="group").select(
        "group",
        n_left=pl.col("n_values") - pl.col("n_gone"),
        value=pl.col("sum_values") - pl.col("sum_gone"),
    )


def _certain(left: pl.DataFrame, harmless: list[int]) -> list[int]:
    is_certain = (pl.col("n_left") == 1) & ~pl.col("value").is_in(harmless)
    return left.filter(is_certain)["group"].unique().to_list()


def _within_reach(rows: pl.DataFrame, others: list[str], n_ruled_out: int) -> pl.DataFrame:
    """The groups in which the commonest values of other attributes fill enough rows to leave a single value."""
    size = rows.group_by("group").agg(pl.len().alias("rows"))
    commonest = rows.group_by("group", "value").len().group_by("group").agg(pl.col("len").max().alias("same"))
    counts = [rows.group_by("group", pl.col(other).alias("out")).len().drop_nulls() for other in others]
    if not counts:
        return rows.clear()
    most = pl.concat(counts).group_by("group").agg(pl.col("len").top_k(n_ruled_out).sum().alias("ruled_out"))
    near = size.join(commonest, on="group").join(most, on="group")
    near = near.filter(pl.col("ruled_out") + pl.col("same") >= pl.col("rows"))
    return rows.join(near, on="group", how="semi", maintain_order="left")
