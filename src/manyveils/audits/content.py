"""Whether a release shows what it lists and nothing else: no other column, and no order that tells."""

from collections.abc import Callable, Iterator

import polars as pl

from manyveils.audits.finding import Finding
from manyveils.reading.evidence import BUCKET, Evidence
from manyveils.reading.people import people_in, with_people
from manyveils.release import View
from manyveils.release.views import ColumnFile

Descents = Callable[[Evidence, View, ColumnFile], int]
TornBuckets = Callable[[Evidence, View], int]


def content_findings(
    evidence: Evidence,
    n_claims: int = 0,
    *,
    descents: Descents | None = None,
    torn_buckets: TornBuckets | None = None,
) -> Iterator[Finding]:
    """The findings about columns, recodings, order and buckets, view by view.

    `n_claims` counts what the manifest claims and its method may not. Where rows are elsewhere, order and buckets
    are looked at there.
    """
    descents, torn_buckets = descents or _descents, torn_buckets or _torn_buckets
    yield _finding("nothing-but-listed", "", _strays(evidence) + n_claims)
    for view in evidence.release.views:
        yield _finding(
            "nothing-but-listed", view.name, sum(_misplaced(evidence, view, file) for file in view.files)
        )
        if evidence.is_whole(view):
            yield _finding(
                "order-tells-nothing", view.name, sum(descents(evidence, view, file) for file in view.files)
            )
            if view.bucketed:
                yield _finding("buckets-agree", view.name, torn_buckets(evidence, view))
            recoded = [name for name in view.attributes if evidence.listed(view, name) is not None]
            if recoded:
                n_false = sum(evidence.n_false_lines(view, name) for name in dict.fromkeys(recoded))
                yield _finding("recodings-true", view.name, n_false)


def _finding(promise: str, view: str, n_wrong: int) -> Finding:
    return Finding(
        promise, "", view, "release", promised=True, required=0, measured=n_wrong, kept=n_wrong == 0
    )


def _strays(evidence: Evidence) -> int:
    """Tables that no view lists, and recodings of attributes that may not be published."""
    release = evidence.release
    listed = {file.table for view in release.views for file in view.files}
    views = {view.name: view for view in release.views}
    loose = [
        key for key in release.recodings if key[0] not in views or key[1] not in views[key[0]].attributes
    ]
    return len(set(release.frames) - listed) + len(loose)


def _misplaced(evidence: Evidence, view: View, file: ColumnFile) -> int:
    """Fields that are not listed or may not be published, and listed fields that are not there."""
    allowed = set(evidence.table.expand(evidence.policy.published))
    forbidden = sum(name not in allowed for name in file.attributes)
    expected = [BUCKET, *file.attributes] if view.bucketed else list(file.attributes)
    present = evidence.frame(file).columns if file.table in evidence.release.frames else []
    return (
        forbidden
        + len(set(expected) ^ set(present))
        + (sorted(expected) == sorted(present) and expected != present)
    )


def _descents(evidence: Evidence, view: View, file: ColumnFile) -> int:
    """Count the rows that sort below the row before them, as the file writes values or as the original types them."""
    names = (BUCKET, *file.attributes) if view.bucketed else file.attributes
    written = evidence.frame(file).select(names)
    n_falls = count_falls(written)
    typed = (
        written.with_columns(_typed(evidence, view, written[name]) for name in names) if n_falls else written
    )
    return min(n_falls, count_falls(typed)) if n_falls else 0


def _typed(evidence: Evidence, view: View, published: pl.Series) -> pl.Series:
    """Give values that a file holds as text their type back; labels stay texts."""
    column = evidence.table.attributes.get(published.name)
    if (
        column is None
        or evidence.listed(view, published.name) is not None
        or published.dtype == column.domain.dtype
    ):
        return published
    typed = published.cast(column.domain.dtype, strict=False)
    return typed if typed.null_count() == published.null_count() else published


def count_falls(frame: pl.DataFrame) -> int:
    """How many rows sort below the row before them."""
    tied, falls = pl.lit(value=True), pl.lit(value=False)
    for name in frame.columns:
        here, before = pl.col(name), pl.col(name).shift(1)
        falls = falls | (
            tied & ((here.is_null() & before.is_not_null()) | (here < before).fill_null(value=False))
        )
        tied = tied & here.eq_missing(before)
    return int(frame.select(falls.slice(1).sum()).item()) if frame.height > 1 else 0


def _torn_buckets(evidence: Evidence, view: View) -> int:
    """Buckets that have different numbers of rows in different columns."""
    first, *others = (evidence.frame(file)[BUCKET] for file in view.files)
    # Tables are sorted by bucket, so columns that agree have the same list of buckets.
    if not evidence.release.weights and all(first.equals(other) for other in others):
        return 0
    counts = [_bucket_sizes(evidence, file, f"len_{place}") for place, file in enumerate(view.files)]
    together = counts[0]
    for other in counts[1:]:
        together = together.join(other, on=BUCKET, how="full", coalesce=True, nulls_equal=True)
    differs = pl.any_horizontal(
        pl.col("len_0").ne_missing(pl.col(f"len_{place}")) for place in range(len(counts))
    )
    return together.filter(differs).height


def _bucket_sizes(evidence: Evidence, file: ColumnFile, name: str) -> pl.DataFrame:
    rows = with_people(evidence.frame(file).select(BUCKET), evidence.weights(file))
    return rows.group_by(BUCKET).agg(people_in(rows).alias(name))
