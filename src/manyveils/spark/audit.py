"""The audit of a release whose rows stay with Spark.

Where all tables fit the driver, it reads them and judges them as everywhere.
Where only their different rows fit, it brings these with their counts.
Otherwise every view is judged part by part where its rows are: by whole buckets, by whole groups, or between seams.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.audits import Audit, Finding, Licence, audit
from manyveils.audits.content import content_findings, loss_findings
from manyveils.audits.judge import worst_columns
from manyveils.audits.levels import at_levels
from manyveils.audits.secrets import secret_findings
from manyveils.audits.together import columns_judged, together
from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import KnownItems
from manyveils.reading.evidence import BUCKET, Coded, Evidence
from manyveils.reading.licence import licensed
from manyveils.reading.secrets import as_published
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.spark.counts import Counts
from manyveils.spark.grouped import Grouped, is_spread
from manyveils.spark.held import Held
from manyveils.spark.judging import Judge
from manyveils.spark.limits import CELLS, driver_cells
from manyveils.spark.order import descents_of, torn_buckets_of
from manyveils.spark.parts import Wholes
from manyveils.spark.published import PublishedTable, cells_of, read_published
from manyveils.table import Table, resolve
from manyveils.table.counting import TooManyError
from manyveils.table.persons import how_counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def audit_there(
    folder: Path,
    held: Held,
    policy: Policy,
    *,
    spark: "SparkSession",
    licence: Licence,
    levels: Mapping[str, float] | None = None,
) -> Audit:
    """Judge every promise of the policy on the files of a release."""
    if policy.population.source:
        what = "names a list of people, which is read here and not by Spark."
        raise PolicyError.at(f"{policy.name}: population.source", what, "Use the local engine.")
    outline = Release.outline(folder)
    # Judging takes a few times the memory of what is judged.
    if 4 * cells_of(folder, outline) <= driver_cells():
        return _audit_here(Release.load(folder), held, policy, licence, levels or {})
    claimed = licensed(outline, held.sketch, policy, licence)
    outline = claimed.release
    tables = read_published(folder, outline, spark)
    try:
        return _Auditing(outline, tables, held, policy, levels or {}, claimed.n_refused).audit()
    finally:
        for table in tables.values():
            table.rows.unpersist()


def _audit_here(
    release: Release, held: Held, policy: Policy, licence: Licence, levels: Mapping[str, float]
) -> Audit:
    """The audit as everywhere, where all tables fit the driver; the original is counted by Spark."""
    counts = Counts(held)
    original: Table = replace(held.sketch, reference=counts.of)
    asked = resolve(policy, original)
    evidence = Evidence(release, original, policy)
    if any(is_spread(view, evidence, asked) for view in release.views):
        original = replace(counts.of(tuple(held.sketch.attributes)), reference=counts.of)
    return audit(release, original, policy, licence=licence, levels=levels)


@dataclass(frozen=True, repr=False)
class _Marginal(Evidence):
    """Evidence of which only counts are here, field by field."""

    tables: Mapping[str, PublishedTable] = None  # type: ignore[assignment]

    def people(self, file: ColumnFile) -> int:
        """How many published rows there are."""
        return self.tables[file.table].n_rows

    def counts(self, file: ColumnFile, name: str) -> Any:
        """Published rows per code of one field."""
        return self.tables[file.table].counts[name]

    def coded(self, file: ColumnFile, name: str) -> Any:
        """One field of a published table: its values, and no row."""
        return Coded(np.zeros(0, dtype=np.int64), self.tables[file.table].values[name])


@dataclass(frozen=True, repr=False)
class _Auditing:
    """One audit."""

    outline: Release
    tables: Mapping[str, PublishedTable]
    held: Held
    policy: Policy
    levels: Mapping[str, float]
    n_claims: int

    def audit(self) -> Audit:
        """All findings, in the order in which an audit has them."""
        evidence, spark = self._evidence, self.held.rows.sparkSession
        return Audit(
            (
                *self._promises(),
                *content_findings(
                    evidence,
                    self.n_claims,
                    descents=lambda _, view, file: descents_of(
                        self.tables[file.table], _fields(view, file), spark
                    ),
                    torn_buckets=lambda _, view: torn_buckets_of(view, self.tables),
                ),
                *loss_findings(evidence),
                *self._secrets(),
            ),
            self.held.sketch.derived,
            how_counted(self.held.sketch, self.policy),
        )

    @cached_property
    def _empty(self) -> Release:
        """The release without its rows."""
        frames = {name: table.empty for name, table in self.tables.items()}
        return Release(self.outline.manifest, frames, self.outline.recodings)

    @cached_property
    def _counts(self) -> Counts:
        return Counts(self.held)

    @cached_property
    def _table(self) -> Table:
        """The original as the public sees it, of which only counts are here."""
        return as_published(self._secrets_shown, self._original)

    @cached_property
    def _original(self) -> Table:
        return replace(self.held.sketch, reference=self._counts.of)

    @cached_property
    def _secrets_shown(self) -> Release:
        """The release with nothing but its secret columns, as different rows with their counts."""
        secret = set(self.outline.manifest.secret)
        shown = [table.showing(secret) for table in self.tables.values() if secret & set(table.values)]
        return self._with_rows(shown)

    def _with_rows(self, tables: Iterable[PublishedTable]) -> Release:
        """The release with the different rows of some tables."""
        frames, weights = dict(self._empty.frames), {}
        for table in tables:
            frames[table.file.table], weights[table.file.table] = table.distinct(self._counts.most_cells)
        return Release(self.outline.manifest, frames, self.outline.recodings, weights=weights)

    def _promises(self) -> Iterator[Finding]:
        try:
            yield from worst_columns(self._here())
        except TooManyError:
            yield from worst_columns(self._there())

    def _here(self) -> tuple[Finding, ...]:
        """Judge the different rows on the driver."""
        if sum(table.least_cells for table in self.tables.values()) > self._counts.most_cells:
            raise TooManyError([])
        release, original = self._with_rows(self.tables.values()), self._original
        if any(is_spread(view, self._evidence, self._asked) for view in release.views):
            names = tuple(self.held.sketch.attributes)
            original = replace(self._counts.of(names), reference=self._counts.of)
        evidence = Evidence(release, as_published(release, original), self.policy)
        return tuple(columns_judged(evidence, self.levels))

    @cached_property
    def _evidence(self) -> Evidence:
        return _Marginal(self._empty, self._table, self.policy, tables=self.tables)

    @cached_property
    def _asked(self) -> tuple[Promise, ...]:
        promises = resolve(self.policy, self.held.sketch)
        return (*promises, *at_levels(promises, self.levels))

    def _there(self) -> tuple[Finding, ...]:
        """Judge every view where its rows are."""
        self._refuse_combined()
        wholes = Wholes(tuple(self._wholes()), self.held.sketch)
        table = as_published(self._secrets_shown, replace(self.held.sketch, reference=wholes))
        light = {name: each.without_rows() for name, each in self.tables.items()}
        found: list[list[Finding]] = []
        for view in self.outline.views:
            judge = Judge(
                self.outline, view, light, table, self.policy, self.levels, self.held.without_rows()
            )
            found += Grouped(judge, self._evidence, self._asked, self.tables, self.held).findings()
        return together(found)

    def _refuse_combined(self) -> None:
        """What is protected as one and stands in several views has to be seen in all of them at once."""
        for promise in self._asked:
            if isinstance(promise.guarantee, KnownItems):
                what = "is about sets of values in groups, too large to be seen whole here."
                remedy = f"Raise {CELLS} if the driver has the memory, or audit with the local engine."
                raise InfeasibleError([Problem(promise.guarantee.kind, what, remedy)])
            views = [view for view in self.outline.views if {*promise.protects} & {*view.attributes}]
            if len(promise.protects) > 1 and len(views) > 1:
                what = f"protects attributes as one that stand in {len(views)} views, too large to be joined here."
                remedy = f"Raise {CELLS} if the driver has the memory, or audit with the local engine."
                raise InfeasibleError([Problem(promise.guarantee.kind, what, remedy)])

    def _wholes(self) -> Iterator[Table]:
        """What promises about several columns are compared with, counted beforehand."""
        for promise in self._asked:
            if len(promise.protects) > 1 and self._evidence.joins(promise.protects):
                yield self._counts.of(promise.protects)

    def _secrets(self) -> Iterator[Finding]:
        """Secret labels beside the original, as different rows of what they stand beside."""
        secret = set(self.outline.manifest.secret)
        quasi = set(self.held.sketch.expand(self.policy.quasi))
        frames, weights = dict(self._empty.frames), {}
        for name, table in self.tables.items():
            if secret & set(table.values):
                # Only what stands beside a secret outside of buckets can be compared row by row.
                needed = table.showing(secret if BUCKET in table.columns else secret | quasi)
                rows, weights[name] = needed.distinct(self._counts.most_cells)
                frames[name] = pl.concat([table.empty, rows], how="diagonal")
        release = Release(self.outline.manifest, frames, self.outline.recodings, weights=weights)
        return secret_findings(Evidence(release, self._original, self.policy))


def _fields(view: View, file: ColumnFile) -> tuple[str, ...]:
    return (BUCKET, *file.attributes) if view.bucketed else file.attributes
