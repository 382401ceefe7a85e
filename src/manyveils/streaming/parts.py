"""Promises judged part by part: rows in the order of what every promise tells groups apart by, cut between groups."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.apart import Marginal, part_of, sights_of
from manyveils.audits.finding import Finding
from manyveils.audits.together import promise_findings, together
from manyveils.errors import InfeasibleError, Problem
from manyveils.policy.guarantees import KnownItems
from manyveils.reading.evidence import Evidence
from manyveils.reading.sight import Sight
from manyveils.release import Release, View
from manyveils.release.packing import Packing
from manyveils.release.seal import BUCKET
from manyveils.streaming.published import PublishedTable
from manyveils.streaming.rows import Number
from manyveils.streaming.seams import Seamed, Shown
from manyveils.streaming.tally import Counted, Tally, joined
from manyveils.table import Table

if TYPE_CHECKING:
    from manyveils.streaming.audit import StreamedAudit

Ids = NDArray[np.int64]
Group = tuple[int, ...]


def findings_in_parts(audit: "StreamedAudit") -> tuple[Finding, ...]:
    """The findings about all promises.

    Claim: they are those of all rows at once.
    Why: rows come in the order of what every promise tells groups apart by, and are cut only where that changes.
    Tested by: tests/streaming/test_audit.py
    """
    outline, tables = audit.judged
    _refuse_combined(audit, outline.views)
    empty = {name: table.empty for name, table in tables.items()}
    # Views are told apart by what they are, so that the evidence has to list the same ones.
    evidence = Marginal(
        Release(outline.manifest, empty, outline.recodings), audit.evidence.table, audit.policy, tables=tables
    )
    found: list[Sequence[Finding]] = []
    for view in outline.views:
        sights = sights_of(view, evidence, audit.asked)
        for rows, table in _judged_apart(audit, evidence, view, sights, tables):
            release = part_of(outline, view, empty, rows)
            found.append(promise_findings(release, table, audit.policy, audit.levels))
    return together(found)


def _judged_apart(
    audit: "StreamedAudit",
    evidence: Evidence,
    view: View,
    sights: Sequence[Sight],
    tables: Mapping[str, PublishedTable],
) -> Iterator[tuple[Shown, Table]]:
    """The rows of a view that are judged together, and the people they are about; none where no promise looks at it."""
    if not sights:
        return
    files = [tables[file.table] for file in view.files]
    if any(sight.is_spread for sight in sights):
        known = tuple(sorted({name for sight in sights for name in sight.known}))
        yield from Seamed(audit, evidence, view, files, known).parts()
        return
    for rows in _parts(files, _shared(view, sights), audit.most_cells):
        yield rows, evidence.table


def _refuse_combined(audit: "StreamedAudit", views: Sequence[View]) -> None:
    """What is protected as one and stands in several views has to be seen in all of them at once."""
    for promise in audit.asked:
        n_views = sum(bool({*promise.protects} & {*view.attributes}) for view in views)
        if isinstance(promise.guarantee, KnownItems) or (len(promise.protects) > 1 and n_views > 1):
            what = "looks at more than one view at once, and these do not fit the memory."
            raise InfeasibleError([Problem(promise.guarantee.kind, what, "Give more memory.")])


def _shared(view: View, sights: Sequence[Sight]) -> set[str]:
    """What every promise tells groups of a view apart by."""
    shared = set.intersection(*(set(sight.key) for sight in sights))
    if not shared or (view.bucketed and BUCKET not in shared):
        what = f"has {view.rows:,} rows, and some promise looks at too many of them at once."
        raise InfeasibleError([Problem(view.name, what, "Give more memory.")])
    return shared


def _parts(tables: Sequence[PublishedTable], shared: set[str], most_cells: int) -> Iterator[Shown]:
    """The rows of a view with their counts, some whole groups at a time."""
    most = max(most_cells // (2 * sum(len(table.fields) + 1 for table in tables)), 1)
    with ExitStack() as opened:
        first, *others = cursors = [opened.enter_context(_grouped(table, shared)) for table in tables]
        while (group := first.next(most)) is not None or any(other.is_left for other in others):
            for other in others:
                other.go_to(group)
            yield {cursor.table.file.table: cursor.taken() for cursor in cursors}


@dataclass(repr=False)
class _Cursor:
    """The rows of a table in the order of their groups; those that were passed last are `passed`."""

    table: PublishedTable
    grouped: "_Grouped"
    blocks: Iterator[Counted]
    waiting: Counted
    passed: Counted

    @property
    def is_left(self) -> bool:
        """Whether there are rows that were not passed."""
        if not len(self.waiting):
            self._fetch()
        return bool(len(self.waiting))

    def next(self, most: int) -> Group | None:
        """Pass some `most` rows and the rest of the group of the last of them, which is given; nothing at the end."""
        n_keys = self.grouped.n_group_keys
        while len(self.waiting) <= most and self._fetch():
            pass
        if not len(self.waiting):
            self._pass(0)
            return None
        group = tuple(int(key[min(most, len(self.waiting)) - 1]) for key in self.waiting.keys[:n_keys])
        self.go_to(group)
        return group

    def go_to(self, group: Group | None) -> None:
        """Pass all rows up to the end of a group, or all there are."""
        while group is None or not len(self.waiting) or self.waiting.after(group) == len(self.waiting):
            if not self._fetch():
                break
        self._pass(len(self.waiting) if group is None or not len(self.waiting) else self.waiting.after(group))

    def taken(self) -> tuple[pl.DataFrame, Ids]:
        """The rows that were passed last, as they are published, with their counts."""
        return self.grouped.frame(self.passed.keys), self.passed.times

    def _fetch(self) -> bool:
        block = next(self.blocks, None)
        if block is None:
            return False
        self.waiting = joined([self.waiting, block], len(block.keys))
        return True

    def _pass(self, n_rows: int) -> None:
        self.passed = self.waiting.between(0, n_rows)
        self.waiting = self.waiting.between(n_rows, len(self.waiting))


@dataclass(frozen=True, repr=False)
class _Grouped:
    """How the rows of a table are keys: first those of their group, then those of all else.

    A group is a bucket, by its number, or a combination of values, by theirs.
    """

    table: PublishedTable
    names: tuple[str, ...]

    @property
    def is_bucket(self) -> bool:
        """Whether groups are buckets."""
        return self.names == (BUCKET,)

    @cached_property
    def _packings(self) -> tuple[Packing, Packing]:
        return Packing(self.table.sizes(self.names)), Packing(self.table.sizes(self._others))

    @property
    def _others(self) -> list[str]:
        return [name for name in self.table.fields if name not in self.names]

    @property
    def n_group_keys(self) -> int:
        """How many keys tell the group."""
        return 1 if self.is_bucket else len(self._packings[0].groups)

    @property
    def n_keys(self) -> int:
        """How many keys a row has."""
        return self.n_group_keys + len(self._packings[1].groups)

    def keys(self, batch: Sequence[Number]) -> list[Ids]:
        """The keys of rows."""
        raw = dict(zip(self.table.fields, batch, strict=True))
        groups, others = self._packings
        of_group = (
            [raw[BUCKET].astype(np.int64)]
            if self.is_bucket
            else groups.packed([raw[name] for name in self.names])
        )
        return [*of_group, *others.packed([raw[name] for name in self._others])]

    def frame(self, keys: Sequence[Ids]) -> pl.DataFrame:
        """Rows as they are published."""
        groups, others = self._packings
        n = self.n_group_keys
        numbers = dict(zip(self._others, others.unpacked(keys[n:]), strict=True))
        if self.is_bucket:
            numbers[BUCKET] = keys[0]
        else:
            numbers |= dict(zip(self.names, groups.unpacked(keys[:n]), strict=True))
        return self.table.frame([numbers[name] for name in self.table.fields])


@contextmanager
def _grouped(table: PublishedTable, shared: set[str]) -> Iterator[_Cursor]:
    names = (BUCKET,) if BUCKET in shared else tuple(name for name in table.fields if name in shared)
    grouped = _Grouped(table, names)
    tally = Tally(grouped.n_keys, table.rows.folder / "grouped", table.room)
    try:
        for batch in table.batches():
            tally.add(grouped.keys(batch))
        nobody = joined([], grouped.n_keys)
        yield _Cursor(table, grouped, iter(tally), nobody, nobody)
    finally:
        tally.forget()


def torn_buckets_of(tables: Sequence[PublishedTable]) -> int:
    """Buckets that have different numbers of rows in different columns."""
    first, *others = tables
    torn = [_torn(first, other) for other in others]
    return np.unique(np.concatenate(torn)).size if torn else 0


def _torn(one: PublishedTable, other: PublishedTable) -> Ids:
    tally, torn = Tally(1, one.rows.folder / "torn", one.room), [np.zeros(0, dtype=np.int64)]
    try:
        for table, times in ((one, 1), (other, -1)):
            for batch in table.picked([BUCKET]):
                tally.add([numbers.astype(np.int64) for numbers in batch], times=times)
        torn += [block.keys[0][block.times != 0] for block in tally]
    finally:
        tally.forget()
    return np.concatenate(torn)
