"""How many values of other attributes someone may rule out before one value of a group is certain."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Promise
from manyveils.policy.guarantees import Elimination
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Numbers
from manyveils.reading.meanings import texts_of
from manyveils.reading.people import distinct
from manyveils.reading.sight import Sight

# As many eliminations as a policy may ask for.
DEEPEST = 5


def measure_eliminations(evidence: Evidence, promise: Promise, seen: Sight) -> pl.DataFrame:
    """Of each group: how many eliminations it withstands, as far as is asked, its rows, and whether that is enough.

    Only attributes in the same column tell which row a value of the protected one belongs to. Of a multi-valued
    attribute, having a value can be ruled out; to rule out not having it would be to know it.
    """
    guarantee = promise.guarantee
    assert isinstance(guarantee, Elimination)
    ruled_out = evidence.table.expand(guarantee.ruled_out)
    others = [name for name in seen.file.attributes if name in ruled_out]
    groups = evidence.group_numbers(seen.file, seen.key)
    values, texts = _meant(evidence, seen, seen.shows[0])
    harmless = [code for code, text in enumerate(texts) if text in promise.insensitive]
    sizes = evidence.tally(seen.file, groups)
    near = _near(evidence, seen, others, guarantee.eliminations, sizes)[groups]
    parts = {f"other_{place}": _askable(evidence, seen, name) for place, name in enumerate(others)}
    asked = {name: part.filter(pl.Series(near)) for name, part in parts.items()}
    rows = pl.DataFrame({"group": groups[near], "value": values[near], **asked}).unique(maintain_order=True)
    withstood = np.full(sizes.size, guarantee.eliminations, dtype=np.int64)
    kept = np.ones(sizes.size, dtype=bool)
    for n_ruled_out in range(guarantee.eliminations, -1, -1):
        leaking = np.array(_leaking(rows, list(parts), n_ruled_out, harmless), dtype=np.int64)
        withstood[leaking], kept[leaking] = max(n_ruled_out - 1, 0), False
    return pl.DataFrame({"measure": withstood.astype(np.float64), "rows": sizes, "kept": kept})


def _near(
    evidence: Evidence, seen: Sight, others: list[str], n_ruled_out: int, sizes: Numbers
) -> NDArray[np.bool_]:
    """The groups in which the commonest values of other attributes fill enough rows to leave a single value."""
    same = _commonest(evidence, seen, seen.shows[0])[:, 0]
    tops = [_commonest(evidence, seen, name) for name in others]
    most = -np.sort(-np.hstack([*tops, np.zeros((sizes.size, 1), dtype=np.int64)]), axis=1)
    near: NDArray[np.bool_] = same + most[:, :n_ruled_out].sum(axis=1) >= sizes
    return near


def _commonest(evidence: Evidence, seen: Sight, name: str) -> Numbers:
    """The largest counts of an attribute's values in every group, most of all first; what is silent counts too."""
    question = ("commonest", seen.file.table, seen.key, (name,))
    return evidence.remembered(question, lambda: _counted(evidence, seen, name))


def _counted(evidence: Evidence, seen: Sight, name: str) -> Numbers:
    groups = evidence.group_numbers(seen.file, seen.key)
    codes, texts = _meant(evidence, seen, name)
    first, counts = distinct(groups * len(texts) + codes, evidence.weights(seen.file))
    owners = groups[first]
    order = np.lexsort((-counts, owners))
    owners, counts = owners[order], counts[order]
    place = np.arange(owners.size) - np.searchsorted(owners, owners)
    largest = np.zeros((int(groups.max(initial=-1)) + 1, DEEPEST), dtype=np.int64)
    largest[owners[place < DEEPEST], place[place < DEEPEST]] = counts[place < DEEPEST]
    return largest


def _askable(evidence: Evidence, seen: Sight, name: str) -> pl.Series:
    """The codes of an attribute in every row; null where nobody can rule out the value."""
    question = ("askable", seen.file.table, (), (name,))
    return evidence.remembered(question, lambda: _asked(evidence, seen, name))


def _asked(evidence: Evidence, seen: Sight, name: str) -> pl.Series:
    codes, texts = _meant(evidence, seen, name)
    column = evidence.table[name]
    absent = column.texts[column.absence] if column.absence >= 0 else None
    silent = np.array([text == absent for text in texts], dtype=bool)
    return pl.Series(codes).set(pl.Series(silent[codes]), None)


def _meant(evidence: Evidence, seen: Sight, name: str) -> tuple[Numbers, list[str]]:
    """Number what the cells of an attribute mean: a label that stands for one original is that original."""
    field = evidence.coded(seen.file, name)
    meanings, cover = evidence.meanings(name), evidence.cover(seen.view, seen.file, name)
    originals = meanings.attribute.texts
    meant = [
        originals[first] if size == 1 and not meanings.unseen(text) else text
        for text, size, first in zip(texts_of(field.values), cover.sizes, cover.firsts.tolist(), strict=True)
    ]
    number = {text: code for code, text in enumerate(dict.fromkeys(meant))}
    return np.array([number[text] for text in meant], dtype=np.int64)[field.codes], list(number)


def _leaking(rows: pl.DataFrame, others: list[str], n_ruled_out: int, harmless: list[int]) -> list[int]:
    """The groups in which ruling out so many values leaves one value that needs protection."""
    if n_ruled_out == 0:
        left = rows.group_by("group").agg(pl.col("value").n_unique().alias("n_left"), pl.col("value").first())
        return _certain(left, harmless)
    rows = _within_reach(rows, others, n_ruled_out)
    found = {group for other in others for group in _ruling_out(rows, other, others, n_ruled_out, harmless)}
    return sorted(found)


def _ruling_out(
    rows: pl.DataFrame, other: str, others: list[str], n_ruled_out: int, harmless: list[int]
) -> Iterator[int]:
    """The groups that leak when the first value ruled out is one of the attribute `other`."""
    if n_ruled_out == 1:
        yield from _certain(_left_without_one(rows, other), harmless)
        return
    # Of two rows with different values one must go, so one of their values must be ruled out.
    ends = (
        pl.col(other).get(place).alias("out")
        for place in (pl.col("value").arg_min(), pl.col("value").arg_max())
    )
    each = pl.concat(rows.group_by("group", maintain_order=True).agg(end) for end in ends)
    each = each.drop_nulls().unique(maintain_order=True).with_row_index("state").cast({"state": pl.Int64})
    left = rows.join(each, on="group").filter(pl.col(other).ne_missing(pl.col("out"))).drop("out", "group")
    states = _leaking(left.rename({"state": "group"}), others, n_ruled_out - 1, harmless)
    yield from each["group"].gather(states).to_list()


def _left_without_one(rows: pl.DataFrame, other: str) -> pl.DataFrame:
    """What is left of each group without one value of an attribute: all values but those that go with it alone."""
    values = rows.group_by("group", "value").agg(
        pl.col(other).n_unique().alias("n_beside"), pl.col(other).first()
    )
    whole = values.group_by("group").agg(
        pl.len().alias("n_values"), pl.col("value").sum().alias("sum_values")
    )
    bound = values.filter((pl.col("n_beside") == 1) & pl.col(other).is_not_null()).group_by("group", other)
    gone = bound.agg(pl.len().alias("n_gone"), pl.col("value").sum().alias("sum_gone"))
    # Codes add up, so that the code of a single value that is left is what remains of the sum.
    return gone.join(whole, on="group").select(
        "group",
        n_left=pl.col("n_values") - pl.col("n_gone"),
        value=pl.col("sum_values") - pl.col("sum_gone"),
    )


def _certain(left: pl.DataFrame, harmless: list[int]) -> list[int]:
    one = left.filter((pl.col("n_left") == 1) & ~pl.col("value").is_in(harmless))
    return one["group"].unique().to_list()


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
