"""New rows in the words of a release: what stands in each is published under which label."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.hierarchies import TOP

if TYPE_CHECKING:
    from manyveils.release import Release
    from manyveils.release.views import View

RANGE = r"^\[(\S+), (\S+)\]$"
UNRECODED = pl.DataFrame(schema={"published": pl.String, "original": pl.String})
# Columns of the tables that are joined; no attribute's name begins with a line end.
ROW, KEY, LABEL, TIMES = "\nrow", "\nkey", "\nlabel", "\ntimes"


def recoded(release: "Release", frame: pl.DataFrame, view: str | None = None) -> pl.DataFrame:
    """The frame with what the release recodes replaced by its labels; all other columns stay as they are.

    Attributes of one published table are recoded together, to a combination of labels that it has: of several that
    cover a row, the one with most published rows, among those with the same values of what is neither recoded nor
    protected, if there are any. What no combination covers is missing.
    """
    chosen = _view_of(release, view)
    known = {name for own, name in release.recodings if own == chosen.name}
    if known and known.isdisjoint(frame.columns):
        what = f"has none of the attributes that view {chosen.name} recodes ({', '.join(sorted(known))})."
        raise DataError.at("data", what, "Give rows with the columns of the original.")
    for file in chosen.files:
        present = [name for name in file.attributes if name in frame.columns]
        names = [name for name in present if name in known]
        beside = [name for name in present if name not in known | _protected(release)]
        if not names:
            continue
        table = release.frames[file.table]
        labels = _labelled(release, chosen, table, names, frame)
        if beside:
            closer = _labelled(release, chosen, table, [*names, *beside], frame)
            has_any = pl.any_horizontal(label.is_not_null() for label in closer[: len(names)])
            is_met = pl.select(has_any).to_series()
            labels = [near.zip_with(is_met, far) for near, far in zip(closer, labels, strict=False)]
        frame = frame.with_columns(labels)
    return frame


def _protected(release: "Release") -> set[str]:
    """What promises protect: labels must not depend on what a model may be there to tell."""
    promises = release.manifest.promises
    return {
        name for promise in promises for name in (promise.get("attribute"), *promise.get("attributes", ()))
    }


def _view_of(release: "Release", name: str | None) -> "View":
    views = {view.name: view for view in release.views}
    if name is not None and name not in views:
        raise DataError.at("view", "is not a view of the release.", f"It has {', '.join(views)}.")
    recoding = [*dict.fromkeys(own for own, _ in release.recodings)]
    if name is None and len(recoding) > 1:
        raise DataError.at("view", "several views recode.", f"Name one of {', '.join(recoding)}.")
    hidden = set(release.manifest.secret)
    if hidden and not recoding:
        raise DataError.at("release", "its labels are secret, and say nothing of new rows.")
    return views[name or (recoding[0] if recoding else next(iter(views)))]


def _labelled(
    release: "Release", view: "View", published: pl.DataFrame, names: list[str], frame: pl.DataFrame
) -> list[pl.Series]:
    """The labels of each row of a frame, attribute by attribute."""
    shown = published.select(pl.col(name).cast(pl.String).fill_null("") for name in names)
    shown = shown.group_by(names).agg(pl.len().alias(TIMES))
    numeric = {name for name in names if release.manifest.kinds.get(name) == "numeric"}
    keys = frame.select(_key(pl.col(name), is_numeric=name in numeric).alias(name) for name in names)
    asked = keys.unique(maintain_order=True).with_row_index(ROW)
    under = {
        name: _under(
            release.recodings.get((view.name, name), UNRECODED),
            asked[name].unique(),
            shown[name].unique(),
            is_numeric=name in numeric,
        )
        for name in names
    }
    # Attributes that tell most come first, so that few combinations have to be looked at.
    ordered = sorted(names, key=lambda name: under[name].height / max(under[name][KEY].n_unique(), 1))
    found = asked
    for place, name in enumerate(ordered, start=1):
        found = found.join(under[name], left_on=name, right_on=KEY).drop(name).rename({LABEL: name})
        found = found.join(shown.select(ordered[:place]).unique(), on=ordered[:place], how="semi")
    best = found.join(shown, on=names).sort(TIMES, *names, descending=[True, *[False] * len(names)])
    best = best.unique(ROW, keep="first", maintain_order=True).select(ROW, *names)
    told = asked.select(ROW, pl.struct(names).alias(KEY)).join(best, on=ROW, how="left")
    rows = keys.select(pl.struct(names).alias(KEY)).join(told, on=KEY, how="left", maintain_order="left")
    # A missing cell that is published as missing stays so.
    return [rows[name].replace("", None) for name in names]


def _key(column: pl.Expr, *, is_numeric: bool) -> pl.Expr:
    """One text for every value, empty for a missing one; nothing for what is no number where numbers are."""
    text = column.cast(pl.String)
    if not is_numeric:
        return text.fill_null("")
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    return pl.when(text.is_null() | (text == "")).then(pl.lit("")).otherwise((number + 0.0).cast(pl.String))


def _under(pairs: pl.DataFrame, keys: pl.Series, shown: pl.Series, *, is_numeric: bool) -> pl.DataFrame:
    """Which published labels stand for which of some values: as the release lists, and as labels say of other values."""
    listed = pairs.select(
        _key(pl.col("original"), is_numeric=is_numeric).alias(KEY),
        pl.col("published").fill_null("").alias(LABEL),
    ).unique()
    labels = pl.DataFrame({LABEL: shown})
    own = labels.join(listed, on=LABEL, how="anti").with_columns(
        _key(pl.col(LABEL), is_numeric=is_numeric).alias(KEY)
    )
    new = pl.DataFrame({KEY: keys}).drop_nulls().join(listed, on=KEY, how="anti")
    covered = [listed, own.select(KEY, LABEL), *_told_by_labels(new, labels)]
    return pl.concat(covered).unique().join(labels, on=LABEL, how="semi")


def _told_by_labels(new: pl.DataFrame, labels: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Values that the original does not have, under ranges, masks and `*`."""
    new = new.filter(pl.col(KEY) != "")
    ends = [pl.col(LABEL).str.extract(RANGE, end).cast(pl.Float64, strict=False) for end in (1, 2)]
    spans = labels.select(LABEL, ends[0].alias("low"), ends[1].alias("high")).drop_nulls()
    if spans.height:
        numbers = new.with_columns(pl.col(KEY).cast(pl.Float64, strict=False).alias("number")).drop_nulls()
        inside = (pl.col("low") <= pl.col("number")) & (pl.col("number") <= pl.col("high"))
        yield numbers.join(spans, how="cross").filter(inside).select(KEY, LABEL)
    yield new.join(labels.filter(pl.col(LABEL) == TOP), how="cross").select(KEY, LABEL)
    masks = labels.filter(pl.col(LABEL).str.contains(r"^\*+[^*]+$|^[^*]+\*+$"))
    stars = masks.select(
        pl.col(LABEL).str.count_matches(r"\*"), pl.col(LABEL).str.starts_with(TOP).alias("left")
    )
    for n_hidden, left in stars.unique().iter_rows():
        text, mask = pl.col(KEY), pl.lit(TOP * n_hidden)
        shown = mask + text.str.slice(n_hidden) if left else text.str.head(-n_hidden) + mask
        is_longer = text.str.len_chars() > n_hidden
        yield new.filter(is_longer).with_columns(shown.alias(LABEL)).join(masks, on=LABEL, how="semi")
