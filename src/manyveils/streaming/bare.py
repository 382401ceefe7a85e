"""A table that something else published, judged by itself where its rows do not fit: some whole groups at a time."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits import Audit
from manyveils.audits.apart import needed_by, sights_of
from manyveils.audits.bare import exposure_findings, not_judged, persons_counted
from manyveils.audits.finding import Finding
from manyveils.audits.levels import at_levels
from manyveils.audits.signatures import scrambled
from manyveils.audits.together import columns_judged, together
from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import KnownItems
from manyveils.policy.standing import without_role
from manyveils.reading.bare import policy_alone, stand_alone
from manyveils.reading.evidence import Evidence
from manyveils.release.bare import TABLE, BareRelease, bare_release
from manyveils.release.packing import Packing
from manyveils.release.seal import levels_of
from manyveils.streaming.divided import divided
from manyveils.streaming.held import Counts, hold_streamed
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Number
from manyveils.streaming.source import Batches, batches_of
from manyveils.table import Table, resolve
from manyveils.table.door import unchanged
from manyveils.table.parts import is_folder_of_parts, take_in_parts

Ids = NDArray[np.int64]
Progress = Callable[[str, float], None]


def check_streamed(
    data: object, policy: Policy, room: Room, aside: Path, levels: Mapping[str, float], progress: Progress
) -> Audit:
    """Judge a table by itself, batch by batch; what is kept of its rows meanwhile goes into a folder aside."""
    _refuse_candidates(policy)
    batches = batches_of(_taken(data, policy), policy.data, room)
    narrow, folder = policy_alone(batches.schema.names(), policy), aside / "rows"
    folder.mkdir()
    try:
        held = hold_streamed(batches, without_role(narrow), room, folder, progress)
        counts = Counts(held, room.most_cells)
        release = _outlined(batches, counts, policy, narrow)
        found = tuple(_Judging(counts, narrow, release, levels).findings())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Audit(
        (*found, *exposure_findings(release)),
        held.sketch.derived,
        persons_counted(release, held.sketch, narrow),
        not_judged=not_judged(release),
    )


def _taken(data: object, policy: Policy) -> object:
    """What batches are read of; parts that are no Parquet files are read into memory."""
    if not isinstance(data, str | Path) or not is_folder_of_parts(Path(data)):
        return data
    parts = sorted(Path(data).glob("[!._]*.parquet"))
    rows = [pl.scan_parquet(part, glob=False) for part in parts]
    try:
        is_one = bool(parts) and len({tuple(each.collect_schema().items()) for each in rows}) == 1
    except (pl.exceptions.PolarsError, OSError):
        is_one = False
    return (
        pl.concat(rows)
        if is_one and len(parts) == _n_visible(Path(data))
        else take_in_parts(data, policy.data)[0]
    )


def _n_visible(folder: Path) -> int:
    return sum(path.name[0] not in "._" for path in folder.iterdir())


def _refuse_candidates(policy: Policy) -> None:
    """Refuse what is told by looking at every row beside every other, or by a list of people."""
    if policy.data.missing == "any":
        what = "any is judged with all rows in memory alone."
        raise PolicyError.at(f"{policy.name}: data.missing", what, "Leave memory out.")
    if policy.population.source:
        what = "names a list of people, which is held against a table in memory alone."
        raise PolicyError.at(f"{policy.name}: population.source", what, "Leave memory out.")


def _outlined(batches: Batches, counts: Counts, policy: Policy, narrow: Policy) -> BareRelease:
    """The table as a release without rows."""
    sketch, columns = counts.held.sketch, batches.schema.names()
    shown = [name for name in sketch.expand(narrow.published) if name in sketch.attributes]
    release = bare_release(
        pl.DataFrame(schema={name: sketch[name].domain.dtype for name in shown}),
        sketch,
        levels_of(narrow),
        batches.restore,
        {},
    )
    unseen = [name for name in columns if name in policy.attributes and name not in policy.published]
    n_cells = dict.fromkeys(unseen, 0)
    for frame, _ in batches.read(unseen) if unseen else ():
        for name in unseen:
            n_cells[name] += frame.height - frame[name].null_count()
    stand_alone(release, columns, policy, n_cells.__getitem__)
    return release


@dataclass(frozen=True, repr=False)
class _Judging:
    """A table to be judged by itself."""

    counts: Counts
    policy: Policy
    outline: BareRelease
    levels: Mapping[str, float]

    def findings(self) -> tuple[Finding, ...]:
        """The findings about all promises.

        Claim: they are those of all rows at once.
        Why: rows that are alike in what every promise tells groups apart by are in one part.
        Tested by: tests/streaming/test_bare.py
        """
        parts = (Evidence(self._release(table), table, self.policy) for table in self._parts())
        return together(tuple(columns_judged(evidence, self.levels)) for evidence in parts)

    def _parts(self) -> Iterator[Table]:
        """Some of the different rows, as far as promises look at them, with their counts."""
        held, names = self.counts.held, self._needed
        fields, shared = held.fields(names), self._shared
        n_parts = -(-held.rows.n_rows * (len(names) + 1) // held.room.most_judged)
        if n_parts > 1:
            self._refuse_whole(shared)
        packing = Packing((n_parts, *(held.n_numbers(field) for field in fields)))
        groups = Packing(tuple(held.sketch[name].n_values for name in shared))

        def batches() -> Iterator[Sequence[Number]]:
            for batch in held.rows.batches(held.fields((*names, *shared))):
                numbers = [batch[field] for field in fields]
                keys = groups.packed(held.table_of(batch, shared).codes(shared))
                yield [_parted(keys, len(numbers[0]), n_parts), *numbers]

        with divided(packing, batches(), held.folder / "bare", held.room) as parts:
            for rows in parts:
                raw = dict(zip(fields, packing.unpacked(rows.keys)[1:], strict=True))
                yield replace(held.table_of(raw, names, rows.times), reference=self.counts.of)

    @property
    def _asked(self) -> tuple[Promise, ...]:
        promises = resolve(self.policy, self.counts.held.sketch, is_made=True)
        return (*promises, *at_levels(promises, self.levels))

    @property
    def _needed(self) -> tuple[str, ...]:
        """What promises look at, in the order of the table."""
        needed = needed_by(self._asked, self.policy, self.counts.held.sketch)
        [view] = self.outline.views
        return tuple(name for name in view.attributes if name in needed) or view.attributes[:1]

    @property
    def _shared(self) -> tuple[str, ...]:
        """What every promise tells groups apart by."""
        evidence = Evidence(self.outline, self.counts.held.sketch, self.policy)
        [view] = self.outline.views
        keys = [set(sight.key) for sight in sights_of(view, evidence, self._asked)]
        shared = set.intersection(*keys) if keys else set[str]()
        return tuple(name for name in view.attributes if name in shared)

    def _refuse_whole(self, shared: tuple[str, ...]) -> None:
        """Refuse what looks at too many rows at once."""
        if not shared or any(isinstance(promise.guarantee, KnownItems) for promise in self._asked):
            what = f"has {self.counts.held.rows.n_rows:,} rows, and some promise looks at too many of them at once."
            raise InfeasibleError([Problem("table", what, "Give more memory.")])

    def _release(self, table: Table) -> BareRelease:
        """Some rows as a release of their own."""
        assert table.weights is not None
        frame = pl.DataFrame(
            [known.domain.gather(known.codes).alias(name) for name, known in table.attributes.items()]
        )
        release = bare_release(frame, table, self.outline.manifest.levels, unchanged, {})
        [view] = release.views
        told = replace(view, rows=table.n_people)
        release.manifest = replace(release.manifest, rows=table.n_people, views=(told,))
        release.weights, release.is_alone = {TABLE: table.weights}, True
        return release


def _parted(keys: Sequence[Ids], n_rows: int, n_parts: int) -> Ids:
    """A part for each row, the same for rows with the same keys."""
    mixed = np.zeros(n_rows, dtype=np.uint64)
    for key in keys:
        mixed = scrambled(mixed.view(np.int64) + key)
    return (mixed % np.uint64(n_parts)).astype(np.int64)
