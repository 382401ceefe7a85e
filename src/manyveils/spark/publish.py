"""One publication on Spark: counts are brought to the driver, what they decide is applied where rows are, and written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.keys.key import Key
from manyveils.linting import Lint
from manyveils.linting.counted import lint_counted
from manyveils.methods import Method, Options, Work, method_of, plan_of_counts, work_of
from manyveils.methods.parts import refuse_as_one_group
from manyveils.policy import Policy
from manyveils.release.dealing import DealtView
from manyveils.release.plan import FromRows, Plan
from manyveils.release.seal import BUCKET, OutgoingColumn, OutgoingView, list_views
from manyveils.spark.apply import bucketed, leveled, made_in_parts
from manyveils.spark.counts import Counts
from manyveils.spark.held import Held
from manyveils.spark.joined import collected
from manyveils.spark.parts import cuts_of, make_parts
from manyveils.spark.write import write_sorted
from manyveils.table import Streams

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Job:
    """One publication on Spark."""

    policy: Policy
    held: Held
    work: Work
    counts: Counts

    def views(self) -> tuple[Iterator[OutgoingView], Mapping[str, object], Key | None]:
        """The views, each made when it is asked for, notes on how they were decided, and the key to what is secret."""
        method = method_of(self.policy)
        if self.work.hiding:
            what = "values of known items are hidden group by group, and Spark makes groups where nobody sees them whole."
            raise PolicyError.at(f"{self.policy.name}: guarantee.known_items", what, "Use the local engine.")
        if self.policy.population.source:
            what = "names a list of people, which is read here and not by Spark."
            raise PolicyError.at(f"{self.policy.name}: population.source", what, "Use the local engine.")
        self.lint().refuse()
        plan = method.plan(self.work)
        decided = plan_of_counts(self.work, plan)
        if decided is not None:
            return self._carried_out(decided), decided.notes, decided.key
        assert isinstance(plan, FromRows)
        if plan.parts is None:
            raise InfeasibleError([_not_there(self.policy, method)])
        view, notes = self._in_parts(plan)
        return iter((view,)), notes, None

    def lint(self) -> Lint:
        """Doubts about the policy."""
        return lint_counted(self.policy, self.counts)

    def _carried_out(self, plan: Plan) -> Iterator[OutgoingView]:
        for view in plan.views:
            if isinstance(view, DealtView):
                yield bucketed(self.held, self.work, view)
            else:
                yield leveled(self.held, self.work, view)

    def _in_parts(self, plan: FromRows) -> tuple[OutgoingView, Mapping[str, object]]:
        assert plan.parts is not None
        refuse_as_one_group(self.work, plan.parts)
        cuts = cuts_of(self.work, plan.parts, self.counts)
        made = collected(make_parts(self.held, self.work, plan, cuts), cuts.n_parts)
        return made_in_parts(self.held, self.work, made), made.notes.notes_beside(plan.parts)

    def write(self, views: Iterator[OutgoingView], folder: Path) -> None:
        """Write the views, what labels cover and the manifest into a folder that is being prepared."""
        (folder / "tables").mkdir()

        def write(stem: str, view: OutgoingView, column: OutgoingColumn) -> None:
            names = (BUCKET, *column.attributes) if view.bucketed else column.attributes
            target = folder / "tables" / f"{stem}.parquet"
            unsorted = column.rows
            write_sorted(unsorted.rows, names, view.n_rows, target, unsorted.values, unsorted.n_buckets)

        outline = list_views(views, self.held.sketch, self.policy, self.work.promises, write)
        outline.write_listing(folder, format="parquet")


def _not_there(policy: Policy, method: Method) -> Problem:
    assert method.gap is not None
    what = f"{method.name!r} is not on Spark: {method.gap.reason}."
    return Problem(f"{policy.name}: publish.method", what, method.gap.remedy)


def job_of(held: Held, policy: Policy, options: Options, *, seed: int | None, progress: Progress) -> Job:
    """A publication of rows that Spark holds."""
    counts = Counts(held)
    streams = Streams() if seed is None else Streams(seed)
    work = work_of(policy, held.sketch, streams, progress, options=options, counted=counts.of)
    return Job(policy, held, work, counts)
