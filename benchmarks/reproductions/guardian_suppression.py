"""Multi-SA as the paper publishes it: one group, and beside it the other rows without their sensitive values."""

from dataclasses import replace

import polars as pl

from benchmarks.reproductions.guardian_trials import Trial, checked
from manyveils.release import Release
from manyveils.release.seal import BUCKET

HIDDEN = "*"


def in_one_group(trial: Trial) -> Trial:
    """Put all groups together, which the paper's program does by asking for the largest one; it is audited again.

    With one sensitive attribute groups stay as they are: the paper says that this is anatomy.
    """
    release = trial.release
    [view] = release.views
    if len(view.files[-1].attributes) == 1:
        return trial
    frames = {
        name: frame.with_columns(pl.lit(0, pl.Int64).alias(BUCKET)).sort(frame.columns)
        for name, frame in release.frames.items()
    }
    return checked(replace(trial, release=Release(release.manifest, frames, release.recodings)))


def with_hidden_rows(trial: Trial) -> Trial:
    """Put the rows that multi-SA left out into a group of their own, in which every sensitive value is hidden.

    A hidden value may be any of its attribute's, all equally likely.
    """
    if not trial.release.suppressed:
        return trial
    release, frame = trial.release, trial.original.frame
    [view] = release.views
    known, sensitive = view.files
    shown, secret = release.frames[known.table], release.frames[sensitive.table]
    stars = {name: pl.lit(HIDDEN) for name in sensitive.attributes}
    left = _left_out(frame, shown, list(known.attributes)).with_columns(
        pl.lit(int(shown[BUCKET].max()) + 1, pl.Int64).alias(BUCKET), **stars
    )
    recodings = {(view.name, name): _recoding(frame[name]) for name in sensitive.attributes}
    manifest = replace(
        release.manifest,
        rows=frame.height,
        suppressed=0,
        views=(replace(view, rows=frame.height),),
        recodings={key: "_".join(key) for key in recodings},
    )
    frames = {
        known.table: pl.concat([shown, left.select(shown.columns)]),
        sensitive.table: pl.concat([secret, left.select(secret.columns)]),
    }
    return replace(trial, release=Release(manifest, frames, recodings), n_hidden=left.height)


def _left_out(frame: pl.DataFrame, shown: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The quasi-identifiers of rows that are not shown."""
    all_rows = frame.group_by(names).len("rows")
    left = all_rows.join(shown.group_by(names).len("shown"), on=names, how="left").with_columns(
        rows=pl.col("rows").cast(pl.Int64) - pl.col("shown").cast(pl.Int64).fill_null(0)
    )
    return left.filter(pl.col("rows") > 0).select(pl.col(names).repeat_by("rows")).explode(names).sort(names)


def _recoding(values: pl.Series) -> pl.DataFrame:
    """Every value stands for itself, and the hidden one for all."""
    texts = values.unique().sort().to_list()
    return pl.DataFrame({"published": texts + [HIDDEN] * len(texts), "original": texts * 2})
