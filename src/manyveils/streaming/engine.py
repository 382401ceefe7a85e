"""The local engine where rows do not fit the memory: publish into a folder that is being prepared, and audit one."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from manyveils.audits import Audit, Licence
from manyveils.audits.apart import refuse_everybody
from manyveils.errors import DataError, InfeasibleError, PolicyError, Problem
from manyveils.linting import Lint
from manyveils.linting.counted import lint_counted
from manyveils.methods import Options, Work, drafts_of, method_of, plan_of_counts, unused_suppression, work_of
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.release.apart import FolderRelease
from manyveils.release.dealing import DealtView
from manyveils.release.draft import Drafts
from manyveils.release.plan import FromRows, LeveledView, Plan
from manyveils.release.seal import OutgoingColumn, OutgoingView, list_views, seal
from manyveils.streaming.audit import audit_streamed
from manyveils.streaming.carrying import leveled, write_column
from manyveils.streaming.dealing import bucketed
from manyveils.streaming.held import Counts, Held, hold_streamed
from manyveils.streaming.making import made_in_parts
from manyveils.streaming.room import Room
from manyveils.streaming.source import batches_of
from manyveils.table import Streams
from manyveils.table.door import unchanged

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Job:
    """One publication or audit of rows that are on disk."""

    policy: Policy
    held: Held
    counts: Counts
    progress: Progress

    @cached_property
    def lint(self) -> Lint:
        """Doubts about the policy."""
        return lint_counted(self.policy, self.counts)

    def publish(self, folder: Path, options: Options, streams: Streams, format: str) -> FolderRelease:  # noqa: A002
        """Write a release into a folder that is being prepared."""
        self.lint.refuse()
        work = work_of(
            self.policy, self.held.sketch, streams, self.progress, options=options, counted=self.counts.of
        )
        plan = method_of(self.policy).plan(work)
        if (isinstance(plan, FromRows) or work.hiding) and self._fits():
            return self._made_here(work, plan, folder, format)
        views, decided = self._made_there(work, plan, streams.of("seal.buckets"))
        (folder / "tables").mkdir()

        def write(stem: str, view: OutgoingView, column: OutgoingColumn) -> None:
            target = folder / "tables" / f"{stem}.{format}"
            write_column(self.held, view, column, target, format, self.progress)

        outline = list_views(views, self.held.sketch, self.policy, work.promises, write)
        outline.write_listing(folder, format=format)
        return self._told(outline, decided, folder, format)

    def _fits(self) -> bool:
        """Whether a release may be made from all rows in memory."""
        return self.held.fits

    def _made_here(self, work: Work, plan: Plan | FromRows, folder: Path, format: str) -> FolderRelease:  # noqa: A002
        """A release whose views are made from rows, in memory."""
        own = replace(work, table=self.held.table, counted=None)
        drafts = drafts_of(own, plan)
        rng, promises = work.streams.of("seal.buckets"), (*work.promises, *work.hiding)
        release = seal(
            drafts.views,
            own.table,
            self.policy,
            unchanged,
            notes={},
            rng=rng,
            promises=promises,
            key=drafts.key,
        )
        release.write(folder, format=format)
        return self._told(release, drafts, folder, format)

    def _made_there(
        self, work: Work, plan: Plan | FromRows, rng: np.random.Generator
    ) -> tuple[Iterable[OutgoingView], Plan]:
        """The views as they go out, of rows that stay on disk; an error where these must be seen together."""
        decided = None if work.hiding else plan_of_counts(work, plan)
        if decided is not None:
            return (self._carried_out(work, view, rng) for view in decided.views), decided
        if work.hiding or isinstance(plan, Plan) or plan.parts is None:
            raise InfeasibleError([self._not_there()])
        view, notes = made_in_parts(self.held, work, plan, self.counts, rng)
        return [view], Plan((), notes)

    def _not_there(self) -> Problem:
        n_bytes = self.held.bytes_for(self.held.rows.n_rows)
        what = f"with these keys, {method_of(self.policy).name!r} needs all rows in memory, some {n_bytes / 10**9:.2g} GB."
        where = f"{self.policy.name}: publish.method"
        return Problem(where, what, "Give so much memory, or use another method.")

    def _told(
        self,
        outline: Release,
        decided: Plan | Drafts,
        folder: Path,
        format: str,  # noqa: A002
    ) -> FolderRelease:
        notes = {**decided.notes, **unused_suppression(self.policy)}
        return FolderRelease(outline, folder, notes=notes, key=decided.key, format=format)

    def audit(
        self,
        folder: Path,
        licence: Licence,
        levels: Mapping[str, float] | None = None,
        published_as: str | None = None,
    ) -> Audit:
        """Judge the release in a folder."""
        verdict = audit_streamed(
            folder,
            self.held,
            self.counts,
            self.policy,
            licence=licence,
            levels=levels,
            published_as=published_as,
            progress=self.progress,
        )
        accepted = self.lint.said_accepted() if self.policy.accept else ()
        return replace(verdict, accepted=accepted)

    def _carried_out(
        self, work: Work, view: LeveledView | DealtView, rng: np.random.Generator
    ) -> OutgoingView:
        if isinstance(view, DealtView):
            return bucketed(self.held, work, view, rng)
        return leveled(self.held, work, view)


@contextmanager
def job_of(data: object, policy: Policy, room: Room, aside: Path, progress: Progress) -> Iterator[Job]:
    """Read data once into a folder of its own inside of another, which is there as long as the job."""
    if policy.population.source:
        what = "names a list of people, which is held against a table in memory alone."
        raise PolicyError.at(f"{policy.name}: population.source", what, "Leave memory out.")
    refuse_everybody(policy, "Leave memory out.")
    source = policy.source if data is None else data
    if source is None:
        what = "data.source is not set and no data were given."
        raise DataError.at(policy.name, what, "Set it or give --data.")
    folder = aside / "rows"
    folder.mkdir()
    try:
        batches = batches_of(source, policy.data, room)
        held = hold_streamed(batches, policy, room, folder, progress)
        yield Job(policy, held, Counts(held, room.most_cells), progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
