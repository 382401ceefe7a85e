"""How many values of other attributes someone may rule out before one value of a group is certain."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl

from manyveils.audits.members import members_of
from manyveils.audits.set_valued import holders_in, lacking
from manyveils.policy import Promise
from manyveils.policy.guarantees import AlphaDifference, Elimination
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Floats, Ids, distinct, ranges
from manyveils.reading.persons import persons_in
from manyveils.reading.sight import Sight


def measure_eliminations(
    evidence: Evidence, promise: Promise, guarantee: Elimination, sight: Sight
) -> pl.DataFrame | None:
    """Of each group: how many eliminations it withstands, as far as is asked, its rows, and whether that is enough.

    Only attributes in the same column tell which row a value of the protected one belongs to. Of a multi-valued
    attribute, having a value can be ruled out; to rule out not having it would be to know it.
    Where persons have several rows, what is left must be two persons with two values; None where nobody can tell whose
    the rows are.
    """
    others = _others(evidence, guarantee, sight)
    groups = evidence.group_numbers(sight.file, sight.key)
    values, texts = _meant(evidence, sight, sight.shows[0])
    harmless = [code for code, text in enumerate(texts) if text in promise.insensitive]
    sizes = evidence.tally(sight.file, groups)
    same = _commonest_harmful(evidence, sight, values, harmless)
    most = _most_ruled_out(evidence, sight, others, guarantee.eliminations)
    near = (same + most >= sizes)[groups]
    beside = {f"other_{index}": _askable(evidence, sight, name) for index, name in enumerate(others)}
    rows = pl.DataFrame({"group": groups, "value": values, "harms": ~np.isin(values, harmless), **beside})
    if isinstance(guarantee, AlphaDifference):
        weights = evidence.weights(sight.file)
        times = rows.with_columns(times=pl.lit(1) if weights is None else pl.Series(weights))
        kept = _never_differs_by_one(times, list(beside), sizes.size)
        return pl.DataFrame({"measure": kept.astype(float), "rows": sizes, "kept": kept})
    withstood, kept = _withstood(rows.filter(pl.Series(near)), guarantee, sizes.size)
    if evidence.table.persons is not None:
        members = members_of(evidence, sight.view, sight.file, sight.key)
        if members is None:
            return None
        hers = np.zeros(sizes.size, dtype=np.int64)
        np.maximum.at(hers, members.groups, members.rows)
        of_persons = rows.with_columns(value=pl.Series(persons_in(evidence, sight.view, sight.file)))
        left = _withstood(of_persons.filter(pl.Series((hers + most >= sizes)[groups])), guarantee, sizes.size)
        withstood, kept, sizes = np.minimum(withstood, left[0]), kept & left[1], members.sizes
    return pl.DataFrame({"measure": withstood, "rows": sizes, "kept": kept})


def measure_eliminations_apart(
    evidence: Evidence, promise: Promise, guarantee: Elimination, sight: Sight
) -> pl.DataFrame:
    """The same of every value of a multi-valued attribute that is not harmless: having it is what may become certain.

    The columns are those of `measured_apart`. A group of which too few have a value is not looked at for it.
    """
    holders = holders_in(evidence, sight, evidence.table.home(promise.protects[0]))
    others = _others(evidence, guarantee, sight)
    groups = evidence.group_numbers(sight.file, sight.key)
    sizes = evidence.tally(sight.file, groups)
    most = _most_ruled_out(evidence, sight, others, guarantee.eliminations)
    values, owners, counts = holders.counted(evidence, sight)
    near = counts + most[owners] >= sizes[owners]
    values, owners = values[near], owners[near]
    listed, members = _rows_of(groups, owners)
    beside = {
        f"other_{index}": _askable(evidence, sight, name).gather(members) for index, name in enumerate(others)
    }
    has = holders.have(values[listed], members).astype(np.int64)
    rows = pl.DataFrame({"group": listed, "value": has, "harms": has > 0, **beside})
    withstood, kept = _withstood(rows, guarantee, owners.size)
    judged = {"value": values, "measure": withstood, "rows": sizes[owners], "kept": kept}
    withstand = pl.lit(float(guarantee.eliminations))
    return pl.concat(
        [
            pl.DataFrame(judged).with_columns(times=pl.lit(1, dtype=pl.Int64), all_rows=pl.col("rows")),
            lacking(values, owners, sizes, len(holders.names)).select(
                "value",
                measure=withstand,
                rows="size",
                kept=pl.lit(value=True),
                times="times",
                all_rows="all_rows",
            ),
        ]
    )


def _others(evidence: Evidence, guarantee: Elimination, sight: Sight) -> list[str]:
    ruled_out = {*evidence.table.expand(guarantee.ruled_out)}
    return [name for name in sight.file.attributes if name in ruled_out]


def _rows_of(groups: Ids, wanted: Ids) -> tuple[Ids, Ids]:
    """The rows of each wanted group, one group after the other: the place in the list of the wanted, and the row."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=int(wanted.max(initial=-1)) + 1)
    starts = np.cumsum(sizes) - sizes
    return np.repeat(np.arange(wanted.size), sizes[wanted]), order[ranges(starts[wanted], sizes[wanted])]


def _withstood(rows: pl.DataFrame, guarantee: Elimination, n_groups: int) -> tuple[Floats, Bools]:
    """How many eliminations each group withstands, and whether that is enough; of most, no rows are given.

    A group leaks when one value is left, and some row with it harms.
    """
    withstood = np.full(n_groups, float(guarantee.eliminations))
    kept = np.ones(n_groups, dtype=bool)
    rows = rows.unique(maintain_order=True)
    asked = [name for name in rows.columns if name not in ("group", "value", "harms")]
    others = [name for name in asked if rows[name].null_count() < rows.height]
    for n_ruled_out in range(guarantee.eliminations if rows.height else -1, -1, -1):
        leaking = np.array(_leaking(rows, others, n_ruled_out), dtype=np.int64)
        withstood[leaking], kept[leaking] = max(n_ruled_out - 1, 0), False
    return withstood, kept


def _never_differs_by_one(rows: pl.DataFrame, others: list[str], n_groups: int) -> Bools:
    """In which groups no value of another attribute that occurs more than once stands beside all values but one."""
    kept = np.ones(n_groups, dtype=bool)
    n_values, n_harming = pl.col("value").n_unique(), pl.col("value").filter(pl.col("harms")).n_unique()
    whole = rows.group_by("group").agg(n_values=n_values, n_harming=n_harming)
    for name in others:
        beside = (
            rows.drop_nulls(name)
            .group_by("group", name)
            .agg(n_beside=n_values, n_harming_beside=n_harming, n_rows=pl.col("times").sum())
        )
        leaks = beside.join(whole, on="group").filter(
            pl.col("n_rows") > 1,
            pl.col("n_values") == pl.col("n_beside") + 1,
            pl.col("n_harming") == pl.col("n_harming_beside") + 1,
        )
        kept[leaks["group"].to_numpy()] = False
    return kept


def _commonest_harmful(evidence: Evidence, sight: Sight, values: Ids, harmless: list[int]) -> Ids:
    """How often the commonest value that needs protection stands in every group: it would have to be left alone."""
    groups, weights = evidence.group_numbers(sight.file, sight.key), evidence.weights(sight.file)
    rows = np.flatnonzero(~np.isin(values, harmless))
    n_values = int(values.max(initial=0)) + 1
    keys = groups[rows] * n_values + values[rows]
    first, counts = distinct(keys, None if weights is None else weights[rows])
    largest = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(largest, keys[first] // n_values, counts)
    return largest


def _most_ruled_out(evidence: Evidence, sight: Sight, others: list[str], n_ruled_out: int) -> Ids:
    """How many rows of every group the commonest values of other attributes fill, of those that can be ruled out."""
    n_groups = int(evidence.group_numbers(sight.file, sight.key).max(initial=-1)) + 1
    nothing = np.zeros((2, 0), dtype=np.int64)
    owners, counts = np.hstack([nothing, *_counts_of(evidence, sight, others)])
    order = np.lexsort((-counts, owners))
    owners, counts = owners[order], counts[order]
    is_top = np.arange(owners.size) - np.searchsorted(owners, owners) < n_ruled_out
    filled = np.bincount(owners[is_top], weights=counts[is_top], minlength=n_groups)
    return filled.astype(np.int64)


def _counts_of(evidence: Evidence, sight: Sight, others: list[str]) -> Iterator[Ids]:
    """The group and the count of every value of other attributes that can be ruled out, in the groups that have it."""
    homes = dict.fromkeys(
        evidence.table.home(name) for name in others if evidence.table.atom(name) is not None
    )
    at_once = {home: holders_in(evidence, sight, home) for home in homes}
    for holders in at_once.values():
        yield np.stack(holders.counted(evidence, sight)[1:])
    for name in {*others}.difference(*(holders.names for holders in at_once.values())):
        question = ("askable counts", sight.file.table, sight.key, (name,))
        yield evidence.remembered(question, partial(_counted, evidence, sight, name))


def _counted(evidence: Evidence, sight: Sight, name: str) -> Ids:
    groups, weights = evidence.group_numbers(sight.file, sight.key), evidence.weights(sight.file)
    askable = _askable(evidence, sight, name)
    rows = askable.is_not_null().arg_true().to_numpy()
    codes = askable.drop_nulls().to_numpy()
    n_codes = int(codes.max(initial=0)) + 1
    keys = groups[rows] * n_codes + codes
    first, counts = distinct(keys, None if weights is None else weights[rows])
    return np.stack([keys[first] // n_codes, counts])


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


def _leaking(rows: pl.DataFrame, others: list[str], n_ruled_out: int) -> list[int]:
    """The groups in which ruling out so many values leaves one value that needs protection."""
    if n_ruled_out == 0:
        left = rows.group_by("group").agg(
            pl.col("value").n_unique().alias("n_left"), pl.col("harms").sum().alias("n_harming")
        )
        return _certain(left)
    rows = _within_reach(rows, others, n_ruled_out)
    if n_ruled_out == 1:
        return _certain(_left_without_one(rows, others))
    return sorted({group for first in others for group in _ruling_out(rows, first, others, n_ruled_out)})


def _ruling_out(rows: pl.DataFrame, first: str, others: list[str], n_ruled_out: int) -> Iterator[int]:
    """The groups that leak when the first value ruled out is one of the attribute `first`."""
    # Of two rows with different values one must go, so one of their values must be ruled out.
    ends = (pl.col("value").arg_min(), pl.col("value").arg_max())
    grouped = rows.group_by("group", maintain_order=True)
    out = pl.concat(grouped.agg(pl.col(first).get(end).alias("out")) for end in ends)
    out = out.drop_nulls().unique(maintain_order=True).with_row_index("state").cast({"state": pl.Int64})
    left = rows.join(out, on="group").filter(pl.col(first).ne_missing(pl.col("out"))).drop("out", "group")
    states = _leaking(left.rename({"state": "group"}), others, n_ruled_out - 1)
    yield from out["group"].gather(states).to_list()


def _left_without_one(rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """What is left of each group without any one value of another attribute: all values but those that go with it alone."""
    harming = pl.col("harms").sum()
    values = rows.group_by("group", "value").agg(pl.len().alias("n_rows"), harming.alias("n_harming"))
    whole = values.group_by("group").agg(
        pl.len().alias("n_values"), pl.col("n_harming").sum().alias("all_harming")
    )
    beside = (
        _cells(rows, others).group_by("group", "value", "other", "out").agg(pl.len(), harming.alias("n_out"))
    )
    bound = beside.join(values, on=["group", "value"])
    is_gone = pl.col("len") == pl.col("n_rows")
    gone = bound.group_by("group", "other", "out").agg(is_gone.sum().alias("n_gone"), pl.col("n_out").sum())
    return gone.join(whole, on="group").select(
        "group",
        n_left=pl.col("n_values").cast(pl.Int64) - pl.col("n_gone"),
        n_harming=pl.col("all_harming").cast(pl.Int64) - pl.col("n_out"),
    )


def _cells(rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """The cells of other attributes that can be ruled out: group, value, harms, other, out."""
    cells = [(index, rows[name].is_not_null().arg_true()) for index, name in enumerate(others)]
    places = np.concatenate([np.zeros(0, dtype=np.int64), *(where.to_numpy() for _, where in cells)])
    out = [rows[name].drop_nulls() for name in others]
    which = np.repeat(np.arange(len(others)), [len(where) for _, where in cells])
    listed = rows.select("group", "value", "harms")[places]
    return listed.with_columns(
        other=pl.Series(which, dtype=pl.Int64), out=pl.concat([pl.Series([], dtype=pl.Int64), *out])
    )


def _certain(left: pl.DataFrame) -> list[int]:
    is_certain = (pl.col("n_left") == 1) & (pl.col("n_harming") > 0)
    return left.filter(is_certain)["group"].unique().to_list()


def _within_reach(rows: pl.DataFrame, others: list[str], n_ruled_out: int) -> pl.DataFrame:
    """The groups in which the commonest values of other attributes fill enough rows to leave a single value."""
    size = rows.group_by("group").agg(pl.len().alias("rows"))
    commonest = rows.group_by("group", "value").len().group_by("group").agg(pl.col("len").max().alias("same"))
    counts = _cells(rows, others).group_by("group", "other", "out").len()
    most = counts.group_by("group").agg(pl.col("len").top_k(n_ruled_out).sum().alias("ruled_out"))
    near = size.join(commonest, on="group").join(most, on="group")
    near = near.filter(pl.col("ruled_out") + pl.col("same") >= pl.col("rows"))
    return rows.join(near, on="group", how="semi", maintain_order="left")
