"""The audit of a release that does not fit the memory: its own files and the original, batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyveils.audits import Audit, Licence
from manyveils.audits.absent import absence_findings
from manyveils.audits.apart import Auditing, needed_by, with_needed
from manyveils.audits.content import count_falls, typed
from manyveils.audits.finding import Finding, count_of_faults
from manyveils.audits.signatures import Bits
from manyveils.audits.truth import forms_told, is_as_published, truth_findings
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.reading.licence import licensed
from manyveils.release import Release, View
from manyveils.release.release import table_files
from manyveils.release.views import ColumnFile
from manyveils.release.writing import marked_in_listing
from manyveils.streaming.held import Counts, Held
from manyveils.streaming.parts import findings_in_parts, torn_buckets_of
from manyveils.streaming.published import PublishedTable, read_streamed
from manyveils.streaming.tally import Tally

Ids = NDArray[np.int64]
Progress = Callable[[str, float], None]


def audit_streamed(
    folder: Path,
    held: Held,
    counts: Counts,
    policy: Policy,
    *,
    licence: Licence,
    levels: Mapping[str, float] | None = None,
    published_as: str | None = None,
    progress: Progress,
) -> Audit:
    """Judge every promise of the policy on the files of a release; `published_as` is the digest that was kept of it."""
    outline, paths = Release.outline(folder), table_files(folder)
    outline.published_as = published_as
    files = [file for view in outline.views for file in view.files]
    tables: dict[str, PublishedTable] = {}
    for place, file in enumerate(files):
        aside = held.folder / f"published{place}"
        aside.mkdir()
        # Most of an audit is reading what was published.
        tables[file.table] = read_streamed(paths[file.table], file, held.room, aside)
        progress("auditing", (place + 1) / (len(files) + 1))
    n_marked = marked_in_listing(outline, folder, paths) + sum(table.is_marked for table in tables.values())
    forms = n_marked, sum(table.is_untold for table in tables.values())
    as_published = None if published_as is None else is_as_published(outline)
    claimed = licensed(outline, held.sketch, policy, licence)
    auditing = StreamedAudit(
        claimed.release, tables, counts, policy, levels or {}, claimed.n_refused, held, forms, as_published
    )
    return auditing.audit()


@dataclass(frozen=True, repr=False)
class StreamedAudit(Auditing):
    """One audit of rows on disk."""

    tables: Mapping[str, PublishedTable]
    held: Held
    # How many files are not as always written, and of how many nobody can tell.
    marked: tuple[int, int]
    # Whether the folder is the one of which a digest was kept; nothing where none was.
    is_as_published: bool | None

    @property
    def most_cells(self) -> int:
        """How many cells of published rows are judged at once."""
        return self.held.room.most_judged

    def descents(self, evidence: Evidence, view: View, file: ColumnFile) -> int:
        """Rows that sort below the row before them, as the file writes values or as the original types them."""
        table = self.tables[file.table]
        if not table.n_falls:
            return 0
        retyped = {name: typed(evidence, view, column) for name, column in table.known.items()}
        n_falls = 0
        before: list[NDArray[np.integer]] = [np.zeros(0, dtype=np.int64) for _ in table.fields]
        for batch in table.batches():
            joined = [np.append(last, own) for last, own in zip(before, batch, strict=True)]
            n_falls += count_falls(replace(table, known=retyped).frame(joined))
            before = [own[-1:] for own in batch]
        return min(table.n_falls, n_falls)

    def torn_buckets(self, evidence: Evidence, view: View) -> int:
        """Buckets that have different numbers of rows in different columns."""
        return torn_buckets_of([self.tables[file.table] for file in view.files])

    def absence(self) -> Iterable[Finding]:
        """The findings about those who are left out."""
        return absence_findings(self.evidence)

    def truth(self) -> Iterable[Finding]:
        """The findings about lines as rows of the original."""
        return truth_findings(self.evidence, self)

    def forms(self) -> Iterator[Finding]:
        """The findings about files."""
        if self.is_as_published is not None:
            yield count_of_faults("as-published", int(not self.is_as_published))
        yield from forms_told(*self.marked)

    def there(self) -> tuple[Finding, ...]:
        """The findings about all promises, view by view and part by part."""
        return findings_in_parts(self)

    @cached_property
    def judged(self) -> tuple[Release, Mapping[str, PublishedTable]]:
        """The manifest and the tables with what promises look at."""
        needed = needed_by(self.asked, self.policy, self.held.sketch)
        release = with_needed(self.outline, needed)
        files = [file for view in release.views for file in view.files]
        is_cut = not any(view.bucketed for view in release.views)
        return release, {
            file.table: self.tables[file.table].showing({*file.attributes})
            if is_cut
            else self.tables[file.table]
            for file in files
        }

    def lines(self, file: ColumnFile, names: tuple[str, ...]) -> Iterator[Sequence[Ids]]:
        """The codes of published rows, batch by batch, as the evidence has them."""
        for batch in self.tables[file.table].picked(names):
            yield [numbers.astype(np.int64) for numbers in batch]

    def rows(self, names: tuple[str, ...]) -> Iterator[Sequence[Ids]]:
        """The codes of the original, batch by batch."""
        for batch in self.held.rows.batches(self.held.fields(names)):
            table = self.held.table_of(batch, names)
            yield [table[name].codes.astype(np.int64) for name in names]

    def n_beyond(self, lines: Iterable[Bits], wanted: Iterable[Bits]) -> int:
        """How many lines are more than the rows like them."""
        tally = Tally(1, self.held.folder / "lines", self.held.room)
        try:
            for batch in lines:
                tally.add([batch.view(np.int64)])
            for batch in wanted:
                tally.add([batch.view(np.int64)], times=-1)
            return sum(int(np.maximum(block.times, 0).sum()) for block in tally)
        finally:
            tally.forget()
