"""The audit of a release that does not fit the memory: its own files and the original, batch by batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyveils.audits import Audit, Elsewhere, Licence, judged
from manyveils.audits.content import count_falls, typed
from manyveils.errors import InfeasibleError, Problem
from manyveils.policy import Policy
from manyveils.reading.evidence import Evidence
from manyveils.release import Release, View
from manyveils.release.release import table_files
from manyveils.release.views import ColumnFile
from manyveils.release.writing import marked_in_listing
from manyveils.streaming.held import Counts, Held
from manyveils.streaming.published import PublishedTable, read_streamed

Progress = Callable[[str, float], None]


def audit_streamed(
    folder: Path,
    held: Held,
    counts: Counts,
    policy: Policy,
    *,
    licence: Licence,
    levels: Mapping[str, float] | None = None,
    progress: Progress,
) -> Audit:
    """Judge every promise of the policy on the files of a release."""
    outline, paths = Release.outline(folder), table_files(folder)
    files = [file for view in outline.views for file in view.files]
    tables: dict[str, PublishedTable] = {}
    for place, file in enumerate(files):
        aside = held.folder / f"published{place}"
        aside.mkdir()
        tables[file.table] = read_streamed(paths[file.table], file, held.room, aside)
        progress("auditing", (place + 1) / (len(files) + 1))
    release = _with_counts(outline, tables, held)
    looking = _Looking(tables, held)
    n_marked = marked_in_listing(outline, folder, paths) + sum(table.is_marked for table in tables.values())
    forms = n_marked, sum(table.is_untold for table in tables.values())
    elsewhere = Elsewhere(looking.descents, looking.torn_buckets, looking.rows, forms)
    original = replace(held.sketch, reference=counts.of)
    return judged(release, original, policy, licence, levels, elsewhere).audit


def _with_counts(outline: Release, tables: Mapping[str, PublishedTable], held: Held) -> Release:
    """The release as different rows with their counts."""
    frames, weights = {}, {}
    for name, table in tables.items():
        found = table.different(held.room)
        if found is None:
            what = f"has more different rows than fit {held.room.n_bytes:,} bytes at once."
            raise InfeasibleError([Problem(name, what, "Give more memory.")])
        frames[name], weights[name] = found
    return Release(outline.manifest, frames, outline.recodings, weights=weights)


@dataclass(frozen=True, repr=False)
class _Looking:
    """What is looked at row by row."""

    tables: Mapping[str, PublishedTable]
    held: Held

    def descents(self, evidence: Evidence, view: View, file: ColumnFile) -> int:
        """Rows that sort below the row before them, as the file writes values or as the original types them."""
        table = self.tables[file.table]
        if not table.n_falls:
            return 0
        values = {name: typed(evidence, view, column) for name, column in table.values.items()}
        retyped, n_falls = replace(table, values=values), 0
        before: dict[str, NDArray[np.integer]] = {}
        for batch in table.rows.batches(table.fields):
            joined = {name: np.append(before.get(name, own[:0]), own) for name, own in batch.items()}
            n_falls += count_falls(retyped.frame([own.astype(np.int64) for own in joined.values()]))
            before = {name: own[-1:] for name, own in batch.items()}
        return min(table.n_falls, n_falls)

    def torn_buckets(self, evidence: Evidence, view: View) -> int:
        """Buckets that have different numbers of rows in different columns."""
        raise NotImplementedError

    def rows(self, names: tuple[str, ...]) -> Iterator[Sequence[NDArray[np.int64]]]:
        """The codes of the original, batch by batch."""
        fields = self.held.fields(names)
        for batch in self.held.rows.batches(fields):
            table = self.held.table_of(batch, names)
            yield [table[name].codes.astype(np.int64) for name in names]
