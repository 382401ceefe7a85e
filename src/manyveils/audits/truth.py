"""Whether the lines of a release are rows of the original, and its files what is always written of them."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
import polars as pl

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.audits.signatures import Bits, scrambled
from manyveils.reading.cover import Cover
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Ids, Numbers
from manyveils.reading.persons import shown_of, standing_in
from manyveils.reading.slices import values_for
from manyveils.release import Release, View
from manyveils.release.ledger import digest_of
from manyveils.release.release import table_files
from manyveils.release.views import ColumnFile
from manyveils.release.writing import marked

# Where labels overlap, so many different lines and rows are matched at most.
MOST_MATCHED = 20_000


class Elsewhere(Protocol):
    """Rows that are not here."""

    def lines(self, file: ColumnFile, names: tuple[str, ...]) -> Iterable[Sequence[Ids]]:
        """The codes of published rows, batch by batch, as the evidence has them."""

    def rows(self, names: tuple[str, ...]) -> Iterable[Sequence[Ids]]:
        """The codes of the original, batch by batch."""

    def n_beyond(self, lines: Iterable[Bits], wanted: Iterable[Bits]) -> int:
        """How many lines are more than the rows like them."""


def form_findings(release: Release) -> Iterator[Finding]:
    """How many files of a release that was read from a folder are not written as it is always written.

    Quotes, signs, zeros, line ends, metadata and the like could be marks, and say more than the table does.
    """
    if release.read_from is None:
        return
    if release.published_as is not None:
        yield count_of_faults("as-published", int(not is_as_published(release)))
    yield from forms_told(*marked(release, release.read_from, table_files(release.read_from)))


def forms_told(n_marked: int, n_untold: int) -> Iterator[Finding]:
    """The findings about so many files that are not what is always written, and so many of which nobody can tell."""
    yield count_of_faults("canonical-form", n_marked)
    if n_untold:
        # Whether another library always writes them so, nobody here knows.
        yield replace(count_of_faults("canonical-form", None), promised=False)


def is_as_published(release: Release) -> bool:
    """Whether the folder that a release was read from is the one of which the digest was kept in private."""
    return release.read_from is not None and digest_of(release.read_from) == release.published_as


def truth_findings(evidence: Evidence, elsewhere: Elsewhere | None = None) -> Iterator[Finding]:
    """For every view, how many of its lines no row of the original accounts for.

    Claim: a view with no such line shows in every column rows of the original, each once at most, as its labels have them.
    Why: where every original has one label, lines and the labels of rows are counted and compared as numbers that were
    scrambled with a key drawn for this audit, so that others fall together once in 2^64. Where labels overlap, a maximum
    flow gives each line a row; of more than `MOST_MATCHED` different ones, only attributes whose labels do not overlap
    are looked at together. Where persons have several rows, every line has been compared with its row already.
    `elsewhere` has the rows where they are not here; labels that overlap are then not matched.
    Tested by: tests/claims/test_audit_truth.py
    """
    for view in evidence.release.views:
        if not evidence.is_whole(view):
            yield count_of_faults("rows-true", None, view.name)
        elif elsewhere is None and not _is_row_by_row(evidence, view):
            continue
        elif evidence.table.persons is not None and standing_in(evidence, view) is not None:
            yield replace(count_of_faults("rows-true", 0, view.name), status="proved")
        else:
            n_untrue = sum(_untrue(evidence, view, file, elsewhere) for file in view.files)
            yield replace(count_of_faults("rows-true", n_untrue, view.name), status="proved")


def _is_row_by_row(evidence: Evidence, view: View) -> bool:
    """Whether rows are at hand, and not only how often values or whole rows come."""
    shown = (name for file in view.files for name in shown_of(evidence, file))
    return all(evidence.weights(file) is None for file in view.files) and all(
        evidence.table[name].codes.size == evidence.table.n_rows for name in shown
    )


def _untrue(evidence: Evidence, view: View, file: ColumnFile, elsewhere: Elsewhere | None) -> int:
    """The lines of a column that no row of the original accounts for."""
    names = shown_of(evidence, file)
    single = tuple(name for name in names if not evidence.cover(view, file, name).overlaps)
    if elsewhere is None and len(single) < len(names):
        n_untrue = _unmatched(evidence, view, file, names)
        if n_untrue is not None:
            return n_untrue
    return _uncounted(evidence, view, file, single, elsewhere)


def _uncounted(
    evidence: Evidence, view: View, file: ColumnFile, names: tuple[str, ...], elsewhere: Elsewhere | None
) -> int:
    """The lines beyond the rows that read alike, where every original has one label at most."""
    if not names:
        return 0
    # Where an attribute is published as it is and alone, nothing but its counts could be wrong.
    salt = np.random.default_rng(secrets.randbits(128))
    salts = salt.integers(0, 2**63, size=len(names), dtype=np.uint64)
    covers = [evidence.cover(view, file, name) for name in names]
    if elsewhere is not None:
        return elsewhere.n_beyond(
            (_scrambled(batch, salts) for batch in elsewhere.lines(file, names)),
            (_wanted(batch, covers, salts) for batch in elsewhere.rows(names)),
        )
    lines = _scrambled([evidence.coded(file, name).codes for name in names], salts)
    wanted = _wanted([evidence.table[name].codes.astype(np.int64) for name in names], covers, salts)
    if lines.size == wanted.size and lines.sum() == wanted.sum():
        return 0
    different, counts = np.unique(lines, return_counts=True)
    there, most = np.unique(wanted, return_counts=True)
    place = np.minimum(np.searchsorted(there, different), max(there.size - 1, 0))
    is_there: Bools = there[place] == different if there.size else np.zeros(different.size, dtype=bool)
    return int(np.maximum(counts - np.where(is_there, most[place] if there.size else 0, 0), 0).sum())


def _wanted(rows: Sequence[Ids], covers: Sequence[Cover], salts: Bits) -> Bits:
    """What the rows of the original that have labels should be as lines."""
    own = [cover.label_of[codes] for codes, cover in zip(rows, covers, strict=True)]
    is_shown = np.logical_and.reduce([labels >= 0 for labels in own])
    return _scrambled((labels if is_shown.all() else labels[is_shown] for labels in own), salts)


def _scrambled(columns: Iterable[Numbers], salts: Bits) -> Bits:
    """A number for each row, the same for equal rows."""
    numbers = np.zeros(1, dtype=np.uint64)
    for codes, salt in zip(columns, salts, strict=True):
        numbers = scrambled((numbers ^ salt) + codes.astype(np.uint64))
    return cast(Bits, numbers)


def _unmatched(evidence: Evidence, view: View, file: ColumnFile, names: tuple[str, ...]) -> int | None:
    """The lines for which no row is left where labels overlap; None where too many would have to be matched."""
    values = evidence.group_numbers(file, names)
    if int(values.max(initial=0)) >= MOST_MATCHED or evidence.table.n_rows > 50 * MOST_MATCHED:
        return None
    what, sought = values_for(evidence, view, file, names)
    if int(what.max(initial=0)) >= MOST_MATCHED:
        return None
    return values.size - _most_matched(np.bincount(what), np.bincount(values), sought)


def _most_matched(rows: Ids, lines: Ids, pairs: pl.DataFrame) -> int:
    """How many lines can have a row each, of so many of every kind, if these pairs of kinds (what, value) fit."""
    from scipy import sparse  # Takes longer to load than most views to judge.
    from scipy.sparse.csgraph import maximum_flow

    what, value = pairs["what"].to_numpy(), pairs["value"].to_numpy()
    source, sink = rows.size + lines.size, rows.size + lines.size + 1
    starts = np.concatenate([np.full(rows.size, source), what, rows.size + np.arange(lines.size)])
    ends = np.concatenate([np.arange(rows.size), rows.size + value, np.full(lines.size, sink)])
    most = np.concatenate([rows, np.minimum(rows[what], lines[value]), lines]).astype(np.int32)
    flow = maximum_flow(sparse.csr_array((most, (starts, ends)), shape=(sink + 1, sink + 1)), source, sink)
    return int(flow.flow_value)
