"""A view judged part by part, where its rows are: the audit's own code on whole groups, and findings added up."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.audits.apart import Ids, part_of
from manyveils.audits.finding import Finding
from manyveils.audits.together import promise_findings
from manyveils.policy import Policy
from manyveils.release import Release, View
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.counts import PART
from manyveils.spark.held import Held
from manyveils.spark.published import PublishedTable
from manyveils.table import Table
from manyveils.table.sketch import COUNT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE, FOUND = "file", "found"


@dataclass(frozen=True, repr=False)
class Judge:
    """What a task needs to judge a part of one view."""

    outline: Release
    view: View
    tables: Mapping[str, PublishedTable]
    table: Table
    policy: Policy
    levels: Mapping[str, float]
    held: Held

    def judged(self, rows: Any, targets: Any = None) -> Any:
        """The findings about one part, as one row of text."""
        table = self.table if targets is None else self._targets(pl.DataFrame(targets))
        return plain_arrow(pl.DataFrame({FOUND: [self.found(self._shown(pl.DataFrame(rows)), table)]}))

    def found(self, shown: Mapping[str, tuple[pl.DataFrame, Ids]], table: Table | None = None) -> str:
        """The findings about the part as a release of its own: of this view it has some rows, and of all others none."""
        if not any(frame.height for frame, _ in shown.values()):
            return "[]"
        empty = {name: table.empty for name, table in self.tables.items()}
        release = part_of(self.outline, self.view, empty, shown)
        found = promise_findings(release, table or self.table, self.policy, self.levels)
        return json.dumps([asdict(finding) for finding in found])

    def _shown(self, rows: pl.DataFrame) -> dict[str, tuple[pl.DataFrame, Ids]]:
        """The rows of every table with their counts."""
        shown = {}
        for place, file in enumerate(self.view.files):
            here = rows.filter(pl.col(FILE) == place)
            shown[file.table] = self.tables[file.table].frame(here), here[COUNT].to_numpy().astype(np.int64)
        return shown

    def _targets(self, rows: pl.DataFrame) -> Table:
        """The people whom buckets of this part may hold."""
        raw = {each: rows[each].to_numpy().astype(np.int64) for each in rows.columns if each != PART}
        names = tuple(name for name in self.held.sketch.attributes if self.held.field(name) in raw)
        found = self.held.table_of(raw, names)
        return replace(
            self.table, attributes={**self.table.attributes, **found.attributes}, n_rows=rows.height
        )


def rows_of_view(view: View, tables: Mapping[str, PublishedTable]) -> "DataFrame":
    """The rows of all tables of a view below each other: file, bucket if there are any, numbers of values, count."""
    from pyspark.sql import functions as f

    found = None
    for place, file in enumerate(view.files):
        rows = tables[file.table].rows
        # Rows of buckets hardly ever repeat; others may be few.
        counted = rows.withColumn(COUNT, f.lit(1)) if view.bucketed else rows.groupBy(*rows.columns).count()
        named = counted.withColumn(FILE, f.lit(place)).withColumn(COUNT, f.col(COUNT).cast("long"))
        found = named if found is None else found.unionByName(named, allowMissingColumns=True)
    assert found is not None
    return found


def findings_of(judge: Judge, parts: "DataFrame", targets: "DataFrame | None" = None) -> list[list[Finding]]:
    """The findings about every part; `parts` have the number of each row's part, and so do the targets."""
    # Spark looks at how many arguments a function takes.
    if targets is None:
        made = parts.groupBy(PART).applyInArrow(lambda rows: judge.judged(rows), f"{FOUND} string")
    else:
        both = parts.groupBy(PART).cogroup(targets.groupBy(PART))
        made = both.applyInArrow(lambda rows, people: judge.judged(rows, people), f"{FOUND} string")
    return read_findings(row[FOUND] for row in made.collect())


def read_findings(said: Iterable[str]) -> list[list[Finding]]:
    """The findings about every part, as its task has written them."""
    return [[Finding(**finding) for finding in json.loads(text)] for text in said]
