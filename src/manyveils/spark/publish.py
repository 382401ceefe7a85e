"""One publication on Spark: counts are brought to the driver, what they decide is applied where rows are, and written."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from manyveils.errors import InfeasibleError, Problem
from manyveils.keys.key import Key
from manyveils.methods import Options, Work, method_of
from manyveils.methods.dealt import Dealt
from manyveils.methods.work import Decided, InParts
from manyveils.policy import Policy
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import watch_counts
from manyveils.release.folder import write_text
from manyveils.release.names import Names
from manyveils.release.release import MANIFEST
from manyveils.release.seal import BUCKET, described_promises, shown_bits
from manyveils.release.views import ColumnFile, Manifest, View
from manyveils.spark.counts import Counts
from manyveils.spark.held import Held
from manyveils.spark.joined import joined, noted_together
from manyveils.spark.parts import cuts_of, make_parts
from manyveils.spark.ready import Ready, ready_dealt, ready_leveled, ready_parts
from manyveils.spark.write import write_sorted
from manyveils.table import Streams, resolve

Progress = Callable[[str, float], None]

# What Spark does not do yet, and why.
GAPS = {
    "codip": "with this anonymizer every projection would be cut by itself, and projections are cut together",
    "grade": "what comes after grading cuts rows, and grades are given to all rows at once",
    "guardian": "with this anonymizer tables are made from rows",
    "multi-sa": "its search looks at the clock, so a task that is done again could choose other rows",
    "alpha-beta-k": "without quasi-identifiers all rows are one group, which no task may hold",
}
REMEDY = {
    "codip": 'Use anonymizer = "full-domain", or the local engine.',
    "grade": 'Use then = "generalize", "anatomize", "codip" or "separate", or the local engine.',
    "guardian": 'Use anonymizer = "anatomize" or "generalize", or the local engine.',
    "multi-sa": "Use another method, or the local engine.",
    "alpha-beta-k": "Give quasi-identifiers, or use the local engine.",
}


@dataclass(frozen=True, repr=False)
class Job:
    """One publication on Spark."""

    policy: Policy
    held: Held
    work: Work
    counts: Counts

    def views(self) -> tuple[Iterator[Ready], Mapping[str, object], Key | None]:
        """The views, each made when it is asked for, notes on how they were decided, and the key to what is secret."""
        method = method_of(self.policy)
        decided = method.decide(self.work)
        if decided is not None:
            return self._decided(decided), decided.notes, decided.key
        plan = method.part(self.work)
        if plan is None:
            raise InfeasibleError([_not_there(self.policy)])
        ready, notes = self._in_parts(plan)
        return iter((ready,)), notes, None

    def _decided(self, decided: Decided) -> Iterator[Ready]:
        for view in decided.views:
            if isinstance(view, Dealt):
                yield ready_dealt(self.held, self.work, view)
            else:
                yield ready_leveled(self.held, self.work, view)

    def _in_parts(self, plan: InParts) -> tuple[Ready, Mapping[str, object]]:
        watches = watch_counts(self.work, self.work.promises, plan.beside)
        if breaks_as_one_group(watches, self.held.sketch.n_people):
            raise refuse(self.work, watches)
        cuts = cuts_of(self.work, plan, self.counts)
        parts = joined(make_parts(self.held, self.work, plan, cuts), cuts.n_parts)
        each = [note["notes"] for note in parts.notes]
        notes = noted_together(each, [note["rows"] for note in parts.notes]) | dict(plan.notes)
        if cuts.each:
            notes["parts"] = cuts.n_parts
        return ready_parts(self.held, self.work, parts), notes

    def write(self, views: Iterator[Ready], folder: Path, key: Key | None = None) -> Manifest:
        """Write the views and their manifest into a folder that is being prepared."""
        (folder / "tables").mkdir()
        names, recoding_names, listed = Names(), Names(), []
        recodings: dict[tuple[str, str], pl.DataFrame] = {}
        for ready in views:
            try:
                listed.append(_written(ready, names, folder))
            finally:
                ready.forget()
            recodings |= ready.recodings
        n_rows = max((view.rows for view in listed), default=0)
        manifest = Manifest(
            method=self.policy.publish.method,
            rows=n_rows,
            suppressed=self.held.sketch.n_people - n_rows,
            promises=described_promises(self.work.promises, self.held.sketch),
            views=tuple(listed),
            derived=shown_bits(listed, self.held.sketch),
            recodings={each: recoding_names.of(each[0], (each[1],)) for each in recodings},
            secret=tuple(name for name in self.held.sketch.attributes if key and name in key.attributes),
        )
        _write_recodings(recodings, manifest, folder)
        said = json.dumps(manifest.describe("parquet"), indent=2, ensure_ascii=False)
        write_text(folder / MANIFEST, said + "\n")
        return manifest


def _written(ready: Ready, names: Names, folder: Path) -> View:
    files = []
    for column in ready.columns:
        stem = names.of(ready.name, column.attributes if ready.bucketed else ())
        fields = (BUCKET, *column.attributes) if ready.bucketed else column.attributes
        target = folder / "tables" / f"{stem}.parquet"
        write_sorted(column.rows, fields, ready.n_rows, target, column.values, ready.n_buckets)
        files.append(ColumnFile(column.attributes, stem, column.types))
    return View(ready.name, tuple(files), ready.bucketed, ready.n_rows, ready.enforces)


def _write_recodings(
    recodings: Mapping[tuple[str, str], pl.DataFrame], manifest: Manifest, folder: Path
) -> None:
    if recodings:
        (folder / "recodings").mkdir()
    for key, pairs in recodings.items():
        pairs.write_csv(folder / "recodings" / f"{manifest.recodings[key]}.csv", separator=";")


def _not_there(policy: Policy) -> Problem:
    name = policy.publish.method
    return Problem(f"{policy.name}: publish.method", f"{name!r} is not on Spark: {GAPS[name]}.", REMEDY[name])


def job_of(held: Held, policy: Policy, options: Options, *, seed: int | None, progress: Progress) -> Job:
    """A publication of rows that Spark holds."""
    counts = Counts(held)
    work = Work(
        policy,
        held.sketch,
        resolve(policy, held.sketch),
        options,
        Streams() if seed is None else Streams(seed),
        progress,
        suppresses=method_of(policy).suppresses,
        counted=counts.of,
    )
    return Job(policy, held, work, counts)
