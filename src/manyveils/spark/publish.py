"""The trail on Spark: rows → dictionaries and counts → the method's decision → written views."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods import Work, method_of, read_options
from manyveils.methods.dealt import Dealt
from manyveils.methods.leveled import Leveled
from manyveils.methods.work import Decided
from manyveils.policy import Policy
from manyveils.release.folder import write_text
from manyveils.release.names import Names
from manyveils.release.release import MANIFEST
from manyveils.release.seal import BUCKET, described_promises, published_recodings, shown_bits, type_name
from manyveils.release.views import ColumnFile, Manifest, View
from manyveils.spark.apply import bucketed, leveled, published_schema
from manyveils.spark.counts import Counts
from manyveils.spark.deal import Dealer, dealt
from manyveils.spark.held import Held, hold_there
from manyveils.spark.source import rows_of
from manyveils.spark.write import write_sorted
from manyveils.table import Streams, Table, resolve

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Job:
    """One publication on Spark."""

    policy: Policy
    held: Held
    work: Work

    def decide(self) -> Decided:
        """What is to be done, decided on the driver from counts."""
        method = method_of(self.policy)
        decided = method.decide(self.work)
        if decided is None:
            raise InfeasibleError([_not_yet(self.policy)])
        return decided

    def write(self, decided: Decided, folder: Path) -> Manifest:
        """Write the views and their manifest into a folder that is being prepared."""
        (folder / "tables").mkdir()
        names, recoding_names = Names(), Names()
        views, recodings = [], {}
        for view in decided.views:
            made = self._written(view, names, folder)
            views.append(made.view)
            recodings |= made.recodings
        manifest = Manifest(
            method=self.policy.publish.method,
            rows=max((view.rows for view in views), default=0),
            suppressed=self.held.sketch.n_people - max((view.rows for view in views), default=0),
            promises=described_promises(self.work.promises, self.held.sketch),
            views=tuple(views),
            derived=shown_bits(views, self.held.sketch),
            recodings={key: recoding_names.of(key[0], (key[1],)) for key in recodings},
        )
        _write_recodings(recodings, manifest, folder)
        said = json.dumps(manifest.describe("parquet"), indent=2, ensure_ascii=False)
        write_text(folder / MANIFEST, said + "\n")
        return manifest

    def _written(self, view: Leveled | Dealt, names: Names, folder: Path) -> "_Written":
        if isinstance(view, Dealt):
            return self._written_in_buckets(view, names, folder)
        table = self._beside(view)
        draft = replace(view, columns=tuple(table.columns)).drafted(table)
        n_rows = int(table.weights[draft.rows].sum()) if table.weights is not None else len(draft.rows)
        view = replace(view, columns=_without_lost(view, draft.rows, table))
        stem = names.of(view.name, ())
        write_sorted(leveled(self.held, view), view.columns, n_rows, folder / "tables" / f"{stem}.parquet")
        schema = published_schema(self.held, view)
        file = ColumnFile(view.columns, stem, {name: type_name(schema[name]) for name in view.columns})
        return _Written(View(view.name, (file,), False, n_rows), published_recodings(draft))

    def _written_in_buckets(self, view: Dealt, names: Names, folder: Path) -> "_Written":
        streams = self.work.streams.apart(view.name)
        dealer = Dealer(view, streams.secret("spark.order"), streams.secret("spark.buckets"))
        placed = dealt(self.held, dealer)
        n_rows, files = placed.count(), []
        for attributes in view.columns:
            stem = names.of(view.name, attributes)
            made = bucketed(self.held, placed, attributes)
            write_sorted(made, (BUCKET, *attributes), n_rows, folder / "tables" / f"{stem}.parquet")
            schema = published_schema(self.held, Leveled("", attributes))
            files.append(ColumnFile(attributes, stem, {name: type_name(schema[name]) for name in attributes}))
        placed.unpersist()
        return _Written(View(view.name, tuple(files), True, n_rows, view.enforces), {})

    def _beside(self, view: Leveled) -> Table:
        """Counts that tell which rows and values of a view are published."""
        bits = {bit for bits in self.held.sketch.derived.values() for bit in bits}
        lost = tuple(name for name in view.columns if name in bits) if len(view.lost) else ()
        return self.work.counts((*view.levels, *lost))


@dataclass(frozen=True)
class _Written:
    view: View
    recodings: Mapping[tuple[str, str], pl.DataFrame]


def _without_lost(view: Leveled, rows: Any, table: Table) -> tuple[str, ...]:
    """The columns without 0/1 columns of values that only suppressed rows have: their names would tell."""
    kept = {
        name
        for name in view.columns
        if name not in table.columns or table[name].absence < 0 or np.any(table[name].codes[rows])
    }
    return tuple(name for name in view.columns if name in kept)


def _write_recodings(
    recodings: Mapping[tuple[str, str], pl.DataFrame], manifest: Manifest, folder: Path
) -> None:
    if recodings:
        (folder / "recodings").mkdir()
    for key, pairs in recodings.items():
        pairs.write_csv(folder / "recodings" / f"{manifest.recodings[key]}.csv", separator=";")


def _not_yet(policy: Policy) -> Problem:
    return Problem(
        f"{policy.name}: publish.method",
        f"{policy.publish.method!r} with these keys looks at rows, which the Spark engine does not bring together.",
        'Use recoding = "full-domain" (generalize), anonymizer = "full-domain" (codip), or the local engine.',
    )


def publish_there(
    data: object,
    policy: Policy,
    folder: Path,
    *,
    master: str | None = None,
    seed: int | None = None,
    progress: Progress,
) -> tuple[Manifest, Decided]:
    """Publish into a folder that is being prepared; the audit comes after."""
    job = job_of(data, policy, master=master, seed=seed, progress=progress)
    try:
        progress("deciding", 0.3)
        decided = job.decide()
        progress("writing", 0.5)
        return job.write(decided, folder), decided
    finally:
        job.held.rows.unpersist()


def job_of(data: object, policy: Policy, *, master: str | None, seed: int | None, progress: Progress) -> Job:
    """Read the data and count what every decision needs."""
    from pyspark.sql import DataFrame

    from manyveils.spark.session import session

    spark = data.sparkSession if isinstance(data, DataFrame) else session(master)
    options = read_options(policy)
    progress("reading", 0.0)
    held = hold_there(rows_of(data, policy, spark), policy)
    work = Work(
        policy,
        held.sketch,
        resolve(policy, held.sketch),
        options,
        Streams() if seed is None else Streams(seed),
        progress,
        suppresses=method_of(policy).suppresses,
        counted=Counts(held).of,
    )
    return Job(policy, held, work)
