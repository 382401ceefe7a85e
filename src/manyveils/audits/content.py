"""Whether a release shows what it lists and nothing else, in no order that tells, and accounts for every row."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from manyveils.audits.declared import n_undeclared
from manyveils.audits.finding import Finding, count_of_faults
from manyveils.policy.guarantees import exact
from manyveils.reading.evidence import Evidence, fields_of
from manyveils.reading.keys import Bools, Ids
from manyveils.reading.labels import canonical_texts
from manyveils.reading.persons import standing_in
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table.attributes import tally

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
    yield count_of_faults("nothing-but-listed", evidence.n_strays() + n_claims + n_undeclared(evidence))
    for view in evidence.release.views:
        n_misplaced = sum(_misplaced(evidence, view, file) for file in view.files)
        yield count_of_faults("nothing-but-listed", n_misplaced, view.name)
        if evidence.is_whole(view):
            n_descents = sum(descents(evidence, view, file) for file in view.files)
            yield count_of_faults("order-tells-nothing", n_descents, view.name)
            if view.bucketed:
                yield count_of_faults("buckets-agree", torn_buckets(evidence, view), view.name)
            names = dict.fromkeys(view.attributes)
            if any(evidence.listed(view, name) is not None for name in names):
                n_false = sum(evidence.n_false_lines(view, name) for name in names)
                yield count_of_faults("recodings-true", n_false, view.name)


def _misplaced(evidence: Evidence, view: View, file: ColumnFile) -> int:
    """Fields that are not listed or may not be published, listed fields that are not there, and links between columns.

    Only what an adversary knows anyway may stand in two columns; anything else would link their rows.
    """
    expand = evidence.table.expand
    allowed, known = set(expand(evidence.policy.published)), set(expand(evidence.policy.quasi))
    elsewhere = {name for other in view.files if other is not file for name in other.attributes}
    n_forbidden = sum(name not in allowed or name in elsewhere - known for name in file.attributes)
    expected, present = list(fields_of(view, file)), evidence.frame(file).columns
    is_disordered = sorted(expected) == sorted(present) and expected != present
    return n_forbidden + len(set(expected) ^ set(present)) + is_disordered


def _descents(evidence: Evidence, view: View, file: ColumnFile) -> int:
    """Count the rows that sort below the row before them, as the file writes values or as the original types them."""
    written = evidence.frame(file).select(fields_of(view, file))
    n_falls = count_falls(written)
    if not n_falls:
        return 0
    retyped = written.with_columns(typed(evidence, view, published) for published in written)
    return min(n_falls, count_falls(retyped))


def typed(evidence: Evidence, view: View, published: pl.Series) -> pl.Series:
    """Give values that a file holds as text their type back; labels stay texts."""
    original = evidence.table.attributes.get(published.name)
    if original is None or evidence.listed(view, published.name) is not None:
        return published
    retyped = published.cast(original.domain.dtype, strict=False)
    return retyped if retyped.null_count() == published.null_count() else published


def count_falls(frame: pl.DataFrame) -> int:
    """How many rows sort below the row before them.

    Column by column: one expression over all columns would be planned in a time that grows with their cube.
    """
    tied: Ids | None = None
    n_falls = 0
    for published in frame if frame.height > 1 else ():
        if tied is not None and not tied.size:
            break
        is_below, is_tied = _beside_the_last(published, tied)
        n_falls += int(np.count_nonzero(is_below))
        tied = np.flatnonzero(is_tied) + 1 if tied is None else tied[is_tied]
    return n_falls


def _beside_the_last(published: pl.Series, rows: Ids | None) -> tuple[Bools, Bools]:
    """Which rows, of some or of all but the first, are below the row before them, and which are equal to it."""
    if published.dtype.is_integer() and not published.null_count():
        # Of hundreds of yes or no columns, arrays are compared in a fraction of the time.
        numbers = published.to_numpy()
        value, before = (numbers[1:], numbers[:-1]) if rows is None else (numbers[rows], numbers[rows - 1])
        return value < before, value == before
    if rows is None:
        late, early = published.slice(1), published.slice(0, len(published) - 1)
    else:
        late, early = published.gather(rows), published.gather(rows - 1)
    is_below = (late.is_null() & early.is_not_null()) | (late < early).fill_null(value=False)
    return is_below.to_numpy(), late.eq_missing(early).to_numpy()


def _torn_buckets(evidence: Evidence, view: View) -> int:
    """Buckets that have different numbers of rows in different columns."""
    numbers, n_buckets = evidence.bucket_numbers(view.files)
    pairs = zip(view.files, numbers, strict=True)
    sizes = np.stack([evidence.tally(file, buckets, n_buckets) for file, buckets in pairs])
    return int((sizes != sizes[0]).any(axis=0).sum())


def loss_findings(evidence: Evidence) -> Iterator[Finding]:
    """The findings about suppressed rows and about values that the original cannot account for.

    Where persons have several rows, persons are counted, and all rows of a person must be left out together.
    """
    most = int(exact(evidence.policy.publish.suppression) * evidence.table.whole(()).n_persons)
    n_lost, n_torn = _lost(evidence)
    is_few = n_lost is not None and 0 <= n_lost <= most
    yield replace(count_of_faults("suppression", n_lost), required=most, kept=is_few)
    if evidence.table.persons is not None:
        yield count_of_faults("persons-whole", n_torn)
    for view in evidence.release.views:
        n_wrong = _unaccounted(evidence, view) if evidence.is_whole(view) else None
        yield count_of_faults("nothing-lost", n_wrong, view.name)


def _lost(evidence: Evidence) -> tuple[int | None, int | None]:
    """How many persons are left out, and of how many only some rows are; None where nobody can tell."""
    persons = evidence.table.persons
    if persons is None:
        return evidence.n_people - evidence.release.rows, 0
    n_out = np.zeros(evidence.table.n_persons, dtype=np.int64)
    for view in evidence.release.views:
        if all(evidence.people(file) == evidence.table.n_rows for file in view.files):
            continue
        standing = standing_in(evidence, view)
        if standing is None:
            return None, None
        n_out += np.bincount(persons[~standing.stands], minlength=n_out.size)
    n_lost = int((n_out == np.bincount(persons) * len(evidence.release.views)).sum())
    return n_lost, int((n_out > 0).sum()) - n_lost


def _unaccounted(evidence: Evidence, view: View) -> int:
    """Rows by which a view differs from what the manifest says, and cells that no row of the original explains."""
    manifest = evidence.release.manifest
    n_off = abs(manifest.rows + manifest.suppressed - evidence.n_people) + abs(view.rows - manifest.rows)
    for file in view.files:
        n_off += abs(evidence.people(file) - manifest.rows)
        names = [name for name in file.attributes if name in evidence.table.attributes]
        n_off += sum(_unexplained(evidence, view, file, name) for name in names)
    return n_off


def _unexplained(evidence: Evidence, view: View, file: ColumnFile, name: str) -> int:
    """Cells with a value beyond the rows of the original that it may stand for.

    Together with the row count this says that exactly the suppressed rows are missing.
    """
    cover, texts = evidence.cover(view, file, name), evidence.texts(file, name)
    values = canonical_texts(evidence.meanings(name), texts, cover)
    first: dict[str, int] = {}
    for label, value in enumerate(values):
        first.setdefault(value, label)
    number = {value: index for index, value in enumerate(first)}
    numbers = np.array([number[value] for value in values], dtype=np.int64)
    cells = tally(numbers, evidence.counts(file, name), len(first))
    most = cover.sums(evidence.original(name).counts)[list(first.values())]
    return int(np.maximum(cells - most, 0).sum())
