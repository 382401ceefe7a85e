"""The local engine where rows do not fit the memory: publish into a folder that is being prepared, and audit one."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from manyveils.audits import Audit, Licence
from manyveils.errors import DataError, InfeasibleError, PolicyError, Problem
from manyveils.linting import Lint
from manyveils.linting.counted import lint_counted
from manyveils.methods import Options, Work, method_of, plan_of_counts, unused_suppression, work_of
from manyveils.policy import Policy
from manyveils.release.apart import FolderRelease
from manyveils.release.dealing import DealtView
from manyveils.release.plan import LeveledView, Plan
from manyveils.release.seal import OutgoingColumn, OutgoingView, list_views
from manyveils.streaming.audit import audit_streamed
from manyveils.streaming.carrying import leveled, write_column
from manyveils.streaming.held import Counts, Held, hold_streamed
from manyveils.streaming.room import Room
from manyveils.streaming.source import batches_of
from manyveils.table import Streams

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Job:
    """One publication or audit of rows that are on disk."""

    policy: Policy
    held: Held
    counts: Counts
    progress: Progress

    def lint(self) -> Lint:
        """Doubts about the policy."""
        return lint_counted(self.policy, self.counts)

    def publish(self, folder: Path, options: Options, streams: Streams, format: str) -> FolderRelease:  # noqa: A002
        """Write a release into a folder that is being prepared."""
        self.lint().refuse()
        work = work_of(
            self.policy, self.held.sketch, streams, self.progress, options=options, counted=self.counts.of
        )
        plan = _planned(work)
        (folder / "tables").mkdir()

        def write(stem: str, view: OutgoingView, column: OutgoingColumn) -> None:
            target = folder / "tables" / f"{stem}.{format}"
            write_column(self.held, view, column, target, format, self.progress)

        views = (self._carried_out(work, view) for view in plan.views)
        outline = list_views(views, self.held.sketch, self.policy, work.promises, write)
        outline.write_listing(folder, format=format)
        notes = {**plan.notes, **unused_suppression(self.policy)}
        return FolderRelease(outline, folder, notes=notes, key=plan.key, format=format)

    def audit(self, folder: Path, licence: Licence, levels: Mapping[str, float] | None = None) -> Audit:
        """Judge the release in a folder."""
        verdict = audit_streamed(
            folder,
            self.held,
            self.counts,
            self.policy,
            licence=licence,
            levels=levels,
            progress=self.progress,
        )
        accepted = self.lint().said_accepted() if self.policy.accept else ()
        return replace(verdict, accepted=accepted)

    def _carried_out(self, work: Work, view: LeveledView | DealtView) -> OutgoingView:
        if isinstance(view, DealtView):
            raise NotImplementedError
        return leveled(self.held, work, view)


def _planned(work: Work) -> Plan:
    """The method's plan, made from counts; it is refused where it needs rows."""
    where, method = work.policy.name, method_of(work.policy)
    if work.hiding:
        what = "values of known items are hidden group by group, which is done in memory alone."
        raise PolicyError.at(f"{where}: guarantee.known_items", what, "Leave memory out.")
    plan = plan_of_counts(work, method.plan(work))
    if plan is None:
        what = f"with these keys, {method.name!r} needs all rows in memory."
        raise InfeasibleError([Problem(f"{where}: publish.method", what, "Leave memory out, or use Spark.")])
    return plan


@contextmanager
def job_of(data: object, policy: Policy, room: Room, aside: Path, progress: Progress) -> Iterator[Job]:
    """Read data once into a folder of its own inside of another, which is there as long as the job."""
    if policy.population.source:
        what = "names a list of people, which is held against a table in memory alone."
        raise PolicyError.at(f"{policy.name}: population.source", what, "Leave memory out.")
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
