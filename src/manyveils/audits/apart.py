"""The audit of a release whose rows are elsewhere: from counts field by field, and from different rows where they fit.

Where they do not, every view is judged part by part, by whole groups, and the findings are put together.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.claims import claims_elsewhere
from manyveils.audits.content import content_findings, loss_findings
from manyveils.audits.finding import Audit, Finding
from manyveils.audits.judge import worst_columns
from manyveils.audits.levels import at_levels
from manyveils.audits.secrets import secret_findings
from manyveils.audits.together import columns_judged
from manyveils.errors import PolicyError
from manyveils.policy import Policy, Promise
from manyveils.policy.promises import effective
from manyveils.reading.evidence import BUCKET, Coded, Evidence
from manyveils.reading.secrets import as_published
from manyveils.reading.sight import Sight, columns_for, known_in, sight_of
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Table, resolve
from manyveils.table.counting import Counting, TooManyError
from manyveils.table.persons import how_counted

Ids = NDArray[np.int64]


class Kept(Protocol):
    """A published table whose rows are elsewhere: here are the values of its fields with their counts."""

    @property
    def file(self) -> ColumnFile:
        """The column that it holds."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its fields."""

    @property
    def values(self) -> Mapping[str, pl.Series]:
        """The different values of each field."""

    @property
    def counts(self) -> Mapping[str, Ids]:
        """How often each value is there."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    @property
    def empty(self) -> pl.DataFrame:
        """The table without its rows."""

    @property
    def least_cells(self) -> int:
        """How many cells the different rows have at least."""

    def showing(self, names: set[str]) -> Self:
        """The table with some of its fields only."""

    def distinct(self, most_cells: int) -> tuple[pl.DataFrame, Ids]:
        """The different rows, and how often each is there; an error where they are too many."""


@dataclass(frozen=True, repr=False)
class Marginal(Evidence):
    """Evidence of which only counts are here, field by field."""

    tables: Mapping[str, Kept] = field(default_factory=dict)

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
class Auditing(ABC):
    """One audit; an engine looks at rows in its own way."""

    outline: Release
    tables: Mapping[str, Kept]
    counts: Counting
    policy: Policy
    levels: Mapping[str, float]
    n_claims: int

    def audit(self) -> Audit:
        """All findings, in the order in which an audit has them."""
        return Audit(
            (
                *self._promises(),
                *self.absence(),
                *content_findings(
                    self.evidence, self.n_claims, descents=self.descents, torn_buckets=self.torn_buckets
                ),
                *loss_findings(self.evidence),
                *self.truth(),
                *claims_elsewhere(self.evidence),
                *self.forms(),
                *self._secrets(),
            ),
            self.counts.held.sketch.derived,
            how_counted(self.counts.held.sketch, self.policy),
        )

    @abstractmethod
    def descents(self, evidence: Evidence, view: View, file: ColumnFile) -> int:
        """Rows that sort below the row before them."""

    @abstractmethod
    def torn_buckets(self, evidence: Evidence, view: View) -> int:
        """Buckets that have different numbers of rows in different columns."""

    @abstractmethod
    def there(self) -> tuple[Finding, ...]:
        """The findings about all promises, where the different rows do not fit."""

    def absence(self) -> Iterable[Finding]:
        """The findings about those who are left out."""
        return ()

    def truth(self) -> Iterable[Finding]:
        """The findings about lines as rows of the original."""
        return ()

    def forms(self) -> Iterable[Finding]:
        """The findings about files."""
        return ()

    @property
    def most_cells(self) -> int:
        """How many cells of published rows are judged at once."""
        return self.counts.most_cells

    @property
    def judged(self) -> tuple[Release, Mapping[str, Kept]]:
        """The manifest and the tables as far as promises look at them."""
        return self.outline, self.tables

    @cached_property
    def empty(self) -> Release:
        """The release without its rows."""
        return Release(self.outline.manifest, self._nobody(), self.outline.recodings)

    def _nobody(self) -> dict[str, pl.DataFrame]:
        return {name: table.empty for name, table in self.tables.items()}

    @cached_property
    def original(self) -> Table:
        """The original, of which only counts are here."""
        return replace(self.counts.held.sketch, reference=self.counts.of)

    @cached_property
    def evidence(self) -> Evidence:
        """What counts tell, field by field."""
        original = as_published(self.secrets_shown, self.original)
        return Marginal(self.empty, original, self.policy, tables=self.tables)

    @cached_property
    def secrets_shown(self) -> Release:
        """The release with nothing but its secret columns, as different rows with their counts."""
        secret = set(self.outline.manifest.secret)
        shown = [table.showing(secret) for table in self.tables.values() if secret & set(table.values)]
        return self._with_rows(shown)

    @cached_property
    def asked(self) -> tuple[Promise, ...]:
        """All promises, and those at other levels."""
        promises = resolve(self.policy, self.counts.held.sketch)
        return (*promises, *at_levels(promises, self.levels))

    def _with_rows(self, tables: Iterable[Kept]) -> Release:
        """The release with the different rows of some tables."""
        frames, weights = self._nobody(), {}
        for table in tables:
            frames[table.file.table], weights[table.file.table] = table.distinct(self.most_cells)
        return Release(self.outline.manifest, frames, self.outline.recodings, weights=weights)

    def _promises(self) -> Iterator[Finding]:
        try:
            yield from worst_columns(self._here())
        except TooManyError:
            yield from worst_columns(self.there())

    def _here(self) -> tuple[Finding, ...]:
        """Judge the different rows."""
        outline, tables = self.judged
        if sum(table.least_cells for table in tables.values()) > self.most_cells:
            raise TooManyError([])
        counted = {name: table.distinct(self.most_cells) for name, table in tables.items()}
        frames = {name: frame for name, (frame, _) in counted.items()}
        weights = {name: times for name, (_, times) in counted.items()}
        release, original = (
            Release(outline.manifest, frames, outline.recodings, weights=weights),
            self.original,
        )
        if any(is_spread(view, self.evidence, self.asked) for view in release.views):
            names = tuple(self.counts.held.sketch.attributes)
            original = replace(self.counts.of(names), reference=self.counts.of)
        evidence = Evidence(release, as_published(release, original), self.policy)
        return tuple(columns_judged(evidence, self.levels))

    def _secrets(self) -> Iterator[Finding]:
        """Secret labels beside the original, as different rows of what they stand beside."""
        secret = set(self.outline.manifest.secret)
        quasi = set(self.counts.held.sketch.expand(self.policy.quasi))
        frames, weights = self._nobody(), {}
        for name, table in self.tables.items():
            if secret & set(table.values):
                # Only what stands beside a secret outside of buckets can be compared row by row.
                needed = table.showing(secret if BUCKET in table.columns else secret | quasi)
                rows, weights[name] = needed.distinct(self.most_cells)
                frames[name] = pl.concat([table.empty, rows], how="diagonal")
        release = Release(self.outline.manifest, frames, self.outline.recodings, weights=weights)
        return secret_findings(Evidence(release, self.original, self.policy))


def refuse_everybody(policy: Policy, remedy: str) -> None:
    """Refuse to work out who stands in which bucket, which is done where all rows are."""
    if any(effective(policy, name).everybody for name in policy.sensitive):
        what = "is judged with all rows in memory alone."
        raise PolicyError.at(f"{policy.name}: guarantee.everybody", what, remedy)


def refuse_absent(policy: Policy, remedy: str) -> None:
    """Refuse to judge those who are left out, which is done where rows are counted all at once."""
    if any(effective(policy, name).absent for name in policy.sensitive):
        what = "is not judged on Spark."
        raise PolicyError.at(f"{policy.name}: guarantee.absent", what, remedy)


def with_needed(outline: Release, needed: set[str]) -> Release:
    """The manifest without attributes that no promise looks at, where no view has buckets.

    Beside buckets an attribute can tell which columns belong together, whatever its role.
    """
    if any(view.bucketed for view in outline.views):
        return outline
    views = tuple(_with_needed(view, needed) for view in outline.views)
    return Release(replace(outline.manifest, views=views), {}, outline.recodings)


def _with_needed(view: View, needed: set[str]) -> View:
    files = tuple(
        replace(file, attributes=tuple(name for name in file.attributes if name in needed) or file.attributes)
        for file in view.files
    )
    return replace(view, files=files)


def needed_by(promises: Iterable[Promise], policy: Policy, table: Table) -> set[str]:
    """The attributes that somebody may know, or that are protected."""
    names = {name for promise in promises for name in (*promise.given, *promise.protects)}
    tied = {name for one in policy.dependencies for name in (*one.from_, one.to)}
    return names | set(table.expand((*policy.quasi, *policy.sensitive, *sorted(tied & {*policy.published}))))


def sights_of(view: View, evidence: Evidence, promises: Sequence[Promise]) -> list[Sight]:
    """What every promise looks at in a view."""
    found = []
    for promise in promises:
        known = known_in(view, promise, evidence)
        found += [sight_of(promise, view, file, known) for file in columns_for(promise, view, evidence)]
    return found


def is_spread(view: View, evidence: Evidence, promises: Sequence[Promise]) -> bool:
    """Whether some promise is about people whose bucket nobody can tell."""
    return any(seen.is_spread for seen in sights_of(view, evidence, promises))


def part_of(
    outline: Release,
    view: View,
    empty: Mapping[str, pl.DataFrame],
    rows: Mapping[str, tuple[pl.DataFrame, Ids]],
) -> Release:
    """A part as a release of its own: of one view it has some rows with their counts, and of all others none."""
    frames = dict(empty) | {name: frame for name, (frame, _) in rows.items()}
    weights = {name: times for name, (_, times) in rows.items()}
    n_rows = max(int(times.sum()) for times in weights.values())
    views = tuple(replace(one, rows=n_rows if one.name == view.name else 0) for one in outline.views)
    manifest = replace(outline.manifest, views=views)
    return Release(manifest, frames, outline.recodings, weights=weights)
