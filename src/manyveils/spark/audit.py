"""The audit of a release whose rows stay with Spark.

Where all tables fit the driver, it reads them and judges them as everywhere.
Where only their different rows fit, it brings these with their counts.
Otherwise every view is judged part by part where its rows are: by whole buckets, by whole groups, or between seams.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from manyveils.audits import Audit, Finding, Licence, audit
from manyveils.audits.apart import Auditing, is_spread
from manyveils.audits.together import together
from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.parts import Wholes
from manyveils.policy import Policy
from manyveils.policy.guarantees import KnownItems
from manyveils.reading.evidence import Evidence, fields_of
from manyveils.reading.licence import licensed
from manyveils.reading.secrets import as_published
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.spark.counts import Counts
from manyveils.spark.grouped import Grouped
from manyveils.spark.held import Held
from manyveils.spark.judging import Judge
from manyveils.spark.limits import CELLS, driver_cells
from manyveils.spark.order import descents_of, torn_buckets_of
from manyveils.spark.published import PublishedTable, cells_of, read_published
from manyveils.table import Table, resolve

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
        counts = Counts(held)
        return _Auditing(outline, tables, counts, policy, levels or {}, claimed.n_refused, held).audit()
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
class _Auditing(Auditing):
    """One audit by Spark."""

    tables: Mapping[str, PublishedTable]
    held: Held

    def descents(self, evidence: Evidence, view: View, file: ColumnFile) -> int:
        """Rows that sort below the row before them, counted where they are."""
        return descents_of(self.tables[file.table], fields_of(view, file), self.held.rows.sparkSession)

    def torn_buckets(self, evidence: Evidence, view: View) -> int:
        """Buckets that have different numbers of rows in different columns, counted where they are."""
        return torn_buckets_of(view, self.tables)

    def there(self) -> tuple[Finding, ...]:
        """Judge every view where its rows are."""
        self._refuse_combined()
        wholes = Wholes(tuple(self._wholes()), self.held.sketch)
        table = as_published(self.secrets_shown, replace(self.held.sketch, reference=wholes))
        light = {name: each.without_rows() for name, each in self.tables.items()}
        found: list[list[Finding]] = []
        for view in self.outline.views:
            judge = Judge(
                self.outline, view, light, table, self.policy, self.levels, self.held.without_rows()
            )
            found += Grouped(judge, self.evidence, self.asked, self.tables, self.held).findings()
        return together(found)

    def _refuse_combined(self) -> None:
        """What is protected as one and stands in several views has to be seen in all of them at once."""
        for promise in self.asked:
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
        for promise in self.asked:
            if len(promise.protects) > 1 and self.evidence.joins(promise.protects):
                yield self.counts.of(promise.protects)
